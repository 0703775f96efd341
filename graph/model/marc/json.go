package marc

import (
	"encoding/json"
	"maps"
	"slices"
)

// ParseJSON parses a record of MARC in JSON, as yaz-marcdump writes it:
// {"leader": "…", "fields": [{"245": {"ind1": "1", "ind2": "0", "subfields": [{"a": "Emma"}]}}]}.
// ok is false for another object, and for a record that MARC cannot have.
func ParseJSON(text []byte) (r Record, ok bool) {
	var record struct {
		Leader string
		Fields []map[string]json.RawMessage
	}
	if json.Unmarshal(text, &record) != nil || record.Leader == "" {
		return Record{}, false
	}
	r.Leader = record.Leader
	for _, fields := range record.Fields {
		for _, tag := range slices.Sorted(maps.Keys(fields)) {
			if len(tag) != 3 || !isASCII(tag) {
				return Record{}, false
			}
			var control string
			if json.Unmarshal(fields[tag], &control) == nil {
				r.Control = append(r.Control, ControlField{tag, control})
				continue
			}
			var data struct {
				Ind1, Ind2 string
				Subfields  []map[string]string
			}
			if json.Unmarshal(fields[tag], &data) != nil {
				return Record{}, false
			}
			f := DataField{Tag: tag, Indicators: [2]byte{indicator(data.Ind1), indicator(data.Ind2)}}
			for _, subfields := range data.Subfields {
				for _, code := range slices.Sorted(maps.Keys(subfields)) {
					if len(code) != 1 || !isASCII(code) {
						return Record{}, false
					}
					f.Subfields = append(f.Subfields, subfield(code[0], subfields[code]))
				}
			}
			r.Data = append(r.Data, f)
		}
	}
	return r, true
}

// indicator returns an indicator, or a blank.
func indicator(text string) byte {
	if len(text) == 1 && isASCII(text) {
		return text[0]
	}
	return ' '
}
