package sru

import (
	"cmp"
	"net/url"
	"strings"
)

// set is a context set of indexes.
type set struct{ Name, Identifier string }

var sets = []set{
	{"cql", "info:srw/cql-context-set/1/cql-v1.2"}, {"dc", "info:srw/cql-context-set/1/dc-v1.1"},
	{"bath", "http://zing.z3950.org/cql/bath/2.0/"}, {"rec", "info:srw/cql-context-set/2/rec-1.1"},
}

// explain returns the description of the service in ZeeRex 2.0.
func (h Handler) explain() ([]byte, error) {
	host, port := addressOf(h.PublicURL)
	description, err := render("explain",
		map[string]any{"Host": host, "Port": port, "Sets": sets, "Indexes": indexes, "Schemas": schemas})
	if err != nil {
		return nil, err
	}
	return render("explainResponse", record{"http://explain.z3950.org/dtd/2.0/", "xml", string(description), 0})
}

// qualifiedName is a name of an index in a context set.
type qualifiedName struct{ Set, Name string }

// Maps returns the names of an index that are in one of the sets.
func (i *index) Maps() (names []qualifiedName) {
	for _, name := range i.names {
		for _, set := range sets {
			if short, ok := strings.CutPrefix(name, set.Name+"."); ok {
				names = append(names, qualifiedName{set.Name, short})
			}
		}
	}
	return names
}

// addressOf returns the host and the port of the service. Without a public URL they are empty, because the Host of a
// request is a claim of its client.
func addressOf(publicURL string) (host, port string) {
	public, err := url.Parse(publicURL)
	if err != nil || public.Host == "" {
		return "", ""
	}
	byScheme := map[string]string{"http": "80", "https": "443"}
	return public.Hostname(), cmp.Or(public.Port(), byScheme[public.Scheme])
}
