package sru

import (
	"cmp"
	"net/url"
	"strings"
)

// sets are the context sets of the indexes.
var sets = []struct{ name, identifier string }{
	{"cql", "info:srw/cql-context-set/1/cql-v1.2"}, {"dc", "info:srw/cql-context-set/1/dc-v1.1"},
	{"bath", "http://zing.z3950.org/cql/bath/2.0/"}, {"rec", "info:srw/cql-context-set/2/rec-1.1"},
}

// explain returns the description of the service in ZeeRex 2.0.
func (h Handler) explain() []byte {
	w := begin("explainResponse")
	w.record("http://explain.z3950.org/dtd/2.0/", "xml", h.describe, 0)
	return w.end("explainResponse")
}

func (h Handler) describe(w *writer) {
	host, port := addressOf(h.PublicURL)
	w.WriteString(`<explain xmlns="http://explain.z3950.org/dtd/2.0/"><serverInfo protocol="SRU" version="1.2" transport="http" method="GET POST">`)
	w.element("host", host)
	w.element("port", port)
	w.element("database", strings.Trim(Path, "/"))
	w.WriteString(`</serverInfo><databaseInfo><title lang="en" primary="true">Library Catalogue</title></databaseInfo><indexInfo>`)
	for _, set := range sets {
		w.WriteString(`<set name="` + set.name + `" identifier="` + set.identifier + `"/>`)
	}
	for _, i := range indexes {
		w.WriteString(`<index search="true" scan="false" sort="` + map[bool]string{true: "true", false: "false"}[i.sort != ""] + `">`)
		w.element("title", i.title)
		for _, name := range i.names {
			for _, set := range sets {
				if short, ok := strings.CutPrefix(name, set.name+"."); ok {
					w.WriteString("<map>")
					w.element(`name set="`+set.name+`"`, short)
					w.WriteString("</map>")
				}
			}
		}
		w.WriteString("</index>")
	}
	w.WriteString("</indexInfo><schemaInfo>")
	for _, s := range schemas {
		w.WriteString(`<schema identifier="` + s.identifier + `" name="` + s.name + `">`)
		w.element("title", s.title)
		w.WriteString("</schema>")
	}
	w.WriteString("</schemaInfo><configInfo>")
	w.element(`default type="numberOfRecords"`, "10")
	w.element(`setting type="maximumRecords"`, "100")
	w.WriteString("</configInfo></explain>")
}

// addressOf returns the host and the port of the service. Without a public URL they are empty, because the Host of a
// request is what its client claims.
func addressOf(publicURL string) (host, port string) {
	public, err := url.Parse(publicURL)
	if err != nil || public.Host == "" {
		return "", ""
	}
	byScheme := map[string]string{"http": "80", "https": "443"}
	return public.Hostname(), cmp.Or(public.Port(), byScheme[public.Scheme])
}
