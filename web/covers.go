package web

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// Covers are pictures of books that browsers load from other hosts. The zero value has none.
type Covers struct {
	template string // address with isbnPlace
	policy   string // Content-Security-Policy of pages with covers
}

// isbnPlace stands for the 13 digits in a template.
const isbnPlace = "{isbn}"

// coverHost matches a host with its port. A Content-Security-Policy cannot have an address of IPv6.
var coverHost = regexp.MustCompile(`^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*(?::(\d+))?$`)

// ParseCovers parses a setting: the address of a picture, and after commas the hosts that it may redirect to. A host
// may begin with "*.". An empty setting has no covers.
func ParseCovers(setting string) (Covers, error) {
	if setting == "" {
		return Covers{}, nil
	}
	template, rest, hasMore := strings.Cut(setting, ",")
	u, err := url.Parse(template)
	switch {
	case err != nil || u.Scheme != "https" && (u.Scheme != "http" || !isPrivate(u.Hostname())):
		return Covers{}, errors.New("the address must be like https://HOST/{isbn}.jpg: plain http is only for " +
			"localhost and private addresses")
	case u.User != nil || u.Fragment != "":
		return Covers{}, errors.New("remove the user or the fragment from the address")
	case !strings.Contains(u.Path+u.RawQuery, isbnPlace):
		return Covers{}, errors.New("write {isbn} in place of the number")
	}
	hosts := []string{u.Host}
	if hasMore {
		hosts = append(hosts, strings.Split(rest, ",")...)
	}
	sources := "img-src 'self'"
	for i, host := range hosts {
		host = strings.ToLower(strings.TrimSpace(host))
		name := host
		if i > 0 {
			name = strings.TrimPrefix(host, "*.")
		}
		match := coverHost.FindStringSubmatch(name)
		if match == nil {
			return Covers{}, fmt.Errorf("%q is not a host: write it like books.example", host)
		}
		if port, err := strconv.ParseUint(match[1], 10, 16); match[1] != "" && (err != nil || port == 0) {
			return Covers{}, fmt.Errorf("the port of %q must be from 1 to 65535", host)
		}
		sources += " " + u.Scheme + "://" + host
	}
	return Covers{template, strings.Replace(contentPolicy, "img-src 'self'", sources, 1)}, nil
}

// isPrivate reports whether a host is this machine or an address of a private network.
func isPrivate(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && (address.IsLoopback() || address.IsPrivate())
}

// url returns the address of the cover of a book; empty: it has none.
func (c Covers) url(isbn string) string {
	if isbn == "" {
		return ""
	}
	return strings.ReplaceAll(c.template, isbnPlace, isbn)
}
