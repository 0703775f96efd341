package webhooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"library-catalogue/graph/model"
)

const (
	// sendTimeout bounds a request (Standard Webhooks 1.0.0, section "Request timeouts": 15 to 30 s).
	sendTimeout = 15 * time.Second
	// maxResponseBytes bounds the response that is read. It is discarded, so that the connection can be used again.
	maxResponseBytes = 16 << 10
)

// Client sends messages to endpoints. It follows no redirects and uses no proxy.
type Client struct {
	private bool
	http    *http.Client
	timeout time.Duration
}

// NewClient returns a Client. private allows private addresses and http.
func NewClient(private bool) *Client {
	dialer := &net.Dialer{Timeout: sendTimeout}
	if !private {
		dialer.Control = refusePrivate
	}
	return &Client{private: private, timeout: sendTimeout, http: &http.Client{
		Transport: &http.Transport{
			DialContext: dialer.DialContext, ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute,
			MaxResponseHeaderBytes: maxResponseBytes,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// CheckURL returns an error unless text is the URL of an endpoint that the client may send to. The addresses of its
// host are checked when the client connects.
func (c *Client) CheckURL(text string) error {
	const form = "use the form https://HOST/PATH"
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		return errors.New("the URL is invalid: " + form)
	case u.User != nil || u.Fragment != "":
		return errors.New("the URL has a user or a fragment: " + form + "; the signature authenticates the sender")
	case u.Scheme == "http" && !c.private:
		return errors.New("the URL must begin with https://: http needs --webhook-private or CATALOGUE_WEBHOOK_PRIVATE")
	}
	if address, err := netip.ParseAddr(u.Hostname()); err == nil && !c.private && !isPublic(address) {
		return fmt.Errorf("%s is not a public address: %s", address, privateAdvice)
	}
	return nil
}

// Test sends a message of type webhook.test to an endpoint.
func (c *Client) Test(ctx context.Context, w *model.Webhook) error {
	return c.send(ctx, w, testMessage(model.Timestamp(time.Now().UnixMicro()))).err
}

type result struct {
	err        error         // nil after a 2xx response
	status     int           // 0 without a response
	retryAfter time.Duration // from Retry-After
}

// send sends a message with a signature of each secret.
func (c *Client) send(ctx context.Context, w *model.Webhook, m message) result {
	if err := c.CheckURL(w.URL); err != nil {
		return result{err: err}
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader(m.body))
	if err != nil {
		return result{err: err}
	}
	now := time.Now()
	signatures, err := sign(w.Secrets, m, now)
	if err != nil {
		return result{err: err}
	}
	// The specification writes the names in lower case; HTTP ignores the case.
	request.Header.Set(standardwebhooks.HeaderWebhookID, m.id)
	request.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	request.Header.Set(standardwebhooks.HeaderWebhookSignature, signatures)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "library-catalogue")
	response, err := c.http.Do(request)
	if err != nil {
		return result{err: c.explain(ctx, err)}
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, maxResponseBytes)
	r := result{status: response.StatusCode, retryAfter: retryAfter(response.Header.Get("Retry-After"), now)}
	if r.status < 200 || r.status > 299 {
		r.err = fmt.Errorf("the endpoint responded with %s", response.Status)
	}
	return r
}

// sign returns the signatures of a message, separated by spaces.
func sign(secrets []string, m message, now time.Time) (string, error) {
	signatures := make([]string, len(secrets))
	for i, secret := range secrets {
		signer, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			return "", errors.New("the secret of the webhook is invalid: replace it with catalogue webhook rotate")
		}
		if signatures[i], err = signer.Sign(m.id, now, m.body); err != nil {
			return "", err
		}
	}
	return strings.Join(signatures, " "), nil
}

// explain returns an error without the URL, which may contain a secret, and without addresses, because they may
// belong to the server's own network.
func (c *Client) explain(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("the endpoint did not respond within %s", c.timeout)
	}
	if lookup, ok := errors.AsType[*net.DNSError](err); ok {
		if lookup.IsNotFound {
			return fmt.Errorf("the host %s does not exist", lookup.Name)
		}
		return fmt.Errorf("the look-up of the host %s failed", lookup.Name)
	}
	if connection, ok := errors.AsType[*net.OpError](err); ok { // its text has the addresses
		return fmt.Errorf("the connection to the endpoint failed: %w", connection.Err)
	}
	if outer, ok := errors.AsType[*url.Error](err); ok {
		return outer.Err
	}
	return err
}

// retryAfter returns the delay in a Retry-After header, a number of seconds or a time (RFC 9110, section 10.2.3).
// It is 0 without a valid header.
func retryAfter(text string, now time.Time) time.Duration {
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// refusePrivate is a net.Dialer's Control that refuses addresses that are not public. It sees the address after
// name resolution, so that a name cannot lead to a private address later.
func refusePrivate(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if !isPublic(to.Addr()) {
		return errors.New("the host has an address that is not public: " + privateAdvice)
	}
	return nil
}

const privateAdvice = "allow private addresses with --webhook-private or CATALOGUE_WEBHOOK_PRIVATE"

// notPublic are the networks that are not globally reachable, from IANA's special-purpose address registries (RFC
// 6890). IPv6 has them outside of 2000::/3 too.
var notPublic = func() (networks []netip.Prefix) {
	for _, text := range []string{
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
		"192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
		"224.0.0.0/4", "240.0.0.0/4",
		"168.63.129.16/32", // metadata of Azure
		"2001::/23",        // protocols, among them Teredo, which contains IPv4 addresses
		"2001:db8::/32",
		"2002::/16", // 6to4, which contains IPv4 addresses
		"3fff::/20",
	} {
		networks = append(networks, netip.MustParsePrefix(text))
	}
	return networks
}()

var globalUnicast = netip.MustParsePrefix("2000::/3")

func isPublic(address netip.Addr) bool {
	address = address.Unmap().WithZone("")
	isOutside := address.Is6() && !globalUnicast.Contains(address)
	return !isOutside && !slices.ContainsFunc(notPublic, func(network netip.Prefix) bool {
		return network.Contains(address)
	})
}
