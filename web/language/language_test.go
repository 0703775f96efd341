package language

import "testing"

// TestNumbers writes numbers and prices as Intl does in browsers, but for the width of a space.
func TestNumbers(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string][4]string{
		"en": {"1,234", "12,345,678", "15.71", "German"},
		"de": {"1.234", "12.345.678", "15,71", "Deutsch"},
		"fr": {"1\u00a0234", "12\u00a0345\u00a0678", "15,71", "allemand"},
		"es": {"1234", "12.345.678", "15,71", "alemán"},
		"it": {"1234", "12.345.678", "15,71", "tedesco"},
		"nl": {"1.234", "12.345.678", "15,71", "Duits"},
	} {
		l := Find(tag)
		if got := [4]string{l.Number(1234), l.Number(12345678), l.Price("15.71"), l.NameOf("de")}; got != want {
			t.Errorf("%s: %q, want %q", tag, got, want)
		}
	}
}

// TestNameOf names languages, and returns the tag of one without a name.
func TestNameOf(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{"de": "German", "en-GB": "British English", "zh-Hant": "Traditional Chinese", "qqq": "qqq", "-": "-"} {
		if got := Find("en").NameOf(tag); got != want {
			t.Errorf("%s: %q, want %q", tag, got, want)
		}
	}
}

// TestPlural takes the form of the number, and English for what is not translated.
func TestPlural(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string][3]string{
		"en": {"0 books", "1 book", "2,000 books"}, "de": {"0 Bücher", "1 Buch", "2.000 Bücher"},
		"fr": {"0 livre", "1 livre", "2\u00a0000 livres"},
	} {
		l := Find(tag)
		got := [3]string{l.Plural("%s books", 0), l.Plural("%s books", 1), l.Plural("%s books", 2000)}
		if got != want {
			t.Errorf("%s: %q, want %q", tag, got, want)
		}
	}
	if got := Find("de").Text("No text, “%s”", "x"); got != "No text, “x”" {
		t.Error(got)
	}
}
