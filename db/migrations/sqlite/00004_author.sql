-- +goose Up
-- Lists by date and by price are narrowed by a part of the author too: with it in the
-- index, the rows that do not match need not be read.
DROP INDEX books_published_at;
DROP INDEX books_price;
CREATE INDEX books_published_at ON books (published_at, id, price_cents, author_fold);
CREATE INDEX books_price ON books (price_cents, id, published_at, author_fold);
