package outbound

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"syscall"
	"testing"
	"time"
)

func TestIsPublic(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"8.8.8.8": true, "93.184.216.34": true, "2606:4700::1111": true, "::ffff:8.8.8.8": true,
		"127.0.0.1": false, "10.1.2.3": false, "172.16.0.1": false, "172.31.255.255": false, "192.168.1.1": false, "0.0.0.0": false,
		"169.254.169.254": false, "100.64.0.1": false, "100.100.100.200": false, "168.63.129.16": false, "224.0.0.1": false,
		"255.255.255.255": false, "192.0.0.192": false, "198.18.0.1": false,
		"::1": false, "::": false, "fe80::1": false, "fe80::1%eth0": false, "fc00::1": false, "fd00:ec2::254": false, "ff02::1": false,
		"::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "::127.0.0.1": false, "64:ff9b::7f00:1": false,
		"2002:7f00:1::": false, "2001:0:7f00:1::": false, "2001:db8::1": false,
	} {
		if got := IsPublic(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}

// TestExplain turns the errors of Go into errors without an address of a resolver, of the server or of an endpoint.
func TestExplain(t *testing.T) {
	t.Parallel()
	from, to := &net.TCPAddr{IP: net.IPv4(10, 1, 2, 3), Port: 5000}, &net.TCPAddr{IP: net.IPv4(10, 9, 9, 9), Port: 443}
	lookup := func(e net.DNSError) error {
		e.Err, e.Name, e.Server = "SERVFAIL", "books.example", "10.0.0.2:53"
		return &net.OpError{Op: "dial", Net: "tcp", Err: &e}
	}
	const failed = "the connection to the endpoint failed: "
	for want, err := range map[string]error{
		"the host books.example does not exist":        lookup(net.DNSError{IsNotFound: true}),
		"the look-up of the host books.example failed": lookup(net.DNSError{IsTimeout: true}),
		failed + "connection refused":                  &net.OpError{Op: "dial", Net: "tcp", Addr: to, Err: syscall.ECONNREFUSED},
		failed + "read: connection reset by peer":      &net.OpError{Op: "read", Net: "tcp", Source: from, Addr: to, Err: os.NewSyscallError("read", syscall.ECONNRESET)},
		failed + "tls: handshake failure":              &net.OpError{Op: "remote error", Err: tls.AlertError(40)},
		"EOF":                                          io.EOF,
	} {
		got := Explain(t.Context(), &url.Error{Op: "Post", URL: "https://books.example/?token=hidden", Err: err}, "the endpoint", 15*time.Second)
		if got.Error() != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
	ended, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	if got := Explain(ended, lookup(net.DNSError{IsTimeout: true}), "the endpoint", 15*time.Second); got.Error() != "the endpoint did not respond within 15s" {
		t.Error(got)
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "120": 2 * time.Minute, "-1": 0, "soon": 0, "99999999999999999999": 0,
		"Fri, 02 Jan 2026 03:05:05 GMT": time.Minute, "Fri, 02 Jan 2026 03:03:05 GMT": 0,
	} {
		if got := RetryAfter(http.Header{"Retry-After": {text}}, now); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
