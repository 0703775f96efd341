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
			return nil, fmt.Errorf("%q is not a network: use the form 10.0.0.0/8 or 10.0.0.1", item)
		}
	}
	return proxies, nil
}

// clientAddress returns the address of a request's client. Without a trusted proxy it is the connection's peer. Behind
// trusted proxies it is the last forwarded address that is not a proxy; the client may have forged those before it.
// It returns the zero Addr if the address cannot be parsed.
func clientAddress(r *http.Request, proxies []netip.Prefix) netip.Addr {
	peer := address(r.RemoteAddr)
	if !trusted(peer, proxies) {
		return peer
	}
	xForwardedFor := firstUntrusted(peer, r.Header["X-Forwarded-For"], proxies, address)
	if r.Header["Forwarded"] == nil {
		return xForwardedFor
	}
	forwarded := firstUntrusted(peer, r.Header["Forwarded"], proxies, forwardedFor)
	if r.Header["X-Forwarded-For"] != nil && xForwardedFor != forwarded {
		return peer // a proxy writes one header and may pass a forged other one through
	}
	return forwarded
}

// firstUntrusted follows the elements of a header from its end, starting after from, and returns the first address that
// is not a trusted proxy. It stops before an element that parse cannot read.
func firstUntrusted(
	from netip.Addr, lines []string, proxies []netip.Prefix, parse func(element string) netip.Addr,
) netip.Addr {
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

// forwardedFor parses for= in an element of Forwarded (RFC 7239, section 4). Quoted commas and semicolons are not
// supported, because no address has one.
func forwardedFor(element string) netip.Addr {
	for pair := range strings.SplitSeq(element, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		if strings.EqualFold(name, "for") {
			return address(strings.Trim(value, `"`))
		}
	}
	return netip.Addr{}
}

// NetworkOf returns the client network of a connection.
func NetworkOf(conn net.Conn) netip.Addr { return network(address(conn.RemoteAddr().String())) }

// network returns the client network of an address: an IPv4 address itself, or the /64 of an IPv6 address, because a
// client usually controls a whole /64.
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
