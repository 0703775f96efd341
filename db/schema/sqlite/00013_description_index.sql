-- +goose Up
-- This one changes PostgreSQL's indexes only.
INSERT INTO schema_versions VALUES (13, 3);
