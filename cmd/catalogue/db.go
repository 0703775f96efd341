package main

// dbCmd holds the commands for the database itself.
type dbCmd struct {
	Migrate migrateCmd `cmd:"" help:"Bring the database's schema up to date, or show its state."`
	Backup  backupCmd  `cmd:"" help:"Copy an SQLite catalogue into a file, also while a server runs."`
	Restore restoreCmd `cmd:"" help:"Replace an SQLite catalogue with a backup."`
	Purge   purgeCmd   `cmd:"" help:"Remove old rows from the log of changes, for example those with a person's name."`
	Doctor  doctorCmd  `cmd:"" help:"Examine the database, and repair derived data."`
}
