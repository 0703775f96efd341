package importer

// Question is an error of Survey: the file is ambiguous, and an option decides.
type Question struct {
	Option  string   // that decides: dates, duplicates or map
	Text    string   // a sentence without its end
	Answers []Answer // the values to choose from; none for map
}

// Answer is a value of an option, and its effect on the file.
type Answer struct{ Value, Meaning string }

// Error returns the question without its answers, which each caller offers in its own way.
func (q *Question) Error() string { return q.Text }
