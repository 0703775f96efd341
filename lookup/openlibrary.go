package lookup

import (
	"cmp"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"library-catalogue/graph/model"
	"library-catalogue/graph/model/author"
)

// readOpenLibrary reads a response of the Books API of Open Library (jscmd=details).
func readOpenLibrary(response []byte, isbn string, now time.Time) (*model.FoundBook, error) {
	var books map[string]struct{ Details map[string]any }
	if err := json.Unmarshal(response, &books); err != nil {
		return nil, errors.New("the response is not the JSON of Open Library, or is cut off")
	}
	details := books["ISBN:"+isbn].Details
	if details == nil {
		return nil, nil
	}
	first := func(key string) string {
		text, _, _ := strings.Cut(flat(details[key]), separator)
		return text
	}
	values := map[string]string{
		"name": flat(details["title"]), "subtitle": flat(details["subtitle"]), "series": first("series"),
		"author":       cmp.Or(author.Join(author.Parse(flat(details["authors"]))), flat(details["by_statement"])),
		"published_at": flat(details["publish_date"]), "description": flat(details["description"]),
		"pages":     cmp.Or(flat(details["number_of_pages"]), flat(details["pagination"])),
		"publisher": first("publishers"), "language": first("languages"), "genre": first("subjects"),
	}
	return bookOf(values, isbn, now), nil
}

// separator joins the texts of a list.
const separator = "; "

// flat returns the text of a value: of a list all, of an object its name, value or language.
func flat(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []any:
		var texts []string
		for _, item := range v {
			if text := flat(item); text != "" {
				texts = append(texts, text)
			}
		}
		return strings.Join(texts, separator)
	case map[string]any:
		key, _ := v["key"].(string)
		language, _ := strings.CutPrefix(key, "/languages/")
		if language == key {
			language = ""
		}
		return cmp.Or(flat(v["name"]), flat(v["value"]), language)
	}
	return ""
}
