-- +goose Up
SET LOCAL lock_timeout = '2s';

-- The programs that may serve on each version of the schema. Each later migration adds its row: its
-- version, and the lowest version that a program must know to serve on it. Programs of version 3 and
-- older do not read this table: they serve on while the schema moves, and do not start on a newer one.
CREATE TABLE schema_versions (
  version        bigint PRIMARY KEY,
  lowest_program bigint NOT NULL CHECK (lowest_program BETWEEN 1 AND version)
);
INSERT INTO schema_versions VALUES (1, 1), (2, 2), (3, 3), (4, 3);

-- The last copy of another catalogue into this one (archive copy), or no row.
CREATE TABLE copies (
  id       integer PRIMARY KEY CHECK (id = 1),
  source   bigint NOT NULL, -- revision of the other catalogue
  revision bigint NOT NULL  -- of this catalogue after the last rows of the copy
);
