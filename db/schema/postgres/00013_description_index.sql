-- +goose NO TRANSACTION
-- +goose Up
-- No list has the order of descriptions, and the trigrams serve the conditions on them.
INSERT INTO schema_versions VALUES (13, 3) ON CONFLICT DO NOTHING;
DROP INDEX CONCURRENTLY IF EXISTS books_description;
