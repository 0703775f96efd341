-- +goose Up
-- People who sign in. Times are microseconds since 1970 of the service's clock. Secrets are stored as SHA-256 of
-- 256 random bits, passwords by argon2id.
CREATE TABLE accounts (
  id           INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id > 0),
  name         TEXT NOT NULL,
  name_key     TEXT NOT NULL UNIQUE, -- the name's identity key
  display_name TEXT NOT NULL,
  password     TEXT NOT NULL DEFAULT '', -- in PHC format; empty: not chosen yet
  role         TEXT NOT NULL CHECK (role IN ('reader', 'editor', 'admin')),
  created_at   INTEGER NOT NULL,
  seen_at      INTEGER,
  disabled_at  INTEGER
) STRICT;

-- The links that are good once. One without an account makes the first admin.
CREATE TABLE account_links (
  secret     BLOB PRIMARY KEY,
  account_id INTEGER REFERENCES accounts (id) ON DELETE CASCADE,
  expires_at INTEGER NOT NULL,
  used_at    INTEGER
) STRICT;
CREATE INDEX account_links_account_id ON account_links (account_id);

CREATE TABLE account_sessions (
  id         INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id > 0),
  secret     BLOB NOT NULL UNIQUE,
  account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  agent      TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  seen_at    INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX account_sessions_account_id ON account_sessions (account_id);

CREATE TABLE account_tokens (
  id         INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id > 0),
  secret     BLOB NOT NULL UNIQUE,
  account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  name       TEXT NOT NULL,
  scopes     TEXT NOT NULL, -- separated by spaces
  created_at INTEGER NOT NULL,
  used_at    INTEGER,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX account_tokens_account_id ON account_tokens (account_id);

-- The failed logins of an address, and of an account from an address. The key is a hash.
CREATE TABLE account_failures (
  key     BLOB PRIMARY KEY,
  count   INTEGER NOT NULL,
  ends_at INTEGER NOT NULL -- of the window that counts
) STRICT;
CREATE INDEX account_failures_ends_at ON account_failures (ends_at);

-- The Ed25519 keys that sign login tokens. They are not encrypted, because the key to that would stand beside them.
CREATE TABLE account_keys (
  kid        TEXT PRIMARY KEY,
  seed       BLOB NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

-- One row: the name of this installation, for the issuer of its tokens. Its lock orders changes of admins.
CREATE TABLE installation (
  id      INTEGER PRIMARY KEY CHECK (id = 1),
  name    TEXT NOT NULL
) STRICT;
INSERT INTO installation VALUES (1, lower(hex(randomblob(16))));

INSERT INTO schema_versions VALUES (10, 3);
