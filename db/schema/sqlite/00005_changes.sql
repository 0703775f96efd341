-- +goose Up
-- The log of changes. A row has one entry for each version: the entry of version k + 1 keeps the
-- columns of version k, and the table itself keeps the last version. So an INSERT logs no columns.
-- There is one writer, so seq has the order of commits. It increases by random steps, so that a change
-- that a restored backup lacks has the seq of no later one.
CREATE TABLE changes (
  seq       INTEGER PRIMARY KEY,
  at        TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')),
  row_id    INTEGER NOT NULL,
  version   INTEGER NOT NULL, -- after the change; before it for a deletion
  type      TEXT NOT NULL,    -- b: book, g: genre, c: category
  operation TEXT NOT NULL,    -- c: create, u: update, d: delete, r: reset
  actor     TEXT,
  old       TEXT              -- the columns before the change, as JSON
) STRICT;
CREATE INDEX changes_row ON changes (row_id, seq);

-- The one row has the seq and the time of the last change that was deleted from the log, and the
-- actor of the transaction that writes, if it named one.
CREATE TABLE feed (
  start INTEGER NOT NULL,
  at    TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')),
  actor TEXT
) STRICT;
INSERT INTO feed (start) VALUES (1 + (random() & 1099511627775));

-- The actor of a new row, which the service writes and a trigger clears.
ALTER TABLE categories ADD COLUMN actor TEXT;
ALTER TABLE genres ADD COLUMN actor TEXT;
ALTER TABLE books ADD COLUMN actor TEXT;

-- +goose StatementBegin
CREATE TRIGGER books_log_insert AFTER INSERT ON books
BEGIN
  INSERT INTO changes (seq, row_id, version, type, operation, actor, old)
  SELECT max(f.start, coalesce((SELECT max(seq) FROM changes), 0)) + 1 + (random() & 16777215),
    NEW.id, NEW.version, 'b', 'c', coalesce(NEW.actor, f.actor), NULL FROM feed f;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER books_log_delete AFTER DELETE ON books
BEGIN
  INSERT INTO changes (seq, row_id, version, type, operation, actor, old)
  SELECT max(f.start, coalesce((SELECT max(seq) FROM changes), 0)) + 1 + (random() & 16777215),
    OLD.id, OLD.version, 'b', 'd', f.actor, json_object('name', OLD.name, 'description', OLD.description, 'pages', OLD.pages, 'published_at', OLD.published_at, 'author', OLD.author, 'price_cents', OLD.price_cents, 'genre_id', OLD.genre_id, 'created_at', OLD.created_at, 'updated_at', OLD.updated_at) FROM feed f;
END;
-- +goose StatementEnd
-- One trigger logs the old columns and then stamps the row, because its second UPDATE would log them
-- again. It does not run for that UPDATE.
DROP TRIGGER books_stamp;
-- +goose StatementBegin
CREATE TRIGGER books_stamp AFTER UPDATE OF id, version, name, description, pages, published_at, author, price_cents, genre_id, created_at, updated_at ON books
BEGIN
  INSERT INTO changes (seq, row_id, version, type, operation, actor, old)
  SELECT max(f.start, coalesce((SELECT max(seq) FROM changes), 0)) + 1 + (random() & 16777215),
    OLD.id, OLD.version + (NEW.id = OLD.id), 'b', CASE WHEN NEW.id = OLD.id THEN 'u' ELSE 'd' END, f.actor, json_object('name', OLD.name, 'description', OLD.description, 'pages', OLD.pages, 'published_at', OLD.published_at, 'author', OLD.author, 'price_cents', OLD.price_cents, 'genre_id', OLD.genre_id, 'created_at', OLD.created_at, 'updated_at', OLD.updated_at) FROM feed f;
  INSERT INTO changes (seq, row_id, version, type, operation, actor, old)
  SELECT max(f.start, coalesce((SELECT max(seq) FROM changes), 0)) + 1 + (random() & 16777215),
    NEW.id, OLD.version + 1, 'b', 'c', f.actor, NULL FROM feed f WHERE NEW.id <> OLD.id;
  UPDATE books SET version = OLD.version + 1, created_at = OLD.created_at, updated_at = strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')
  WHERE id = NEW.id AND (NEW.version <> OLD.version + 1 OR NEW.created_at <> OLD.created_at OR NEW.updated_at <> strftime('%Y-%m-%dT%H:%M:%f000Z', 'now'));
END;
-- +goose StatementEnd
DROP TRIGGER books_search_given;
-- +goose StatementBegin
CREATE TRIGGER books_search_given AFTER INSERT ON books WHEN NEW.description_words IS NOT NULL
BEGIN
  INSERT OR REPLACE INTO books_search (rowid, name, author, description) VALUES (NEW.id, NEW.name_words, NEW.author_words, NEW.description_words);
  UPDATE books SET author_words = NULL, description_words = NULL, actor = NULL WHERE id = NEW.id;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER genres_log_insert AFTER INSERT ON genres
BEGIN
  INSERT INTO changes (seq, row_id, version, type, operation, actor, old)
  SELECT max(f.start, coalesce((SELECT max(seq) FROM changes), 0)) + 1 + (random() & 16777215),
    NEW.id, NEW.version, 'g', 'c', coalesce(NEW.actor, f.actor), NULL FROM feed f;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER genres_log_delete AFTER DELETE ON genres
BEGIN
  INSERT INTO changes (seq, row_id, version, type, operation, actor, old)
  SELECT max(f.start, coalesce((SELECT max(seq) FROM changes), 0)) + 1 + (random() & 16777215),
    OLD.id, OLD.version, 'g', 'd', f.actor, json_object('name', OLD.name, 'description', OLD.description, 'category_id', OLD.category_id, 'created_at', OLD.created_at, 'updated_at', OLD.updated_at) FROM feed f;
END;
-- +goose StatementEnd
-- One trigger logs the old columns and then stamps the row, because its second UPDATE would log them
-- again. It does not run for that UPDATE.
DROP TRIGGER genres_stamp;
-- +goose StatementBegin
CREATE TRIGGER genres_stamp AFTER UPDATE OF id, version, name, description, category_id, created_at, updated_at ON genres
BEGIN
  INSERT INTO changes (seq, row_id, version, type, operation, actor, old)
  SELECT max(f.start, coalesce((SELECT max(seq) FROM changes), 0)) + 1 + (random() & 16777215),
    OLD.id, OLD.version + (NEW.id = OLD.id), 'g', CASE WHEN NEW.id = OLD.id THEN 'u' ELSE 'd' END, f.actor, json_object('name', OLD.name, 'description', OLD.description, 'category_id', OLD.category_id, 'created_at', OLD.created_at, 'updated_at', OLD.updated_at) FROM feed f;
  INSERT INTO changes (seq, row_id, version, type, operation, actor, old)
  SELECT max(f.start, coalesce((SELECT max(seq) FROM changes), 0)) + 1 + (random() & 16777215),
    NEW.id, OLD.version + 1, 'g', 'c', f.actor, NULL FROM feed f WHERE NEW.id <> OLD.id;
  UPDATE genres SET version = OLD.version + 1, created_at = OLD.created_at, updated_at = strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')
  WHERE id = NEW.id AND (NEW.version <> OLD.version + 1 OR NEW.created_at <> OLD.created_at OR NEW.updated_at <> strftime('%Y-%m-%dT%H:%M:%f000Z', 'now'));
END;
-- +goose StatementEnd
DROP TRIGGER genres_search_given;
-- +goose StatementBegin
CREATE TRIGGER genres_search_given AFTER INSERT ON genres WHEN NEW.description_words IS NOT NULL
BEGIN
  INSERT OR REPLACE INTO genres_search (rowid, name, description) VALUES (NEW.id, NEW.name_words, NEW.description_words);
  UPDATE genres SET description_words = NULL, actor = NULL WHERE id = NEW.id;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER categories_log_insert AFTER INSERT ON categories
BEGIN
  INSERT INTO changes (seq, row_id, version, type, operation, actor, old)
  SELECT max(f.start, coalesce((SELECT max(seq) FROM changes), 0)) + 1 + (random() & 16777215),
    NEW.id, NEW.version, 'c', 'c', coalesce(NEW.actor, f.actor), NULL FROM feed f;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER categories_log_delete AFTER DELETE ON categories
BEGIN
  INSERT INTO changes (seq, row_id, version, type, operation, actor, old)
  SELECT max(f.start, coalesce((SELECT max(seq) FROM changes), 0)) + 1 + (random() & 16777215),
    OLD.id, OLD.version, 'c', 'd', f.actor, json_object('name', OLD.name, 'description', OLD.description, 'created_at', OLD.created_at, 'updated_at', OLD.updated_at) FROM feed f;
END;
-- +goose StatementEnd
-- One trigger logs the old columns and then stamps the row, because its second UPDATE would log them
-- again. It does not run for that UPDATE.
DROP TRIGGER categories_stamp;
-- +goose StatementBegin
CREATE TRIGGER categories_stamp AFTER UPDATE OF id, version, name, description, created_at, updated_at ON categories
BEGIN
  INSERT INTO changes (seq, row_id, version, type, operation, actor, old)
  SELECT max(f.start, coalesce((SELECT max(seq) FROM changes), 0)) + 1 + (random() & 16777215),
    OLD.id, OLD.version + (NEW.id = OLD.id), 'c', CASE WHEN NEW.id = OLD.id THEN 'u' ELSE 'd' END, f.actor, json_object('name', OLD.name, 'description', OLD.description, 'created_at', OLD.created_at, 'updated_at', OLD.updated_at) FROM feed f;
  INSERT INTO changes (seq, row_id, version, type, operation, actor, old)
  SELECT max(f.start, coalesce((SELECT max(seq) FROM changes), 0)) + 1 + (random() & 16777215),
    NEW.id, OLD.version + 1, 'c', 'c', f.actor, NULL FROM feed f WHERE NEW.id <> OLD.id;
  UPDATE categories SET version = OLD.version + 1, created_at = OLD.created_at, updated_at = strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')
  WHERE id = NEW.id AND (NEW.version <> OLD.version + 1 OR NEW.created_at <> OLD.created_at OR NEW.updated_at <> strftime('%Y-%m-%dT%H:%M:%f000Z', 'now'));
END;
-- +goose StatementEnd
DROP TRIGGER categories_search_given;
-- +goose StatementBegin
CREATE TRIGGER categories_search_given AFTER INSERT ON categories WHEN NEW.description_words IS NOT NULL
BEGIN
  INSERT OR REPLACE INTO categories_search (rowid, name, description) VALUES (NEW.id, NEW.name_words, NEW.description_words);
  UPDATE categories SET description_words = NULL, actor = NULL WHERE id = NEW.id;
END;
-- +goose StatementEnd

INSERT INTO schema_versions VALUES (5, 3);
