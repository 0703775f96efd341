package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"maps"
	"mime"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"

	"library-catalogue/accounts"
	"library-catalogue/web/language"
)

// graphiql/dist has GraphiQL after make web, else nothing. zxing/dist has zxing-wasm, which reads barcodes.
//
//go:embed static all:graphiql/dist zxing/dist
var static embed.FS

// assets are the styles, scripts and images of the pages. Their URLs change with their content, so that browsers can
// cache them forever.
type assets struct {
	files   map[string][]byte   // by name
	version string              // hash of all files
	imports map[string][]string // modules that a module imports
}

func readAssets() (assets, error) {
	a := assets{files: map[string][]byte{}, imports: map[string][]string{}}
	hash := sha256.New()
	err := fs.WalkDir(static, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(entry.Name(), ".") {
			return err
		}
		content, err := static.ReadFile(name)
		if err != nil {
			return err
		}
		a.files[entry.Name()] = content
		if strings.HasPrefix(name, "static/") { // only our own modules import each other
			for _, match := range moduleImport.FindAllSubmatch(content, -1) {
				a.imports[entry.Name()] = append(a.imports[entry.Name()], string(match[1]))
			}
		}
		hash.Write(content)
		return nil
	})
	a.files[passwordsName] = []byte(strings.Join(accounts.CommonPasswords(), "\n"))
	hash.Write(a.files[passwordsName])
	for _, l := range language.All() {
		a.files[l.Tag+".json"] = l.JSON
		hash.Write(l.JSON)
	}
	a.files["language.js"] = bytes.Replace(a.files["language.js"], []byte("{}"), language.All()[0].JSON, 1)
	a.version = hex.EncodeToString(hash.Sum(nil))[:12]
	return a, err
}

// passwordsName is a file with the common passwords, for the forms that choose one.
const passwordsName = "passwords.txt"

// url returns the URL of a file. Scripts import each other by relative URLs.
func (a assets) url(name string) string { return "/assets/" + a.version + "/" + name }

// moduleImport matches a static import of a module.
var moduleImport = regexp.MustCompile(`(?m)^import .*'\./(.+)'`)

// modules returns the modules that a page with this script loads after page.js. The page names them, so that browsers
// load all at once.
func (a assets) modules(script string) []string {
	var names []string
	for queue := []string{"page.js", script}; len(queue) > 0; queue = queue[1:] { // a page may have no script
		if name := queue[0]; name != "" && !slices.Contains(names, name) {
			names = append(names, name)
			queue = append(queue, a.imports[name]...)
		}
	}
	return names[1:]
}

// ownHeaders are headers of single files by name.
var ownHeaders = map[string]http.Header{
	"catalogue.webmanifest": {"Content-Type": {"application/manifest+json"}},
	// The worker that reads barcodes has its own policy, so that no page permits WebAssembly.
	"barcodes.js": {"Content-Security-Policy": {
		"default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'",
	}},
}

// route adds the routes of all files. constant sets the headers of a response that never changes. URLs of other
// versions redirect to the current one.
func (a assets) route(mux *http.ServeMux, constant func(http.Handler) http.Handler) {
	for name, content := range a.files {
		mux.Handle("GET "+a.url(name), constant(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
			maps.Copy(w.Header(), ownHeaders[name])
			_, _ = w.Write(content)
		})))
	}
	mux.HandleFunc("GET /assets/{version}/{name}", func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("name")
		if a.files[name] == nil {
			http.NotFound(w, r)
			return
		}
		http.Redirect(w, r, a.url(name), http.StatusFound)
	})
}
