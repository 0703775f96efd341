package webhooks

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"library-catalogue/graph/model"
)

func TestCheckURL(t *testing.T) {
	t.Parallel()
	for text, part := range map[string]string{
		"https://example.com/hook?a=b": "", "https://8.8.8.8:8443": "",
		"http://example.com": "must begin with https://", "example.com": "use the form", "ftp://example.com": "use the form", "https://": "use the form",
		"https://%": "use the form", "https://me:secret@example.com": "user or a fragment", "https://example.com/#a": "user or a fragment",
		"https://127.0.0.1/": "127.0.0.1 is not a public address", "https://[::ffff:10.0.0.1]/": "is not a public address",
	} {
		if err := NewClient(false).CheckURL(text); (err == nil) != (part == "") || err != nil && !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v, want %q", text, err, part)
		}
	}
	for _, text := range []string{"http://example.com", "https://127.0.0.1/"} {
		if err := NewClient(true).CheckURL(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestPrivateRefused connects to this machine by a name, which only the dialer sees.
func TestPrivateRefused(t *testing.T) {
	t.Parallel()
	to := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the endpoint got a request") }))
	defer to.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(to.URL, "https://"), ":")
	w := &model.Webhook{URL: "https://localhost:" + port, Secrets: []string{NewSecret()}}
	if err := NewClient(false).Test(t.Context(), w); err == nil || err.Error() != "the connection to the endpoint failed: the host has an address that is not public: "+privateAdvice {
		t.Error(err)
	}
}

// TestTest sends a test message, and shows that errors do not contain the URL.
func TestTest(t *testing.T) {
	t.Parallel()
	to := newReceiver(t, nil)
	w := &model.Webhook{URL: to.URL + "/?token=hidden", Secrets: []string{NewSecret()}}
	to.secrets = w.Secrets
	if err := NewClient(true).Test(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	if m := <-to.accepted; m.Type != "webhook.test" || !strings.HasPrefix(m.id, "test_") {
		t.Errorf("got %+v", m)
	}
	to.Close()
	if err := NewClient(true).Test(t.Context(), w); err == nil || strings.Contains(err.Error(), "hidden") {
		t.Error(err)
	}
	w.Secrets = []string{"whsec_***"}
	if err := NewClient(true).Test(t.Context(), w); err == nil || strings.Contains(err.Error(), "***") {
		t.Error(err)
	}
}
