package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
)

// graphiql/dist is what make web builds, or nothing.
//
//go:embed static all:graphiql/dist
var static embed.FS

// graphiQL is the script of GraphiQL among the assets.
const graphiQL = "graphiql.js"

// assets are the styles, the scripts and the pictures of the pages by their names.
// Their addresses change with their content, so that browsers keep them for ever.
type assets struct {
	files   map[string][]byte
	version string // of all of them
}

func readAssets() (assets, error) {
	a := assets{files: map[string][]byte{}}
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
		hash.Write(content)
		return nil
	})
	a.version = hex.EncodeToString(hash.Sum(nil))[:12]
	return a, err
}

// url returns the address of a file. Scripts import each other by relative ones.
func (a assets) url(name string) string { return "/assets/" + a.version + "/" + name }

// route has each file at its address, as constant makes it an answer. At the address
// of another version one is led to that of now.
func (a assets) route(mux *http.ServeMux, constant func(http.Handler) http.Handler) {
	for name, content := range a.files {
		mux.Handle("GET "+a.url(name), constant(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
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
