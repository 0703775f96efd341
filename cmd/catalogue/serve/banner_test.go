package serve

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"library-catalogue/cmd/catalogue/cli"
)

// TestBannerOfAccounts names accounts where the server has no secret to sign tokens with.
func TestBannerOfAccounts(t *testing.T) {
	t.Parallel()
	for accounts, want := range map[string]string{"on": "Writes need an account: ", "off": "Writes need a token of your issuer: "} {
		var banner strings.Builder
		p := &process{Command: new(Command), std: cli.Stdio{Out: &banner}}
		p.Accounts = accounts
		p.printBanner("http://localhost", nil)
		if !strings.Contains(banner.String(), want) {
			t.Errorf("accounts %s: no %q in %s", accounts, want, &banner)
		}
	}
}

// TestFromOutside runs commands in a container, which may have no shell and no PATH.
func TestFromOutside(t *testing.T) {
	t.Parallel()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for files, want := range map[string]string{
		"etc/passwd":        "catalogue",
		".dockerenv":        "docker exec " + host + " " + os.Args[0],
		"run/.containerenv": "podman exec " + host + " " + os.Args[0],
		".dockerenv var/run/secrets/kubernetes.io/serviceaccount/token": "kubectl exec " + host + " -- " + os.Args[0],
	} {
		root := fstest.MapFS{}
		for file := range strings.FieldsSeq(files) {
			root[file] = &fstest.MapFile{}
		}
		if got := fromOutside(root); got != want {
			t.Errorf("%s: %q, want %q", files, got, want)
		}
	}
}
