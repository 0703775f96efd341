-- +goose Up
-- Versions are the same on both engines. This one changes PostgreSQL's revision only.
INSERT INTO schema_versions VALUES (17, 3);
