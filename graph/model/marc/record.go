// Package marc encodes books as MARC 21 bibliographic records, and reads records in the formats of libraries: ISO 2709,
// MARCXML and MARCMaker text (.mrk).
//
// One table holds in both directions. FromBook writes the fields of the last column. Record.Values reads
// the first field of the middle column that has a value.
//
//	field        read                                                        written
//	name         245 $a $b $n $p                                             245 $a
//	subtitle     245 $b, by Record.SplitTitle alone                          245 $b
//	series       830 $a, 490 $a                                              490 0_ $a
//	seriesNumber 830 $v, 490 $v                                              490 0_ $v
//	author       100, 110, 111 and 700, 710 of authors, 245 $c               100 or 110, 700 or 710, 245 $c
//	isbn         020 $a                                                      020 $a
//	price        020 $c, 952 $v (replacement price), 952 $g                  020 $c
//	publisher    264 _1 $b, 260 $b                                           264 _1 $b
//	publishedAt  264 _1 $c, 260 $c, 008/07-14                                264 _1 $c, 008/07-14
//	language     041 $a, 008/35-37                                           008/35-37, 041 _7 if that says more
//	pages        300 $a                                                      300 $a
//	description  520 $a $b                                                   520 $a, one field a paragraph
//	genre        655 $a, 650 $a                                              655 _7 $a $2 local
//	category     650 _7 $a with $2 local, if there is a 655                  650 _7 $a $2 local
//	shelf mark   852 $k $h $i $m, 852 $j, 952 $o, 090, 050 $a $b              852 8_ $h
//	id           -                                                           001
//	updatedAt    -                                                           005
//	createdAt    -                                                           008/00-05
//
// The shelf mark is 852 $h, because Koha, VuFind and our own import of CSV read call numbers there. First indicator 8
// says that its scheme is the library's own. 852 $j is for numbers that say only the place, and is read.
package marc

import "strings"

// Record is a bibliographic record of MARC 21. Its texts are UTF-8.
type Record struct {
	Leader  string // 24 bytes of ASCII
	Control []ControlField
	Data    []DataField
}

// ControlField is a field 001 to 009.
type ControlField struct {
	Tag  string // 3 characters
	Text string
}

// DataField is a field 010 to 999.
type DataField struct {
	Tag        string  // 3 characters
	Indicators [2]byte // ASCII
	Subfields  []Subfield
}

// Subfield is a subfield of a DataField.
type Subfield struct {
	Code byte // ASCII
	Text string
}

// nonSorting are the signs around the words at the start of a text that do not count in its order (ISO 6630).
var nonSorting = strings.NewReplacer("\u0088", "", "\u0089", "", "\u0098", "", "\u009C", "")

// subfield returns a subfield of a file.
func subfield(code byte, text string) Subfield { return Subfield{code, nonSorting.Replace(text)} }

// field returns a field of subfields, given as codes and texts. Subfields without a text are left out.
func field(tag, indicators string, codesAndTexts ...string) DataField {
	f := DataField{Tag: tag, Indicators: [2]byte{indicators[0], indicators[1]}}
	for i := 0; i < len(codesAndTexts); i += 2 {
		if codesAndTexts[i+1] != "" {
			f.Subfields = append(f.Subfields, Subfield{codesAndTexts[i][0], codesAndTexts[i+1]})
		}
	}
	return f
}
