-- +goose NO TRANSACTION
-- +goose Up
INSERT INTO schema_versions VALUES (21, 3) ON CONFLICT DO NOTHING;
DROP INDEX CONCURRENTLY IF EXISTS changes_set;
CREATE INDEX CONCURRENTLY changes_set ON changes (change_set) WHERE change_set IS NOT NULL;
