package model_test

import (
	"strings"
	"testing"

	"library-catalogue/graph/model"
)

func TestMemo(t *testing.T) {
	var m model.Memo
	buffer := []byte("first")
	m.Keep(1, buffer)
	copy(buffer, "other") // the text is the memo's own
	m.Keep(2, []byte("second"))
	m.Keep(3, []byte(strings.Repeat("x", 2_000))) // too long
	for way, want := range map[int]string{1: "first", 2: "second"} {
		if text, ok := m.Text(way); !ok || string(text) != want {
			t.Errorf("%d: %q, %t", way, text, ok)
		}
	}
	if text, ok := m.Text(3); ok {
		t.Errorf("%d bytes are kept", len(text))
	}
	m.Keep(4, []byte("third"))
	if _, ok := m.Text(1); ok {
		t.Error("more than two texts are kept")
	}
	var none *model.Memo
	none.Keep(1, buffer)
	if _, ok := none.Text(1); ok {
		t.Error("no memo keeps something")
	}
}
