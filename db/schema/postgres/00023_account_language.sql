-- +goose Up
SET LOCAL lock_timeout = '2s';

-- The language of the pages, as a tag of BCP 47; empty: none was chosen.
ALTER TABLE accounts ADD COLUMN language text NOT NULL DEFAULT '';

INSERT INTO schema_versions VALUES (23, 3);
