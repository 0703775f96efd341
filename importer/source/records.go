package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"library-catalogue/graph/model"
	"library-catalogue/graph/model/marc"
)

// Record is a row of a file before its cells are read.
type Record struct {
	Line    int        // first line in the file
	Cells   []string   // unchanged; for JSON the text of the object
	Values  model.Form // JSON only: by key
	Problem string     // why it is unreadable; "" if it is readable
	Mend    string     // advice for Problem
	Size    int        // in bytes
	Unended bool       // CSV only: the last row, without a line end
}

// RecordReader reads the records of a file. After the last record, Next returns io.EOF.
type RecordReader interface {
	Next() (Record, error)
}

const mendLength = "Shorten it."

// ParseJSON parses the values of a JSON record. noun names the place of the text in problems.
func (r *Record) ParseJSON(text []byte, noun string) {
	var err error
	if r.Values, err = model.ParseForm(text); err != nil {
		r.Mend = "Write one whole object, like {\"name\": \"Emma\"}."
	}
	if errors.Is(err, model.ErrNotObject) {
		r.Problem = "The " + noun + " is not a JSON object."
	} else if err != nil {
		r.Problem = "The " + noun + " is not valid JSON: " + err.Error() + "."
	} else if bytes.ContainsAny(text[1:], "[{") {
		r.flatten(text)
	}
}

// flatten replaces lists and objects in the values by their texts. An object without one gives a value for each of its
// names, like volumeInfo.title.
func (r *Record) flatten(text []byte) {
	if record, ok := marc.ParseJSON(text); ok {
		r.Values = formOf(record.Values())
		r.refuse(record)
		return
	}
	for name, raw := range members(text) {
		if raw[0] != '[' && raw[0] != '{' {
			continue
		}
		flat := flatText(raw, 0)
		if flat != "" || len(bytes.Trim(raw, "[]{} \t\r\n")) == 0 {
			r.Values[name] = model.Text(flat)
			continue
		}
		before := len(r.Values)
		if r.flattenMembers(name, raw, 1); len(r.Values) > before {
			delete(r.Values, name)
		}
	}
}

// flattenMembers adds the texts of an object's members.
func (r *Record) flattenMembers(name string, object []byte, depth int) {
	for inner, raw := range members(object) {
		joined, ok := joinNames(name, inner)
		if !ok {
			continue
		}
		if flat := flatText(raw, 0); flat != "" {
			r.Values[joined] = model.Text(flat)
		} else if depth < maxFlat {
			r.flattenMembers(joined, raw, depth+1)
		}
	}
}

// members returns the members of a JSON object, or nil.
func members(object []byte) (raw map[string]json.RawMessage) {
	_ = json.Unmarshal(object, &raw) // ParseForm has checked it
	return raw
}

// maxFlat is the maximum depth of lists and objects that flatText reads.
const maxFlat = 4

// textNames are the names of objects that only have a text, such as {"type": "/type/text", "value": "Emma"}.
var textNames = []string{"value", "name", "text", "amount", "literal", "raw"}

// nameParts are the parts of a person's name in the order in which they are spoken, without case and signs: given names,
// particle, family name and suffix, as CSL JSON, BibLaTeX, Zotero and schema.org call them.
var nameParts = strings.Fields(`honorificprefix given givenname givennames firstname firstnames forename forenames first
	middle middlename middlenames additionalname droppingparticle nondroppingparticle particle prefix nameprefix von prelast
	family familyname lastname surname last suffix namesuffix honorificsuffix lineage jr`)

var withoutSigns = strings.NewReplacer("-", "", "_", "", " ", "")

// personText returns the name of a person whose parts are the texts of an object, or "". A prefix with a point is a title
// and no particle: Dr. Ann One.
func personText(object map[string]json.RawMessage) string {
	parts := make([]string, len(nameParts))
	title, names := "", 0
	for key, raw := range object {
		i := slices.Index(nameParts, withoutSigns.Replace(strings.ToLower(key)))
		if i < 0 || raw[0] != '"' {
			continue
		}
		text := flatText(raw, 0)
		switch {
		case text == "":
		case strings.HasSuffix(nameParts[i], "prefix") && strings.HasSuffix(text, "."):
			title = text
		default:
			parts[i] = text
			names++
		}
	}
	if names == 0 {
		return ""
	}
	return strings.Join(strings.Fields(title+" "+strings.Join(parts, " ")), " ")
}

// flatText returns the text of a JSON value: a list is joined, an object is its value or name. It returns "" without one.
func flatText(raw json.RawMessage, depth int) (text string) {
	switch {
	case depth > maxFlat, bytes.Contains([]byte("ntf"), raw[:1]):
		return ""
	case raw[0] == '"':
		_ = json.Unmarshal(raw, &text)
		return strings.TrimSpace(text)
	case raw[0] == '[':
		var list []json.RawMessage
		_ = json.Unmarshal(raw, &list)
		return flatTexts(list, ", ", depth)
	case raw[0] != '{':
		return string(raw)
	}
	object := members(raw)
	if parts := object["date-parts"]; len(parts) > 0 { // [[1965, 8, 1]] of CSL JSON, with the end of a range behind it
		var days []json.RawMessage
		if json.Unmarshal(parts, &days) == nil && len(days) > 0 {
			parts = days[0]
		}
		return strings.ReplaceAll(flatText(parts, depth+1), ", ", "-")
	}
	var key string
	if json.Unmarshal(object["key"], &key) == nil && strings.HasPrefix(key, languageKey) { // of Open Library
		return strings.TrimPrefix(key, languageKey)
	}
	for _, name := range textNames {
		if raw, ok := object[name]; ok {
			if text = flatTexts([]json.RawMessage{raw}, " ", depth); text != "" {
				return text
			}
		}
	}
	return personText(object)
}

// languageKey begins the key of a language: {"key": "/languages/spa"}.
const languageKey = "/languages/"

// listedText returns the text of an object in a list: its tag or label, or the only text of its objects.
func listedText(object map[string]json.RawMessage, depth int) (text string) {
	for _, name := range []string{"tag", "label"} {
		if raw := object[name]; len(raw) > 0 {
			return flatText(raw, depth+1)
		}
	}
	for _, raw := range object {
		if raw[0] != '{' {
			continue
		}
		if inner := flatText(raw, depth+1); inner != "" && text != "" {
			return ""
		} else if inner != "" {
			text = inner
		}
	}
	return text
}

// flatTexts joins the texts of values.
func flatTexts(list []json.RawMessage, separator string, depth int) string {
	var texts []string
	for _, raw := range list {
		text := flatText(raw, depth+1)
		if text == "" && raw[0] == '{' {
			text = listedText(members(raw), depth+1)
		}
		if text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, separator)
}
