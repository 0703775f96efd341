package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

const (
	first, second = "9783161484100", "9780306406157"
	groceries     = "4006381333931" // another EAN-13
)

// bars returns the modules of an EAN-13 symbol: 1 is black (ISO/IEC 15420).
func bars(code string) string {
	left := []string{"0001101", "0011001", "0010011", "0111101", "0100011", "0110001", "0101111", "0111011", "0110111", "0001011"}
	parity := []string{"......", "..m.mm", "..mm.m", "..mmm.", ".m..mm", ".mm..m", ".mmm..", ".m.m.m", ".m.mm.", ".mm.m."} // m: mirrored
	inverted := strings.NewReplacer("0", "1", "1", "0")
	out := "101"
	for i, digit := range code[1:] {
		digit := left[digit-'0']
		switch {
		case i >= 6:
			digit = inverted.Replace(digit)
		case parity[code[0]-'0'][i] == 'm':
			mirrored := []byte(inverted.Replace(digit))
			for j := range mirrored[:3] {
				mirrored[j], mirrored[6-j] = mirrored[6-j], mirrored[j]
			}
			digit = string(mirrored)
		}
		if i == 6 {
			out += "01010"
		}
		out += digit
	}
	return out + "101"
}

// film writes what a camera sees as YUV4MPEG2: a second of each barcode; empty: of white paper.
func film(t *testing.T, codes ...string) string {
	t.Helper()
	const width, height, module, framesPerSecond = 640, 480, 4, 10
	var out bytes.Buffer
	fmt.Fprintf(&out, "YUV4MPEG2 W%d H%d F%d:1 Ip A1:1 C420jpeg\n", width, height, framesPerSecond)
	for _, code := range codes {
		line := bytes.Repeat([]byte{235}, width)
		if code != "" {
			for i, bar := range bars(code) {
				if bar == '1' {
					copy(line[100+i*module:], []byte{16, 16, 16, 16})
				}
			}
		}
		frame := append([]byte("FRAME\n"), bytes.Repeat(line, height)...)
		frame = append(frame, bytes.Repeat([]byte{128}, width*height/2)...)
		out.Write(bytes.Repeat(frame, framesPerSecond))
	}
	path := filepath.Join(t.TempDir(), "film.y4m")
	must(t, os.WriteFile(path, out.Bytes(), 0o600))
	return path
}

// phone opens a browser with a finger and a camera that sees a film.
func phone(t *testing.T, s *service, film string, more ...chromedp.ExecAllocatorOption) *browser {
	t.Helper()
	return openWith(t, s, append([]chromedp.ExecAllocatorOption{
		chromedp.Flag("blink-settings", "primaryHoverType=1,availableHoverTypes=1,primaryPointerType=2,availablePointerTypes=2"),
		chromedp.Flag("use-fake-device-for-media-stream", true), chromedp.Flag("use-fake-ui-for-media-stream", true),
		chromedp.Flag("use-file-for-fake-video-capture", film),
	}, more...)...)
}

// before runs a script before those of each page.
func (b *browser) before(script string) {
	b.t.Helper()
	_, err := chromedp.Call(b.Context, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
	must(b.t, err)
}

// watchCamera keeps the picture of the camera, and counts tones and vibrations.
const watchCamera = `
	const { mediaDevices } = navigator, open = mediaDevices.getUserMedia.bind(mediaDevices);
	mediaDevices.getUserMedia = async (what) => globalThis.picture = await open(what);
	Object.assign(globalThis, { tones: 0, vibrations: 0 });
	const create = AudioContext.prototype.createOscillator;
	AudioContext.prototype.createOscillator = function () { tones += 1; return create.call(this); };
	navigator.vibrate = () => { vibrations += 1; };`

// released waits until the dialog is gone and the camera is off.
var released = until(`!document.querySelector(".scan-dialog") && picture.getTracks().every((track) => track.readyState === "ended")`)

// scanning calls scan with a function, as a page does.
func scanning(take string) step {
	return run(`void import(document.querySelector("script[src]").src.replace("page.js", "scan.js")).then(({ scan }) => scan(` + take + `))`)
}

// detector is a BarcodeDetector of the browser that reads codes everywhere.
func detector(formats string, codes ...string) string {
	return fmt.Sprintf(`globalThis.BarcodeDetector = class {
		static getSupportedFormats = async () => [%q];
		detect = async () => %q.split(" ").map((rawValue) => ({ rawValue }));
	}`, formats, strings.Join(codes, " "))
}

// assetsOf keeps the names of the assets that a proxy serves. Those of missing are not found.
func assetsOf(p *proxy, missing string) func() string {
	var mu sync.Mutex
	var names []string
	forward := p.forward
	p.forward = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := filepath.Base(r.URL.Path)
		mu.Lock()
		names = append(names, name)
		mu.Unlock()
		if name == missing {
			http.NotFound(w, r)
			return
		}
		forward.ServeHTTP(w, r)
	})
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		return strings.Join(names, " ")
	}
}

// TestScan presses Scan beside the search. Browsers without a detector of EAN-13 load zxing-wasm when the camera is open. Other
// barcodes do not count.
func TestScan(t *testing.T) {
	s := start(t)
	s.graphQL(t, `mutation { updateBook(input: {id: 1, patch: {isbn: "`+first+`"}}) { book { id } } }`)
	for name, tt := range map[string]struct {
		script string
		film   []string
		loads  bool
	}{
		"no detector":          {"", []string{groceries, first}, true},
		"no format":            {detector("qr_code", second), []string{first}, true},
		"a detector":           {detector("ean_13", groceries, "9783161484101", "9771234567003", first), []string{""}, false},
		"detectors by service": {`globalThis.BarcodeDetector = class { static getSupportedFormats = async () => []; }`, []string{first}, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := behindProxy(t, s)
			assets := assetsOf(p, "")
			b := phone(t, p.service, film(t, tt.film...))
			b.before(tt.script)
			b.do("the list", b.goTo("/"), scripted, until(`document.querySelector(".scan")`))
			for _, lazy := range []string{"barcodes.js", "zxing_reader.js", "zxing_reader.wasm"} {
				if strings.Contains(assets(), lazy) {
					t.Errorf("%s is loaded before the camera opens", lazy)
				}
			}
			b.do("Scan", click(".scan"), untilAt("^/books/1$"))
			if loaded := strings.Contains(assets(), "zxing_reader.wasm"); loaded != tt.loads {
				t.Errorf("zxing-wasm is loaded: %t", loaded)
			}
		})
	}
	b := open(t, s)
	b.do("a mouse, and no detector", b.goTo("/"), scripted, until(`!document.querySelector(".scan")`))
}

// TestScanSeveral reads books one after the other. A book that stays, or is back at once, counts once.
func TestScanSeveral(t *testing.T) {
	b := phone(t, start(t), film(t, first, groceries, first, second))
	b.before(watchCamera)
	b.do("two books", b.goTo("/books/new"), scripted, run(`globalThis.taken = []`), scanning(`async (isbn) => taken.push(isbn) < 2`),
		until(`taken.length === 1 && document.querySelector(".scan-dialog[open] [role=status]").textContent === "ISBN " + taken[0]`),
		until(fmt.Sprintf(`taken.toSorted().join() === "%s,%s"`, second, first)), released, until(`tones === 2 && vibrations === 2`))
}

// TestScanEnds closes the dialog in each way, which turns the camera off.
func TestScanEnds(t *testing.T) {
	b := phone(t, start(t), film(t, ""))
	b.before(watchCamera)
	b.do("360 px", window(360, 740), b.goTo("/"), scripted, click(".scan"), until(`document.querySelector("video")?.currentTime > 0`))
	if found := b.faults(`[]`); found != "" {
		t.Error(found)
	}
	for name, end := range map[string]step{
		"Close":    click(".scan-dialog button"),
		"Escape":   chromedp.KeyEvent("\x1b"),
		"Back":     chromedp.Steps(run(`history.back()`), untilAt("^/$")),
		"a switch": run(`document.dispatchEvent(new Event("visibilitychange"))`),
	} {
		b.do(name, b.goTo("/"), scripted, run(`document.querySelector('.menu [href="/genres"]').click()`), untilAt("^/genres$"), click(".scan"),
			until(`document.querySelector("video")?.currentTime > 0`), end, released)
	}
}

// TestScanFails has no camera, on http and where people refuse it, or no reader. One line says so.
func TestScanFails(t *testing.T) {
	s := start(t)
	http := *s
	http.url = strings.Replace(s.url, "127.0.0.1", "catalogue.test", 1)
	b := phone(t, &http, film(t, ""), chromedp.Flag("host-resolver-rules", "MAP catalogue.test 127.0.0.1, MAP * ~NOTFOUND"))
	b.do("http", b.goTo("/"), scripted, click(".scan"), says("Browsers open the camera at https addresses only."), until(`!document.querySelector("dialog")`))

	p := behindProxy(t, s)
	assets := assetsOf(p, "zxing_reader.wasm")
	b = phone(t, p.service, film(t, first))
	b.before(watchCamera)
	refuse := run(`{ const allow = navigator.mediaDevices.getUserMedia; navigator.mediaDevices.getUserMedia = () => { navigator.mediaDevices.getUserMedia = allow; return Promise.reject(new Error("no")); }; }`)
	b.do("refused", b.goTo("/"), scripted, refuse, click(".scan"), says("The camera is not available."), until(`!document.querySelector("dialog")`))
	if strings.Contains(assets(), "barcodes.js") {
		t.Error("the reader is loaded without a camera")
	}
	b.refusal = "wasm|WebAssembly|ArrayBuffer"
	b.do("no reader", click(".scan"), says("The barcode reader did not load."), released)
}

// TestHomeScreen reads the manifest of the pages as a browser that puts them on a home screen.
func TestHomeScreen(t *testing.T) {
	b := open(t, start(t))
	b.do("a page", b.goTo("/"), scripted)
	manifest, err := chromedp.Call(b.Context, page.GetAppManifest, page.GetAppManifestParams{})
	must(t, err)
	if len(manifest.Errors) > 0 || !strings.Contains(manifest.Data, `"start_url": "/"`) {
		t.Errorf("%v: %s", manifest.Errors, manifest.Data)
	}
	problems, err := chromedp.Call(b.Context, page.GetInstallabilityErrors, cdp.Empty{})
	must(t, err)
	for _, problem := range problems.InstallabilityErrors {
		t.Error(problem.ErrorID, problem.ErrorArguments)
	}
}
