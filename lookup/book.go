package lookup

import (
	"time"

	"library-catalogue/graph/model"
	"library-catalogue/importer/value"
)

// bookOf returns the book with the values of a record by key of model.ImportFields, as an import reads them. A value
// that is missing, ambiguous or invalid is nil.
func bookOf(values map[string]string, isbn string, now time.Time) *model.FoundBook {
	values["isbn"] = isbn
	form, nextYear := model.Form{}, now.Year()+1
	for _, field := range model.ImportFields {
		if text := plain(field, values[field], nextYear); text != "" && field != "shelf_mark" {
			form[field] = model.Text(text)
		}
	}
	in := form.ImportBook()
	for _, problem := range in.Validate() {
		delete(form, problem.Field)
	}
	if int(in.PublishedAt.Year) > nextYear {
		delete(form, "published_at")
	}
	in = form.ImportBook()
	_ = in.Validate() // missing values stay empty
	return &model.FoundBook{
		Form: form, ISBN: isbn, Name: given(in.Name), Author: given(in.Author), Pages: given(in.Pages),
		Publisher: in.Publisher.Value(), Language: in.Language.Value(), Description: in.Description.Value(),
		Price: given(in.Price), Genre: given(in.Genre), Category: given(in.Category),
		PublishedAt: given(in.PublishedAt), Subtitle: in.Subtitle.Value(), Series: in.Series.Value(),
		SeriesNumber: in.SeriesNumber.Value(),
	}
}

// plain returns a value in the catalogue's notation, or "" if it is not clear.
func plain(field, text string, nextYear int) string {
	switch field {
	case "language":
		tag, _ := model.ImportField(field).Syntax.Parse(value.Bare(text))
		return tag
	case "genre", "category":
		tags := value.TagSurvey{}
		return value.TrimCard(tags.First(text, true), false, true)
	}
	text, _ = value.Read(model.ImportField(field).Kind, text, nextYear)
	return text
}

// given returns nil for a zero value.
func given[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}
