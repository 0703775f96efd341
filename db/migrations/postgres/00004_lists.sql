-- +goose Up
-- Conditions on descriptions look at the folded form too. db/search_postgres.go
-- makes the index of its trigrams again.
DROP INDEX IF EXISTS books_description_trigrams;
ALTER TABLE categories ADD COLUMN description_fold text COLLATE "C" GENERATED ALWAYS AS (fold(description)) STORED;
ALTER TABLE genres ADD COLUMN description_fold text COLLATE "C" GENERATED ALWAYS AS (fold(description)) STORED;
ALTER TABLE books ADD COLUMN description_fold text COLLATE "C" GENERATED ALWAYS AS (fold(description)) STORED;
CREATE INDEX books_description ON books (substr(description_fold, 1, 100), id);
CREATE INDEX books_no_description ON books (id) WHERE description IS NULL;

-- More rows wait for their places in these, which makes writes cheaper.
ALTER INDEX books_search_words SET (gin_pending_list_limit = 1024);
ALTER INDEX IF EXISTS books_name_trigrams SET (gin_pending_list_limit = 1024);
ALTER INDEX IF EXISTS books_author_trigrams SET (gin_pending_list_limit = 1024);
ALTER INDEX IF EXISTS vocabulary_trigrams SET (gin_pending_list_limit = 1024);

