-- +goose Up
-- What lists in these orders are mostly narrowed by is told by the index, before
-- the row is looked at.
DROP INDEX books_published_at;
CREATE INDEX books_published_at ON books (published_at, id, price_cents);
DROP INDEX books_price;
CREATE INDEX books_price ON books (price_cents, id, published_at);
