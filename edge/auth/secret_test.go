package auth

import (
	"bytes"
	"encoding/base64"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

func TestCheckSecret(t *testing.T) {
	t.Parallel()
	for length, ok := range map[int]bool{0: false, 31: false, 32: true, 64: true} {
		if err := CheckSecret(make([]byte, length)); (err == nil) != ok {
			t.Errorf("%d bytes: %v", length, err)
		}
	}
	if err := CheckSecret(nil); !strings.Contains(err.Error(), "openssl rand -base64 48") {
		t.Errorf("the error does not say how to make one: %v", err)
	}
}

func TestReadSecretFile(t *testing.T) {
	t.Parallel()
	const want = "0123456789abcdef0123456789abcdef"
	for text, want := range map[string]string{
		want:                want,
		want + "\n":         want,
		want + "\r\n":       want,
		want + "\n\n":       want + "\n",
		want + "\r":         want + "\r",
		"  " + want + " \n": "  " + want + " ",
		want[1:] + "\n":     "", // 31 bytes: the newline does not count
		"":                  "",
		"\x00\xff" + want:   "\x00\xff" + want,
	} {
		path := filepath.Join(t.TempDir(), "secret")
		writeFile(t, path, text, 0o444)
		got, err := ReadSecretFile(path)
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", text, got, err, want)
		}
	}
	if _, err := ReadSecretFile(filepath.Join(t.TempDir(), "absent")); err == nil {
		t.Error("an absent file gives a secret")
	}
}

// writeFile sets the mode by itself, because the umask takes from WriteFile's.
func writeFile(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func TestLoadOrCreateSecret(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "jwt.secret")
	first, err := LoadOrCreateSecret(path)
	if err != nil {
		t.Fatal(err)
	}
	if random, err := base64.StdEncoding.DecodeString(string(first)); err != nil || len(random) != 48 {
		t.Errorf("the secret is %d bytes of base64, %v, want 48", len(random), err)
	}
	again, err := LoadOrCreateSecret(path)
	if err != nil || !bytes.Equal(first, again) {
		t.Errorf("the second call gives another secret, %v", err)
	}
	read, err := ReadSecretFile(path)
	if err != nil || !bytes.Equal(first, read) {
		t.Errorf("ReadSecretFile gives another secret, %v", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("mode %v, want 0600", info.Mode())
	}
	wantAlone(t, path)

	other, err := LoadOrCreateSecret(filepath.Join(t.TempDir(), "jwt.secret"))
	if err != nil || bytes.Equal(first, other) {
		t.Errorf("two files have the same secret, %v", err)
	}
}

// wantAlone demands that nothing half-made is left beside path.
func wantAlone(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("beside the secret: %v, %v", entries, err)
	}
}

func TestLoadOrCreateSecretAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "jwt.secret")
	secrets := make([][]byte, 32)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range secrets {
		all.Go(func() {
			<-start
			var err error
			if secrets[i], err = LoadOrCreateSecret(path); err != nil {
				t.Error(err)
			}
		})
	}
	close(start)
	all.Wait()
	for _, s := range secrets {
		if !bytes.Equal(s, secrets[0]) {
			t.Fatal("two callers have different secrets")
		}
	}
	wantAlone(t, path)
}

func TestLoadOrCreateSecretRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := LoadOrCreateSecret(filepath.Join(dir, "absent", "jwt.secret")); err == nil {
		t.Error("a secret is made where no folder is")
	}
	short := filepath.Join(dir, "short")
	writeFile(t, short, "changeme\n", 0o600)
	if _, err := LoadOrCreateSecret(short); err == nil || !strings.Contains(err.Error(), "openssl") {
		t.Errorf("short: %v", err)
	}
	if runtime.GOOS == "windows" {
		return // has no such modes
	}
	for _, mode := range []fs.FileMode{0o644, 0o640, 0o604, 0o620, 0o666} {
		path := filepath.Join(dir, mode.String())
		writeFile(t, path, string(secret), mode)
		if _, err := LoadOrCreateSecret(path); err == nil || !strings.Contains(err.Error(), "chmod 600 "+path) {
			t.Errorf("%v: %v, want an error with chmod 600", mode, err)
		}
	}
	path := filepath.Join(dir, "private")
	writeFile(t, path, string(secret), 0o400)
	if _, err := LoadOrCreateSecret(path); err != nil {
		t.Errorf("0400: %v", err)
	}
}

// TestSecretCannotBeStored names the folder, and no file that nobody asked for.
func TestSecretCannotBeStored(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "none")
	_, err := LoadOrCreateSecret(filepath.Join(folder, "secret"))
	if want := "creating the JWT secret: writing to the directory " + folder + ": no such file or directory"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
