package serve

import (
	"strings"
	"testing"
)

// TestBannerOfAccounts names accounts where the server has no secret to sign tokens with.
func TestBannerOfAccounts(t *testing.T) {
	t.Parallel()
	for accounts, want := range map[string]string{"on": "Writes need an account: ", "off": "Writes need a token of your issuer: "} {
		c := &Command{}
		c.Accounts = accounts
		var banner strings.Builder
		c.printBanner(&banner, "http://localhost", false, nil)
		if !strings.Contains(banner.String(), want) {
			t.Errorf("accounts %s: no %q in %s", accounts, want, &banner)
		}
	}
}
