-- +goose Up
-- The programs that may serve on each version of the schema. Each later migration adds its row: its
-- version, and the lowest version that a program must know to serve on it. Programs of version 3 and
-- older do not read this table: they serve on while the schema moves, and do not start on a newer one.
CREATE TABLE schema_versions (
  version        INTEGER PRIMARY KEY,
  lowest_program INTEGER NOT NULL CHECK (lowest_program BETWEEN 1 AND version)
) STRICT;
INSERT INTO schema_versions VALUES (1, 1), (2, 2), (3, 3), (4, 3);

-- The last copy of another catalogue into this one (archive copy), or no row.
CREATE TABLE copies (
  id       INTEGER PRIMARY KEY CHECK (id = 1),
  source   INTEGER NOT NULL, -- revision of the other catalogue
  revision INTEGER NOT NULL  -- of this catalogue after the last rows of the copy
) STRICT;
