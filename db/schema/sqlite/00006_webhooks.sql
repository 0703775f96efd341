-- +goose Up
-- The endpoints that get changes by HTTP. position is that of the last change delivered. A server sends to an
-- endpoint while it holds its lease.
CREATE TABLE webhooks (
  id               INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id > 0),
  url              TEXT NOT NULL,
  types            TEXT NOT NULL, -- BOOK,GENRE; empty: all
  description      TEXT NOT NULL,
  secret           TEXT NOT NULL,
  old_secret       TEXT,
  old_secret_until TEXT,
  position         TEXT NOT NULL,
  failures         INTEGER NOT NULL DEFAULT 0, -- failed attempts of the next change
  error            TEXT NOT NULL DEFAULT '',   -- of the last attempt
  due_at           TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')),
  disabled         TEXT NOT NULL DEFAULT '',   -- the reason; empty: enabled
  delivered_at     TEXT,
  lease_holder     TEXT NOT NULL DEFAULT '',
  lease_until      TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')),
  created_at       TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f000Z', 'now'))
) STRICT;

INSERT INTO schema_versions VALUES (6, 3);
