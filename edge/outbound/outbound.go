// Package outbound has what requests to other services share: refusing private addresses, errors without addresses,
// and Retry-After.
package outbound

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// Explain returns an error of a request without its URL, which may contain a secret, and without addresses, because
// they may belong to the server's own network. to names the other service.
func Explain(ctx context.Context, err error, to string, timeout time.Duration) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("%s did not respond within %s", to, timeout)
	}
	if lookup, ok := errors.AsType[*net.DNSError](err); ok {
		if lookup.IsNotFound {
			return fmt.Errorf("the host %s does not exist", lookup.Name)
		}
		return fmt.Errorf("the look-up of the host %s failed", lookup.Name)
	}
	if connection, ok := errors.AsType[*net.OpError](err); ok { // its text has the addresses
		return fmt.Errorf("the connection to %s failed: %w", to, connection.Err)
	}
	if outer, ok := errors.AsType[*url.Error](err); ok {
		return outer.Err
	}
	return err
}

// RetryAfter returns the delay of a Retry-After header, a number of seconds or a time (RFC 9110, section 10.2.3).
// It is 0 without a valid header.
func RetryAfter(header http.Header, now time.Time) time.Duration {
	text := header.Get("Retry-After")
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// RefusePrivate returns a net.Dialer's Control that refuses addresses that are not public. It sees the address after
// name resolution, so that a name cannot lead to a private address later. The error ends with advice.
func RefusePrivate(advice string) func(network, address string, _ syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		if !IsPublic(to.Addr()) {
			return errors.New("the host has an address that is not public: " + advice)
		}
		return nil
	}
}

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

// IsPublic reports whether an address is globally reachable.
func IsPublic(address netip.Addr) bool {
	address = address.Unmap().WithZone("")
	isOutside := address.Is6() && !globalUnicast.Contains(address)
	return !isOutside && !slices.ContainsFunc(notPublic, func(network netip.Prefix) bool {
		return network.Contains(address)
	})
}
