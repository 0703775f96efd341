package value

import (
	"regexp"
	"strings"
	"sync"
	"time"

	"library-catalogue/graph/model/collate"
)

// monthNames are the names of the months, a language a line. Forms of one month are separated by slashes, and the
// longest form is there, because a name may be cut.
const monthNames = `
january february march april may june july august september october november december
januar/jänner februar/feber märz/mrz april mai juni juli august september oktober november dezember
janvier février mars avril mai juin juillet août septembre octobre novembre décembre
enero febrero marzo abril mayo junio julio agosto septiembre/setiembre octubre noviembre diciembre
gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro
januari februari maart/mrt april mei juni juli augustus september oktober november december
januari februari mars april maj juni juli augusti september oktober november december
januar februar marts april maj juni juli august september oktober november december
januar februar mars april mai juni juli august september oktober november desember
janúar febrúar mars apríl maí júní júlí ágúst september október nóvember desember
tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta lokakuuta marraskuuta joulukuuta
jaanuar/jaanuaril veebruar/veebruaril märts/märtsil aprill/aprillil mai/mail juuni/juunil juuli/juulil august/augustil september/septembril oktoober/oktoobril november/novembril detsember/detsembril
janvāris/janvārī februāris/februārī marts/martā aprīlis/aprīlī maijs/maijā jūnijs/jūnijā jūlijs/jūlijā augusts/augustā septembris/septembrī oktobris/oktobrī novembris/novembrī decembris/decembrī
sausis/sausio vasaris/vasario kovas/kovo balandis/balandžio gegužė/gegužės birželis/birželio liepa/liepos rugpjūtis/rugpjūčio rugsėjis/rugsėjo spalis/spalio lapkritis/lapkričio gruodis/gruodžio
styczeń/stycznia luty/lutego marzec/marca kwiecień/kwietnia maj/maja czerwiec/czerwca lipiec/lipca sierpień/sierpnia wrzesień/września październik/października listopad/listopada grudzień/grudnia
leden/ledna únor/února březen/března duben/dubna květen/května červen/června červenec/července srpen/srpna září říjen/října listopad/listopadu prosinec/prosince
január/januára február/februára marec/marca apríl/apríla máj/mája jún/júna júl/júla august/augusta september/septembra október/októbra november/novembra december/decembra
januar/januarja februar/februarja marec/marca april/aprila maj/maja junij/junija julij/julija avgust/avgusta september/septembra oktober/oktobra november/novembra december/decembra
siječanj/siječnja veljača/veljače ožujak/ožujka travanj/travnja svibanj/svibnja lipanj/lipnja srpanj/srpnja kolovoz/kolovoza rujan/rujna - studeni/studenoga prosinac/prosinca
januar/januara februar/februara mart/marta april/aprila maj/maja jun/juna jul/jula avgust/avgusta septembar/septembra oktobar/oktobra novembar/novembra decembar/decembra
јануар/јануара фебруар/фебруара март/марта април/априла мај/маја јун/јуна јул/јула август/августа септембар/септембра октобар/октобра новембар/новембра децембар/децембра
január február március április május június július augusztus szeptember október november december
ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie decembrie
януари февруари март април май юни юли август септември октомври ноември декември
январь/января февраль/февраля март/марта апрель/апреля май/мая июнь/июня июль/июля август/августа сентябрь/сентября октябрь/октября ноябрь/ноября декабрь/декабря
січень/січня лютий/лютого березень/березня квітень/квітня травень/травня червень/червня липень/липня серпень/серпня вересень/вересня жовтень/жовтня листопад/листопада грудень/грудня
ιανουάριος/ιανουαρίου φεβρουάριος/φεβρουαρίου μάρτιος/μαρτίου απρίλιος/απριλίου μάιος/μαΐου ιούνιος/ιουνίου ιούλιος/ιουλίου αύγουστος/αυγούστου σεπτέμβριος/σεπτεμβρίου οκτώβριος/οκτωβρίου νοέμβριος/νοεμβρίου δεκέμβριος/δεκεμβρίου
eanáir feabhra márta aibreán bealtaine meitheamh iúil lúnasa meán deireadh samhain/samhna nollaig/nollag
jannar frar marzu april mejju ġunju lulju awwissu settembru ottubru novembru diċembru
ocak/ocağı şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık
ionawr chwefror mawrth ebrill mai/fai mehefin/fehefin gorffennaf/orffennaf awst medi/fedi hydref tachwedd/dachwedd rhagfyr/ragfyr
urtarrila/urtarrilaren/urtarrilak otsaila/otsailaren/otsailak martxoa/martxoaren/martxoak apirila/apirilaren/apirilak maiatza/maiatzaren/maiatzak ekaina/ekainaren/ekainak uztaila/uztailaren/uztailak abuztua/abuztuaren/abuztuak iraila/irailaren/irailak urria/urriaren/urriak azaroa/azaroaren/azaroak abendua/abenduaren/abenduak
gener febrer març abril maig juny juliol agost setembre octubre novembre desembre
xaneiro febreiro marzo abril maio xuño xullo agosto setembro outubro novembro decembro
janar/janarit shkurt/shkurtit mars/marsit prill/prillit maj/majit qershor/qershorit korrik/korrikut gusht/gushtit shtator/shtatorit tetor/tetorit nëntor/nëntorit dhjetor/dhjetorit
იანვარი/იანვარს თებერვალი/თებერვალს მარტი/მარტს აპრილი/აპრილს მაისი/მაისს ივნისი/ივნისს ივლისი/ივლისს აგვისტო/აგვისტოს სექტემბერი/სექტემბერს ოქტომბერი/ოქტომბერს ნოემბერი/ნოემბერს დეკემბერი/დეკემბერს
հունվար/հունվարի փետրվար/փետրվարի մարտ/մարտի ապրիլ/ապրիլի մայիս/մայիսի հունիս/հունիսի հուլիս/հուլիսի օգոստոս/օգոստոսի սեպտեմբեր/սեպտեմբերի հոկտեմբեր/հոկտեմբերի նոյեմբեր/նոյեմբերի դեկտեմբեր/դեկտեմբերի
januari februari maret april mei juni juli agustus september oktober november desember
januari februari mac april mei jun julai ogos september oktober november disember
enero pebrero marso abril mayo hunyo hulyo agosto setyembre oktubre nobyembre disyembre
yanvar fevral mart aprel may iyun iyul avqust/avgust sentyabr/sentabr oktyabr/oktabr noyabr dekabr
јануари февруари март април мај јуни јули август септември октомври ноември декември
студзень/студзеня люты/лютага сакавік/сакавіка красавік/красавіка май/мая чэрвень/чэрвеня ліпень/ліпеня жнівень/жніўня верасень/верасня кастрычнік/кастрычніка лістапад/лістапада снежань/снежня
يناير فبراير مارس أبريل مايو يونيو/يونيه يوليو/يوليه أغسطس سبتمبر أكتوبر نوفمبر ديسمبر
ژانویه فوریه مارس آوریل مه ژوئن ژوئیه اوت سپتامبر اکتبر نوامبر دسامبر
جنوری فروری مارچ اپریل مئی جون جولائی اگست ستمبر اکتوبر نومبر دسمبر
ינואר/בינואר פברואר/בפברואר מרץ/במרץ אפריל/באפריל מאי/במאי יוני/ביוני יולי/ביולי אוגוסט/באוגוסט ספטמבר/בספטמבר אוקטובר/באוקטובר נובמבר/בנובמבר דצמבר/בדצמבר
जनवरी फरवरी/फ़रवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर/सितम्बर अक्टूबर/अक्तूबर नवंबर/नवम्बर दिसंबर/दिसम्बर
জানুয়ারি/জানুয়ারী ফেব্রুয়ারি/ফেব্রুয়ারী মার্চ এপ্রিল মে জুন জুলাই আগস্ট সেপ্টেম্বর অক্টোবর নভেম্বর ডিসেম্বর
ஜனவரி பிப்ரவரி மார்ச் ஏப்ரல் மே ஜூன் ஜூலை ஆகஸ்ட் செப்டம்பர் அக்டோபர் நவம்பர் டிசம்பர்
januarie februarie maart april mei junie julie augustus september oktober november desember
қаңтар/қаңтарда ақпан/ақпанда наурыз/наурызда сәуір/сәуірде мамыр/мамырда маусым/маусымда шілде/шілдеде тамыз/тамызда қыркүйек/қыркүйекте қазан/қазанда қараша/қарашада желтоқсан/желтоқсанда
มกราคม กุมภาพันธ์ มีนาคม เมษายน พฤษภาคม มิถุนายน กรกฎาคม สิงหาคม กันยายน ตุลาคม พฤศจิกายน ธันวาคม
januari februari machi aprili mei juni julai agosti septemba oktoba novemba desemba
`

// Limits of abbreviations of months: the letters, and how many times more languages must have one month than others.
const (
	minMonth      = 3
	clearMajority = 5
)

// votes are the numbers of languages by month.
type votes [13]int

// winner returns the month of clearly most languages, or 0.
func (v *votes) winner() time.Month {
	best, all := 0, 0
	for month, n := range v {
		if all += n; n > v[best] {
			best = month
		}
	}
	if v[best] < clearMajority*(all-v[best]) {
		return 0
	}
	return time.Month(best)
}

// monthIndex returns the votes for the names of the months, and for their beginnings.
var monthIndex = sync.OnceValues(func() (names, beginnings map[string]*votes) {
	names, beginnings = map[string]*votes{}, map[string]*votes{}
	vote := func(in map[string]*votes, text string, month int, seen map[string]bool) {
		if key := text + "\x00" + string(rune(month)); !seen[key] {
			if seen[key] = true; in[text] == nil {
				in[text] = &votes{}
			}
			in[text][month]++
		}
	}
	for line := range strings.Lines(monthNames) {
		seenNames, seenBeginnings := map[string]bool{}, map[string]bool{}
		for i, forms := range strings.Fields(line) {
			for form := range strings.SplitSeq(forms, "/") {
				name := []rune(collate.Fold(form))
				vote(names, string(name), i+1, seenNames)
				for n := minMonth; n < len(name); n++ {
					vote(beginnings, string(name[:n]), i+1, seenBeginnings)
				}
			}
		}
	}
	return names, beginnings
})

// monthNamed returns the month with a name, or with a name that begins so in clearly most languages, or 0.
func monthNamed(text string) time.Month {
	text = collate.Fold(text)
	names, beginnings := monthIndex()
	for _, index := range []map[string]*votes{names, beginnings} {
		if v := index[text]; v != nil {
			return v.winner()
		}
	}
	return 0
}

// croatian matches names of months that only Croatian has. It calls October as other languages call November: listopad.
var croatian = regexp.MustCompile(
	`(?i)\b(?:sije[cč]|velja[cč]|o[zž]uj|trava?nj|svib|lipa?nj|srpa?nj|kolovoz|ruja?n|studen[io]|prosinac|prosinca)`)

var listopad = regexp.MustCompile(`(?i)listopada?`)

// dateWords are words between the parts of a date: 1st of May, 1er mai, 12 de agosto.
var dateWords = newWordSet(`
	жылы жыл ж жылғы st nd rd th of er re de del d di l any o af ail ed fed eg af ydd
	gada g y m года год г р року к година gads metai metu men diena ko a an en ren
	წელი წლის წ թ թվական թվականի թվականին i e viti vitit ngay nam fomhair na mi tahun mwaka
`)

// ordinalEndings make a number a day, and no month: 1998 3rd ed.
var ordinalEndings = newWordSet("st nd rd th")

// weekdays are the names of days, without accents. A date may begin with one.
var weekdays = newWordSet(`
	monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
	montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag mo di mi do fr sa so
	lundi mardi mercredi jeudi vendredi samedi dimanche lun mar mer jeu ven sam dim
	lunes martes miercoles jueves viernes sabado domingo mie jue vie sab dom
	lunedi martedi mercoledi giovedi venerdi domenica gio segunda terca quarta quinta sexta feira seg ter qua qui sex
	maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
	poniedzialek wtorek sroda czwartek piatek sobota niedziela pondeli utery streda ctvrtek patek nedele
	mandag tirsdag onsdag torsdag fredag lordag sondag mandagen lordagen den am vom le el dne ngay
	понедельник вторник среда четверг пятница суббота воскресенье пн вт ср чт пт сб вс
`)
