-- +goose Up
SET LOCAL lock_timeout = '2s';

-- Versions are the same on both engines. This one changes SQLite's log of changes only.
INSERT INTO schema_versions VALUES (7, 3);
