-- +goose Up
SET LOCAL lock_timeout = '2s';

-- The set of a change: changes that are undone together. The service names it in
-- catalogue.change_set. A transaction of another program has its own, by its number and its beginning: after a failover
-- another transaction may have the same number. A change without a set is one of its own, as those from before this version.
CREATE FUNCTION change_set() RETURNS bigint LANGUAGE sql STABLE AS
  $$ SELECT coalesce(nullif(current_setting('catalogue.change_set', true), '')::bigint,
    hashint8extended(pg_current_xact_id()::text::bigint, (extract(epoch FROM now()) * 1000000)::bigint)) $$;
ALTER TABLE changes ADD COLUMN change_set bigint;
ALTER TABLE changes ALTER COLUMN change_set SET DEFAULT change_set();

-- Each new row of catalogue.actors is of another request, so it is a set of its own.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION log_insert() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  actors text[] := nullif(current_setting('catalogue.actors', true), '');
  writer text := coalesce(nullif(current_setting('catalogue.actor', true), ''), session_user);
  whole bigint;
BEGIN
  IF actors IS NULL THEN whole := change_set(); END IF;
  INSERT INTO changes (row_id, version, type, operation, actor, change_set)
  SELECT id, version, TG_ARGV[0]::"char", 'c', coalesce(nullif(actors[row_number() OVER (ORDER BY id)], ''), writer), whole
  FROM added ORDER BY id;
  RETURN NULL;
END $$;
-- +goose StatementEnd

INSERT INTO schema_versions VALUES (20, 3);
