package marc

import "library-catalogue/graph/model/textline"

// unimarc has the subfields of MARC 21 that subfields of UNIMARC become. All of a field become one field.
var unimarc = textline.Pairs(`
	010a:020a 010d:020c 101a:041a 200a:245a 200e:245b 200h:245n 200i:245p 200f:245c 210c:260b 210d:260c
	214c:260b 214d:260c 215a:300a 225a:490a 225v:490v 330a:520a 606a:650a 608a:655a
	700a:100a 700b:100b 701a:700a 701b:700b 710a:110a 711a:710a
`)

// FromUNIMARC returns a record of UNIMARC as MARC 21, with the fields of a book.
func (r Record) FromUNIMARC() Record {
	out := Record{Leader: r.Leader}
	for _, f := range r.Data {
		to := DataField{Indicators: [2]byte{'1', ' '}}
		for _, s := range f.Subfields {
			tag, last := unimarc[f.Tag+string(rune(s.Code))], len(to.Subfields)-1
			switch {
			case tag == "":
				continue
			case tag[1:] == "00b" && last >= 0: // the forename follows the family name
				to.Subfields[last].Text += ", " + s.Text
			default:
				to.Subfields = append(to.Subfields, Subfield{tag[3], s.Text})
			}
			to.Tag = tag[:3]
		}
		if to.Tag != "" {
			out.Data = append(out.Data, to)
		}
	}
	return out
}
