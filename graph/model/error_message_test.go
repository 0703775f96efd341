package model_test

import (
	"encoding/json"
	"testing"

	"library-catalogue/graph/model"
)

// TestMessages wants errors in English, and with the keys and arguments by which pages translate them.
func TestMessages(t *testing.T) {
	t.Parallel()
	var one, three model.FieldErrors
	one.Add("published_at", model.MustBeDate)
	three.Add("pages", "The %s field must be at least %s.", "1")
	three.Add("genre", "Give either the %[1]s id or the %[1]s, not both.")
	three.Add("scopes", "Choose at least one.")
	for _, c := range []struct {
		err        error
		text, json string
	}{
		{one.Err(), "The published at field must be a valid date.",
			`{"key":"The %s field must be a valid date.","args":[{"key":"published at","args":[]}]}`},
		{three.Err(), "The pages field must be at least 1. (and 2 more errors)",
			`{"key":"%s (and %d more errors)","args":[{"key":"The %s field must be at least %s.",` +
				`"args":[{"key":"pages","args":[]},"1"]},2]}`},
		{model.HasChildren("Genre", 2), "Genre has 2 books", `{"key":"Genre has %d books","args":[2]}`},
		{&model.Error{Message: "50 %"}, "50 %", `{"key":"50 %","args":[]}`},
		{model.Errorf(model.NotFound, "%s: %v", model.ID(7), json.Valid([]byte("1"))), "7: true",
			`{"key":"%s: %v","args":["7","true"]}`},
	} {
		e := model.AsError(c.err)
		text, err := json.Marshal(model.Parts(e.Text()))
		if e.Message != c.text || e.Text().String() != c.text || string(text) != c.json || err != nil {
			t.Errorf("%q, %q, %s (%v); want %q, %s", e.Message, e.Text(), text, err, c.text, c.json)
		}
	}
	if got := three[1].Text().String(); got != "Give either the genre id or the genre, not both." {
		t.Error(got)
	}
}
