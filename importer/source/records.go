package source

import (
	"errors"

	"library-catalogue/graph/model"
)

// Record is a row of a file before its cells are read.
type Record struct {
	Line    int        // first line in the file
	Cells   []string   // unchanged; for JSON the text of the object
	Values  model.Form // JSON only: by key
	Problem string     // why it is unreadable; "" if it is readable
	Mend    string     // advice for Problem
	Size    int        // in bytes
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
	}
}
