-- +goose Up
-- Their texts have an end now. db/parts_postgres.go makes them again.
DROP INDEX IF EXISTS books_name_trigrams;
DROP INDEX IF EXISTS books_author_trigrams;
DROP INDEX IF EXISTS books_description_trigrams;
