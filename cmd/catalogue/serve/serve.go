// Package serve has the command that runs the server, and the command that prints its settings.
package serve

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"library-catalogue/cmd/catalogue/cli"
	"library-catalogue/db"
)

const (
	maxCacheMB  = 1 << 20 // more than a machine has
	maxImportMB = 1 << 30 // more than a disk has

	maxChangesDays = 36_500      // a hundred years
	maxReplicaLag  = time.Minute // the vectors of so many probes are kept
	maxRate        = 1_000_000
)

// Command is catalogue serve.
type Command struct {
	cli.AddressFlags
	cli.DatabaseFlags
	cli.TokenFlags
	cli.WebhookFlags
	cli.LookupFlags
	logFlags
	accessFlags
	graphQLFlags
	operatorFlags
	stopFlags
	backupFlags

	DatabaseConnections int `env:"CATALOGUE_DATABASE_CONNECTIONS" placeholder:"N" help:"Maximum connections to the database. The number of concurrent operations depends on it (default: 16; for SQLite 4 for each processor)."`

	ChangesDays        int           `env:"CATALOGUE_CHANGES_DAYS" default:"90" placeholder:"DAYS" help:"Days to keep the log of changes, for the feed and the history; 0 keeps it for ever (default: ${default})."`
	ReplicaURL         string        `env:"CATALOGUE_REPLICA_URL" placeholder:"URLS" help:"URLs of PostgreSQL standbys, separated by spaces. They serve medium and heavy reads while they have all changes (default: none)."`
	ReplicaMaxLag      time.Duration `env:"CATALOGUE_REPLICA_MAX_LAG" placeholder:"DURATION" help:"Let replicas serve lists and searches that lack changes of this time, like 2s, to clients without a token or a cookie (default: none)."`
	ReadWithoutPrimary bool          `env:"CATALOGUE_READ_WITHOUT_PRIMARY" help:"Let replicas serve all reads while the primary does not answer. Recent changes may be missing."`

	PlaygroundCDN bool `negatable:"" env:"CATALOGUE_PLAYGROUND_CDN" default:"true" help:"Let browsers load GraphiQL for /playground from cdn.jsdelivr.net if it is not built in; otherwise a plain form is shown (default: ${default})."`

	CacheMB    int    `env:"CATALOGUE_CACHE_MB" default:"16" placeholder:"MB" help:"Megabytes of memory for cached responses, which are valid until the next write; 0 disables the cache (default: ${default})."`
	ImportMB   int    `env:"CATALOGUE_IMPORT_MB" default:"64" placeholder:"MB" help:"Maximum megabytes of a file sent to /api/imports (default: ${default})."`
	SRU        bool   `env:"CATALOGUE_SRU" help:"Serve SRU 1.2 at /sru, by which other libraries search the catalogue."`
	Page       bool   `negatable:"" env:"CATALOGUE_PAGE" default:"true" help:"Serve the pages at /; without them / lists the addresses of the API (default: ${default})."`
	PublicURL  string `env:"CATALOGUE_PUBLIC_URL" placeholder:"URL" help:"Address of the service for its readers, like https://books.example. With it the pages of books have absolute addresses, and /sitemap.xml lists them (default: none)."`
	Covers     string `env:"CATALOGUE_COVERS" placeholder:"TEMPLATE" help:"Show covers on the pages: the address of a picture with {isbn} in place of the number, and after commas the hosts that it may redirect to (default: none)."`
	Robots     bool   `negatable:"" env:"CATALOGUE_ROBOTS" default:"true" help:"Allow search engines to read the pages; otherwise /robots.txt disallows all (default: ${default})."`
	Empty      bool   `env:"CATALOGUE_EMPTY" xor:"sample" help:"Do not store the bundled books in a new catalogue.db."`
	Sample     bool   `env:"CATALOGUE_SAMPLE" xor:"sample" help:"Store the bundled books in any new database, not only in catalogue.db."`
	OpenDelete bool   `env:"CATALOGUE_OPEN_DELETE" help:"Allow DELETE under /api without a token."`
	OnDelete   string `env:"CATALOGUE_ON_DELETE" enum:"restrict,cascade" default:"restrict" help:"Effect of DELETE under /api on a genre with books, or a category with genres: restrict refuses, cascade deletes them too (default: ${default})."`
}

// setDefaults sets defaults that depend on the database: catalogue.db serves one user on one machine, any
// other database serves a network.
func (c *Command) setDefaults() {
	rate, wait := 100.0, defaultDrainWait
	if c.Embedded() {
		rate, wait = 0, 0
	}
	c.Rate = cmp.Or(c.Rate, &rate)
	c.DrainWait = cmp.Or(c.DrainWait, &wait)
	c.Introspection = cmp.Or(c.Introspection, strconv.FormatBool(c.Embedded()))
}

// checkRanges returns an error for a number out of its range.
func (c *Command) checkRanges() error {
	for _, n := range []struct {
		flag  string
		valid bool
		rule  string
		value any
	}{
		{"cache-mb", c.CacheMB >= 0 && c.CacheMB <= maxCacheMB, fmt.Sprintf("from 0 to %d", maxCacheMB), c.CacheMB},
		{"import-mb", c.ImportMB >= 1 && c.ImportMB <= maxImportMB, fmt.Sprintf("from 1 to %d", maxImportMB),
			c.ImportMB},
		{"database-connections", c.DatabaseConnections == 0 ||
			c.DatabaseConnections >= db.MinConnections, fmt.Sprintf("at least %d", db.MinConnections),
			c.DatabaseConnections},
		{"changes-days", c.ChangesDays >= 0 && c.ChangesDays <= maxChangesDays,
			fmt.Sprintf("from 0 to %d", maxChangesDays), c.ChangesDays},
		{"replica-max-lag", c.ReplicaMaxLag >= 0 && c.ReplicaMaxLag <= maxReplicaLag,
			"from 0s to " + maxReplicaLag.String(), c.ReplicaMaxLag},
		{"slow-query", c.SlowQuery >= 0, "at least 0s", c.SlowQuery},
		{"drain-wait", *c.DrainWait >= 0, "at least 0s", *c.DrainWait},
		{"max-connections", c.MaxConnections >= 1, "at least 1", c.MaxConnections},
		{"max-streams", c.MaxStreams >= 1, "at least 1", c.MaxStreams},
		{"rate", *c.Rate >= 0 && *c.Rate <= maxRate, fmt.Sprintf("from 0 to %d", maxRate), *c.Rate},
		{"rate-burst", c.RateBurst >= 1, "at least 1", c.RateBurst},
		{"backup-every", c.BackupDir == "" ||
			c.BackupEvery >= minBackupInterval, "at least " + minBackupInterval.String(), c.BackupEvery},
		{"backup-keep", c.BackupDir == "" || c.BackupKeep >= 1, "at least 1", c.BackupKeep},
	} {
		if !n.valid {
			return fmt.Errorf("--%s or CATALOGUE_%s must be %s, and is %v", n.flag,
				strings.ToUpper(strings.ReplaceAll(n.flag, "-", "_")), n.rule, n.value)
		}
	}
	if c.ReplicaMaxLag > 0 && c.OpenDelete {
		return errors.New("--replica-max-lag or CATALOGUE_REPLICA_MAX_LAG needs writes to have a token: remove " +
			"--open-delete or CATALOGUE_OPEN_DELETE")
	}
	return nil
}
