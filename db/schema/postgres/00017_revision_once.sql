-- +goose Up
SET LOCAL lock_timeout = '2s';

-- A transaction advances the revision once for each table that it changes, and not at each statement: no other
-- transaction sees a step before the commit. The mark of a table is a setting that ends with the transaction, and goes
-- back with a savepoint as the step does. It names the transaction and the schema, so a mark that another program sets
-- or resets is never that of a transaction which has not advanced this revision.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION advance_revision() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  mark text := 'catalogue.revised_' || TG_TABLE_NAME;
  marked text := pg_current_xact_id() || ' ' || TG_TABLE_SCHEMA;
  step bigint := 1 + floor(random() * 16777216);
  reference_step bigint := CASE WHEN TG_TABLE_NAME = 'books' THEN 0 ELSE step END;
BEGIN
  IF current_setting(mark, true) = marked THEN
    RETURN NULL;
  END IF;
  UPDATE revision SET n = n + step, reference = reference + reference_step WHERE slot = coalesce(
    (SELECT slot FROM revision WHERE slot = 1 + pg_backend_pid() % 64 FOR NO KEY UPDATE SKIP LOCKED),
    (SELECT slot FROM revision ORDER BY slot LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED));
  IF NOT FOUND THEN
    INSERT INTO revision (n, reference) VALUES (step, reference_step);
  END IF;
  PERFORM set_config(mark, marked, true);
  RETURN NULL;
END $$;
-- +goose StatementEnd

INSERT INTO schema_versions VALUES (17, 3);
