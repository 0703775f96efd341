package importer

import (
	"errors"

	"library-catalogue/graph/model"
)

// record is what stands in a file in the place of a book.
type record struct {
	line    int        // of the file, where it begins
	cells   []string   // as they were; of JSON one, the text
	values  model.Form // of JSON: by key
	problem string     // why it cannot be read, if it cannot
	mend    string     // what to do about that
	size    int        // in bytes
}

// recordReader reads the records of a file. After the last one its error is io.EOF.
type recordReader interface {
	next() (record, error)
}

// mendLength is what to do about a record that is too long.
const mendLength = "Shorten it."

// parseJSON reads the values of a record of JSON. noun names what it stands in.
func (r *record) parseJSON(text []byte, noun string) {
	var err error
	if r.values, err = model.ParseForm(text); err != nil {
		r.mend = "Write one whole object, like {\"name\": \"Emma\"}."
	}
	if errors.Is(err, model.ErrNotObject) {
		r.problem = "The " + noun + " is not a JSON object."
	} else if err != nil {
		r.problem = "The " + noun + " is not valid JSON: " + err.Error() + "."
	}
}
