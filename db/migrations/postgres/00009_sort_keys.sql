-- +goose Up
-- Texts are put in order by their first 100 characters. A cast leaves a text of no
-- more than 100 bytes as it is, where substr counts its characters twice.
DROP INDEX books_name;
CREATE INDEX books_name ON books (CAST(name_fold AS varchar(100)), id);
ALTER INDEX books_name ALTER COLUMN 1 SET STATISTICS 300;
DROP INDEX books_author;
CREATE INDEX books_author ON books (CAST(author_fold AS varchar(100)), id);
ALTER INDEX books_author ALTER COLUMN 1 SET STATISTICS 300;
DROP INDEX books_description;
CREATE INDEX books_description ON books (CAST(description_fold AS varchar(100)), id);
ALTER INDEX books_description ALTER COLUMN 1 SET STATISTICS 300;
DROP INDEX genres_name;
CREATE INDEX genres_name ON genres (CAST(name_fold AS varchar(100)), id);
DROP INDEX categories_name;
CREATE INDEX categories_name ON categories (CAST(name_fold AS varchar(100)), id);
ANALYZE books;
ANALYZE genres;
ANALYZE categories;
