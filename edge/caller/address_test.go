package caller

import (
	"fmt"
	"strings"
	"testing"
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
