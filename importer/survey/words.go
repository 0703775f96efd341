package survey

import "strings"

// words are the words in the names of columns that speak for each field, without case and accents, in the languages of
// the lists that people have. A word that ends in * begins a longer one, and one that begins with * ends it. Words of
// scripts without spaces may stand anywhere in a name.
var fieldWords = map[string]wordList{
	"name": newWordList(`
		pealkiri* pavadinim* nosaukum* titill* titulli* title* titl* titel* *titel titul* titol* titre* tittel* tytul*
		nazev* nazov* naziv* nazw* naslov* nadpis* cim cime konyvcim nimi nimeke
		teos* obra* название* наименование* заглавие* заглавля* назва* книга* наслов* τιτλος* ονομασια*
		kitap* eser* baslik* judul* tieude tua sach buku
		书名* 書名* 题名* 題名* 标题* 標題* 書籍名* タイトル 作品名 도서명 책이름 제목 서명 ชื่อเรื่อง ชื่อหนังสือ
		عنوان* كتاب* الكتاب* כותר* ספר* کتاب* शीर्षक* पुस्तक* किताब* বই* শিরোনাম* புத்தக* தலைப்பு* நூல்* పుస్తక*
		izenburu* teitl* teideal* titlu* ktieb* tajuk* pamagat aklat სათაურ* დასახელებ* წიგნ* վերնագ* գիրք*
		գրքի аталуы кітап* гарчиг* ርዕስ* መጽሐፍ* kichwa kitabu* શીર્ષક* પુસ્તક* ਸਿਰਲੇਖ* ਕਿਤਾਬ* പുസ്തക* തലക്കെട്ട*
		ಶೀರ್ಷಿಕೆ* ಪುಸ್ತಕ* මාතෘකා* පොත* ຊື່ເລື່ອງ* ຊື່ປຶ້ມ* ຊື່ປື້ມ* ចំណងជើង* សៀវភៅ* ခေါင်းစဉ်* စာအုပ်*
	`),
	"author": newWordList(`
		author authors authorname* autor* auteur* auktor* writer* writt* wrote kittieb* creator* verfasser* schrijver*
		schriftsteller* ecrivain* escritor* scrittor*
		forfatter* forfattar* kirjail* tekija* szerzo* iro писац* писца hofund* pisatelj* pisac* pisca pisci pisarz*
		spisovatel* avtor* автор* писател* аутор* συγγραφ*
		yazar* muallif* muəllif* penulis* pengarang* tacgia
		作者* 著者* 作家* 著作者 编者* 編者* 저자* 지은이 글쓴이 작가 ผู้แต่ง ผู้เขียน
		مؤلف* المؤلف* كاتب* الكاتب* نويسنده* نویسنده* מחבר* סופר* लेखक* লেখক* ஆசிரியர்* எழுத்தாளர்* రచయిత*
		egile* idazle* awdur* udar awtur* skrywer* mayakda ავტორ* მწერალ* հեղինակ* muellif* жазушы* зохиолч*
		зохиогч* ደራሲ* mwandishi* waandishi* مصنف* લેખક* ਲੇਖਕ* രചയിതാ* ಲೇಖಕ* කර්තෘ* ຜູ້ແຕ່ງ* ຜູ້ຂຽນ*
		អ្នកនិពន្ធ* စာရေးသူ*
	`),
	"pages": newWordList(`
		page pages pg pgs paginas* pagin* pagecount* seite* stron strony stronic* stran strana strany stranic* strani*
		sivu* sida sidor sider sideantal sidetall
		*seiten *seitenzahl *sidor *sidetal *sidetall sivum* pags length oldal* lapja blad blader bladen bladsid*
		bladzijd* pag страниц* стр сторінок* страни* страна lehekul* puslap* lappus* blaðsid* faqe* leaves σελιδ* sayfa*
		sahifa* səhifə* halaman* sotrang trang
		页数* 頁數* 页码* 頁数* ページ* 총페이지 페이지* 쪽수* หน้า* จำนวนหน้า
		صفحات* الصفحات* صفحه* صفحة* עמודים* דפים* पृष्ठ* पन्ने* পৃষ্ঠা* পাতা* பக்க* పేజీ*
		orrialde* orriak tudalen* leathanaigh pagni bladsy* pahina* გვერდ* էջ* бет беттер* хуудас* ገጽ* ገጾች*
		kurasa* પાના* ਪੰਨੇ* പേജ* ಪುಟ* පිටු* ໜ້າ* ຫນ້າ* ចំនួនទំព័រ* ទំព័រ* စာမျက်နှာ*
	`),
	"published_at": newWordList(`
		year years yr date dates dated published publication publicationdate publicationyear publish pub issued
		copyright* erschein* veroffentlich* jahr* datum*
		*jahr *jaar *arstal *arsta *utgivningsar *vuosi kiadaseve megjeleneseve anul* anio an aparit* god. any aasta*
		ilmumis* leidim* metai izdosan* gads gada utgitt utgafu* viti annee* parution* edite fecha* ano anos lancamento*
		publicacion* publicacao* pubblicaz* anno data datas
		jaar* verschen* uitgavejaar* utgivning* utgivels* udgivels* ar arstal julkaisu* vuosi* rok* wydania wydano
		vydani* vydano leto letnik
		izida* izdan* godina* god год* дата* издан* рік* година* ετος* χρονολογια* kiadas* ev eve yil* basim*
		yayintarihi tarih* tarix* tarikh* buraxilis* tahun* terbit* nam
		出版年* 出版时间* 出版日期* 出版日* 年份* 发行日期* 發行年* 発行年* 発行日* 発売日* 刊行年* 출판일 출간일 발행일 출판년* 발행년* 연도 ปีที่พิมพ์ ปี* วันที่*
		سنة* السنة* تاريخ* التاريخ* سال* تاریخ* שנה* שנת* תאריך* वर्ष* साल* প্রকাশ* বছর* ஆண்டு* வருடம்* సంవత్సర*
		urtea argitaratze* blwyddyn* dyddiad* bliain* sena taon petsa წელი წლის გამოცემ* թվական* տարեթիվ*
		տարի жыл жылы он огноо* хэвлэсэн ዓመት* ዓመተ mwaka* tarehe* اشاعت* વર્ષ* ਸਾਲ* വർഷ* ವರ್ಷ* වර්ෂ* වසර* ປີ*
		ឆ្នាំ* ခုနှစ်*
	`),
	"price": newWordList(`
		*preis *pris *prijs *hinta pret pretul preu hind kaina* verð cmim* valeur worth retail valor price prices
		pricing cost costs costo msrp rrp preis* prix* precio precios preco precos prezz* prijs* pris priset hinta*
		cena* ceny cijena* ar ara bolti*
		цена* стоимость* ціна* вартість* цена τιμη* fiyat* bahasi narx* qiymət* harga* gia giaban pvp
		价格* 定价* 售价* 價格* 定價* 価格* 値段* 本体価格* 가격* 정가* 판매가 ราคา*
		سعر* السعر* ثمن* قیمت* מחיר* मूल्य* कीमत* মূল্য* দাম* விலை* ధర*
		prezioa presyo* prys ფასი* ღირებულ* գին* գինը արժեք* qiymet* баға* бағасы үнэ* ዋጋ* bei કિંમત* ਕੀਮਤ*
		വില* ಬೆಲೆ* මිල* ລາຄາ* តម្លៃ* ဈေးနှုန်း* ဈေး*
	`),
	"genre": newWordList(`
		jenis* subjek* assunt* zhanr* genre* genres* genere generes generi generu genero generos zanr* zaner*
		systematik* fachgebiet* *gruppe zvrst* druh* rodzaj* vrsta vrste soort* gen genul aihe* sjanger* flokk* врста*
		kind gattung* gatun* mufaj* tyylilaji* subject subjects subjectheading* topic* sachgebiet* thema* themen tema*
		materia materias
		onderwerp* emne* amne amnen amnesord тематика* жанр* ειδος* θεμα* κατηγορ* tur turu janr* tema theloai
		标签* 類目* 类型* 類型* 类别* 類別* 分类* 分類* 体裁* ジャンル* 장르* 분야* 주제* หมวด* ประเภท*
		نوع* النوع* تصنيف* التصنيف* ژانر* موضوع* الموضوع* סוגה* נושא* ז'אנר ז׳אנר विधा* विषय* ধরন* বিষয়* வகை* శైలి*
		mota gaia seanra* ჟანრ* თემატიკა ժանր* төрөл* ዘውግ* aina صنف* પ્રકાર* ਵਿਧਾ* ਕਿਸਮ* ವಿಧ* ಪ್ರಕಾರ* වර්ගය*
		ປະເພດ* ໝວດ* ប្រភេទ* အမျိုးအစား*
	`),
	"category": newWordList(`
		category* categor* kategor* catego* kategoria* rubrik* section* secao* seccion* sezione* oddelen* razdel*
		раздел* категор* κατηγορ*
		санат* kateqor* turkum* відділ* odjel* oddil dzial* avdelning* afdeling* osasto* skyrius* nodala* osakond*
		sekcia* sekce* danhmuc 栏目* カテゴリ* 카테고리* فئة* الفئة* قسم* القسم* קטגוריה* श्रेणी* বিভাগ* பிரிவு* వర్గం*
		კატეგორი* կատեգոր* ангилал* ምድብ* শ্রেণি* വിഭാഗ* શ્રેણી* ਸ਼੍ਰੇਣੀ*
	`),
	"description": newWordList(`
		description* summar* synops* blurb* abstract* overview* beschreib* zusammenfass* klappentext* inhalt* resume
		resumen descri* sinops* sinopsis*
		trama* omschrij* samenvatting* beskriv* opis* popis* anotac* anotaz* kuvaus* leiras* ismerteto* описан* аннотац*
		опис περιγραφ* ozet* aciklama* deskripsi* ringkasan* tomtat mota
		简介* 簡介* 内容* 內容* 描述* 摘要* 概要* あらすじ* 紹介* 소개* 설명* 줄거리* เรื่องย่อ* คำอธิบาย
		وصف* الوصف* ملخص* الملخص* نبذة* توضیح* خلاصه* תיאור* תקציר* विवरण* सारांश* বিবরণ* விவரம்* வివరణ*
	`),
	"isbn": newWordList(`isbn* מסת"ב שאבכ شابك* شابک* ردمك*`),
	"publisher": newWordList(`
		nəsr* uitgewer* pubblikatur* eldonej* publisher* press publishing publishers editur* botues* nesriyyat*
		nashriyot* баспа* издательств* изд-во вид-во دار انتشارات* לאור kirjastus* leidykl* izdevn* utgefandi издавач*
		verlag* nakladnik* uitgeverij* editeur* editorial* editora* editor* editore* editrice* uitgever* forlag*
		forlaget forlegger kustantaja* kiado* wydawca* wydawnictw* nakladatel* vydavatel* zaloz* izdavac* izdavatel*
		издател* видавн* εκδοτ* yayinevi* yayinci* penerbit* nxb nhaxuatban
		出版社* 出版者* 发行商 出版商* 出版元 출판사* 발행처 สำนักพิมพ์* ناشر* الناشر* מוציא* प्रकाशक* প্রকাশক প্রকাশকের প্রকাশনী* প্রকাশনা*
		பதிப்பக* ప్రచురణ*
		argitaletxe* cyhoeddwr* foilsitheoir* გამომცემ* հրատարակիչ* հրատարակչ* nesriyyat* баспа* አሳታሚ*
		mchapishaji* પ્રકાશક* പ്രസാധക* ಪ್ರಕಾಶಕ*
	`),
	"language": newWordList(`
		език* јазик* til tili lingvo teangacha sprog* tungumal* language* lang sprache* langue* idioma* lingua* taal*
		sprak* jezik* jazyk* jezyk* kieli* nyelv* язык* мова* γλωσσα* dil dili bahasa* ngonngu 语言* 語言* 言語* 언어* ภาษา لغة*
		اللغة* زبان* שפה* भाषा* ভাষা* மொழி* భాష*
		hizkuntza* iaith teanga ენა լեզու* тілі хэл ቋንቋ* lugha ભાષા* ഭാഷ* ಭಾಷೆ* ພາສາ* ភាសា*
	`),
	"shelf_mark": newWordList(`
		sinatura* segnatura* ταξινομικοσ* ταξιθετικοσ* oppstilling* sifrs sifrsi raðtakn raf rafno yernumarasi hilla
		hylle* rak rakno opstilling* hylde* placering* placement* dk5 topografi* сигнатур* шифър шифри رقمالتصنيف*
		رقمالطلب* استدعاء* الرف raktar* hyllplats* rafnumer leirvisir cota cote cotes jelzet* kotacija tejuelo* polica
		policka hylla hyllsignum hylluppst* plassering* kyhieu panggil เลขเรียก* สัญลักษณ์* signatur* shelfmark callno*
		callnumber sygnatura* signatuur* kohaviit hyllypaikka raktari шифр 请求记号 索书号* 請求記号* 청구기호*
	`),
	vague: newWordList(`
		edition* auflage* edicion edicao edizione* editie* upplaga* painos* kiadvany* wydanie wydania izdaja izdanje
		izdanja vydanie
		издание הוצאה місце* место мястo sted erscheinungsort verlagsort utgivningsort miejsce* mjesto* miesto* vieta*
		vietos baski cover* capa couverture* portada* 版次* quantit* cantidad* ilosc* kolicin* menge* qty 数量* 數量*
	`),
	// A column of another thing is never taken for a field by its other words or its cells.
	other: newWordList(`
		untertitel subtitl* sottotitolo sous soustitre ondertitel originaltitel inv invt nr no lp stt mediennr*
		inventar* inventur* leltari* tombo
		id ids uuid guid key lp issn* ean* asin* oclc* lccn* doi upc barcode* sku gtin* dewey* ddc lcc udk udc
		url uri link* href website* web image* img foto* photo* picture* thumbnail* obrazek* slika* bild* 
		serie* series* reihe* collection* coleccion* colecao* collana* reeks* rada edice seria* sorozat* sarja* cyklus*
		dizi* seri 丛书* 叢書* シリーズ* 시리즈*
		translator* ubersetz* traduct* tradut* tradutt* vertaler* oversett* oversaett* oversatt* preklad* prevaj*
		prevod* prijevod* tlumacz* kaantaja* fordit* перевод* cevir* penerjemah* 译者* 譯者* 訳者* 번역* 옮긴이 مترجم* المترجم*
		תרגום* מתרגם*
		illustrat* ilustra* narrator* reader* countr* pais* paese pays land drzava* zeme* kraj* ulke* 国家* 国籍*
		nationalit* gender* sex born birth* geburt* sterbe* death* died geboren* birthday
		rating* rate rated review* vote* score* star stars stelle bewertung* note notes* puntua* valora* avalia* nota
		valut* ocen* hodnocen* beoordeling* betyg* puan* 评分* 評分* 評価* 평점* like* download* popular* rank* position*
		bestsell* sales sold orders
		stock copies copy bestand exemplar* zaloga* zalogi stok* 库存* 在庫* 재고*
		start started starts begin begins begun began finish finished finishes end ended completed beginn begonnen ende
		fertig* debut fin inicio added add* ajout* kauf* leih* ausleih* ruckgab* eingang* alta ingreso* lant laos read*
		заем* выдач* получ* поступ* bought purchas* acquir* acqui* bestell* borrow* loan* lent due return* ausgeliehen*
		verlieh* created* updated* modif* changed* registr* inserted erfasst* zugang* insert* aggiunt* agregad* adicion*
		lu lue gelesen* prectene* precitan* prebran*
		format* binding* einband* 装帧* 判型*
		size* height* width* weight* dimension* gewicht* format age ages alter edad idade eta leeftijd wiek vek starost
		年龄*
		shelf* shelves bookshel* regal* standort* location* ort city ville stadt ciudad cidade citta miasto grad город
		місто עיר مدينة sehir kaupunki stad place* lieu lugar* luogo* plaats* kraj mesto misto 出版地* place location*
		volume* vol band tome tomo deel zvezek svazek tom cilt* 卷* 巻*
		status* state stav stan uwagi posuden* מצב* availab* verfugbar* condition zustand* discount* rabatt* currency
		wahrung* moneda valuta tax vat iva mwst email* phone* tel address*
		chapter* kapitel* word* worter warning warnings trigger* altersgr* zielgr* utlan* udlan* tag hash
	`),
}

// genreWords are kinds of books in scripts without case, in which names of persons look like other words.
var genreWords = newWordList(`
	小说* 小説* 文学* 诗* 詩* 戏剧* 戲劇* 散文* 科幻* 童话* 童話* 历史* 歴史* 歷史* 随笔* 短编* 短編* 推理* 漫画* 传记* 伝記* エッセイ* 소설* 시 시집* 수필* 동화* 역사* 문학*
	희곡* 만화* 단편*
	นวนิยาย* วรรณ* กวี* เยาวชน* ประวัติ* เรื่องสั้น* สารคดี* رواية* روايات* شعر* قصة* قصص* سيرة* تاريخ* أدب* مسرح* رمان*
	داستان* ناول* شاعری* افسانه* تاریخ* ادب*
	רומן* שירה* ילדים* היסטוריה* פרוזה* מחזה* סיפור* நாவல்* கவிதை* சிறுகதை* வரலாறு* उपन्यास* कविता* कहानी* नाटक* इतिहास*
	উপন্যাস* কবিতা* গল্প* নাটক* ইতিহাস* నవల* కవిత* కథ*
	რომან* პოეზი* პოემ* მოთხრობ* დრამ* ისტორი* ልቦለድ* ግጥም* ታሪክ* ນິຍາຍ* ກາບ* ກະວີ*
`)

// Keys of words that are no fields.
const (
	other = "other" // words for another thing
	vague = "vague" // words for another thing, unless another word is a field's: edition, and the year of the edition
)

// nameWords are words for names of anything, which count for the title only alone: اسم الكتاب, but اسم الكاتب is the
// author.
var nameWords = newWordList(
	`name names nome nombre nom naam namn navn nimi nazwa ime meno adi ad nama ten nev 名* 名称* 이름 اسم* نام* שם* नाम* নাম* பெயர்* పేరు* jina სახელ* անուն* нэр ስም* નામ* ਨਾਂ* പേര്* ಹೆಸರು* ຊື່`)

// Words of the halves of a person's name, and of the whole one.
var (
	givenWords = newWordList(
		`first given fore forename* vorname* prenom* nombre* nome imie* jmeno krstne ime keresztnev etunimi voornaam* fornamn fornavn имя ім'я ad isim 名`)
	familyWords = newWordList(
		`last family sur surname* nachname* familienname* nom apellido* cognome sobrenome* nazwisko prijmeni priezvisko priimek prezime vezeteknev sukunimi achternaam* efternamn etternavn efternavn фамилия прізвище soyad* 姓`)
	wholeWords = newWordList(`full complet* complete* vollstandig* whole voll volledig* pelny cele uplne полное 全名`)
)

// wordList holds words, beginnings and ends of words, and texts of scripts without spaces.
type wordList struct {
	whole  map[string]bool
	begins []string
	ends   []string // ends of compounds: Erscheinungsjahr
	inside []string
}

func newWordList(text string) wordList {
	list := wordList{whole: map[string]bool{}}
	for _, word := range strings.Fields(text) {
		begin, isBegin := strings.CutSuffix(word, "*")
		begin, isEnd := strings.CutPrefix(begin, "*")
		if parts := split(begin); len(parts) > 0 {
			begin = parts[len(parts)-1] // ім'я is one word
		}
		switch {
		case begin == "":
		case withoutSpaces(begin):
			list.inside = append(list.inside, begin)
		case isEnd:
			list.ends = append(list.ends, begin)
		case isBegin:
			list.begins = append(list.begins, begin)
		default:
			list.whole[begin] = true
		}
	}
	return list
}
