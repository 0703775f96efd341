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

//go:embed static
var static embed.FS

// assets are the styles, the scripts and the pictures of the pages by their names.
// Their addresses change with their content, so that browsers keep them for ever.
type assets struct {
	files   map[string][]byte
	version string // of all of them
}

func readAssets() (assets, error) {
	a := assets{files: map[string][]byte{}}
	hash := sha256.New()
	err := fs.WalkDir(static, "static", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := static.ReadFile(name)
		if err != nil {
			return err
		}
		a.files[strings.TrimPrefix(name, "static/")] = content
		hash.Write(content)
		return nil
	})
	a.version = hex.EncodeToString(hash.Sum(nil))[:12]
	return a, err
}

// url returns the address of a file. Scripts import each other by relative ones.
func (a assets) url(name string) string { return "/assets/" + a.version + "/" + name }

// ServeHTTP implements http.Handler. A file of another version is that of now, but
// no browser keeps it.
func (a assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	version, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/assets/"), "/")
	content, ok := a.files[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	header := w.Header()
	header.Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	header.Set("Cache-Control", "no-cache")
	if version == a.version {
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	_, _ = w.Write(content)
}
