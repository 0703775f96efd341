package importer

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPrograms reads files in the form in which other programs export them, with one line of flags each.
func TestPrograms(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		file  string
		flags string // option=FIELD=VALUE
		want  []string
	}{
		{"goodreads.csv", "default=category=Unsorted default=price=0 default=genre=Unsorted", []string{
			"Dune (Dune, #1)||658|1965-01-01|Frank Herbert|0.00|Unsorted|Unsorted",
			"Emma||474|2003-01-01|Jane Austen|0.00|Unsorted|Unsorted",
			"The Cyberiad||295|1965-01-01|Stanisław Lem|0.00|Unsorted|Unsorted",
		}},
		{"librarything.tsv", "default=category=Unsorted default=price=0 default=genre=Unsorted", []string{
			"Dune|Dune by Frank Herbert (1990)|535|1990-01-01|Frank Herbert|7.99|Fiction|Unsorted",
			"Die unendliche Geschichte||428|1979-01-01|Michael Ende|0.00|Unsorted|Unsorted",
			"Momo||304|1973-01-01|Michael Ende|12.50|Kinderbuch|Unsorted",
		}},
		{"calibre.csv", "default=pages=1 default=category=Unsorted default=price=0 default=genre=Unsorted default=published_at=2000-01-01", []string{
			"Dune|<div>\n<p>A desert, a planet.</p></div>|1|1965-08-01|Frank Herbert|0.00|Science Fiction|Unsorted",
			"The Cyberiad||1|2000-01-01|Stanisław Lem & Michael Kandel|0.00|Unsorted|Unsorted",
		}},
		{"zotero.csv", "default=category=Unsorted default=price=0 default=genre=Unsorted", []string{
			"Dune||412|1965-01-01|Frank Herbert|0.00|Science fiction|Unsorted",
			"The Cyberiad|Fables for the cybernetic age.|295|2002-12-16|Stanisław Lem|0.00|Unsorted|Unsorted",
		}},
		{"zotero-csl.json", "default=category=Unsorted default=price=0 default=genre=Unsorted", []string{
			"Dune||412|1965-08-01|Frank Herbert|0.00|Unsorted|Unsorted",
			"Good Omens||400|1990-01-01|Terry Pratchett, Neil Gaiman|0.00|Unsorted|Unsorted",
		}},
		{"koha.csv", "default=category=Unsorted default=price=0 default=genre=Unsorted", []string{
			"Momo oder||304|1973-01-01|Michael Ende|0.00|Zeit|Unsorted",
			"Krabat||255|1971-01-01|Otfried Preußler|0.00|Unsorted|Unsorted",
			"Die Wand||276|1963-01-01|Marlen Haushofer|0.00|Österreich|Unsorted",
		}},
		{"koha-marc.csv", "default=category=Unsorted default=price=0", []string{
			"Emma||474|1815-01-01|Jane Austen|0.00|Young women|Unsorted",
			"Persuasion||249|1817-01-01|Jane Austen|0.00|Love stories|Unsorted",
		}},
		{"openlibrary.jsonl", "default=category=Unsorted default=price=0 default=genre=Unsorted", openLibrary},
		{"openlibrary-dump.txt", "default=category=Unsorted default=price=0 default=genre=Unsorted", openLibrary},
		{"openlibrary-search.json", "default=category=Unsorted default=price=0 default=genre=Unsorted", []string{
			"Dune||604|1965-01-01|Frank Herbert|0.00|Science fiction|Unsorted",
			"Good Omens||400|1990-01-01|Terry Pratchett, Neil Gaiman|0.00|Unsorted|Unsorted",
		}},
	} {
		t.Run(test.file, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile("testdata/programs/" + test.file)
			must(t, err)
			given := map[string][]string{}
			for _, flag := range strings.Fields(test.flags) {
				name, value, _ := strings.Cut(flag, "=")
				given[name] = append(given[name], value)
			}
			options, invalid := ParseOptions(given)
			if len(invalid) > 0 {
				t.Fatal(invalid)
			}
			f, err := surveyOf(t, data, options)
			must(t, err)
			if diff := cmp.Diff(test.want, readBooks(t, f)); diff != "" {
				t.Errorf("%+v\n%s", f.Columns(), diff)
			}
		})
	}
}

var openLibrary = []string{
	"Dune|A desert, a planet.|528|2005-10-01|Frank Herbert|0.00|Science fiction|Unsorted",
	"The cyberiad|Fables.|295|1974-01-01|Stanisław Lem|0.00|Unsorted|Unsorted",
}
