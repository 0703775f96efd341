-- +goose Up
SET LOCAL lock_timeout = '2s';

-- It waits for transactions that have written with the former functions, so that the pass sees their rows.
LOCK TABLE categories, genres, books IN SHARE ROW EXCLUSIVE MODE;

-- The passes over all rows that follow migrations and are not complete (db/schema/pass.go).
CREATE TABLE passes (
  version  bigint NOT NULL, -- of the migration
  name     text NOT NULL,   -- of the table
  position bigint NOT NULL, -- id of the last row that was changed
  PRIMARY KEY (version, name)
);

-- The setting catalogue.deriving is on for statements that only derive folded forms again. They neither stamp nor
-- log a row.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION stamp_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('catalogue.deriving', true) = 'on' THEN
    RETURN NEW;
  END IF;
  NEW.version := OLD.version + 1;
  NEW.created_at := OLD.created_at;
  NEW.updated_at := now();
  RETURN NEW;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION log_change() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  writer text := coalesce(nullif(current_setting('catalogue.actor', true), ''), session_user);
  columns jsonb := to_jsonb(OLD) - TG_ARGV[1]::text[];
BEGIN
  IF current_setting('catalogue.deriving', true) = 'on' THEN
    RETURN NULL;
  END IF;
  IF TG_OP = 'UPDATE' AND NEW.id = OLD.id THEN
    INSERT INTO changes (row_id, version, type, operation, actor, old) VALUES (NEW.id, NEW.version, TG_ARGV[0]::"char", 'u', writer, columns);
    RETURN NULL;
  END IF;
  INSERT INTO changes (row_id, version, type, operation, actor, old) VALUES (OLD.id, OLD.version, TG_ARGV[0]::"char", 'd', writer, columns);
  IF TG_OP = 'UPDATE' THEN
    INSERT INTO changes (row_id, version, type, operation, actor) VALUES (NEW.id, NEW.version, TG_ARGV[0]::"char", 'c', writer);
  END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd

INSERT INTO passes SELECT 8, 'categories', 0 WHERE EXISTS (SELECT FROM categories);
INSERT INTO passes SELECT 8, 'genres', 0 WHERE EXISTS (SELECT FROM genres);
INSERT INTO passes SELECT 8, 'books', 0 WHERE EXISTS (SELECT FROM books);

INSERT INTO schema_versions VALUES (8, 3);
