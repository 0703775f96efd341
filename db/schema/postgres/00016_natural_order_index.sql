-- +goose NO TRANSACTION
-- +goose Up
INSERT INTO schema_versions VALUES (16, 3) ON CONFLICT DO NOTHING;
DROP INDEX CONCURRENTLY IF EXISTS books_shelf_mark_key;
CREATE INDEX CONCURRENTLY books_shelf_mark_key ON books (shelf_mark_key, id);
