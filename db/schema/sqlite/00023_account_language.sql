-- +goose Up
-- The language of the pages, as a tag of BCP 47; empty: none was chosen.
ALTER TABLE accounts ADD COLUMN language TEXT NOT NULL DEFAULT '';

INSERT INTO schema_versions VALUES (23, 3);
