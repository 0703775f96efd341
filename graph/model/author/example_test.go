package author_test

import (
	"fmt"
	"slices"

	"library-catalogue/graph/model/author"
)

func ExampleParse() {
	for _, p := range author.Parse("Tolkien, J. R. R. (John Ronald Reuel), 1892-1973; River Institute") {
		fmt.Printf("%s: family %q, given %q, literal %q\n", p, p.Family, p.Given, p.Literal)
	}
	// Output:
	// J. R. R. Tolkien: family "Tolkien", given "J. R. R.", literal ""
	// River Institute: family "", given "", literal "River Institute"
}

// An import decides once for a column and then reads its cells.
func ExampleReadColumn() {
	column := []string{"García Márquez, Gabriel", "Woolf, Virginia", "Le Guin, Ursula K.", "Smith, John", "Plato"}
	if author.IsInverted(slices.Values(column)) {
		for _, cell := range column {
			fmt.Println(author.ReadColumn(cell))
		}
	}
	// Output:
	// Gabriel García Márquez
	// Virginia Woolf
	// Ursula K. Le Guin
	// John Smith
	// Plato
}

func ExampleReadMARC() {
	fmt.Println(author.ReadMARC("Miller, Anna, 1950-"))
	// Output: Anna Miller
}
