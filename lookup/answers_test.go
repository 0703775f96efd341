package lookup

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/graph/model/marc"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// now is the time of requests in tests.
var now = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// answer is a response of a source in testdata/answers.txt.
type answer struct {
	source, title, isbn, body string
}

// checkDigit returns the last digit of an ISBN of 13 digits.
func checkDigit(digits string) string {
	sum := 0
	for i, c := range digits {
		sum += int(c-'0') * (1 + i%2*2)
	}
	return fmt.Sprint((10 - sum%10) % 10)
}

// numbered returns the nth ISBN with 13 and with 10 digits.
func numbered(n int) (isbn, isbn10 string) {
	digits := fmt.Sprintf("316148%03d", n)
	sum := 0
	for i, c := range digits {
		sum += int(c-'0') * (10 - i)
	}
	last := fmt.Sprint((11 - sum%11) % 11)
	if last == "10" {
		last = "X"
	}
	return "978" + digits + checkDigit("978"+digits), digits + last
}

// readAnswers returns the responses in testdata, with the records in the XML of their source.
func readAnswers(t *testing.T) (answers []answer) {
	t.Helper()
	text, err := os.ReadFile("testdata/answers.txt")
	if err != nil {
		t.Fatal(err)
	}
	for i, part := range strings.Split(string(text), "## ")[1:] {
		heading, body, _ := strings.Cut(part, "\n")
		source, title, _ := strings.Cut(heading, " ")
		isbn, isbn10 := numbered(i + 500)
		hyphens := isbn[:3] + "-" + isbn[3:4] + "-" + isbn[4:6] + "-" + isbn[6:12] + "-" + isbn[12:]
		body = strings.NewReplacer("{isbn}", isbn, "{isbn10}", isbn10, "{hyphens}", hyphens).Replace(body)
		if source != "openlibrary" {
			body = sruOf(t, source, body)
		}
		answers = append(answers, answer{source, title, isbn, body})
	}
	return answers
}

// sruOf returns a response of a source with records in the text of MARCMaker.
func sruOf(t *testing.T, source, text string) string {
	t.Helper()
	var records []string
	reader := marc.NewTextReader(strings.NewReader(strings.ReplaceAll(text, "\n=LDR", "\n\n=LDR")))
	for {
		record, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		xml := string(marc.AppendXML(nil, record))
		switch source {
		case "loc":
			xml = strings.NewReplacer("<record", "<marc:record", "xmlns=", "xmlns:marc=", "<leader", "<marc:leader",
				"<controlfield", "<marc:controlfield", "<datafield", "<marc:datafield", "<subfield", "<marc:subfield",
				"</", "</marc:").Replace(xml)
		case "sudoc":
			xml = strings.Replace(xml, ` xmlns="`+marc.Namespace+`"`, "", 1)
		}
		records = append(records, xml)
	}
	prefix, declared := "zs:", "xmlns:zs"
	switch source {
	case "dnb":
		prefix, declared = "", "xmlns"
	case "sudoc":
		prefix, declared = "srw:", "xmlns:srw"
	}
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n")
	fmt.Fprintf(&b, `<%ssearchRetrieveResponse %s="http://www.loc.gov/zing/srw/"><%[1]sversion>1.1</%[1]sversion>`, prefix, declared)
	fmt.Fprintf(&b, "<%snumberOfRecords>%d</%[1]snumberOfRecords><%[1]srecords>", prefix, len(records))
	for i, xml := range records {
		fmt.Fprintf(&b, "<%srecord><%[1]srecordSchema>marcxml</%[1]srecordSchema><%[1]srecordPacking>xml</%[1]srecordPacking>"+
			"<%[1]srecordData>%s</%[1]srecordData><%[1]srecordPosition>%[3]d</%[1]srecordPosition></%[1]srecord>", prefix, xml, i+1)
	}
	fmt.Fprintf(&b, "</%srecords></%[1]ssearchRetrieveResponse>", prefix)
	return b.String()
}

// TestAnswers reads what sources respond. testdata/answers.want has the values, without the ISBN.
func TestAnswers(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	for _, a := range readAnswers(t) {
		read := readSRU
		if a.source == "openlibrary" {
			read = readOpenLibrary
		}
		book, err := read([]byte(a.body), a.isbn, now)
		if err != nil {
			t.Errorf("%s %s: %v", a.source, a.title, err)
			continue
		}
		fmt.Fprintf(&got, "## %s %s\n", a.source, a.title)
		if book == nil {
			got.WriteString("unknown\n")
			continue
		}
		text, err := json.Marshal(book)
		must(t, err)
		var values map[string]any
		must(t, json.Unmarshal(text, &values))
		for _, key := range slices.Sorted(maps.Keys(values)) {
			if values[key] != nil && key != "isbn" && key != "source" {
				fmt.Fprintf(&got, "%s: %q\n", key, fmt.Sprint(values[key]))
			}
		}
	}
	if *update {
		if err := os.WriteFile("testdata/answers.want", []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/answers.want")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Error(diff)
	}
}
