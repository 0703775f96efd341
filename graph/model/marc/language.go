package marc

import (
	"slices"
	"strings"

	"golang.org/x/text/language"

	"library-catalogue/graph/model/textline"
)

// undetermined is the code of an unknown language.
const undetermined = "und"

// bibliographic maps codes of ISO 639-3 to the codes of MARC (ISO 639-2/B) that differ.
var bibliographic = textline.Pairs(`
	sqi:alb hye:arm eus:baq mya:bur zho:chi ces:cze nld:dut fra:fre kat:geo deu:ger
	ell:gre isl:ice mkd:mac mri:mao msa:may fas:per ron:rum slk:slo bod:tib cym:wel
`)

// replacedCodes maps discontinued codes to current ones (MARC Code List for Languages). Some are codes of other
// languages in ISO 639-3.
var replacedCodes = textline.Pairs(`
	cam:khm esp:epo eth:gez far:fao fri:fry gae:gla gag:glg gal:orm gua:grn int:ina iri:gle kus:kos lan:oci lap:smi
	max:glv mla:mlg mol:rum sao:smo scc:srp scr:hrv sho:sna snh:sin sso:sot swz:ssw tag:tgl taj:tgk tar:tat
	tru:chk tsw:tsn
`)

// longCodes are the codes in MARC of languages without a code of two letters (MARC Code List for Languages).
var longCodes = strings.Fields(`
	ace ach ada ady afa afh ain akk ale alg alt ang anp apa arc arn arp art arw ast ath aus awa bad bai bal ban
	bas bat bej bem ber bho bik bin bla bnt bra btk bua bug byn cad cai car cau ceb cel chb chg chk chm chn cho
	chp chr chy cmc cop cpe cpf cpp crh crp csb cus dak dar day del den dgr din doi dra dsb dua dum dyu efi egy
	eka elx enm ewo fan fat fil fiu fon frm fro frr frs fur gaa gay gba gem gez gil gmh goh gon gor got grb grc
	gsw gwi hai haw hil him hit hmn hsb hup iba ijo ilo inc ine inh ira iro jbo jpr jrb kaa kab kac kam kar kaw
	kbd kha khi kho kmb kok kos kpe krc krl kro kru kum kut lad lah lam lez lol loz lua lui lun luo lus mad mag
	mai mak man map mas mdf mdr men mga mic min mkh mnc mni mno moh mos mul mun mus mwl mwr myn myv nah nai nap
	nds new nia nic niu nog non nqo nso nub nwc nym nyn nyo nzi osa ota oto paa pag pal pam pap pau peo phi phn
	pon pra pro raj rap rar roa rom rup sad sah sai sal sam sas sat scn sco sel sem sga sgn shn sid sio sit sla
	sma smi smj smn sms snk sog son srn srr ssa suk sus sux syc syr tai tem ter tet tig tiv tkl tlh tli tmh tog
	tpi tsi tum tup tut tvl tyv udm uga umb vai vot wak wal war was wen xal yao yap ypk zap zbl zen znd zun zxx
	zza
`)

// languageCode returns the code of a language in MARC. isExact is false if the tag says more than the code.
func languageCode(tag string) (code string, isExact bool) {
	parsed, err := language.Parse(tag)
	if err != nil {
		return undetermined, false
	}
	exact, _ := parsed.Base()
	for _, t := range []language.Tag{parsed, macrolanguage(parsed)} {
		base, confidence := t.Base()
		code := base.ISO3()
		if b, ok := bibliographic[code]; ok {
			code = b
		}
		if confidence != language.No && (len(base.String()) == 2 || slices.Contains(longCodes, code)) {
			return code, base == exact && parsed.String() == base.String()
		}
	}
	return undetermined, false
}

// macrolanguage returns the macrolanguage of a language, such as Chinese for Mandarin (cmn), or the language itself.
func macrolanguage(t language.Tag) language.Tag {
	if macro, err := language.Macro.Canonicalize(t); err == nil {
		return macro
	}
	return t
}

// articles are the first words of titles that do not count in their order (MARC 21, appendix F), by code of the
// language. They end in an apostrophe, or a space follows.
var articles = func() map[string][]string {
	table := map[string][]string{}
	for line := range strings.Lines(strings.TrimSpace(`
	eng a an the
	und the
	ger das dem den der des die ein eine einem einen einer eines
	fre l' la le les un une
	spa el la las lo los un una
	ita gli i il l' la le lo un un' una uno
	por a as o os um uma
	dut de een het 'n 't
	dan den det en et
	swe de den det en ett
	nor de den det ei en et
	hun a az egy
	cat el els l' la les un una
`)) {
		words := strings.Fields(line)
		table[words[0]] = words[1:]
	}
	return table
}()

// nonfiling returns the number of characters of the article at the start of a title, with the space behind it.
func nonfiling(title, languageCode string) int {
	lower := strings.ToLower(strings.ReplaceAll(title, "’", "'"))
	for _, article := range articles[languageCode] {
		if !strings.HasSuffix(article, "'") {
			article += " "
		}
		if strings.HasPrefix(lower, article) && len(lower) > len(article) {
			return len(article)
		}
	}
	return 0
}
