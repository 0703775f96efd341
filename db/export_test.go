package db

import "database/sql"

// Pools gives the connections of a store, for the tests of what is set on each.
func Pools(s *Store) (reader, writer *sql.DB) { return s.reader.DB.DB, s.writer.DB.DB }
