package changes

import (
	"encoding/json"
	"fmt"
	"time"

	"library-catalogue/graph/model"
)

// Decode returns the row with an id and a version of a JSON object of its other columns. Columns that it lacks are
// newer than the object and stay zero.
func Decode[T any](table string, fields []model.RowField[T], id model.ID, version int64, object string) (*T, error) {
	var columns map[string]json.RawMessage
	if err := json.Unmarshal([]byte(object), &columns); err != nil {
		return nil, fmt.Errorf("a logged row of %s: %w", table, err)
	}
	row := new(T)
	for _, f := range fields {
		value, logged := columns[f.Column]
		if !logged {
			continue
		}
		if err := decodeColumn(f.Pointer(row), value); err != nil {
			return nil, fmt.Errorf("a logged row of %s: column %s: %w", table, f.Column, err)
		}
	}
	Identify(fields, row, id, version)
	return row, nil
}

// VersionBefore returns the version of the row before a change with a version. A deletion does not raise it.
func VersionBefore(operation string, version int64) int64 {
	if operation == "u" {
		version--
	}
	return version
}

// Identify sets the columns that a logged row omits.
func Identify[T any](fields []model.RowField[T], row *T, id model.ID, version int64) {
	for _, f := range fields {
		switch f.Column {
		case "id":
			*f.Pointer(row).(*model.ID) = id
		case "version":
			*f.Pointer(row).(*int64) = version
		}
	}
}

// decodeColumn sets the value behind a pointer of a RowField.
func decodeColumn(p any, value json.RawMessage) error {
	var text string
	switch p := p.(type) {
	case *model.ID:
		return json.Unmarshal(value, (*int64)(p))
	case *model.Cents:
		return json.Unmarshal(value, (*int64)(p))
	case *model.Date:
		if err := json.Unmarshal(value, &text); err != nil {
			return err
		}
		return p.Scan(text)
	case *model.Timestamp:
		if err := json.Unmarshal(value, &text); err != nil {
			return err
		}
		at, err := time.Parse(time.RFC3339Nano, text)
		*p = model.Timestamp(at.UnixMicro())
		return err
	}
	return json.Unmarshal(value, p)
}
