package e2e

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// freePort returns a port that nobody listens on.
func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// startProvider runs an OpenID provider, with new keys, until stop is called or the test
// ends.
func startProvider(t *testing.T, port int, s *service, format string) (stop func()) {
	t.Helper()
	command := exec.Command("node", "provider.mjs", fmt.Sprint(port), s.url+"/login", format)
	out, err := command.StdoutPipe()
	must(t, err)
	command.Stderr = os.Stderr
	must(t, command.Start())
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			_ = command.Process.Kill()
			_ = command.Wait()
		}
	}
	t.Cleanup(stop)
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || strings.TrimSpace(line) != "listening" {
		t.Fatalf("the provider says %q, %v: run make e2e", line, err)
	}
	return stop
}

// atProvider logs in at the provider's own pages, from a page of the catalogue that leads
// there as soon as the catalogue knows where that is.
func atProvider(name string) step {
	submit := run(`document.querySelector("form").requestSubmit()`)
	return chromedp.Steps(
		until(`document.querySelector("[name=login]") || document.querySelector("main .button[href='/login']")?.click()`),
		write("[name=login]", name), write("[name=password]", "any"), submit,
		until(`/Authorize/i.test(document.body.textContent) && document.querySelector("[name=prompt][value=consent]")`), submit,
	)
}

// TestLogIn logs in at an OpenID provider from a form, and comes back to it. The provider
// comes later than the catalogue, gets new keys, and goes.
func TestLogIn(t *testing.T) {
	for name, tt := range map[string]struct {
		format string
		flags  []string
	}{
		"ID token":     {"", nil},
		"access token": {"jwt", []string{"--oidc-audience=urn:catalogue", "--require-scopes"}},
	} {
		t.Run(name, func(t *testing.T) {
			port := freePort(t)
			issuer := fmt.Sprintf("http://127.0.0.1:%d", port)
			s := start(t, append(tt.flags, "--oidc-issuer="+issuer, "--oidc-client-id=page")...)
			s.provider = issuer
			b := open(t, s)
			ready := until(`document.documentElement.classList.contains("scripted") && customElements.get("book-form")`)
			b.do("without the provider", b.goTo("/login"), until(`document.querySelector("main .note").textContent.includes("does not respond")`))
			stop := startProvider(t, port, s, tt.format)

			b.do("a form", b.goTo("/books/new"), ready, until(`document.querySelector(".token-note").textContent.includes("log in")`),
				write("#name", "Momo"), write("#author", "Michael Ende"), write("#publishedAt", "1973-01-01"), write("#pages", "304"), write("#price", "9.99"),
				run(`document.querySelector("#genreId").value = 1, document.querySelector("#genreId").dispatchEvent(new Event("input", {bubbles: true}))`),
				click("book-form .main"), until(`document.querySelector("dialog[open] [data-log-in]")`), click("dialog [data-log-in]"))
			b.do("logging in", atProvider("ada"))
			b.do("back", untilAt(`^/books/new$`), ready, until(`document.querySelector("#name").value === "Momo" && document.querySelector("[data-who]").textContent.startsWith("ada")`))
			b.do("saved", write("#price", "8.88"), click("book-form .main"), untilAt(`^/books/\d+$`), until(`document.querySelector("h1").textContent === "Momo"`))
			b.do("logged out", click("[data-token]"), until(`document.querySelector("dialog[open] [value=forget]").textContent === "Log out"`), click("dialog [value=forget]"),
				until(`document.querySelector("[data-who]").textContent === "Read only" && !sessionStorage.getItem("token")`))
			b.do("an answer that nobody asked for", b.goTo("/login?code=x&state=y"), until(`document.querySelector("[role=alert]").textContent.includes("started in another tab")`),
				b.goTo("/login?error=access_denied"), until(`document.querySelector("[role=alert]").textContent.includes("reported an error")`))

			stop()
			stop = startProvider(t, port, s, tt.format)
			b.do("new keys", b.goTo("/books/1/edit"), ready, until(`document.querySelector(".token-note button")`), click(".token-note button"),
				until(`document.querySelector("dialog[open] [data-log-in]")`), click("dialog [data-log-in]"), atProvider("eve"),
				untilAt(`^/books/1/edit$`), ready, until(`document.querySelector("[data-who]").textContent.startsWith("eve") && !document.querySelector(".token-note")`))

			stop()
			b.do("without the provider again", write("#price", "15.71"), click("book-form .main"), untilAt(`^/books/1$`), until(`document.querySelector(".facts").textContent.includes("15.71")`))
		})
	}
}

// TestTokensEnd opens a form with tokens that end soon, that have ended, and that the
// catalogue does not accept: each is said before anything is saved, and the form keeps
// what was typed.
func TestTokensEnd(t *testing.T) {
	s := start(t)
	b := open(t, s)
	give := func(ttl time.Duration, flags ...string) step {
		command := exec.Command(binary(t), append([]string{"token", "--ttl=" + ttl.String()}, flags...)...)
		command.Dir = s.dir
		token, err := command.Output()
		must(t, err)
		return run(fmt.Sprintf(`sessionStorage.setItem("token", %q)`, strings.TrimSpace(string(token))))
	}
	form := chromedp.Steps(b.goTo("/books/1/edit"), until(`customElements.get("book-form")`))
	says := func(text string) step {
		return until(fmt.Sprintf(`document.querySelector(".token-note")?.textContent.includes(%q)`, text))
	}
	b.do("one that ends while the form is open", b.goTo("/"), give(2*time.Minute+4*time.Second), form, until(`document.querySelector("[data-who]").textContent === "Can edit"`),
		write("#name", "Typed before"), says("Your token expires at"))
	b.do("one that has ended", give(time.Second), run(`window.confirm = () => true`), click(".brand"), untilAt(`^/$`))
	b.do("has ended", form, says("Your token has expired"), until(`document.querySelector("#name").value === "Typed before"`))
	b.do("another's", give(time.Hour, "--jwt-secret="+strings.Repeat("x", 32)), form, says("is not accepted"))
	b.do("a good one", click(".token-note button"), until(`document.querySelector("dialog[open] textarea")`), put("dialog textarea", s.token), click("dialog .main"),
		until(`!document.querySelector(".token-note") && document.querySelector("#name").value === "Typed before"`))
	b.do("saved", click("book-form .main"), untilAt(`^/books/1$`), until(`document.querySelector("h1").textContent === "Typed before"`))
}
