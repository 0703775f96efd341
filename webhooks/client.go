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
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"library-catalogue/edge/outbound"
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
		dialer.Control = outbound.RefusePrivate(privateAdvice)
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
	if address, err := netip.ParseAddr(u.Hostname()); err == nil && !c.private && !outbound.IsPublic(address) {
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
		return result{err: outbound.Explain(ctx, err, "the endpoint", c.timeout)}
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, maxResponseBytes)
	r := result{status: response.StatusCode, retryAfter: outbound.RetryAfter(response.Header, now)}
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

const privateAdvice = "allow private addresses with --webhook-private or CATALOGUE_WEBHOOK_PRIVATE"
