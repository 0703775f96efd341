package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"time"
)

// component is a part of the program, in the words of CycloneDX 1.6.
type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
	Ref     string `json:"bom-ref"`
}

// newComponent returns a module, by its package URL
// (https://github.com/package-url/purl-spec).
func newComponent(kind, name, version string) component {
	purl := "pkg:golang/" + name + "@" + strings.ReplaceAll(version, "+", "%2B")
	return component{kind, name, version, purl, purl}
}

// materials returns the bill of materials of a program: CycloneDX 1.6 as JSON, with Go
// and the modules that the linker took.
func materials(info *debug.BuildInfo, date time.Time) []byte {
	program := newComponent("application", info.Main.Path, info.Main.Version)
	parts := []component{newComponent("library", "std", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		parts = append(parts, newComponent("library", module.Path, module.Version))
	}
	refs := make([]string, len(parts))
	for i, part := range parts {
		refs[i] = part.Ref
	}
	type dependency struct {
		Ref       string   `json:"ref"`
		DependsOn []string `json:"dependsOn"`
	}
	type metadata struct {
		Timestamp string    `json:"timestamp"`
		Component component `json:"component"`
	}
	text, err := json.MarshalIndent(struct {
		Format       string       `json:"bomFormat"`
		Spec         string       `json:"specVersion"`
		Version      int          `json:"version"`
		Metadata     metadata     `json:"metadata"`
		Components   []component  `json:"components"`
		Dependencies []dependency `json:"dependencies"`
	}{"CycloneDX", "1.6", 1, metadata{date.Format(time.RFC3339), program}, parts, []dependency{{program.Ref, refs}}}, "", "  ")
	if err != nil {
		panic(err) // it is made of strings
	}
	return append(text, '\n')
}

// licenceName matches the files in which a module has its licence.
var licenceName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice)`)

// writeLicences writes the licences and notices of all modules in a program.
func writeLicences(target string, info *debug.BuildInfo) error {
	list, err := output(nil, "go", "list", "-m", "-f", "{{.Path}} {{.Dir}}", "all")
	if err != nil {
		return err
	}
	folders := map[string]string{}
	for line := range strings.Lines(list) {
		name, folder, _ := strings.Cut(strings.TrimSpace(line), " ")
		folders[name] = folder
	}
	var texts bytes.Buffer
	for _, module := range info.Deps {
		entries, err := os.ReadDir(folders[module.Path])
		if err != nil {
			return err
		}
		found := 0
		for _, entry := range entries {
			if !licenceName.MatchString(entry.Name()) || entry.IsDir() {
				continue
			}
			text, err := os.ReadFile(filepath.Join(folders[module.Path], entry.Name()))
			if err != nil {
				return err
			}
			fmt.Fprintf(&texts, "%s %s, %s\n\n%s\n\n", module.Path, module.Version, entry.Name(), text)
			found++
		}
		if found == 0 {
			return fmt.Errorf("%s %s has no licence", module.Path, module.Version)
		}
	}
	return os.WriteFile(target, texts.Bytes(), 0o644)
}
