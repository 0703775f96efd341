package soak

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

// compose loads a file as Docker Compose does. Each variable has its name as its value.
func compose(t *testing.T, file string) *types.Project {
	t.Helper()
	var env []string
	for _, name := range []string{"CATALOGUE_SITE", "ADMIN_PASSWORD", "OWNER_PASSWORD", "SERVER_PASSWORD",
		"REPLICATION_PASSWORD", "JWT_SECRET"} {
		env = append(env, name+"="+name)
	}
	options, err := cli.NewProjectOptions([]string{file}, cli.WithName("catalogue"), cli.WithEnv(env))
	must(t, err)
	project, err := options.LoadProject(t.Context())
	must(t, err)
	return project
}

// TestCompose loads the files for Docker Compose. Each service has a memory limit, each secret and each configuration
// is used, and each script is one.
func TestCompose(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"../docker-compose.yml", "../docs/deploy/compose.production.yml"} {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			project := compose(t, file)
			used := map[string]bool{}
			for name, service := range project.Services {
				if service.MemLimit == 0 {
					t.Errorf("%s may take all memory", name)
				}
				for _, s := range service.Secrets {
					used[s.Source] = true
				}
				for _, c := range service.Configs {
					used[c.Source] = true
				}
			}
			for name := range project.Secrets {
				if !used[name] {
					t.Errorf("no service uses the secret %s", name)
				}
			}
			for name, config := range project.Configs {
				if !used[name] {
					t.Errorf("no service uses the configuration %s", name)
				}
				if strings.HasPrefix(config.Content, "set -e") {
					shell := exec.Command("sh", "-n")
					shell.Stdin = strings.NewReader(config.Content)
					output(t, shell)
				}
			}
		})
	}
}
