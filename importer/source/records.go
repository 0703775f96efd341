package source

import (
	"errors"

	"library-catalogue/graph/model"
)

// Record is what stands in a file in the place of a book.
type Record struct {
	Line    int        // of the file, where it begins
	Cells   []string   // as they were; of JSON one, the text
	Values  model.Form // of JSON: by key
	Problem string     // why it cannot be read, if it cannot
	Mend    string     // what to do about that
	Size    int        // in bytes
}

// RecordReader reads the records of a file. After the last one its error is io.EOF.
type RecordReader interface {
	Next() (Record, error)
}

// mendLength is what to do about a record that is too long.
const mendLength = "Shorten it."

// ParseJSON reads the values of a record of JSON. noun names what it stands in.
func (r *Record) ParseJSON(text []byte, noun string) {
	var err error
	if r.Values, err = model.ParseForm(text); err != nil {
		r.Mend = "Write one whole object, like {\"name\": \"Emma\"}."
	}
	if errors.Is(err, model.ErrNotObject) {
		r.Problem = "The " + noun + " is not a JSON object."
	} else if err != nil {
		r.Problem = "The " + noun + " is not valid JSON: " + err.Error() + "."
	}
}
