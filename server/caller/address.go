package caller

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// ParseProxies parses a list of networks (10.0.0.0/8) and addresses (10.0.0.1).
func ParseProxies(list []string) ([]netip.Prefix, error) {
	var proxies []netip.Prefix
	for _, item := range list {
		text := strings.TrimSpace(item)
		if prefix, err := netip.ParsePrefix(text); err == nil {
			proxies = append(proxies, prefix.Masked())
		} else if address, err := netip.ParseAddr(text); err == nil && address.Zone() == "" {
			proxies = append(proxies, netip.PrefixFrom(address, address.BitLen()))
		} else {
			return nil, fmt.Errorf("%q is no network: write it like 10.0.0.0/8 or 10.0.0.1", item)
		}
	}
	return proxies, nil
}

// clientAddress returns the address that a request comes from: that of the
// connection, or, where a trusted proxy holds it, the last one that a trusted
// proxy has noted and that is none itself. Whatever stands before that, the
// client may have written. The zero Addr stands for one that cannot be read.
func clientAddress(r *http.Request, proxies []netip.Prefix) netip.Addr {
	peer := address(r.RemoteAddr)
	if !trusted(peer, proxies) {
		return peer
	}
	noted := furthest(peer, r.Header["X-Forwarded-For"], proxies, address)
	if r.Header["Forwarded"] == nil {
		return noted
	}
	other := furthest(peer, r.Header["Forwarded"], proxies, forwardedFor)
	switch {
	case r.Header["X-Forwarded-For"] == nil:
		return other
	case noted != other:
		return peer // a proxy writes the one, and lets the other through: which is which?
	}
	return noted
}

// furthest follows the elements of a header backwards for as long as those who
// wrote them are trusted. An element that says nothing ends the way.
func furthest(from netip.Addr, lines []string, proxies []netip.Prefix, parse func(element string) netip.Addr) netip.Addr {
	for _, line := range slices.Backward(lines) {
		for more := true; more; {
			var element string
			comma := strings.LastIndexByte(line, ',')
			line, element, more = line[:max(comma, 0)], line[comma+1:], comma >= 0
			next := parse(strings.TrimSpace(element))
			if !next.IsValid() {
				return from
			}
			if from = next; !trusted(from, proxies) {
				return from
			}
		}
	}
	return from
}

func trusted(a netip.Addr, proxies []netip.Prefix) bool {
	return slices.ContainsFunc(proxies, func(p netip.Prefix) bool { return p.Contains(a) })
}

// address parses an address, with a port or without.
func address(text string) netip.Addr {
	if a, err := netip.ParseAddrPort(text); err == nil {
		return a.Addr().Unmap().WithZone("")
	}
	a, err := netip.ParseAddr(strings.Trim(text, "[]"))
	if err != nil {
		return netip.Addr{}
	}
	return a.Unmap().WithZone("")
}

// forwardedFor parses for= in an element of Forwarded (RFC 7239, section 4).
// No address has a comma or a semicolon, so a quoted text with one is none.
func forwardedFor(element string) netip.Addr {
	for pair := range strings.SplitSeq(element, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		if strings.EqualFold(name, "for") {
			return address(strings.Trim(value, `"`))
		}
	}
	return netip.Addr{}
}

// NetworkOf returns the network of the client at the other end of a connection.
func NetworkOf(conn net.Conn) netip.Addr { return network(address(conn.RemoteAddr().String())) }

// network returns what one client has for itself: an IPv4 address, or the /64 of
// an IPv6 address, in which it can choose any.
func network(a netip.Addr) netip.Addr {
	if !a.Is6() {
		return a
	}
	prefix, err := a.Prefix(64)
	if err != nil {
		return netip.Addr{}
	}
	return prefix.Addr()
}
