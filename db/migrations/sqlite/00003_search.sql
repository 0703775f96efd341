-- +goose Up
-- How a text is read as words: signs stand between them, and a character of a
-- script without spaces is a word by itself. The service knows the rule as
-- model.Words. In ASCII the tokenizer keeps it; here are the other characters,
-- for texts that have any.
CREATE TABLE spacing (
  first INTEGER PRIMARY KEY,
  last  INTEGER NOT NULL,
  alone INTEGER NOT NULL -- 0: a sign, 1: a word by itself
) STRICT;
INSERT INTO spacing VALUES (128, 169, 0), (171, 180, 0), (182, 185, 0), (187, 191, 0), (215, 215, 0), (247, 247, 0), (1470, 1470, 0), (1472, 1472, 0), (1475, 1475, 0), (1523, 1524, 0), (1548, 1548, 0), (1563, 1567, 0), (1642, 1645, 0), (1748, 1748, 0), (2404, 2405, 0), (8192, 8303, 0), (8352, 8399, 0), (8448, 8485, 0), (8487, 8489, 0), (8492, 8527, 0), (8592, 11263, 0), (11776, 11903, 0), (12288, 12292, 0), (12296, 12320, 0), (12336, 12336, 0), (12349, 12351, 0), (12539, 12539, 0), (65040, 65055, 0), (65072, 65135, 0), (65279, 65295, 0), (65306, 65312, 0), (65339, 65344, 0), (65371, 65381, 0), (65504, 65535, 0);
INSERT INTO spacing VALUES (12293, 12295, 1), (12321, 12329, 1), (12352, 12538, 1), (12540, 12543, 1), (12784, 12799, 1), (13312, 19903, 1), (19968, 40959, 1), (63744, 64255, 1), (65382, 65437, 1), (131072, 262143, 1);

CREATE VIRTUAL TABLE books_search USING fts5(name, author, description, tokenize = 'ascii', detail = 'column');
CREATE VIRTUAL TABLE books_vocabulary USING fts5vocab(books_search, 'row');
-- +goose StatementBegin
CREATE VIEW books_searchable AS
SELECT id, CASE WHEN length(CAST(r.name AS BLOB)) = length(r.name) THEN lower(r.name) ELSE (
    WITH RECURSIVE step (words, rest) AS (
      SELECT lower(r.name), ltrim(r.name, ascii.printable) FROM ascii
      UNION ALL
      SELECT replace(words, substr(rest, 1, 1), (
          SELECT CASE (SELECT alone FROM spacing WHERE first <= unicode(written) AND last >= unicode(written) ORDER BY first DESC LIMIT 1)
            WHEN 0 THEN ' ' WHEN 1 THEN ' ' || substr(written, 1, 1) || ' ' || substr(written, 2) || ' ' ELSE written END
          FROM (SELECT coalesce((SELECT replacement FROM folding WHERE found = substr(rest, 1, 1)), substr(rest, 1, 1)) AS written))),
        ltrim(replace(rest, substr(rest, 1, 1), ''), ascii.printable)
      FROM step, ascii WHERE rest <> ''
    )
    SELECT words FROM step WHERE rest = ''
  ) END AS name, CASE WHEN length(CAST(r.author AS BLOB)) = length(r.author) THEN lower(r.author) ELSE (
    WITH RECURSIVE step (words, rest) AS (
      SELECT lower(r.author), ltrim(r.author, ascii.printable) FROM ascii
      UNION ALL
      SELECT replace(words, substr(rest, 1, 1), (
          SELECT CASE (SELECT alone FROM spacing WHERE first <= unicode(written) AND last >= unicode(written) ORDER BY first DESC LIMIT 1)
            WHEN 0 THEN ' ' WHEN 1 THEN ' ' || substr(written, 1, 1) || ' ' || substr(written, 2) || ' ' ELSE written END
          FROM (SELECT coalesce((SELECT replacement FROM folding WHERE found = substr(rest, 1, 1)), substr(rest, 1, 1)) AS written))),
        ltrim(replace(rest, substr(rest, 1, 1), ''), ascii.printable)
      FROM step, ascii WHERE rest <> ''
    )
    SELECT words FROM step WHERE rest = ''
  ) END AS author, CASE WHEN length(CAST(r.description AS BLOB)) = length(r.description) THEN lower(r.description) ELSE (
    WITH RECURSIVE step (words, rest) AS (
      SELECT lower(r.description), ltrim(r.description, ascii.printable) FROM ascii
      UNION ALL
      SELECT replace(words, substr(rest, 1, 1), (
          SELECT CASE (SELECT alone FROM spacing WHERE first <= unicode(written) AND last >= unicode(written) ORDER BY first DESC LIMIT 1)
            WHEN 0 THEN ' ' WHEN 1 THEN ' ' || substr(written, 1, 1) || ' ' || substr(written, 2) || ' ' ELSE written END
          FROM (SELECT coalesce((SELECT replacement FROM folding WHERE found = substr(rest, 1, 1)), substr(rest, 1, 1)) AS written))),
        ltrim(replace(rest, substr(rest, 1, 1), ''), ascii.printable)
      FROM step, ascii WHERE rest <> ''
    )
    SELECT words FROM step WHERE rest = ''
  ) END AS description
FROM books r;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER books_search_insert AFTER INSERT ON books
BEGIN
  INSERT OR REPLACE INTO books_search (rowid, name, author, description) SELECT * FROM books_searchable WHERE id = NEW.id;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER books_search_update AFTER UPDATE OF id, name, author, description ON books
WHEN NEW.id IS NOT OLD.id OR NEW.name IS NOT OLD.name OR NEW.author IS NOT OLD.author OR NEW.description IS NOT OLD.description
BEGIN
  DELETE FROM books_search WHERE rowid = OLD.id;
  INSERT OR REPLACE INTO books_search (rowid, name, author, description) SELECT * FROM books_searchable WHERE id = NEW.id;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER books_search_delete AFTER DELETE ON books
BEGIN
  DELETE FROM books_search WHERE rowid = OLD.id;
END;
-- +goose StatementEnd

CREATE VIRTUAL TABLE genres_search USING fts5(name, description, tokenize = 'ascii', detail = 'column');
CREATE VIRTUAL TABLE genres_vocabulary USING fts5vocab(genres_search, 'row');
-- +goose StatementBegin
CREATE VIEW genres_searchable AS
SELECT id, CASE WHEN length(CAST(r.name AS BLOB)) = length(r.name) THEN lower(r.name) ELSE (
    WITH RECURSIVE step (words, rest) AS (
      SELECT lower(r.name), ltrim(r.name, ascii.printable) FROM ascii
      UNION ALL
      SELECT replace(words, substr(rest, 1, 1), (
          SELECT CASE (SELECT alone FROM spacing WHERE first <= unicode(written) AND last >= unicode(written) ORDER BY first DESC LIMIT 1)
            WHEN 0 THEN ' ' WHEN 1 THEN ' ' || substr(written, 1, 1) || ' ' || substr(written, 2) || ' ' ELSE written END
          FROM (SELECT coalesce((SELECT replacement FROM folding WHERE found = substr(rest, 1, 1)), substr(rest, 1, 1)) AS written))),
        ltrim(replace(rest, substr(rest, 1, 1), ''), ascii.printable)
      FROM step, ascii WHERE rest <> ''
    )
    SELECT words FROM step WHERE rest = ''
  ) END AS name, CASE WHEN length(CAST(r.description AS BLOB)) = length(r.description) THEN lower(r.description) ELSE (
    WITH RECURSIVE step (words, rest) AS (
      SELECT lower(r.description), ltrim(r.description, ascii.printable) FROM ascii
      UNION ALL
      SELECT replace(words, substr(rest, 1, 1), (
          SELECT CASE (SELECT alone FROM spacing WHERE first <= unicode(written) AND last >= unicode(written) ORDER BY first DESC LIMIT 1)
            WHEN 0 THEN ' ' WHEN 1 THEN ' ' || substr(written, 1, 1) || ' ' || substr(written, 2) || ' ' ELSE written END
          FROM (SELECT coalesce((SELECT replacement FROM folding WHERE found = substr(rest, 1, 1)), substr(rest, 1, 1)) AS written))),
        ltrim(replace(rest, substr(rest, 1, 1), ''), ascii.printable)
      FROM step, ascii WHERE rest <> ''
    )
    SELECT words FROM step WHERE rest = ''
  ) END AS description
FROM genres r;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER genres_search_insert AFTER INSERT ON genres
BEGIN
  INSERT OR REPLACE INTO genres_search (rowid, name, description) SELECT * FROM genres_searchable WHERE id = NEW.id;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER genres_search_update AFTER UPDATE OF id, name, description ON genres
WHEN NEW.id IS NOT OLD.id OR NEW.name IS NOT OLD.name OR NEW.description IS NOT OLD.description
BEGIN
  DELETE FROM genres_search WHERE rowid = OLD.id;
  INSERT OR REPLACE INTO genres_search (rowid, name, description) SELECT * FROM genres_searchable WHERE id = NEW.id;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER genres_search_delete AFTER DELETE ON genres
BEGIN
  DELETE FROM genres_search WHERE rowid = OLD.id;
END;
-- +goose StatementEnd

CREATE VIRTUAL TABLE categories_search USING fts5(name, description, tokenize = 'ascii', detail = 'column');
CREATE VIRTUAL TABLE categories_vocabulary USING fts5vocab(categories_search, 'row');
-- +goose StatementBegin
CREATE VIEW categories_searchable AS
SELECT id, CASE WHEN length(CAST(r.name AS BLOB)) = length(r.name) THEN lower(r.name) ELSE (
    WITH RECURSIVE step (words, rest) AS (
      SELECT lower(r.name), ltrim(r.name, ascii.printable) FROM ascii
      UNION ALL
      SELECT replace(words, substr(rest, 1, 1), (
          SELECT CASE (SELECT alone FROM spacing WHERE first <= unicode(written) AND last >= unicode(written) ORDER BY first DESC LIMIT 1)
            WHEN 0 THEN ' ' WHEN 1 THEN ' ' || substr(written, 1, 1) || ' ' || substr(written, 2) || ' ' ELSE written END
          FROM (SELECT coalesce((SELECT replacement FROM folding WHERE found = substr(rest, 1, 1)), substr(rest, 1, 1)) AS written))),
        ltrim(replace(rest, substr(rest, 1, 1), ''), ascii.printable)
      FROM step, ascii WHERE rest <> ''
    )
    SELECT words FROM step WHERE rest = ''
  ) END AS name, CASE WHEN length(CAST(r.description AS BLOB)) = length(r.description) THEN lower(r.description) ELSE (
    WITH RECURSIVE step (words, rest) AS (
      SELECT lower(r.description), ltrim(r.description, ascii.printable) FROM ascii
      UNION ALL
      SELECT replace(words, substr(rest, 1, 1), (
          SELECT CASE (SELECT alone FROM spacing WHERE first <= unicode(written) AND last >= unicode(written) ORDER BY first DESC LIMIT 1)
            WHEN 0 THEN ' ' WHEN 1 THEN ' ' || substr(written, 1, 1) || ' ' || substr(written, 2) || ' ' ELSE written END
          FROM (SELECT coalesce((SELECT replacement FROM folding WHERE found = substr(rest, 1, 1)), substr(rest, 1, 1)) AS written))),
        ltrim(replace(rest, substr(rest, 1, 1), ''), ascii.printable)
      FROM step, ascii WHERE rest <> ''
    )
    SELECT words FROM step WHERE rest = ''
  ) END AS description
FROM categories r;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER categories_search_insert AFTER INSERT ON categories
BEGIN
  INSERT OR REPLACE INTO categories_search (rowid, name, description) SELECT * FROM categories_searchable WHERE id = NEW.id;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER categories_search_update AFTER UPDATE OF id, name, description ON categories
WHEN NEW.id IS NOT OLD.id OR NEW.name IS NOT OLD.name OR NEW.description IS NOT OLD.description
BEGIN
  DELETE FROM categories_search WHERE rowid = OLD.id;
  INSERT OR REPLACE INTO categories_search (rowid, name, description) SELECT * FROM categories_searchable WHERE id = NEW.id;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER categories_search_delete AFTER DELETE ON categories
BEGIN
  DELETE FROM categories_search WHERE rowid = OLD.id;
END;
-- +goose StatementEnd
