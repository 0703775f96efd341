-- +goose Up
-- Lists by date and by price are often those of an author. An index cannot have
-- the folded author, which may be too long for it, but those that are not: of the
-- others there are few, and an index of their own has them.
-- db/parts_postgres.go makes the indexes for parts of texts again.
DROP INDEX IF EXISTS books_author_trigrams;
DROP INDEX IF EXISTS books_lone_pairs;
DROP INDEX IF EXISTS books_rare_signs;
ALTER TABLE books ADD COLUMN author_short text COLLATE "C" GENERATED ALWAYS AS (CASE WHEN char_length(fold(author)) <= 100 THEN fold(author) END) STORED;
CREATE INDEX books_author_long ON books (id) WHERE author_short IS NULL;
DROP INDEX books_published_at;
CREATE INDEX books_published_at ON books (published_at, id, price_cents) INCLUDE (author_short);
DROP INDEX books_price;
CREATE INDEX books_price ON books (price_cents, id, published_at) INCLUDE (author_short);

-- A subquery in its place would make a list look dear to the planner, which does
-- not know how seldom it is asked for.
-- +goose StatementBegin
CREATE FUNCTION long_author(book bigint) RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1 SET search_path FROM CURRENT AS $$
BEGIN
  RETURN (SELECT author_fold FROM books WHERE id = book);
END $$;
-- +goose StatementEnd
