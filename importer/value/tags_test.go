package value

import (
	"strconv"
	"testing"
)

// TestTags takes the first of several genres, and keeps names with commas.
func TestTags(t *testing.T) {
	t.Parallel()
	var few, many TagSurvey
	for _, cell := range []string{"Art, Architecture", "Art, Architecture", "Art, Architecture", "Fiction, Classics", "Fiction"} {
		few.Add(cell)
	}
	for n := range manyGenres {
		many.Add("Genre " + strconv.Itoa(n))
	}
	many.Add("Africa, East")
	many.Add("Fiction, Classics")
	many.Add("Classics")
	for _, tt := range []struct {
		survey     *TagSurvey
		text, want string
		isMARC     bool
	}{
		{&few, "Art, Architecture", "Art, Architecture", false},
		{&few, "Fiction, Classics", "Fiction", false},
		{&few, "Africa, East", "Africa", false},
		{&many, "Africa, East", "Africa, East", false},
		{&many, "Fiction, Classics", "Fiction", false},
		{&many, "Africa, East; Fiction", "Africa, East", false},
		{&many, "Fiction | Classics", "Fiction", false},
		{&few, "Crime, Mystery & Thriller", "Crime, Mystery & Thriller", false},
		{&few, "Cooking, French", "Cooking, French", true},
		{&few, "Poetry、Essay", "Poetry", false},
		{&few, ",", ",", false},
		{&few, "Business &amp, Economics , Motivational", "Business & Economics", false},
		{&few, "Fiction , Action & Adventure", "Fiction", false},
	} {
		if got := tt.survey.First(tt.text, tt.isMARC); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.text, got, tt.want)
		}
	}
}
