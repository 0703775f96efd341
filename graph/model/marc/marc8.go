package marc

import (
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

//go:embed ansel.txt
var anselTable string

// ansel are the characters of MARC-8 outside ASCII: the extended Latin set (ANSEL, ANSI/NISO Z39.47). mnemonics are
// their names in MARCMaker text, and those of signs of ASCII (Library of Congress, MARCMaker 21 mnemonics). A line of
// ansel.txt has the byte, the name and the character, on a circle if it is a combining mark. A mark follows its letter
// in Unicode, and precedes it in ANSEL. The second halves of marks over two letters have no character of their own.
var ansel, mnemonics = func() (byCode map[byte]string, byName map[string]string) {
	byCode, byName = map[byte]string{}, map[string]string{}
	for line := range strings.Lines(anselTable) {
		cells := strings.Fields(line)
		code, _ := strconv.ParseUint(cells[0], 16, 8)
		byCode[byte(code)], byName[cells[1]] = cells[2], cells[2]
	}
	return byCode, byName
}()

const (
	circle   = "◌"
	escape   = 0x1B
	maxMarks = 8 // marks per letter
)

// marc8Controls maps the control characters of MARC-8 to Unicode. The signs around words that do not sort are dropped.
var marc8Controls = map[byte]string{0x88: "", 0x89: "", 0x8D: "\u200D", 0x8E: "\u200C"}

// designations are the escape sequences that choose the sets that are read: ASCII and ANSEL.
var designations = []string{"(B", ",B", "s", ")!E", "-!E"}

// decodeMARC8 decodes ASCII and ANSEL. Other sets of MARC-8 are an error.
func decodeMARC8(in string) (string, error) {
	out := make([]byte, 0, len(in)+8)
	var marks []string
	for i := 0; i < len(in); i++ {
		c := in[i]
		if c == escape {
			n := designation(in[i+1:])
			if n == 0 {
				return "", fmt.Errorf("the character set of MARC-8 with the escape sequence %q is not read: convert "+
					"the file to UTF-8 with yaz-marcdump or MarcEdit",
					in[i+1:min(i+4, len(in))])
			}
			i += n
			continue
		}
		if text, isControl := marc8Controls[c]; isControl {
			out = append(out, text...)
			continue
		}
		text, isKnown := ansel[c]
		if c < utf8.RuneSelf {
			text = string(rune(c))
		} else if !isKnown {
			return "", fmt.Errorf("the byte 0x%X is no character of MARC-8", c)
		}
		if mark, isMark := strings.CutPrefix(text, circle); isMark {
			if marks = append(marks, mark); len(marks) > maxMarks {
				return "", errors.New("a letter has too many accents")
			}
			continue
		}
		out = append(out, text...)
		out = append(out, strings.Join(marks, "")...)
		marks = marks[:0]
	}
	if len(marks) > 0 {
		return "", errors.New("an accent of MARC-8 is not followed by a letter")
	}
	return norm.NFC.String(string(out)), nil
}

// designation returns the length of an escape sequence of designations at the start of a text, without the ESC, or 0.
func designation(in string) int {
	for _, d := range designations {
		if strings.HasPrefix(in, d) {
			return len(d)
		}
	}
	return 0
}
