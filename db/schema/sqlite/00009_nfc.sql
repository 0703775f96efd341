-- +goose Up
-- Texts are stored in Unicode NFC. The pass puts those in it that other programs or earlier versions stored
-- (db/schema/normalize.go).
INSERT INTO passes SELECT 9, 'categories', 0 WHERE EXISTS (SELECT 1 FROM categories);
INSERT INTO passes SELECT 9, 'genres', 0 WHERE EXISTS (SELECT 1 FROM genres);
INSERT INTO passes SELECT 9, 'books', 0 WHERE EXISTS (SELECT 1 FROM books);

INSERT INTO schema_versions VALUES (9, 3);
