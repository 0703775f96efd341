-- +goose Up
SET LOCAL lock_timeout = '2s';

-- The log of changes. A row has one entry for each version: the entry of version k + 1 keeps the
-- columns of version k, and the table itself keeps the last version. So an INSERT logs no columns.
-- For each row of the catalogue seq has the order of its versions, because a writer holds the row's
-- lock until it commits.
CREATE TABLE changes (
  seq       bigint GENERATED ALWAYS AS IDENTITY,
  row_id    bigint NOT NULL, -- 0 for a reset of the whole table
  version   bigint NOT NULL, -- after the change; before it for a deletion
  xid       xid8 NOT NULL DEFAULT pg_current_xact_id(),
  type      "char" NOT NULL, -- b: book, g: genre, c: category
  operation "char" NOT NULL, -- c: create, u: update, d: delete, r: reset
  actor     text,
  old       jsonb,           -- the columns before the change
  PRIMARY KEY (xid, seq)
);
CREATE INDEX changes_row ON changes (row_id, seq);

-- A tick divides the changes (PgQ, the queue of Skype): a batch is what one tick sees and the tick
-- before it does not, in order of seq. Neither seq nor xid alone has the order of commits. Ids
-- increase by random steps, so that a lost tick (failover, restored backup) has the id of no later one.
CREATE TABLE ticks (
  id       bigint PRIMARY KEY,
  snapshot pg_snapshot NOT NULL,
  at       timestamptz NOT NULL,
  revision bigint NOT NULL -- the catalogue's revision that it sees
);
CREATE INDEX ticks_xmax ON ticks (pg_snapshot_xmax(snapshot), id);
INSERT INTO ticks VALUES (1 + floor(random() * 1099511627776), pg_current_snapshot(), now(), -1);

-- The service names the actor in catalogue.actor for a transaction, or in catalogue.actors for each
-- new row of a statement. For other programs it is their role.
-- +goose StatementBegin
CREATE FUNCTION log_insert() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  actors text[] := nullif(current_setting('catalogue.actors', true), '');
  writer text := coalesce(nullif(current_setting('catalogue.actor', true), ''), session_user);
BEGIN
  INSERT INTO changes (row_id, version, type, operation, actor)
  SELECT id, version, TG_ARGV[0]::"char", 'c', coalesce(nullif(actors[row_number() OVER (ORDER BY id)], ''), writer) FROM added ORDER BY id;
  RETURN NULL;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION log_change() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  writer text := coalesce(nullif(current_setting('catalogue.actor', true), ''), session_user);
  columns jsonb := to_jsonb(OLD) - TG_ARGV[1]::text[];
BEGIN
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
-- +goose StatementBegin
CREATE FUNCTION log_reset() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO changes (row_id, version, type, operation, actor)
  VALUES (0, 0, TG_ARGV[0]::"char", 'r', coalesce(nullif(current_setting('catalogue.actor', true), ''), session_user));
  RETURN NULL;
END $$;
-- +goose StatementEnd
-- In the order in which writers lock the tables.
CREATE TRIGGER categories_log_insert AFTER INSERT ON categories REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION log_insert('c');
CREATE TRIGGER categories_log_change AFTER UPDATE OR DELETE ON categories FOR EACH ROW EXECUTE FUNCTION log_change('c', '{id,version,name_fold,description_fold}');
CREATE TRIGGER categories_log_reset AFTER TRUNCATE ON categories FOR EACH STATEMENT EXECUTE FUNCTION log_reset('c');
CREATE TRIGGER genres_log_insert AFTER INSERT ON genres REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION log_insert('g');
CREATE TRIGGER genres_log_change AFTER UPDATE OR DELETE ON genres FOR EACH ROW EXECUTE FUNCTION log_change('g', '{id,version,name_fold,description_fold}');
CREATE TRIGGER genres_log_reset AFTER TRUNCATE ON genres FOR EACH STATEMENT EXECUTE FUNCTION log_reset('g');
CREATE TRIGGER books_log_insert AFTER INSERT ON books REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION log_insert('b');
CREATE TRIGGER books_log_change AFTER UPDATE OR DELETE ON books FOR EACH ROW EXECUTE FUNCTION log_change('b', '{id,version,name_fold,author_fold,author_short,description_fold}');
CREATE TRIGGER books_log_reset AFTER TRUNCATE ON books FOR EACH STATEMENT EXECUTE FUNCTION log_reset('b');

INSERT INTO schema_versions VALUES (5, 3);
