package citation

import (
	_ "embed"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"library-catalogue/graph/model/textline"
)

//go:embed latex.txt
var latexTable string

// accents are the combining marks of LaTeX's commands for accents, and symbols what other commands print. latex.txt has
// them as command:text, and a mark stands on a circle.
var accents, symbols = func() (accents, symbols map[string]string) {
	accents, symbols = map[string]string{}, textline.Pairs(latexTable)
	for name, text := range symbols {
		if mark, isMark := strings.CutPrefix(text, "◌"); isMark {
			accents[name] = mark
			delete(symbols, name)
		}
	}
	for _, name := range []string{`\`, " ", "\n", ",", "par", "newline", "quad"} {
		symbols[name] = " "
	}
	return accents, symbols
}()

// styles are commands of LaTeX without a text of their own. Their argument stays.
var styles = func() map[string]bool {
	known := map[string]bool{}
	for _, name := range strings.Fields(
		`emph textit textbf textsc textrm textsf texttt textsl textup textsuperscript textsubscript text mbox underline
		enquote url em it bf sc rm sf tt itshape bfseries scshape upshape normalfont relax noopsort protect
		mkbibquote mkbibemph`) {
		known[name] = true
	}
	return known
}()

// ligatures are the signs that LaTeX joins, longest first.
var ligatures = []struct{ from, to string }{{"---", "—"}, {"--", "–"}, {"``", "“"}, {"''", "”"}, {"~", " "}}

// unlatex returns the text that LaTeX prints, with runs of white space as one space. It leaves unknown commands and
// formulas as they are.
func unlatex(text string) string {
	if !strings.ContainsAny(text, "\\{}~-`'") {
		return oneLine(text)
	}
	var b strings.Builder
	for text != "" {
		before := len(text)
		for _, l := range ligatures {
			if rest, ok := strings.CutPrefix(text, l.from); ok {
				b.WriteString(l.to)
				text = rest
				break
			}
		}
		switch {
		case len(text) < before:
		case text[0] == '\\':
			text = command(&b, text)
		case text[0] == '{', text[0] == '}':
			text = text[1:]
		default:
			_, size := utf8.DecodeRuneInString(text)
			b.WriteString(text[:size])
			text = text[size:]
		}
	}
	return norm.NFC.String(oneLine(b.String()))
}

// command writes what the command at the start of a text prints, and returns the rest.
func command(b *strings.Builder, text string) (rest string) {
	name, rest := commandName(text[1:])
	if accent, ok := accents[name]; ok {
		switch letter, after, ok := argument(rest); {
		case ok && letter == "": // \~{}
			b.WriteString(name)
			return after
		case ok:
			_, size := utf8.DecodeRuneInString(letter)
			b.WriteString(dotted.Replace(letter[:size]) + accent + letter[size:])
			return after
		}
	}
	isWord := name != "" && isLetter(name[0])
	if symbol, ok := symbols[name]; ok {
		b.WriteString(symbol)
		if isWord {
			rest = strings.TrimPrefix(strings.TrimLeft(rest, " "), "{}")
		}
		return rest
	}
	if styles[name] {
		return strings.TrimLeft(rest, " ")
	}
	b.WriteString(`\` + name)
	return rest
}

// dotted replaces the letters that lose their dot under an accent.
var dotted = strings.NewReplacer("ı", "i", "ȷ", "j")

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// commandName returns the name of a command, of letters or of one other character.
func commandName(text string) (name, rest string) {
	n := 0
	for n < len(text) && isLetter(text[n]) {
		n++
	}
	if n == 0 && text != "" {
		_, n = utf8.DecodeRuneInString(text)
	}
	return text[:n], text[n:]
}

// maxArgument is the maximum number of bytes of a letter with an accent: {\textquotesingle}.
const maxArgument = 32

// argument returns the letter under an accent: o, {o}, { o }, \i, {\i}, {\ss} or {} for the accent alone.
func argument(text string) (letter, rest string, ok bool) {
	text = strings.TrimLeft(text, " ")
	if text == "" {
		return "", "", false
	}
	switch c, size := utf8.DecodeRuneInString(text); {
	case c == '{':
		end := strings.IndexByte(text[:min(len(text), maxArgument)], '}')
		if end < 0 {
			return "", "", false
		}
		inside := strings.TrimSpace(text[1:end])
		if name, after := commandName(strings.TrimPrefix(inside, `\`)); strings.HasPrefix(inside, `\`) &&
			symbols[name] != "" {
			inside = symbols[name] + after
		}
		if inside == "" || strings.ContainsAny(inside, `\{`) {
			return inside, text[end+1:], inside == "" // ~{} is no letter
		}
		return inside, text[end+1:], true
	case c == '\\':
		name, after := commandName(text[1:])
		if letter = symbols[name]; letter != "" && isLetter(name[0]) {
			return letter, strings.TrimPrefix(strings.TrimLeft(after, " "), "{}"), true
		}
	case unicode.IsLetter(c):
		return text[:size], text[size:], true
	}
	return "", "", false
}
