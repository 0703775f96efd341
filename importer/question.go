package importer

// Question is what a file leaves open, and a person has to say: an error of Survey.
type Question struct {
	Option  string   // that answers it: dates, duplicates or map
	Text    string   // a sentence without its end
	Answers []Answer // the values to choose from; none where the option takes names
	Advice  string   // what else to say, in the words of the command line
}

// Answer is a value of an option, and how a file is read with it.
type Answer struct{ Value, Meaning string }

// Error asks as the command line does.
func (q *Question) Error() string {
	text, before := q.Text, ": "
	for _, a := range q.Answers {
		text += before + "--" + q.Option + " " + a.Value + " " + a.Meaning
		before = "; "
	}
	return text + q.Advice
}
