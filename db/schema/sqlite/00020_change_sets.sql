-- +goose Up
-- The set of a change: changes that are undone together. The service names it in feed for each transaction. A change
-- without one is a set of its own: of an INSERT that is a transaction, of another program, because no trigger can know
-- where its transactions end, and from before this version.
ALTER TABLE feed ADD COLUMN change_set INTEGER;
ALTER TABLE changes ADD COLUMN change_set INTEGER;
CREATE INDEX changes_set ON changes (change_set) WHERE change_set IS NOT NULL;
INSERT INTO schema_versions VALUES (20, 3);
