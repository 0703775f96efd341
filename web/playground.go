package web

import (
	_ "embed"
	"encoding/json"
	"net/http"
	"path"
	"strings"

	"library-catalogue/web/view"
)

// cdnHost is the CDN. It serves the files of npm packages unchanged.
const cdnHost = "cdn.jsdelivr.net"

// graphiQL is the list of GraphiQL's packages and files. make web copies these files and compares their hashes.
//
//go:embed graphiql/package.json
var graphiQL []byte

// pinnedFile is a file with its hash, for subresource integrity.
type pinnedFile struct{ URL, Integrity string }

// graphiQLFiles returns GraphiQL's files in the order in which they run: as assets after make web, else from the CDN.
func graphiQLFiles(a assets) (files []pinnedFile, builtIn bool, _ error) {
	var list struct {
		Dependencies map[string]string
		Assets       []struct{ File, Integrity string }
	}
	if err := json.Unmarshal(graphiQL, &list); err != nil {
		return nil, false, err
	}
	builtIn = true
	for _, f := range list.Assets {
		name, file, _ := strings.Cut(f.File, "/")
		url := "https://" + cdnHost + "/npm/" + name + "@" + list.Dependencies[name] + "/" + file
		files = append(files, pinnedFile{url, f.Integrity})
		builtIn = builtIn && a.files[path.Base(file)] != nil
	}
	for i := range files {
		if builtIn {
			files[i].URL = a.url(path.Base(files[i].URL))
		}
	}
	return files, builtIn, nil
}

// formReason says why the playground is a plain form.
type formReason struct {
	Host  string // host that GraphiQL did not come from; empty: this server
	Retry string // URL of GraphiQL; empty: it is off
}

// routePlayground adds the playground: GraphiQL if it is built in or may come from the CDN, else a plain form. The
// page of GraphiQL goes to the form if its files do not load.
func (p *Pages) routePlayground(mayUseCDN bool) error {
	files, builtIn, err := graphiQLFiles(p.assets)
	if err != nil {
		return err
	}
	off, reason, policy := !builtIn && !mayUseCDN, formReason{}, toolPolicy
	if !builtIn { // the policy names files and not the host, which has the packages of anyone
		reason.Host = cdnHost
		for _, directive := range []string{"script-src 'self'", "style-src 'self'"} {
			for _, f := range files {
				policy = strings.Replace(policy, directive, directive+" "+f.URL, 1)
			}
		}
	}
	form := func(r *http.Request) (*view.Page, error) {
		reason := reason
		if !off {
			reason.Retry = "/playground?" + r.URL.RawQuery
		}
		return &view.Page{
			Name: "playground.html", Title: "Playground", Section: "developers", Script: "playground.js", Main: reason,
		}, nil
	}
	p.route("GET /playground/form", form)
	if off {
		p.route("GET /playground", form)
		return nil
	}
	list, err := json.Marshal(files)
	if err != nil {
		return err
	}
	page, err := p.tool(tool{
		Title: "Playground", ID: "graphiql", Module: p.assets.url("graphiql.js"), Files: string(list),
		Links: []link{{docsPath, "API reference"}}, Unscripted: "/developers",
	}, policy)
	p.mux.Handle("GET /playground", page)
	return err
}
