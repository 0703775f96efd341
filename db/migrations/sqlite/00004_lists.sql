-- +goose Up
CREATE INDEX books_no_description ON books (id) WHERE description IS NULL;
