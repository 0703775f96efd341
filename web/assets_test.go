package web_test

import (
	"bytes"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/server/servertest"
)

// asset requests an asset by its name, from an address of another version.
func asset(t *testing.T, c *servertest.Client, name, encoding string) *httptest.ResponseRecorder {
	t.Helper()
	w := c.Do(http.MethodGet, c.Do(http.MethodGet, "/assets/0/"+name, "").Header().Get("Location"), "", "Accept-Encoding: "+encoding)
	if w.Code != http.StatusOK {
		t.Fatalf("%s: status %d", name, w.Code)
	}
	return w
}

// TestBarcodeReader compares the files of zxing-wasm with their hashes. WebAssembly is compressed, and only its worker may
// run it.
func TestBarcodeReader(t *testing.T) {
	t.Parallel()
	c := servertest.Serve(t, catalogtest.SQLite(t))
	text, err := os.ReadFile("zxing/package.json")
	servertest.Must(t, err)
	var list struct {
		Assets []struct{ File, Name, Integrity string }
	}
	servertest.Must(t, json.Unmarshal(text, &list))
	for _, f := range list.Assets {
		if f.Name == "" {
			f.Name = path.Base(f.File)
		}
		sum := sha512.Sum384(asset(t, c, f.Name, "").Body.Bytes())
		if integrity := "sha384-" + base64.StdEncoding.EncodeToString(sum[:]); integrity != f.Integrity {
			t.Errorf("%s has %s, not %s: run make web", f.Name, integrity, f.Integrity)
		}
	}
	w := asset(t, c, "zxing_reader.wasm", "gzip")
	if h := w.Header(); h.Get("Content-Encoding") != "gzip" || h.Get("Content-Type") != "application/wasm" || w.Body.Len() > 500_000 {
		t.Errorf("%d bytes of %v", w.Body.Len(), h)
	}
	for name, want := range map[string]string{
		"barcodes.js":     "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'",
		"zxing_reader.js": "",
		"scan.js":         "",
	} {
		if policy := asset(t, c, name, "").Header().Get("Content-Security-Policy"); policy != want {
			t.Errorf("%s has the policy %q", name, policy)
		}
	}
}

// TestManifest reads the manifest, which the pages name, and its icons.
func TestManifest(t *testing.T) {
	t.Parallel()
	c := servertest.Serve(t, catalogtest.SQLite(t))
	w := asset(t, c, "catalogue.webmanifest", "")
	var manifest struct {
		Name, Display string
		Start         string `json:"start_url"`
		Icons         []struct{ Src, Sizes, Type, Purpose string }
	}
	servertest.Must(t, json.Unmarshal(w.Body.Bytes(), &manifest))
	if got := w.Header().Get("Content-Type"); got != "application/manifest+json" || manifest.Name != "Library Catalogue" || manifest.Display != "standalone" || manifest.Start != "/" {
		t.Errorf("%s: %+v", got, manifest)
	}
	var icons []string
	for _, icon := range manifest.Icons {
		icons = append(icons, strings.TrimSpace(icon.Sizes+" "+icon.Purpose))
		file := asset(t, c, icon.Src, "")
		if got := file.Header().Get("Content-Type"); got != icon.Type {
			t.Errorf("%s is %s", icon.Src, got)
		}
		if icon.Type == "image/png" {
			size, err := png.DecodeConfig(bytes.NewReader(file.Body.Bytes()))
			servertest.Must(t, err)
			if got := fmt.Sprintf("%dx%d", size.Width, size.Height); got != icon.Sizes {
				t.Errorf("%s has %s", icon.Src, got)
			}
		}
	}
	if diff := cmp.Diff([]string{"any", "192x192", "512x512", "512x512 maskable"}, icons); diff != "" {
		t.Error(diff)
	}
	page := c.Do(http.MethodGet, "/", "")
	if !strings.Contains(page.Body.String(), `<link rel="manifest" href="`+c.Do(http.MethodGet, "/assets/0/catalogue.webmanifest", "").Header().Get("Location")+`">`) ||
		!strings.Contains(page.Header().Get("Content-Security-Policy"), "manifest-src 'self'") {
		t.Errorf("a page lacks the manifest: %v", page.Header())
	}
}
