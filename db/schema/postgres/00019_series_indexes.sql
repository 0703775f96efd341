-- +goose NO TRANSACTION
-- +goose Up
INSERT INTO schema_versions VALUES (19, 3) ON CONFLICT DO NOTHING;
DROP INDEX CONCURRENTLY IF EXISTS books_series;
CREATE INDEX CONCURRENTLY books_series ON books (CAST(series_fold AS varchar(100)), id);
DROP INDEX CONCURRENTLY IF EXISTS books_series_number;
CREATE INDEX CONCURRENTLY books_series_number ON books (CAST(series_number_fold AS varchar(100)), id);
DROP INDEX CONCURRENTLY IF EXISTS books_series_number_key;
CREATE INDEX CONCURRENTLY books_series_number_key ON books (series_number_key, id);
