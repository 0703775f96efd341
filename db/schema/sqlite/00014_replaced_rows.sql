-- +goose Up
-- The row that the last statement of another program replaced or could have, so that triggers can log it
-- (db/schema/trigger.go). It has one row at most. old is NULL once it is logged.
CREATE TABLE replaced (
  type    TEXT NOT NULL,
  row_id  INTEGER NOT NULL,
  version INTEGER NOT NULL,
  seq     INTEGER NOT NULL, -- of the newest change before the statement
  old     TEXT
) STRICT;
DROP TRIGGER categories_log_insert;
DROP TRIGGER genres_log_insert;
DROP TRIGGER books_log_insert;

-- A change is untimed (1) until its time is final: it has one that is not after it. The service gives changes their time
-- at the end of each of its transactions, and with it all untimed ones before.
ALTER TABLE changes ADD COLUMN untimed INTEGER;
UPDATE changes SET untimed = 1 WHERE seq > (SELECT ticked FROM feed);
CREATE INDEX changes_untimed ON changes (seq) WHERE untimed = 1;
ALTER TABLE feed DROP COLUMN ticked;

-- A log that lost a change begins after it: older positions are gone, and what was counted before is read again. The
-- service moves the beginning before it deletes changes.
-- +goose StatementBegin
CREATE TRIGGER changes_lost AFTER DELETE ON changes WHEN OLD.seq > (SELECT start FROM feed)
BEGIN
  UPDATE feed SET start = OLD.seq, at = max(at, OLD.at);
  DELETE FROM changes WHERE seq < OLD.seq;
END;
-- +goose StatementEnd

-- A program before this version does not know untimed changes.
INSERT INTO schema_versions VALUES (14, 14);
