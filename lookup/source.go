package lookup

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"library-catalogue/edge/outbound"
	"library-catalogue/graph/model"
)

const (
	maxRequests      = 2       // concurrent requests to a source
	maxTimeouts      = 2       // in a row, until a source is skipped
	maxResponseBytes = 1 << 20 // of a response, unpacked
	maxHeaderBytes   = 16 << 10
	maxRedirects     = 3
	maxRetryAfter    = 24 * time.Hour // longer delays of Retry-After count as this
)

// reader returns the book of a response, or nil if the source does not know it. now is the time of the request.
type reader func(response []byte, isbn string, now time.Time) (*model.FoundBook, error)

// refusal is the error of a source that refuses a request.
type refusal struct {
	why   string
	pause time.Duration // that the source asks for
}

func (r refusal) Error() string { return r.why }

// source is a source of books. It is safe for concurrent use.
type source struct {
	name   string
	groups []string
	base   *url.URL // with placeholder in place of the ISBN
	agent  string   // User-Agent
	read   reader
	client *http.Client
	slots  chan struct{} // held by requests

	mu       sync.Mutex
	timeouts int       // in a row
	pausedTo time.Time // until then it is not asked
	why      string    // it is paused
}

// newSource returns the source of a preset, or of an operator's template without a name, whose address may be private.
func newSource(p preset) (*source, error) {
	base, err := p.address()
	if err != nil {
		return nil, err
	}
	s := &source{name: p.name, groups: p.groups, base: base, read: readSRU, slots: make(chan struct{}, maxRequests)}
	if p.schema == "" {
		s.read = readOpenLibrary
	}
	own := ""
	if s.name == "" {
		s.name, own = base.Host, hostPort(base)
	}
	s.client = &http.Client{CheckRedirect: s.checkRedirect, Transport: &http.Transport{
		DialContext: dialer(own), ForceAttemptHTTP2: true, MaxResponseHeaderBytes: maxHeaderBytes,
		IdleConnTimeout: time.Minute,
	}}
	return s, nil
}

// dialer returns a DialContext to public addresses, and to own, a host and port that may be private.
func dialer(own string) func(ctx context.Context, network, address string) (net.Conn, error) {
	public := &net.Dialer{Control: outbound.RefusePrivate("only the host and port of the setting may be private")}
	named := &net.Dialer{}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if address == own {
			return named.DialContext(ctx, network, address)
		}
		return public.DialContext(ctx, network, address)
	}
}

// hostPort returns the host and port of an address, as a dialer gets them.
func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// checkRedirect allows three redirects within the host. Plain http is only for the address of the setting.
func (s *source) checkRedirect(to *http.Request, via []*http.Request) error {
	u := to.URL
	isPlain := u.Scheme == "http" && s.base.Scheme == "http" && hostPort(u) == hostPort(s.base)
	isOther := !strings.EqualFold(u.Hostname(), s.base.Hostname()) || !isPort(u.Port())
	switch {
	case len(via) > maxRedirects:
		return errManyRedirects
	case isOther || u.User != nil || u.Scheme != "https" && !isPlain:
		return errRedirect
	}
	return nil
}

// Errors of requests, in place of those of net/http and crypto/tls, whose texts have parts of the response.
var (
	errManyRedirects = fmt.Errorf("the source redirects more than %d times", maxRedirects)
	errRedirect      = errors.New("the source redirects to another host or an insecure address")
	errCertificate   = errors.New("the certificate of the source is not valid for its host")
	errEarly         = errors.New("the response ended too early")
	errHTTP          = errors.New("the source does not respond with valid HTTP")
)

// plainError returns an error of a request without texts of the source. Errors of names and connections have none.
func plainError(err error) error {
	_, isName := errors.AsType[*net.DNSError](err)
	_, isConnection := errors.AsType[*net.OpError](err)
	_, isCertificate := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case isName || isConnection || errors.Is(err, errManyRedirects) || errors.Is(err, errRedirect):
		return err
	case isCertificate:
		return errCertificate
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return errEarly
	}
	return errHTTP
}

// ask asks the source for a book.
func (s *source) ask(ctx context.Context, isbn string) result {
	within, cancel := context.WithTimeout(ctx, maxSourceTime)
	defer cancel()
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-within.Done():
	}
	if within.Err() != nil {
		return failed(model.LookupSkipped, "other look-ups or sources took all the time")
	}
	if why := s.paused(); why != "" { // maybe since another look-up had the slot
		return failed(model.LookupSkipped, why)
	}
	book, err := s.get(within, isbn)
	refused, isRefused := errors.AsType[refusal](err)
	s.note(err != nil && ctx.Err() == nil && within.Err() != nil, refused.pause)
	switch {
	case err == nil:
		return resultOf(book)
	case isRefused:
		return failed(model.LookupRefused, refused.why)
	case ctx.Err() != nil:
		return failed(model.LookupUnreachable, "the source did not respond before the end of the look-up")
	}
	return failed(model.LookupUnreachable, outbound.Explain(within, err, "the source", maxSourceTime).Error())
}

// get sends a request, and returns the book of the response, or nil.
func (s *source) get(ctx context.Context, isbn string) (*model.FoundBook, error) {
	u, now := *s.base, time.Now()
	u.RawQuery = strings.ReplaceAll(u.RawQuery, placeholder, isbn)
	u.Path = strings.ReplaceAll(u.Path, placeholder, isbn)
	u.RawPath = strings.ReplaceAll(u.RawPath, placeholder, isbn)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", s.agent)
	response, err := s.client.Do(request)
	if err != nil {
		return nil, plainError(err)
	}
	defer response.Body.Close()
	if err := checkStatus(response, now); err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxResponseBytes+1))
	switch {
	case err != nil:
		return nil, plainError(err)
	case len(raw) > maxResponseBytes:
		return nil, errors.New("the response is longer than 1 MiB")
	}
	text, err := decode(raw, response.Header.Get("Content-Type"))
	if err != nil {
		return nil, err
	}
	book, err := s.read(text, isbn, now)
	if book != nil {
		book.Source = s.name
	}
	return book, err
}

// checkStatus returns the error of a response other than 200.
func checkStatus(response *http.Response, now time.Time) error {
	status := response.StatusCode
	why := fmt.Sprintf("the source responded with %d", status)
	delay := min(outbound.RetryAfter(response.Header, now), maxRetryAfter)
	switch {
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable && delay > 0:
		return refusal{why + " and asks for a pause", max(delay, pauseTime)}
	case status >= 400 && status < 500:
		return refusal{why: why}
	case status != http.StatusOK:
		return errors.New(why)
	}
	return nil
}

// paused returns why the source must not be asked, or "".
func (s *source) paused() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Now().Before(s.pausedTo) {
		return s.why
	}
	return ""
}

// note pauses the source for a delay that it asks for, or after two time-outs in a row.
func (s *source) note(isTimeout bool, delay time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	why := "the source asked for a pause"
	if s.timeouts++; !isTimeout {
		s.timeouts = 0
	} else if s.timeouts == maxTimeouts {
		s.timeouts, delay = 0, pauseTime
		why = "the source was too slow twice and is skipped for a minute"
	}
	if delay > 0 {
		s.pausedTo, s.why = time.Now().Add(delay), why
	}
}
