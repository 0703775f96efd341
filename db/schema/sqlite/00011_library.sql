-- +goose Up
-- What libraries know of a book.
ALTER TABLE books ADD COLUMN isbn TEXT CHECK (length(isbn) BETWEEN 1 AND 40 AND instr(isbn, char(0)) = 0);
ALTER TABLE books ADD COLUMN isbn_fold TEXT NOT NULL DEFAULT '';
ALTER TABLE books ADD COLUMN publisher TEXT CHECK (length(publisher) BETWEEN 1 AND 1000 AND instr(publisher, char(0)) = 0);
ALTER TABLE books ADD COLUMN publisher_fold TEXT NOT NULL DEFAULT '';
ALTER TABLE books ADD COLUMN language TEXT CHECK (length(language) BETWEEN 1 AND 35 AND instr(language, char(0)) = 0);
ALTER TABLE books ADD COLUMN language_fold TEXT NOT NULL DEFAULT '';
ALTER TABLE books ADD COLUMN shelf_mark TEXT CHECK (length(shelf_mark) BETWEEN 1 AND 200 AND instr(shelf_mark, char(0)) = 0);
ALTER TABLE books ADD COLUMN shelf_mark_fold TEXT NOT NULL DEFAULT '';
CREATE INDEX books_isbn ON books (substr(isbn_fold, 1, 100), id);
CREATE INDEX books_publisher ON books (substr(publisher_fold, 1, 100), id);
CREATE INDEX books_language ON books (substr(language_fold, 1, 100), id);
CREATE INDEX books_shelf_mark ON books (substr(shelf_mark_fold, 1, 100), id);

INSERT INTO schema_versions VALUES (11, 3);
