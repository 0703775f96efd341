-- +goose Up
SET LOCAL lock_timeout = '2s';

-- Pairs of names or of ids that look alike but are different. one precedes other, by bytes.
CREATE TABLE different_pairs (
  kind  text NOT NULL,
  one   text NOT NULL,
  other text NOT NULL,
  at    timestamptz NOT NULL DEFAULT clock_timestamp()
);
-- Names may be longer than an entry of an index.
CREATE UNIQUE INDEX different_pairs_names ON different_pairs (kind, md5(one), md5(other));

INSERT INTO schema_versions VALUES (22, 3);
