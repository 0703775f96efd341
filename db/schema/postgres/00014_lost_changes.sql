-- +goose Up
SET LOCAL lock_timeout = '2s';

-- A log that another server wrote, or that lost a change, begins again with a reset of each type. The newest tick stays,
-- so that clients that followed to the end get the reset. The revision makes the next one follow.
-- +goose StatementBegin
CREATE FUNCTION restart_log() RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM set_config('catalogue.restarting', 'on', true);
  DELETE FROM ticks WHERE id < (SELECT max(id) FROM ticks);
  UPDATE ticks SET snapshot = '1:1:', at = greatest(at, now());
  DELETE FROM changes;
  INSERT INTO changes (row_id, version, type, operation) VALUES (0, 0, 'c', 'r'), (0, 0, 'g', 'r'), (0, 0, 'b', 'r');
  UPDATE revision SET n = n + 1 + floor(random() * 16777216) WHERE slot = (SELECT min(slot) FROM revision);
  PERFORM set_config('catalogue.restarting', '', true);
END $$;
-- +goose StatementEnd

-- The service deletes changes that its oldest tick sees: those are before the log's beginning.
-- +goose StatementBegin
CREATE FUNCTION lose_changes() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    PERFORM restart_log();
  ELSIF EXISTS (SELECT FROM lost WHERE NOT pg_visible_in_snapshot(xid, (SELECT snapshot FROM ticks ORDER BY id LIMIT 1))) THEN
    PERFORM restart_log();
  END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER changes_lost AFTER DELETE ON changes REFERENCING OLD TABLE AS lost FOR EACH STATEMENT
  WHEN (current_setting('catalogue.restarting', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION lose_changes();
CREATE TRIGGER changes_emptied AFTER TRUNCATE ON changes FOR EACH STATEMENT EXECUTE FUNCTION lose_changes();

INSERT INTO schema_versions VALUES (14, 3);
