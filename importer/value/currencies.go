package value

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/currency"

	"library-catalogue/graph/model/collate"
)

// currencies are words for currencies and their signs, also old ones, as currencyKey returns them. Codes of ISO 4217 in
// capitals are known besides.
var currencies = ParseWords(`
	$ us$ u$s a$ au$ c$ ca$ can$ hk$ nt$ nz$ s$ sg$ mx$ mex$ r$ rd$ j$ tt$ z$ n$ b$ bz$ ec$ fj$ cl$ col$ arg$ cr$ usd$
	$usd
	£ ir£ e£ le£ £stg ¥ cn¥ jp¥ rmb¥ gh₵ kn₦

	euro* eur usd gbp chf jpy cny rmb aud cad nzd sgd hkd ntd twd inr brl mxn rub rur pln czk huf ron bgn hrk dkk sek
	nok isk
	uah try idr myr php thb vnd krw zar ils egp sar aed dm

	us usa dollar* dolar* usdollar* dolares* doller pound* pd stg sterling* libra* franc* frank* fr frs ff bfr lfr sfr
	nf fs fcfa cfa fb
	mark* rm ddm deutschemark* schilling* shilling* os sh shs ksh kes tsh tzs ush ugx lit lire lira* ital pts pta ptas
	peseta* esc escudo*
	cruzeiro* real reais gulden* guilder* hfl fl dfl drachm* drs punt* markka* mk fmk krona kronor kroner krone kronur
	kronen* kr dkr skr nkr ikr
	kc kcs kcsl korun* zl zlot* ft forint* lei leu leva lev lv lvs din dinar* rsd kn kuna* kuny km bam denar* den lek
	leke lekë
	tl ytl turklirasi rs re rupee* rupiah* rupia* rp rm ringgit* peso* piso baht* bt br dong* vnđ won yen* yuan* rmbyuan
	nt nis shekel* sheqel*
	riyal* rial* dirham* dh dhs le tk taka birr* naira* cedi* ghs rand* kwacha* sol soles bs bolivar* boliviano* gs
	guarani* colon colones
	quetzal* lempira* cordoba* balboa* manat* azn lari gel dram* amd tenge* som soum sum uzs afghani* kyat*

	rub rubl* rubel* руб* рубл* р грн* гривн* uah лв лева лев дин* ден* тенге тг сом сум сўм ман манат
	ευρω δρχ δραχμ* ლარი* დოლარ* դրամ* ש״ח שח שקל*
	ريال* ﷼* رس دإ درهم* دينار* د دك دع دا دت دم جنيه* جم ليرة* لل تومان* ریال* ريالا ليره* روبل* یورو* روپیه* روپے*
	元* 円* 圆* 圓* 원* 人民币* 人民幣* 新台幣* บาท* रुपये* रुपए* रु रू টাকা* টা ৳ ரூ* రూ* ರೂ* રૂ* രൂ* ብር* ກີບ* រៀល*
`)

// letterCurrencies are currencies of one letter, which counts in this case only. S and L look like digits, so that a
// space, a dot or a slash divides them from the number.
const letterCurrencies, digitLike = "FfRLQKPSMđƒрРδ", "SL"

// currencyKey returns a currency without case, accents, spaces and signs: "us$" of "US $", "rs" of "Rs.".
func currencyKey(text string) string {
	return strings.NewReplacer(" ", "", ".", "", "/", "", "'", "", "’", "", "ʻ", "", `"`,
		"").Replace(collate.Fold(text))
}

// isCurrency reports whether a text before or after a number is a currency.
func isCurrency(text string) bool {
	letters := strings.Trim(text, " ./")
	if utf8.RuneCountInString(letters) == 1 && strings.Contains(letterCurrencies, letters) {
		return letters != text || !strings.Contains(digitLike, letters)
	}
	unit, err := currency.ParseISO(letters)
	isCode := err == nil && strings.ToUpper(letters) == letters && unit != currency.XXX && unit != currency.XTS
	return isCode || isSign(letters) || currencies.Has(currencyKey(text))
}

// isSign reports whether a text is one sign for a currency: €. A cent is a part of one.
func isSign(text string) bool {
	r, size := utf8.DecodeRuneInString(text)
	return size == len(text) && unicode.Is(unicode.Sc, r) && r != '¢'
}
