-- +goose Up
-- How many rows come before a text PostgreSQL foresees by those texts of the index
-- that it keeps, 100 by default: a hundredth of all rows lies between two, and a
-- list of the few before the first of all would be looked for among all rows.
ALTER INDEX books_name ALTER COLUMN 1 SET STATISTICS 300;
ALTER INDEX books_author ALTER COLUMN 1 SET STATISTICS 300;
ALTER INDEX books_description ALTER COLUMN 1 SET STATISTICS 300;
ANALYZE books;
