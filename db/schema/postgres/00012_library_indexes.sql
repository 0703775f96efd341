-- +goose NO TRANSACTION
-- +goose Up
INSERT INTO schema_versions VALUES (12, 3) ON CONFLICT DO NOTHING;
DROP INDEX CONCURRENTLY IF EXISTS books_isbn;
CREATE INDEX CONCURRENTLY books_isbn ON books (CAST(isbn_fold AS varchar(100)), id);
DROP INDEX CONCURRENTLY IF EXISTS books_publisher;
CREATE INDEX CONCURRENTLY books_publisher ON books (CAST(publisher_fold AS varchar(100)), id);
DROP INDEX CONCURRENTLY IF EXISTS books_language;
CREATE INDEX CONCURRENTLY books_language ON books (CAST(language_fold AS varchar(100)), id);
DROP INDEX CONCURRENTLY IF EXISTS books_shelf_mark;
CREATE INDEX CONCURRENTLY books_shelf_mark ON books (CAST(shelf_mark_fold AS varchar(100)), id);
