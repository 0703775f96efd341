-- +goose Up
INSERT INTO schema_versions VALUES (14, 3);
