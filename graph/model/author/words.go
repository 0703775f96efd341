package author

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"library-catalogue/graph/model/collate"
)

// set returns the words of a text, as keyword has them.
func set(text string) map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		words[keyword(word)] = true
	}
	return words
}

// union returns the words of all sets.
func union(sets ...map[string]bool) map[string]bool {
	all := map[string]bool{}
	for _, words := range sets {
		maps.Copy(all, words)
	}
	return all
}

// keyword returns a word without case, accents and signs around it. J.R. is not Jr.
func keyword(word string) string {
	return strings.Trim(collate.Fold(word), `.,:"'`)
}

var (
	// particles precede a family name. A capitalised particle is part of it. Case counts: Ben is a given name.
	particles = strings.Fields(`af al av ben bin bint da dal dalla das de degli del della dello den der des di do
		dos du e el ibn la las le lo los op 't ten ter van vom von y zu zum zur Da Dal
		Dalla De Degli Del Della Den Der Des Di Dos Du La Las Le Los Ten Ter Van Von`)
	suffixes  = set("Jr Sr Jnr Snr II III IV Esq PhD Ph.D")
	companies = set("Inc Incorporated Ltd Limited LLC Corp Corporation GmbH plc")
	// connectives do not occur in the name of a person.
	connectives  = set("& and for in of the und et für")
	conjunctions = set("& and und et")
	// partners stand for persons without names in the name of a company: Mac et Cie.
	partners     = set("Cie Compagnie Co Söhne Sohn Sons Son Fils Frères Bros Brothers Gebrüder")
	institutions = set(`Academy Agency Association Authority Board Bureau Center Centre Club College Commission
		Committee Company Conference
		Council Department Editors Federation Foundation Government Group Institute Institution International
		Laboratory Library Ministry Museum National Nations Office
		Organisation Organization Publications Publishers Publishing Service Society Staff Team United University World
		European
		Akademie Amt Bibliothek Bundesamt Gesellschaft Hochschule Institut Ministerium Redaktion Stiftung
		Universität Verband Verein Verlag
		Académie Banque Bibliothèque Collectif Comité Conseil Éditions Fondation Ministère Musée Société Université
		Academia Asociación Banco Biblioteca Mundial Centro Colegio Consejo Editorial Fundación Grupo Instituto
		Ministerio Museo
		Sociedad Universidad
		Associação Editora Fundação Ministério Museu Sociedade Universidade
		Accademia Associazione Banca Fondazione Gruppo Istituto Ministero Società Università
		Bibliotheek Instituut Ministerie Stichting Universiteit Uitgeverij Vereniging
		Akademia Biblioteka Fundacja Instytut Ministerstwo Muzeum Stowarzyszenie Towarzystwo Uniwersytet
		Wydawnictwo
		Knihovna Ministerstvo Nakladatelství Společnost Univerzita Ústav Egyetem Intézet Kiadó Könyvtár
		Minisztérium Múzeum Társaság
		Академия Библиотека Издательство Институт Министерство Музей Общество Университет جامعة معهد وزارة مؤسسة`)
	// roles are whole words. A name can be one of them only as the last of two words.
	roles = set(`author authors coauthor joint editor editors translator translators illustrator illustrators
		compiler adapter contributor
		introduction foreword afterword preface narrator Herausgeber Herausgeberin Übersetzer Übersetzerin
		Verfasser Verfasserin Mitwirkender
		auteur éditeur traducteur traductrice illustrateur autor autora coordinador coordinadora ilustrador
		traductor traductora compilador
		organizador tradutor autore curatore traduttore illustratore auteur vertaler redacteur redaktor tłumacz
		překladatel
		szerkesztő fordító автор редактор переводчик составитель 著 绘 絵 監修 编 編 编著 編著 主编 主編 译 譯 訳 지음 옮김 엮음 تأليف
		ترجمة تحقيق`)
	// abbreviations are roles that need their dot and case: Ed is a given name.
	abbreviations = strings.Fields(`ed. eds. edt. trans. transl. tr. trad. Trad. illus. ill. Ill. comp. coord.
		Coord. dir. Dir. intro. pref. red. Red. hrsg. Hrsg.
		hg. Hg. bearb. Bearb. übers. Übers. oprac. tłum. przeł. přel. il. szerk. ford. ред. пер. сост. ил.`)
	others      = set("others otros outros altri autres andere 等")
	afterJoiner = strings.Fields("al al. kol. др.") // et al.
	joiners     = set("et and & y e i и a und en")
	yearWords   = set(`b d fl c ca cca circa born died active approximately BC AD BCE CE cent century v př kr Chr
		geb gest um род ум г гг в`)
	// signalWords separate names or go, or make a name that is not split into parts.
	signalWords = union(suffixes, companies, connectives, institutions, roles, others,
		set(strings.Join(afterJoiner, " ")))
	yearSigns  = regexp.MustCompile(`[-–—?.\s]+`)
	yearNumber = regexp.MustCompile(`^\p{Nd}+(?:st|nd|rd|th)?$`)
	yearRange  = regexp.MustCompile(`^\(?(?:\p{Nd}{3,4}\??[-–—](?:\p{Nd}{3,4}\??)?|[-–—]\p{Nd}{3,4})\.?$`)
	yearDigits = regexp.MustCompile(`\p{Nd}{3}|\p{Nd}.*\pL`)
	eras       = strings.NewReplacer("B.C.E.", "BCE", "B.C.", "BC", "A.D.", "AD")
	// finalInitials match the names of Толстой Л. Н. A Latin name needs two: Christiane F. is a given name.
	finalInitials = regexp.MustCompile(`^(\pL[^.]*\pL) ((?:\p{Cyrillic}\.[ -]?)+|(?:\p{Lu}\.[ -]?){2,})$`)
	initial       = regexp.MustCompile(`^(?:\p{L}\p{M}*\.-?)+(?:\p{Lu}\.?)?$|^\p{Lu}{1,2}$|^\p{Lu}\p{Ll}{1,2}\.$`)
)

func isParticle(word string) bool { return slices.Contains(particles, word) }

func isLowerParticle(word string) bool { return isParticle(word) && word == strings.ToLower(word) }

func isInitial(word string) bool { return initial.MatchString(word) }

func isSuffix(words []string) bool {
	return all(words, in(suffixes)) || strings.Join(words, " ") == "Ph. D."
}

func isRole(word string) bool { return roles[keyword(word)] || slices.Contains(abbreviations, word) }

func in(words map[string]bool) func(string) bool {
	return func(word string) bool { return words[keyword(word)] }
}

func all(words []string, is func(string) bool) bool {
	return !slices.ContainsFunc(words, func(word string) bool { return !is(word) })
}

func isInstitution(words []string) bool {
	return slices.ContainsFunc(words, in(institutions)) ||
		len(words) > 1 && slices.ContainsFunc(words[1:], in(companies))
}

func isConnected(words []string) bool { return slices.ContainsFunc(words, in(connectives)) }

// isEastAsian reports whether a name is written in Han, kana or hangul.
func isEastAsian(words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool {
		return strings.ContainsFunc(word, func(r rune) bool {
			return r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
		})
	})
}

// isLiteral reports whether a name is not split into parts. A name with a digit is no person's: Studio 54.
func isLiteral(words []string) bool {
	hasDigit := func(word string) bool { return strings.ContainsFunc(word, unicode.IsDigit) }
	return isInstitution(words) || isConnected(words) || isEastAsian(words) || isNote(words) && !isLoneRole(words) ||
		slices.ContainsFunc(words, hasDigit)
}

// isLoneRole reports whether a part is the word of a role, without a dot. At the start it is a family name, because
// roles follow names: Autor, David.
func isLoneRole(words []string) bool {
	return len(words) == 1 && isRole(words[0]) && !strings.HasSuffix(words[0], ".")
}

// isYears reports whether a part has only years: 1892-1973, b. 1950, 427? B.C.-347? B.C., 12th cent.
func isYears(words []string) bool {
	text := strings.Join(words, " ")
	if !strings.ContainsFunc(text, unicode.IsDigit) || !yearDigits.MatchString(text) {
		return false
	}
	parts := strings.Fields(yearSigns.ReplaceAllString(eras.Replace(text), " "))
	return all(parts, func(part string) bool { return yearNumber.MatchString(part) || yearWords[keyword(part)] })
}

// isOthers reports whether a part stands for persons without names: et al., and others.
func isOthers(words []string) bool {
	n := len(words) - 1
	return n >= 0 && all(words[:n], in(joiners)) &&
		(others[keyword(words[n])] || n > 0 && slices.Contains(afterJoiner, words[n]))
}

// isNote reports whether a part is about the name before it.
func isNote(words []string) bool {
	rest := slices.DeleteFunc(slices.Clone(words), isRole)
	return len(rest) == 0 || isYears(rest) || isOthers(words)
}

// isOneWord reports whether a part has one word and perhaps particles before it: Smith, Le Guin, de la Cruz.
func isOneWord(words []string) bool {
	i := slices.IndexFunc(words, func(word string) bool { return !isParticle(word) })
	return i == len(words)-1
}

// withoutSigns drops cataloguers' signs around a part: "Miller, Anna." ends with a sign, "Rowling, J. K." does not.
func withoutSigns(text string) string {
	for end := ""; text != end; {
		end = text
		text = strings.TrimPrefix(strings.TrimSuffix(strings.Trim(text, " :=/*|"), " -"), "- ")
	}
	if strings.Trim(text, "-. ") == "" {
		return ""
	}
	word, ok := strings.CutSuffix(text[strings.LastIndexAny(text, " -")+1:], ".")
	if !ok || strings.Contains(word, ".") || isRole(word+".") || suffixes[keyword(word)] || companies[keyword(word)] {
		return text
	}
	letters, vowels := len([]rune(word)), strings.ContainsAny(collate.Fold(word), "aeiouy")
	if letters > 3 || letters == 3 && vowels {
		return withoutSigns(text[:len(text)-1])
	}
	return text
}
