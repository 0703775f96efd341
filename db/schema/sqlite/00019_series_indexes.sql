-- +goose Up
-- PostgreSQL makes its indexes in a step of their own.
INSERT INTO schema_versions VALUES (19, 3);
