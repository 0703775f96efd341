package usage

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/alecthomas/kong"
)

// variablePrefix begins the names of all variables that are settings.
const variablePrefix = "CATALOGUE_"

// maxMisspelt is how many letters may differ between a misspelt name and the right one.
const maxMisspelt = 3

// UnknownVariables returns a sentence for each variable of environ, as of os.Environ, that
// has the name of a setting and is none.
func UnknownVariables(model *kong.Application, environ []string) (sentences []string) {
	known := map[string]bool{}
	for _, command := range model.Leaves(false) {
		for _, flag := range command.Flags {
			for _, name := range flag.Envs {
				known[name] = true
			}
		}
	}
	names := slices.Sorted(maps.Keys(known))
	for _, variable := range environ {
		name, _, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, variablePrefix) || known[name] {
			continue
		}
		sentence := fmt.Sprintf("the environment variable %s is no setting, and does nothing", name)
		distance := func(known string) int { return levenshtein.ComputeDistance(name, known) }
		nearest := slices.MinFunc(names, func(a, b string) int { return distance(a) - distance(b) })
		if distance(nearest) <= maxMisspelt {
			sentence += ": did you mean " + nearest + "?"
		}
		sentences = append(sentences, sentence)
	}
	return sentences
}
