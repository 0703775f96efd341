-- +goose Up
-- The passes over all rows that follow migrations and are not complete (db/schema/pass.go).
CREATE TABLE passes (
  version  INTEGER NOT NULL, -- of the migration
  name     TEXT NOT NULL,    -- of the table
  position INTEGER NOT NULL, -- id of the last row that was changed
  PRIMARY KEY (version, name)
) STRICT, WITHOUT ROWID;

INSERT INTO passes SELECT 8, 'categories', 0 WHERE EXISTS (SELECT 1 FROM categories);
INSERT INTO passes SELECT 8, 'genres', 0 WHERE EXISTS (SELECT 1 FROM genres);
INSERT INTO passes SELECT 8, 'books', 0 WHERE EXISTS (SELECT 1 FROM books);

INSERT INTO schema_versions VALUES (8, 3);
