-- +goose Up
CREATE TABLE categories (
  id          INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id > 0),
  version     INTEGER NOT NULL DEFAULT 1 CHECK (version > 0),
  name        TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 1000 AND instr(name, char(0)) = 0),
  description TEXT CHECK (length(description) BETWEEN 1 AND 20000 AND instr(description, char(0)) = 0),
  created_at  TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f000Z', 'now'))
    CHECK (created_at GLOB '????-??-??T[0-2]?:??:??.[0-9][0-9][0-9][0-9][0-9][0-9]Z' AND substr(created_at, 12, 2) < '24'
      AND strftime('%Y-%m-%dT%H:%M:%S', substr(created_at, 1, 19)) IS substr(created_at, 1, 19)),
  updated_at  TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f000Z', 'now'))
    CHECK (updated_at GLOB '????-??-??T[0-2]?:??:??.[0-9][0-9][0-9][0-9][0-9][0-9]Z' AND substr(updated_at, 12, 2) < '24'
      AND strftime('%Y-%m-%dT%H:%M:%S', substr(updated_at, 1, 19)) IS substr(updated_at, 1, 19))
) STRICT;

CREATE TABLE genres (
  id          INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id > 0),
  version     INTEGER NOT NULL DEFAULT 1 CHECK (version > 0),
  name        TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 1000 AND instr(name, char(0)) = 0),
  description TEXT CHECK (length(description) BETWEEN 1 AND 20000 AND instr(description, char(0)) = 0),
  category_id INTEGER NOT NULL REFERENCES categories (id),
  created_at  TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f000Z', 'now'))
    CHECK (created_at GLOB '????-??-??T[0-2]?:??:??.[0-9][0-9][0-9][0-9][0-9][0-9]Z' AND substr(created_at, 12, 2) < '24'
      AND strftime('%Y-%m-%dT%H:%M:%S', substr(created_at, 1, 19)) IS substr(created_at, 1, 19)),
  updated_at  TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f000Z', 'now'))
    CHECK (updated_at GLOB '????-??-??T[0-2]?:??:??.[0-9][0-9][0-9][0-9][0-9][0-9]Z' AND substr(updated_at, 12, 2) < '24'
      AND strftime('%Y-%m-%dT%H:%M:%S', substr(updated_at, 1, 19)) IS substr(updated_at, 1, 19))
) STRICT;
CREATE INDEX genres_category_id ON genres (category_id, id);

CREATE TABLE books (
  id           INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id > 0),
  version      INTEGER NOT NULL DEFAULT 1 CHECK (version > 0),
  name         TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 1000 AND instr(name, char(0)) = 0),
  description  TEXT CHECK (length(description) BETWEEN 1 AND 20000 AND instr(description, char(0)) = 0),
  pages        INTEGER NOT NULL CHECK (pages BETWEEN 1 AND 1000000),
  published_at TEXT NOT NULL CHECK (published_at IS date(published_at) AND published_at >= '0001-01-01'),
  author       TEXT NOT NULL CHECK (length(author) BETWEEN 1 AND 1000 AND instr(author, char(0)) = 0),
  price_cents  INTEGER NOT NULL CHECK (price_cents BETWEEN 0 AND 9999999999),
  genre_id     INTEGER NOT NULL REFERENCES genres (id),
  created_at   TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f000Z', 'now'))
    CHECK (created_at GLOB '????-??-??T[0-2]?:??:??.[0-9][0-9][0-9][0-9][0-9][0-9]Z' AND substr(created_at, 12, 2) < '24'
      AND strftime('%Y-%m-%dT%H:%M:%S', substr(created_at, 1, 19)) IS substr(created_at, 1, 19)),
  updated_at   TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f000Z', 'now'))
    CHECK (updated_at GLOB '????-??-??T[0-2]?:??:??.[0-9][0-9][0-9][0-9][0-9][0-9]Z' AND substr(updated_at, 12, 2) < '24'
      AND strftime('%Y-%m-%dT%H:%M:%S', substr(updated_at, 1, 19)) IS substr(updated_at, 1, 19))
) STRICT;
-- Facets and figures are counted from this index alone, which is a tenth of the table.
CREATE INDEX books_genre_id ON books (genre_id, id, price_cents, published_at, pages, author);
-- Offsets are skipped in this index, which is a fiftieth of the table.
CREATE INDEX books_id ON books (id);
CREATE INDEX books_no_description ON books (id) WHERE description IS NULL;

-- The responses stored for Idempotency-Keys.
CREATE TABLE idempotency_keys (
  subject     TEXT NOT NULL,
  key         TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  answer      BLOB NOT NULL,
  created_at  TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')),
  PRIMARY KEY (subject, key)
) STRICT;
CREATE INDEX idempotency_keys_created_at ON idempotency_keys (created_at);

-- The catalogue's revision is n. The revision of its reference data, genres and categories, is
-- reference. Both increase in the writer's transaction by a random step of up to 2^24, so that
-- after the restore of a backup no later state has the revision of a lost one.
CREATE TABLE revision (
  slot      INTEGER PRIMARY KEY,
  n         INTEGER NOT NULL DEFAULT 0,
  reference INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO revision (slot) VALUES (0);

-- These triggers also set version and updated_at for updates by other programs, regardless of their
-- values. The program sets its own, which saves a second update. The triggers name only source
-- columns, because derived columns follow from these.
-- +goose StatementBegin
CREATE TRIGGER categories_stamp AFTER UPDATE OF id, version, name, description, created_at, updated_at ON categories
WHEN NEW.version <> OLD.version + 1 OR NEW.created_at <> OLD.created_at OR NEW.updated_at <> strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')
BEGIN
  UPDATE categories SET version = OLD.version + 1, created_at = OLD.created_at, updated_at = strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')
  WHERE id = NEW.id;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER categories_revision_insert AFTER INSERT ON categories
BEGIN
  UPDATE revision SET n = n + 1 + (random() & 16777215), reference = reference + 1 + (random() & 16777215);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER categories_revision_update AFTER UPDATE OF id, version, name, description, created_at, updated_at ON categories
BEGIN
  UPDATE revision SET n = n + 1 + (random() & 16777215), reference = reference + 1 + (random() & 16777215);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER categories_revision_delete AFTER DELETE ON categories
BEGIN
  UPDATE revision SET n = n + 1 + (random() & 16777215), reference = reference + 1 + (random() & 16777215);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER genres_stamp AFTER UPDATE OF id, version, name, description, category_id, created_at, updated_at ON genres
WHEN NEW.version <> OLD.version + 1 OR NEW.created_at <> OLD.created_at OR NEW.updated_at <> strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')
BEGIN
  UPDATE genres SET version = OLD.version + 1, created_at = OLD.created_at, updated_at = strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')
  WHERE id = NEW.id;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER genres_revision_insert AFTER INSERT ON genres
BEGIN
  UPDATE revision SET n = n + 1 + (random() & 16777215), reference = reference + 1 + (random() & 16777215);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER genres_revision_update AFTER UPDATE OF id, version, name, description, category_id, created_at, updated_at ON genres
BEGIN
  UPDATE revision SET n = n + 1 + (random() & 16777215), reference = reference + 1 + (random() & 16777215);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER genres_revision_delete AFTER DELETE ON genres
BEGIN
  UPDATE revision SET n = n + 1 + (random() & 16777215), reference = reference + 1 + (random() & 16777215);
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER books_stamp AFTER UPDATE OF id, version, name, description, pages, published_at, author, price_cents, genre_id, created_at, updated_at ON books
WHEN NEW.version <> OLD.version + 1 OR NEW.created_at <> OLD.created_at OR NEW.updated_at <> strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')
BEGIN
  UPDATE books SET version = OLD.version + 1, created_at = OLD.created_at, updated_at = strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')
  WHERE id = NEW.id;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER books_revision_insert AFTER INSERT ON books
BEGIN
  UPDATE revision SET n = n + 1 + (random() & 16777215);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER books_revision_update AFTER UPDATE OF id, version, name, description, pages, published_at, author, price_cents, genre_id, created_at, updated_at ON books
BEGIN
  UPDATE revision SET n = n + 1 + (random() & 16777215);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER books_revision_delete AFTER DELETE ON books
BEGIN
  UPDATE revision SET n = n + 1 + (random() & 16777215);
END;
-- +goose StatementEnd
