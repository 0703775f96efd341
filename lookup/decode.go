package lookup

import (
	"bytes"
	"errors"
	"mime"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// declared matches the encoding of an XML declaration.
var declared = regexp.MustCompile(`^\s*<\?xml[^>]*\bencoding=["']([\w.:-]+)["']`)

var errEncoding = errors.New("the characters of the response are not in the encoding that it names")

// decode returns a response as UTF-8. Valid UTF-8 stays, because servers often name another encoding by mistake. Else
// a byte order mark, the media type and the XML declaration decide (RFC 7303, section 3).
func decode(raw []byte, contentType string) ([]byte, error) {
	raw, _, err := transform.Bytes(unicode.BOMOverride(encoding.Nop.NewDecoder()), raw)
	if err == nil && utf8.Valid(raw) {
		return raw, nil
	}
	_, parameters, _ := mime.ParseMediaType(contentType)
	name := strings.TrimSpace(parameters["charset"])
	if found := declared.FindSubmatch(raw); name == "" && found != nil {
		name = string(found[1])
	}
	charset, err := htmlindex.Get(name)
	if err != nil || strings.EqualFold(name, "x-user-defined") { // which has no letters
		return nil, errEncoding
	}
	text, err := charset.NewDecoder().Bytes(raw)
	if err != nil || bytes.ContainsRune(text, utf8.RuneError) {
		return nil, errEncoding
	}
	return text, nil
}
