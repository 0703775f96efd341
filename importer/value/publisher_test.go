package value

import "testing"

func TestPublisherOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Stuttgart: Thienemann, 1979": "Thienemann", "Ace (1990), Edition: Reissue, 535 pages": "Ace", "New York : Harper & Row, Inc., c1985, 1 p.": "Harper & Row, Inc.",
		"Penguin Books": "Penguin Books", "Suhrkamp (2001)": "Suhrkamp", "1979": "1979", "": "", "Verlag 2000": "Verlag 2000",
	} {
		if got := PublisherOf(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
