package main

import "strings"

// words are words of names and descriptions, about as frequent as they are early.
var words = strings.Fields(
	`the of and a in to for from with on by an at as history life new world story guide art love war time introduction
house night garden book man women city american secret modern last little great theory first music children science
law river death king poems letters dark light sea lost social practice political studies red black white water
summer winter journey power economics handbook language heart road people days nature queen land island mountain
memory dream fire stone bridge silence shadow storm stars moon sun forest bird birds horse dog cat fish tree trees
flower rose apple bread salt wine tea coffee kitchen cooking food health body mind soul spirit faith church god gods
myth legend hero princess prince castle tower door window room mirror key letter map ship boat train station street
village town country nation empire revolution peace freedom justice crime murder detective thief spy ghost witch
dragon magic monster machine robot computer software data design systems analysis methods principles foundations
elements advanced practical complete illustrated collected selected essays lectures stories tales novel biography
memoir diary journal atlas dictionary encyclopedia manual course workbook companion reader anthology volume edition
century years early late ancient medieval renaissance enlightenment industrial digital global local rural urban
public private national international european african asian russian french german english italian spanish chinese
japanese indian philosophy psychology sociology education medicine physics chemistry biology mathematics geometry
algebra statistics engineering architecture painting sculpture photography film theatre dance opera poetry fiction
religion politics policy government management business marketing finance trade labour money capital market society
culture identity gender family mother father sister brother daughter son wife husband friend stranger enemy
neighbour teacher student doctor nurse soldier sailor farmer hunter merchant painter writer poet singer actor dancer
traveller pilgrim exile refugee orphan child girl boy woman old young beautiful broken hidden forgotten silent
golden silver blue green yellow grey wild quiet distant endless eternal perfect impossible strange familiar common
rare simple deep high long short small big open closed north south east west home away before after under over
between beyond behind without within against through across around toward morning evening midnight spring autumn
rain snow wind ice dust sand clay iron copper glass paper ink thread needle knife sword shield crown ring mask dress
hat shoe clock watch lamp candle table chair bed bottle cup plate basket harbour lighthouse museum library school
university hospital prison factory mill farm field orchard vineyard desert valley canyon coast bay lake pond well
waterfall glacier volcano earthquake flood drought plague famine hunger thirst sleep rest work play game chess
football running swimming climbing walking riding sailing flying building making writing reading thinking learning
teaching living loving losing finding keeping leaving returning waiting watching listening speaking singing drawing
planting growing weather climate energy oil coal gas steel cotton silk wool leather timber grain rice maize sugar
honey milk cheese butter egg meat`)

// smallWords are the first of words, which every text has.
const smallWords = 14

// The parts of places, which are rare words: 23,000 of them, such as Ashenford.
var (
	placeStarts = strings.Fields(`Ash Alder Bald Beck Birk Brack Brad Brook Cald Carl Chal Col Crom Dal Dun East El
		Fal Fen Glen Gran Hal Harp Hazel Hol Ink Kel Kings Lang Lin Mar Mel Mill Nor Oak Pem Quar Rad Red Rook Sal Sel
		Shel Stan Sut Thorn Tor Ul Wal Wes Whit Wind Wool Yar`)
	placeMiddles = strings.Fields(`en er ing le mor min ber den dle cle ham sing ton wick`)
	placeEnds    = strings.Fields(`bury by cester combe cote dale den field ford gate grove ham haven holm hurst
		land leigh ley mere minster moor mouth over pool port ridge stead stoke ston thorpe ton wade well wick wold wood
		worth`)
)

// The parts of the names of authors: 400,000 of them.
var (
	givenNames = strings.Fields(`Anna John Mary James Elena Robert Maria William Sofia David Ruth Thomas Clara
		Charles Émile José Ingrid Paul Agnes Peter Olga Henry Amélie George Nadia Karl Lucía Ivan Margaret Søren Yuki
		Ahmed Fatima Chen Wei Priya Arjun Chidi Amara Léa Jürgen Björk Zofia Piotr Jiří Eszter Mihai Ana Luís Beatriz
		Marco Giulia Pieter Femke Aino Eero Siobhán Declan Rhys Megan Ewan Isla Hannah Jacob Miriam Samuel Esther Leo
		Daniel Rachel Adam Eve Simon Judith Philip Helen Mark Alice Stephen Grace`)
	initials = strings.Fields(`A. B. C. D. E. F. G. H. J. K. L. M. N. P. R. S. T. V. W.`)
	surnames = strings.Fields(`Smith Müller García Johnson Rossi Ivanova Tanaka Nguyen Kowalski Silva Brown Andersson
		Martin Novák Nagy Popescu Jansen Virtanen O'Brien Jones Kaya Cohen Khan Singh Okafor Mensah Diallo Haddad
		Rahimi Wang Li Zhang Liu Kim Park Sato Suzuki Yamamoto Miller Davis Wilson Moore Taylor Thomas White Harris
		Clark Lewis Young Walker Hall Allen King Wright Scott Green Baker Adams Nelson Hill Campbell Mitchell Roberts
		Carter Phillips Evans Turner Parker Collins Edwards Stewart Morris Murphy Cook Rogers Morgan Peterson Cooper
		Reed Bailey Bell Gomez Kelly Howard Ward Cox Díaz Richardson Wood Watson Brooks Bennett Gray Hughes Price Myers
		Long Foster Sanders Ross Morales Powell Sullivan Russell Ortiz Jenkins Gutiérrez Perry Butler Barnes Fisher
		Henderson Coleman Simmons Patterson Jordan Reynolds Hamilton Graham Wallace Cole West Hayes Bryant Gibson
		Ellis Stevens Murray Ford Marshall Owens Harrison Kennedy Wells Woods Washington Burns Freeman Henry Palmer
		Schmidt Schneider Fischer Weber Meyer Wagner Becker Hoffmann Schäfer Koch Bauer Richter Klein Wolf Neumann
		Schwarz Zimmermann Braun Hofmann Lange Krüger Bernard Dubois Petit Durand Leroy Moreau Laurent Lefèvre Roux
		Fournier Girard Bonnet Dupont Lambert Fontaine Rousseau Ferrari Esposito Bianchi Romano Colombo Ricci Marino
		Greco Bruno Gallo Conti Mancini Costa Giordano Rizzo Lombardi Moretti Petrov Sokolov Volkov Lebedev Morozov
		Fernández López Martínez Sánchez Pérez Hernández Torres Ramírez Flores Ribeiro Almeida Carvalho Teixeira`)
)

// The parts of genres. Each noun is a category too.
var (
	genreNouns = strings.Fields(`Fiction History Science Poetry Biography Art Travel Cooking Philosophy Religion
		Psychology Politics Economics Music Drama Comics Nature Medicine Law Technology`)
	genreKinds = strings.Fields(`General Modern Classic Historical European American Asian African Popular Academic
		Short Illustrated Young Regional Military Social Urban Ancient Collected Experimental`)
)

var (
	publishers = strings.Split(
		`Penguin Books,Oxford University Press,HarperCollins,Random House,Cambridge University Press,`+
			`Springer,Macmillan,Simon & Schuster,Hachette,Wiley,Routledge,Elsevier,Vintage,Faber and Faber,Gallimard,`+
			`Suhrkamp,Fischer,Mondadori,Einaudi,Planeta,Anagrama,Knopf,Doubleday,Scribner,Bloomsbury,Verso,MIT Press,`+
			`Princeton University Press,Harvard University Press,Yale University Press,University of Chicago Press,Norton,`+
			`Pan,Picador,Viking,Puffin,Scholastic,Dover,Everyman,Virago,Granta,Canongate,Actes Sud,Seuil,Flammarion,`+
			`Hanser,Reclam,Rowohlt,Kiepenheuer & Witsch,dtv,Diogenes,Feltrinelli,Adelphi,Laterza,Companhia das Letras,`+
			`Iwanami Shoten,Kodansha,Shueisha,O'Reilly,Packt`, ",")
	languages = strings.Fields(`en de fr es it pt nl ru ja zh pl sv cs da tr ar hu fi ko he`)
)
