package model_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"library-catalogue/graph/model"
)

// validBook returns a book with every value at the bound that the test chooses.
func validBook(change func(*model.CreateBookInput)) model.CreateBookInput {
	text := "A description"
	in := model.CreateBookInput{
		Name: "A name", Description: graphql.OmittableOf(&text), Pages: 1, PublishedAt: model.Date{Year: 2000, Month: 2, Day: 29},
		Author: "An author", Price: 0, GenreID: 1,
	}
	change(&in)
	return in
}

func TestValidateBook(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return strings.Repeat("語", n) }
	text := func(s string) graphql.Omittable[*string] { return graphql.OmittableOf(&s) }
	for name, c := range map[string]struct {
		change func(*model.CreateBookInput)
		want   model.FieldErrors
	}{
		"nothing wrong": {func(*model.CreateBookInput) {}, nil},
		"at the upper bounds": {func(in *model.CreateBookInput) {
			in.Name, in.Author, in.Pages, in.Price, in.Description = long(1_000), long(1_000), 1_000_000, model.MaxPrice, text(long(20_000))
		}, nil},
		"with space around it": {func(in *model.CreateBookInput) { in.Name = "  " + long(1_000) + "\n" }, nil},
		"no name":              {func(in *model.CreateBookInput) { in.Name = " \t\u00a0" }, model.FieldErrors{{Field: "name", Message: "The name field is required."}}},
		"a long name":          {func(in *model.CreateBookInput) { in.Name = long(1_001) }, model.FieldErrors{{Field: "name", Message: "The name field must not be greater than 1000 characters."}}},
		"a NUL":                {func(in *model.CreateBookInput) { in.Author = "a\x00b" }, model.FieldErrors{{Field: "author", Message: "The author field must be valid UTF-8 without NUL characters."}}},
		"no UTF-8":             {func(in *model.CreateBookInput) { in.Description = text("a\xff") }, model.FieldErrors{{Field: "description", Message: "The description field must be valid UTF-8 without NUL characters."}}},
		"a long description":   {func(in *model.CreateBookInput) { in.Description = text(long(20_001)) }, model.FieldErrors{{Field: "description", Message: "The description field must not be greater than 20000 characters."}}},
		"no pages":             {func(in *model.CreateBookInput) { in.Pages = 0 }, model.FieldErrors{{Field: "pages", Message: "The pages field must be at least 1."}}},
		"many pages":           {func(in *model.CreateBookInput) { in.Pages = 1_000_001 }, model.FieldErrors{{Field: "pages", Message: "The pages field must not be greater than 1000000."}}},
		"no date":              {func(in *model.CreateBookInput) { in.PublishedAt = model.Date{} }, model.FieldErrors{{Field: "published_at", Message: "The published at field must be a valid date."}}},
		"less than nothing":    {func(in *model.CreateBookInput) { in.Price = -1 }, model.FieldErrors{{Field: "price", Message: "The price field must be at least 0."}}},
		"more than all":        {func(in *model.CreateBookInput) { in.Price = model.MaxPrice + 1 }, model.FieldErrors{{Field: "price", Message: "The price field must not be greater than 99999999.99."}}},
		"no genre":             {func(in *model.CreateBookInput) { in.GenreID = 0 }, model.FieldErrors{{Field: "genre_id", Message: "The genre id field is required."}}},
		"an impossible genre":  {func(in *model.CreateBookInput) { in.GenreID = -1 }, model.FieldErrors{{Field: "genre_id", Message: "The selected genre id is invalid."}}},
	} {
		in := validBook(c.change)
		if diff := cmp.Diff(c.want, in.Validate(), cmpopts.IgnoreFields(model.FieldError{}, "Format")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	in := validBook(func(in *model.CreateBookInput) { in.Name, in.Author, in.Description = " a ", "\tb\n", text("  ") })
	if problems := in.Validate(); problems != nil || in.Name != "a" || in.Author != "b" || in.Description.Value() != nil {
		t.Errorf("%v: %q, %q, %v", problems, in.Name, in.Author, in.Description)
	}
}

// TestValidatePatch checks null and bad values: only description can be cleared.
func TestValidatePatch(t *testing.T) {
	t.Parallel()
	empty, zero, noDate, negative, nowhere := " ", 0, model.Date{}, model.Cents(-1), model.ID(0)
	required := func(field, words string) model.FieldError {
		return model.FieldError{Field: field, Message: "The " + words + " field is required."}
	}
	book := model.BookPatch{
		Name: graphql.OmittableOf[*string](nil), Description: graphql.OmittableOf[*string](nil), Pages: graphql.OmittableOf[*int](nil),
		PublishedAt: graphql.OmittableOf[*model.Date](nil), Author: graphql.OmittableOf[*string](nil), Price: graphql.OmittableOf[*model.Cents](nil),
		GenreID: graphql.OmittableOf[*model.ID](nil),
	}
	want := model.FieldErrors{required("name", "name"), required("pages", "pages"), required("published_at", "published at"),
		required("author", "author"), required("price", "price"), required("genre_id", "genre id")}
	if diff := cmp.Diff(want, book.Validate(), cmpopts.IgnoreFields(model.FieldError{}, "Format")); diff != "" {
		t.Errorf("null for everything (-want +got):\n%s", diff)
	}
	book = model.BookPatch{
		Name: graphql.OmittableOf(&empty), Description: graphql.OmittableOf(&empty), Pages: graphql.OmittableOf(&zero), PublishedAt: graphql.OmittableOf(&noDate),
		Author: graphql.OmittableOf(&empty), Price: graphql.OmittableOf(&negative), GenreID: graphql.OmittableOf(&nowhere),
	}
	if problems := book.Validate(); len(problems) != 6 {
		t.Errorf("bad values for everything: %v", problems)
	}
	if d, set := book.Description.ValueOK(); d != nil || !set {
		t.Errorf("an empty description is %v, set %t, want null", d, set)
	}
	for name, problems := range map[string]model.FieldErrors{
		"book": (&model.BookPatch{}).Validate(), "genre": (&model.GenrePatch{}).Validate(), "category": (&model.CategoryPatch{}).Validate(),
	} {
		if problems != nil {
			t.Errorf("an empty patch of a %s: %v", name, problems)
		}
	}
	genre := model.GenrePatch{Name: graphql.OmittableOf(&empty), CategoryID: graphql.OmittableOf(&nowhere)}
	category := model.CategoryPatch{Name: graphql.OmittableOf[*string](nil)}
	if problems := append(genre.Validate(), category.Validate()...); len(problems) != 3 {
		t.Errorf("bad genre and category: %v", problems)
	}
}

func TestError(t *testing.T) {
	t.Parallel()
	cause := errors.New("pq: secret")
	unknown := model.AsError(fmt.Errorf("read: %w", cause))
	if unknown.Code != model.Internal || unknown.Message != "Internal server error" || !errors.Is(unknown, cause) {
		t.Errorf("an unknown error is %+v", unknown)
	}
	ours := model.Errorf(model.NotFound, "%s not found", "Book")
	wrapped := fmt.Errorf("somewhere: %w", ours)
	if model.AsError(wrapped) != ours || !model.IsCode(wrapped, model.NotFound) || model.IsCode(wrapped, model.Stale) || model.IsCode(cause, model.Internal) || model.IsCode(nil, "") {
		t.Error("an error of ours is not known again")
	}
	if ours.Error() != "NOT_FOUND: Book not found" || !strings.Contains(unknown.Error(), "secret") {
		t.Errorf("for the log: %q, %q", ours, unknown)
	}

	var f model.FieldErrors
	if f.Err() != nil {
		t.Error("nothing wrong is an error")
	}
	for n, want := range []string{
		"The published at field is required.", "The published at field is required. (and 1 more error)", "The published at field is required. (and 2 more errors)",
	} {
		f.Add([]string{"published_at", "name", "genre_id"}[n], model.MustBeRequired)
		if e := model.AsError(f.Err()); e.Message != want || e.Code != model.BadUserInput || len(e.Fields) != n+1 {
			t.Errorf("%d wrong: %+v", n+1, e)
		}
	}
	if !f.Has("name") || f.Has("author") {
		t.Errorf("%v", f)
	}
}

func TestAuthorise(t *testing.T) {
	t.Parallel()
	if _, err := model.Authorise(t.Context()); !model.IsCode(err, model.Unauthenticated) {
		t.Errorf("nobody: %v", err)
	}
	for _, who := range []model.Caller{{Subject: "me"}, {}} {
		if p, err := model.Authorise(model.WithCaller(t.Context(), who)); p != who || err != nil {
			t.Errorf("%+v: %+v, %v", who, p, err)
		}
	}
	for _, tt := range []struct {
		scopes string
		asked  []string
		lacks  string
	}{
		{"", nil, "catalogue:write"},
		{"", []string{"books:create"}, "books:create"},
		{"books:create", nil, "catalogue:write"},
		{"books:create", []string{"books:create"}, ""},
		{"a  books:create b", []string{"books:create"}, ""},
		{"a books:create\tb", []string{"books:create"}, "books:create"},
		{"a\u00a0books:create", []string{"books:create"}, "books:create"},
		{"a\u2003catalogue:write\nb", nil, "catalogue:write"},
		{"books:create", []string{"books:create", "genres:create"}, "genres:create"},
		{"genres:create books:create", []string{"books:create", "genres:create"}, ""},
		{"books:created", []string{"books:create"}, "books:create"},
		{"catalogue:write", []string{"books:create", "genres:create"}, ""},
		{"catalogue:write", nil, ""},
	} {
		ctx := model.WithCaller(t.Context(), model.Caller{Subject: "me", Scoped: true, Scopes: tt.scopes})
		_, err := model.Authorise(ctx, tt.asked...)
		if tt.lacks == "" && err != nil || tt.lacks != "" && (!model.IsCode(err, model.Forbidden) || model.AsError(err).Message != "The token lacks the scope "+tt.lacks+".") {
			t.Errorf("%q, asked for %q: %v", tt.scopes, tt.asked, err)
		}
		if p, err := model.CallerOf(ctx); p.Subject != "me" || err != nil {
			t.Errorf("%+v, %v", p, err)
		}
	}
}
