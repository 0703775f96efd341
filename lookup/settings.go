package lookup

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// preset is a source with a name.
type preset struct {
	name, template string
	schema         string   // recordSchema of SRU; "": JSON of Open Library
	groups         []string // first digits of the ISBNs of its country
}

// presets are the known sources. Their groups are those of the International ISBN Agency.
var presets = []preset{
	{"dnb", "https://services.dnb.de/sru/dnb?query=ISBN%3D{isbn}", "MARC21-xml", []string{"9783"}},
	{"k10plus", "https://sru.k10plus.de/opac-de-627?query=pica.isb%3D{isbn}", marcxml, []string{"9783"}},
	{"loc", "http://lx2.loc.gov:210/LCDB?query=bath.isbn%3D{isbn}", marcxml, []string{"9780", "9781", "9798"}},
	{"openlibrary", "https://openlibrary.org/api/books?bibkeys=ISBN:{isbn}&jscmd=details&format=json", "", nil},
}

// marcxml is the usual name of the schema of MARCXML.
const marcxml = "marcxml"

// Presets returns the names of the known sources.
func Presets() (names []string) {
	for _, p := range presets {
		names = append(names, p.name)
	}
	return names
}

// Advice says how look-ups are turned on.
const Advice = "set CATALOGUE_LOOKUP to sources, such as dnb,openlibrary"

// placeholder stands for the 13 digits in a template.
const placeholder = "{isbn}"

// parse returns the sources of a setting: names of presets and templates, separated by commas.
func parse(setting string) (sources []*source, _ error) {
	for n, text := range strings.Split(setting, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		p := preset{template: text, schema: marcxml}
		if i := slices.IndexFunc(presets, func(p preset) bool { return p.name == text }); i >= 0 {
			p = presets[i]
		}
		s, err := newSource(p)
		if err != nil {
			return nil, fmt.Errorf("source %d: %w", n+1, err) // its address may have a password
		}
		if slices.ContainsFunc(sources, func(other *source) bool { return other.name == s.name }) {
			return nil, fmt.Errorf("the source %s is given twice", s.name)
		}
		sources = append(sources, s)
	}
	return sources, nil
}

// isPort reports whether a text is a port, or empty.
func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return text == "" || err == nil && n > 0
}

// address parses the address of a template, and adds the parameters of SRU 1.1 that it does not name.
func (p preset) address() (*url.URL, error) {
	u, err := url.Parse(p.template)
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		return nil, fmt.Errorf("write one of %s, or an address like https://HOST/PATH?query=bath.isbn%%3D%s",
			strings.Join(Presets(), ", "), placeholder)
	case u.User != nil || u.Fragment != "":
		return nil, errors.New("remove the user or the fragment from the address")
	case !isPort(u.Port()):
		return nil, errors.New("the port must be from 1 to 65535")
	case !strings.Contains(u.RawQuery+u.Path, placeholder):
		return nil, fmt.Errorf("write %s in place of the number", placeholder)
	}
	u.Host = strings.ToLower(u.Host)
	if p.schema == "" {
		return u, nil
	}
	given := u.Query()
	for _, parameter := range []string{
		"operation=searchRetrieve", "version=1.1", "maximumRecords=10", "recordSchema=" + p.schema,
	} {
		if name, _, _ := strings.Cut(parameter, "="); !given.Has(name) {
			u.RawQuery += "&" + parameter
		}
	}
	return u, nil
}
