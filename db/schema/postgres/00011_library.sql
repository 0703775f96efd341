-- +goose Up
SET LOCAL lock_timeout = '2s';

-- What libraries know of a book.
ALTER TABLE books
  ADD COLUMN isbn text CHECK (char_length(isbn) BETWEEN 1 AND 40),
  ADD COLUMN isbn_fold text COLLATE "C" NOT NULL DEFAULT '',
  ADD COLUMN publisher text CHECK (char_length(publisher) BETWEEN 1 AND 1000),
  ADD COLUMN publisher_fold text COLLATE "C" NOT NULL DEFAULT '',
  ADD COLUMN language text CHECK (char_length(language) BETWEEN 1 AND 35),
  ADD COLUMN language_fold text COLLATE "C" NOT NULL DEFAULT '',
  ADD COLUMN shelf_mark text CHECK (char_length(shelf_mark) BETWEEN 1 AND 200),
  ADD COLUMN shelf_mark_fold text COLLATE "C" NOT NULL DEFAULT '';

INSERT INTO schema_versions VALUES (11, 3);
