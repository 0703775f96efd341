package caller

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"library-catalogue/graph/model"
)

func TestParseProxies(t *testing.T) {
	t.Parallel()
	got, err := ParseProxies([]string{"10.1.2.3/8", " 192.0.2.1", "2001:db8::1", "2001:db8::/32"})
	if want := "[10.0.0.0/8 192.0.2.1/32 2001:db8::1/128 2001:db8::/32]"; fmt.Sprint(got) != want || err != nil {
		t.Errorf("%v, %v, want %s", got, err, want)
	}
	for _, bad := range []string{"", "10.0.0.0/33", "10.0.0", "proxy.example", "10.0.0.1:80", "fe80::1%eth0", "*"} {
		if got, err := ParseProxies([]string{bad}); err == nil || !strings.Contains(err.Error(), "10.0.0.0/8") {
			t.Errorf("%q: %v, %v", bad, got, err)
		}
	}
}

// TestNetwork names the network of a client, also of one with a token.
func TestNetwork(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"192.0.2.7:1": "192.0.2.7", "[2001:db8:1:2:3:4:5:6]:1": "2001:db8:1:2::", "[2001:db8:1:2::9]:1": "2001:db8:1:2::", "[::ffff:192.0.2.7]:1": "192.0.2.7",
	} {
		for _, who := range []context.Context{t.Context(), model.WithCaller(t.Context(), model.Caller{Subject: "ada"})} {
			var got string
			handler := Middleware(nil)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = Network(r.Context()).String() }))
			r := httptest.NewRequestWithContext(who, "GET", "/", nil)
			r.RemoteAddr = address
			handler.ServeHTTP(httptest.NewRecorder(), r)
			if got != want {
				t.Errorf("%s: %s, want %s", address, got, want)
			}
		}
	}
}
