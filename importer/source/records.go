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
	var members map[string]json.RawMessage
	_ = json.Unmarshal(text, &members) // ParseForm has checked it
	for name, raw := range members {
		if raw[0] != '[' && raw[0] != '{' {
			continue
		}
		var value any
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.UseNumber()
		_ = decoder.Decode(&value)
		if flat := flatText(value, 0); flat != "" || len(bytes.Trim(raw, "[]{} \t\r\n")) == 0 {
			r.Values[name] = model.Text(flat)
			continue
		}
		before := len(r.Values)
		if r.flattenMembers(name, value, 1); len(r.Values) > before {
			delete(r.Values, name)
		}
	}
}

// flattenMembers adds the texts of an object's members.
func (r *Record) flattenMembers(name string, object any, depth int) {
	members, _ := object.(map[string]any)
	for inner, value := range members {
		joined, ok := joinNames(name, inner)
		if !ok {
			continue
		}
		if flat := flatText(value, 0); flat != "" {
			r.Values[joined] = model.Text(flat)
		} else if depth < maxFlat {
			r.flattenMembers(joined, value, depth+1)
		}
	}
}

// maxFlat is the maximum depth of lists and objects that flatText reads.
const maxFlat = 4

// textNames are the names of objects that only have a text, such as {"type": "/type/text", "value": "Emma"}.
var textNames = []string{"value", "name", "text", "amount", "literal", "raw"}

// nameParts are the parts of a person's name in the order in which they are spoken, without case and signs: given
// names, particle, family name and suffix, as CSL JSON, BibLaTeX, Zotero and schema.org call them.
var nameParts = strings.Fields(`honorificprefix given givenname givennames firstname firstnames forename forenames first
	middle middlename middlenames additionalname droppingparticle nondroppingparticle particle prefix nameprefix von
	prelast family familyname lastname surname last suffix namesuffix honorificsuffix lineage jr`)

var withoutSigns = strings.NewReplacer("-", "", "_", "", " ", "")

// personText returns the name of a person from the parts in an object, or "". A prefix with a point is a title
// and no particle: Dr. Ann One.
func personText(object map[string]any) string {
	parts := make([]string, len(nameParts))
	title, names := "", 0
	for key, value := range object {
		i := slices.Index(nameParts, withoutSigns.Replace(strings.ToLower(key)))
		text, _ := value.(string)
		text = strings.TrimSpace(text)
		switch {
		case i < 0, text == "":
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

// flatText returns the text of a JSON value: a list is joined, an object is its value or name. It returns "" without
// one.
func flatText(value any, depth int) string {
	if depth > maxFlat {
		return ""
	}
	switch value := value.(type) {
	case string:
		return strings.TrimSpace(value)
	case json.Number:
		return value.String()
	case []any:
		return flatTexts(value, ", ", depth)
	case map[string]any:
		return objectText(value, depth)
	}
	return ""
}

// objectText returns the text of an object: its date, the language of its key, its value, or the name of a person.
func objectText(object map[string]any, depth int) string {
	if parts, ok := object["date-parts"]; ok { // [[1965, 8, 1]] of CSL JSON, with the end of a range behind it
		if days, _ := parts.([]any); len(days) > 0 {
			parts = days[0]
		}
		return strings.ReplaceAll(flatText(parts, depth+1), ", ", "-")
	}
	key, _ := object["key"].(string)
	if language, ok := strings.CutPrefix(key, "/languages/"); ok { // {"key": "/languages/spa"} in Open Library
		return language
	}
	for _, name := range textNames {
		if value, ok := object[name]; ok {
			if text := flatTexts([]any{value}, " ", depth); text != "" {
				return text
			}
		}
	}
	return personText(object)
}

// listedText returns the text of an object in a list: its tag or label, or the only text of its objects.
func listedText(object map[string]any, depth int) (text string) {
	for _, name := range []string{"tag", "label"} {
		if value, ok := object[name]; ok {
			return flatText(value, depth+1)
		}
	}
	for _, value := range object {
		member, isObject := value.(map[string]any)
		if !isObject {
			continue
		}
		if inner := flatText(member, depth+1); inner != "" && text != "" {
			return ""
		} else if inner != "" {
			text = inner
		}
	}
	return text
}

// flatTexts joins the texts of values.
func flatTexts(list []any, separator string, depth int) string {
	var texts []string
	for _, value := range list {
		text := flatText(value, depth+1)
		if object, ok := value.(map[string]any); ok && text == "" {
			text = listedText(object, depth+1)
		}
		if text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, separator)
}
