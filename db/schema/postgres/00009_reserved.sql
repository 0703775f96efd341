-- +goose Up
-- The number is taken by another branch, whose file replaces this one.
INSERT INTO schema_versions VALUES (9, 3);
