-- +goose Up
SET LOCAL lock_timeout = '2s';
INSERT INTO schema_versions VALUES (14, 3);
