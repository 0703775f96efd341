package marc

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// ansel are the letters and signs of the extended Latin set of MARC-8 (ANSEL, ANSI/NISO Z39.47) from 0xA1.
var ansel = [...]rune{
	'Ł', 'Ø', 'Đ', 'Þ', 'Æ', 'Œ', 'ʹ', '·', '♭', '®', '±', 'Ơ', 'Ư', 'ʼ', 0, // 0xA1 to 0xAF
	'ʻ', 'ł', 'ø', 'đ', 'þ', 'æ', 'œ', 'ʺ', 'ı', '£', 'ð', 0, 'ơ', 'ư', 0, 0, // 0xB0
	'°', 'ℓ', '℗', '©', '♯', '¿', '¡', 'ß', '€', // 0xC0
}

// anselMarks are the combining marks of ANSEL from 0xE0. A mark follows its letter in Unicode, and precedes it in
// ANSEL. The second halves of marks over two letters, 0xEC and 0xFB, have no character of their own.
var anselMarks = [...]rune{
	// 0xE0
	0x309, 0x300, 0x301, 0x302, 0x303, 0x304, 0x306, 0x307, 0x308, 0x30C, 0x30A, 0x361, secondHalf, 0x315, 0x30B, 0x310,
	0x327, 0x328, 0x323, 0x324, 0x325, 0x333, 0x332, 0x326, 0x31C, 0x32E, 0x360, secondHalf, 0, 0, 0x313, // 0xF0
}

const (
	secondHalf = -1
	escape     = 0x1B
	maxMarks   = 8 // marks per letter
)

// marc8Controls maps the control characters of MARC-8 to Unicode. The signs around words that do not sort are dropped.
var marc8Controls = map[byte]string{0x88: "", 0x89: "", 0x8D: "\u200D", 0x8E: "\u200C"}

// designations are the escape sequences that choose the sets that are read: ASCII and ANSEL.
var designations = []string{"(B", ",B", "s", ")!E", "-!E"}

// decodeMARC8 decodes ASCII and ANSEL. Other sets of MARC-8 are an error.
func decodeMARC8(in string) (string, error) {
	out := make([]byte, 0, len(in)+8)
	var marks []rune
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
		base := rune(c)
		switch text, isControl := marc8Controls[c]; {
		case isControl:
			out = append(out, text...)
			continue
		case c >= 0xE0 && int(c-0xE0) < len(anselMarks) && anselMarks[c-0xE0] != 0:
			if mark := anselMarks[c-0xE0]; mark != secondHalf {
				marks = append(marks, mark)
			}
			if len(marks) > maxMarks {
				return "", errors.New("a letter has too many accents")
			}
			continue
		case c >= 0xA1 && int(c-0xA1) < len(ansel):
			base = ansel[c-0xA1]
		case c >= 0x80:
			base = 0
		}
		if base == 0 {
			return "", fmt.Errorf("the byte 0x%X is no character of MARC-8", c)
		}
		out = append(out, string(base)...)
		out = append(out, string(marks)...)
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
