-- +goose Up
-- The words of all rows. Prefixes of names are searched in an index.
CREATE INDEX books_name_words ON books (name_words);

CREATE VIRTUAL TABLE categories_search USING fts5(name, description, tokenize = 'ascii', detail = 'column');
CREATE VIRTUAL TABLE categories_vocabulary USING fts5vocab(categories_search, 'row');
-- +goose StatementBegin
CREATE TRIGGER categories_search_given AFTER INSERT ON categories WHEN NEW.description_words IS NOT NULL
BEGIN
  INSERT OR REPLACE INTO categories_search (rowid, name, description) VALUES (NEW.id, NEW.name_words, NEW.description_words);
  UPDATE categories SET description_words = NULL WHERE id = NEW.id;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER categories_search_insert AFTER INSERT ON categories WHEN NEW.description_words IS NULL
BEGIN
  INSERT INTO reading (field, text) VALUES ('name', NEW.name), ('description', coalesce(NEW.description, ''));
  UPDATE categories SET (name_fold, name_words) = (SELECT folded, words FROM reading WHERE field = 'name') WHERE id = NEW.id;
  INSERT OR REPLACE INTO categories_search (rowid, name, description) SELECT NEW.id, (SELECT words FROM reading WHERE field = 'name'), (SELECT words FROM reading WHERE field = 'description');
  DELETE FROM reading;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER categories_search_update AFTER UPDATE OF id, name, description ON categories WHEN NEW.id IS NOT OLD.id OR NEW.name IS NOT OLD.name OR NEW.description IS NOT OLD.description
BEGIN
  DELETE FROM categories_search WHERE rowid = OLD.id;
  INSERT INTO reading (field, text) VALUES ('name', NEW.name), ('description', coalesce(NEW.description, ''));
  UPDATE categories SET (name_fold, name_words) = (SELECT folded, words FROM reading WHERE field = 'name') WHERE id = NEW.id;
  INSERT OR REPLACE INTO categories_search (rowid, name, description) SELECT NEW.id, (SELECT words FROM reading WHERE field = 'name'), (SELECT words FROM reading WHERE field = 'description');
  DELETE FROM reading;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER categories_search_delete AFTER DELETE ON categories
BEGIN
  DELETE FROM categories_search WHERE rowid = OLD.id;
END;
-- +goose StatementEnd

CREATE VIRTUAL TABLE genres_search USING fts5(name, description, tokenize = 'ascii', detail = 'column');
CREATE VIRTUAL TABLE genres_vocabulary USING fts5vocab(genres_search, 'row');
-- +goose StatementBegin
CREATE TRIGGER genres_search_given AFTER INSERT ON genres WHEN NEW.description_words IS NOT NULL
BEGIN
  INSERT OR REPLACE INTO genres_search (rowid, name, description) VALUES (NEW.id, NEW.name_words, NEW.description_words);
  UPDATE genres SET description_words = NULL WHERE id = NEW.id;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER genres_search_insert AFTER INSERT ON genres WHEN NEW.description_words IS NULL
BEGIN
  INSERT INTO reading (field, text) VALUES ('name', NEW.name), ('description', coalesce(NEW.description, ''));
  UPDATE genres SET (name_fold, name_words) = (SELECT folded, words FROM reading WHERE field = 'name') WHERE id = NEW.id;
  INSERT OR REPLACE INTO genres_search (rowid, name, description) SELECT NEW.id, (SELECT words FROM reading WHERE field = 'name'), (SELECT words FROM reading WHERE field = 'description');
  DELETE FROM reading;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER genres_search_update AFTER UPDATE OF id, name, description ON genres WHEN NEW.id IS NOT OLD.id OR NEW.name IS NOT OLD.name OR NEW.description IS NOT OLD.description
BEGIN
  DELETE FROM genres_search WHERE rowid = OLD.id;
  INSERT INTO reading (field, text) VALUES ('name', NEW.name), ('description', coalesce(NEW.description, ''));
  UPDATE genres SET (name_fold, name_words) = (SELECT folded, words FROM reading WHERE field = 'name') WHERE id = NEW.id;
  INSERT OR REPLACE INTO genres_search (rowid, name, description) SELECT NEW.id, (SELECT words FROM reading WHERE field = 'name'), (SELECT words FROM reading WHERE field = 'description');
  DELETE FROM reading;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER genres_search_delete AFTER DELETE ON genres
BEGIN
  DELETE FROM genres_search WHERE rowid = OLD.id;
END;
-- +goose StatementEnd

CREATE VIRTUAL TABLE books_search USING fts5(name, author, description, tokenize = 'ascii', detail = 'column');
CREATE VIRTUAL TABLE books_vocabulary USING fts5vocab(books_search, 'row');
-- +goose StatementBegin
CREATE TRIGGER books_search_given AFTER INSERT ON books WHEN NEW.description_words IS NOT NULL
BEGIN
  INSERT OR REPLACE INTO books_search (rowid, name, author, description) VALUES (NEW.id, NEW.name_words, NEW.author_words, NEW.description_words);
  UPDATE books SET author_words = NULL, description_words = NULL WHERE id = NEW.id;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER books_search_insert AFTER INSERT ON books WHEN NEW.description_words IS NULL
BEGIN
  INSERT INTO reading (field, text) VALUES ('name', NEW.name), ('author', NEW.author), ('description', coalesce(NEW.description, ''));
  UPDATE books SET (name_fold, name_words) = (SELECT folded, words FROM reading WHERE field = 'name'),
    author_fold = (SELECT folded FROM reading WHERE field = 'author') WHERE id = NEW.id;
  INSERT OR REPLACE INTO books_search (rowid, name, author, description) SELECT NEW.id, (SELECT words FROM reading WHERE field = 'name'), (SELECT words FROM reading WHERE field = 'author'), (SELECT words FROM reading WHERE field = 'description');
  DELETE FROM reading;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER books_search_update AFTER UPDATE OF id, name, author, description ON books WHEN NEW.id IS NOT OLD.id OR NEW.name IS NOT OLD.name OR NEW.author IS NOT OLD.author OR NEW.description IS NOT OLD.description
BEGIN
  DELETE FROM books_search WHERE rowid = OLD.id;
  INSERT INTO reading (field, text) VALUES ('name', NEW.name), ('author', NEW.author), ('description', coalesce(NEW.description, ''));
  UPDATE books SET (name_fold, name_words) = (SELECT folded, words FROM reading WHERE field = 'name'),
    author_fold = (SELECT folded FROM reading WHERE field = 'author') WHERE id = NEW.id;
  INSERT OR REPLACE INTO books_search (rowid, name, author, description) SELECT NEW.id, (SELECT words FROM reading WHERE field = 'name'), (SELECT words FROM reading WHERE field = 'author'), (SELECT words FROM reading WHERE field = 'description');
  DELETE FROM reading;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER books_search_delete AFTER DELETE ON books
BEGIN
  DELETE FROM books_search WHERE rowid = OLD.id;
END;
-- +goose StatementEnd
