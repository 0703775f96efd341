package value

import (
	"testing"

	"library-catalogue/graph/model"
)

func TestRead(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		kind        model.Kind
		text, plain string
	}{
		{model.KindDate, "1957", "1957-01-01"},
		{model.KindDate, " 1957-03-02 ", "1957-03-02"},
		{model.KindDate, "31.12.1999", "1999-12-31"},
		{model.KindDate, "12/31/1999", "1999-12-31"},
		{model.KindDate, "5/5/2001", "2001-05-05"},
		{model.KindDate, "12 août 1995", "1995-08-12"},
		{model.KindDate, "1998年12月1日", "1998-12-01"},
		{model.KindDate, "c1990", "1990-01-01"},
		{model.KindInt, "127 S.", "127"},
		{model.KindInt, "1,024", "1024"},
		{model.KindInt, "352页", "352"},
		{model.KindCents, "14,00", "14.00"},
		{model.KindCents, "12.9", "12.90"},
		{model.KindCents, "1 234,50 €", "1234.50"},
		{model.KindCents, "1\u202f234,50 €", "1234.50"},
		{model.KindCents, "$1,299.50", "1299.50"},
		{model.KindCents, "12,-", "12.00"},
		{model.KindText, " as it is", "as it is"},
	} {
		if plain, problem := Read(test.kind, test.text, 2027); plain != test.plain || problem.Key != "" {
			t.Errorf("%q: %q, %s; want %q", test.text, plain, problem, test.plain)
		}
	}
	for _, test := range []struct {
		kind          model.Kind
		text, problem string
	}{
		{model.KindDate, "03/04/2001", "“03/04/2001” can be read in two ways. Write 2001-03-04 or 2001-04-03."},
		{model.KindDate, "2023-02-30", "Write a year or a day, like 1969 or 1969-01-31."},
		{model.KindDate, "soon", "Write a year or a day, like 1969 or 1969-01-31."},
		{model.KindCents, "1.250", "“1.250” can be read in two ways. Write 1250.00 or 1.25."},
		{model.KindCents, "1,250 €", "“1,250 €” can be read in two ways. Write 1.25 or 1250.00."},
		{model.KindCents, "free", "Write an amount, like 15.71."},
		{model.KindCents, "12o", "Write an amount, like 15.71."},
		{model.KindCents, "8,9o", "Write an amount, like 15.71."},
		{model.KindInt, "12o", "Write a whole number, like 304."},
	} {
		if plain, problem := Read(test.kind, test.text, 2027); plain != "" || problem.String() != test.problem {
			t.Errorf("%q: %q, %s; want %s", test.text, plain, problem, test.problem)
		}
	}
}

func TestFuller(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text, than string
		want       bool
	}{
		{"1998-04", "1998", true}, {"12/4/1998", "1998", true}, {"April 1998", " 1998", true},
		{"1998", "1998", false}, {"1999-04", "1998", false}, {"12000", "2000", false}, {"1998-04", "1998-04", false}, {"", "", false},
	} {
		if IsFuller(test.text, test.than) != test.want {
			t.Errorf("%q, %q: not %v", test.text, test.than, test.want)
		}
	}
}
