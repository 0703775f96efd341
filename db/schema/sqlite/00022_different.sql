-- +goose Up
-- Pairs of names or of ids that look alike but are different. one precedes other, by bytes.
CREATE TABLE different_pairs (
  kind  TEXT NOT NULL,
  one   TEXT NOT NULL,
  other TEXT NOT NULL,
  at    TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')),
  PRIMARY KEY (kind, one, other)
) STRICT, WITHOUT ROWID;

INSERT INTO schema_versions VALUES (22, 3);
