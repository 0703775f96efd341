package usage

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/alecthomas/kong"
)

// variablePrefix begins the names of all settings.
const variablePrefix = "CATALOGUE_"

// maxMisspelt is the maximum edit distance of a suggested name.
const maxMisspelt = 3

// UnknownVariables returns a warning for each variable of environ with the prefix of settings that is none.
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
		sentence := fmt.Sprintf("the environment variable %s is not a setting and has no effect", name)
		distance := func(known string) int { return levenshtein.ComputeDistance(name, known) }
		nearest := slices.MinFunc(names, func(a, b string) int { return distance(a) - distance(b) })
		if distance(nearest) <= maxMisspelt {
			sentence += ": did you mean " + nearest + "?"
		}
		sentences = append(sentences, sentence)
	}
	return sentences
}
