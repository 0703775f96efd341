-- +goose Up
-- PostgreSQL makes its index in a step of its own.
INSERT INTO schema_versions VALUES (21, 3);
