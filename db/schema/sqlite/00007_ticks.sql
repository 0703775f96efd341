-- +goose Up
-- ticked is the seq of the last change whose time is final. A statement cannot know when its transaction
-- commits, so the service sets the time of the changes after ticked, once they are committed.
ALTER TABLE feed ADD COLUMN ticked INTEGER NOT NULL DEFAULT 0;
UPDATE feed SET ticked = max(start, coalesce((SELECT max(seq) FROM changes), 0));

INSERT INTO schema_versions VALUES (7, 3);
