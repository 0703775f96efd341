// Command release makes what people install, in the folder dist: archives, packages for
// Debian and for Red Hat, a bill of materials (SBOM) each, and their checksums. One commit
// and one version of Go make the same bytes wherever they are built.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// nfpm makes the packages.
const nfpm = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2"

func main() {
	log.SetFlags(0)
	targets := flag.String("targets", "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64", "systems and processors to build for")
	flag.Parse()
	if err := release("dist", strings.Split(*targets, ",")); err != nil {
		log.Fatal("release: ", err)
	}
}

// release makes the artefacts of the commit that is checked out.
func release(folder string, targets []string) error {
	if changed, err := output(nil, "git", "status", "--porcelain"); err != nil || changed != "" {
		return fmt.Errorf("the tree has changes, which no commit would tell: commit them first\n%s%w", changed, err)
	}
	seconds, err := output(nil, "git", "log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	epoch, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return err
	}
	date := time.Unix(epoch, 0).UTC()
	stages := filepath.Join(folder, "stage")
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	for _, target := range targets {
		stage := filepath.Join(stages, strings.ReplaceAll(target, "/", "_"))
		if err := build(target, stage); err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
	}
	for _, target := range targets {
		if err := pack(folder, target, date); err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
	}
	if err := os.RemoveAll(stages); err != nil {
		return err
	}
	return writeChecksums(folder)
}

// build puts the program for a target into a folder.
func build(target, stage string) error {
	system, processor, _ := strings.Cut(target, "/")
	env := []string{"CGO_ENABLED=0", "GOOS=" + system, "GOARCH=" + processor, "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOEXPERIMENT="}
	_, err := output(env, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", stage+string(filepath.Separator), "./cmd/catalogue")
	return err
}

// pack makes the artefacts of a target from what was built.
func pack(folder, target string, date time.Time) error {
	system, processor, _ := strings.Cut(target, "/")
	stage := filepath.Join(folder, "stage", system+"_"+processor)
	program := filepath.Join(stage, "catalogue")
	if system == "windows" {
		program += ".exe"
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	version := strings.TrimPrefix(info.Main.Version, "v")
	name := fmt.Sprintf("catalogue_%s_%s_%s", version, system, processor)
	if err := os.WriteFile(filepath.Join(folder, name+".cdx.json"), materials(info, date), 0o644); err != nil {
		return err
	}
	if err := writeLicences(filepath.Join(stage, "THIRD_PARTY_LICENSES"), info); err != nil {
		return err
	}
	// The texts are the same for all targets; the program that runs here prints them.
	native := filepath.Join(folder, "stage", runtime.GOOS+"_"+runtime.GOARCH, "catalogue")
	if err := writeTexts(stage, native); err != nil {
		return err
	}
	files := []file{{program, filepath.Base(program), 0o755}}
	for _, text := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		files = append(files, file{text, text, 0o644})
	}
	for _, text := range []string{"THIRD_PARTY_LICENSES", "catalogue.1.gz", "completion/bash", "completion/zsh", "completion/fish"} {
		files = append(files, file{filepath.Join(stage, text), text, 0o644})
	}
	if system == "windows" {
		return writeZip(filepath.Join(folder, name+".zip"), name, files, date)
	}
	if err := writeTar(filepath.Join(folder, name+".tar.gz"), name, files, date); err != nil || system != "linux" {
		return err
	}
	env := []string{"ARCH=" + processor, "VERSION=" + version, "STAGE=" + stage, "SOURCE_DATE_EPOCH=" + strconv.FormatInt(date.Unix(), 10)}
	for _, packager := range []string{"deb", "rpm"} {
		if _, err := output(env, "go", "run", nfpm, "package", "--config", "cmd/release/package/nfpm.yaml", "--packager", packager, "--target", folder); err != nil {
			return err
		}
	}
	return nil
}

// writeTexts puts the manual page and the completions into a folder, as program prints
// them.
func writeTexts(stage, program string) error {
	page, err := output(nil, program, "man")
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write([]byte(page + "\n")) // a buffer takes all
	_ = w.Close()
	if err := os.MkdirAll(filepath.Join(stage, "completion"), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(stage, "catalogue.1.gz"), packed.Bytes(), 0o644); err != nil {
		return err
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		script, err := output(nil, program, "completion", shell)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(stage, "completion", shell), []byte(script+"\n"), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// writeChecksums writes SHA256SUMS, as sha256sum --check reads it.
func writeChecksums(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), entry.Name())
	}
	return os.WriteFile(filepath.Join(folder, "SHA256SUMS"), []byte(sums.String()), 0o644)
}

// output returns what a program prints, without the last line's end.
func output(env []string, program string, args ...string) (string, error) {
	command := exec.Command(program, args...)
	command.Env, command.Stderr = append(os.Environ(), env...), os.Stderr
	out, err := command.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", strings.Join(command.Args, " "), err, out)
	}
	return strings.TrimRight(string(out), "\n"), err
}
