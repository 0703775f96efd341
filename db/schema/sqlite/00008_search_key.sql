-- +goose Up
-- The passes over all rows that follow migrations and are not complete (db/schema/pass.go).
CREATE TABLE passes (
  version  INTEGER NOT NULL, -- of the migration
  name     TEXT NOT NULL,    -- of the table
  position INTEGER NOT NULL, -- id of the last row that was changed
  PRIMARY KEY (version, name)
) STRICT, WITHOUT ROWID;

-- Apostrophes and hyphens join words. The end of this step fills folding and marks by the
-- program's rule (db/schema/trigger.go).
INSERT INTO spacing VALUES (45, 45, 3), (8208, 8208, 3); -- 3: a hyphen
ALTER TABLE characters ADD COLUMN marks TEXT NOT NULL DEFAULT ''; -- GLOB of the marks that are sorted

DROP TRIGGER reading_insert;
-- +goose StatementBegin
CREATE TRIGGER reading_insert AFTER INSERT ON reading
BEGIN
  -- Each step replaces a character that is not ASCII, or white space, wherever it stands, until none is
  -- left. Most texts have none.
  UPDATE reading SET folded = (
    WITH RECURSIVE step (folded, rest) AS (
      SELECT lower(text), ltrim(text, printable) FROM characters
      UNION ALL
      SELECT replace(folded, substr(rest, 1, 1), coalesce((SELECT replacement FROM folding WHERE found = substr(rest, 1, 1)), substr(rest, 1, 1))),
        ltrim(replace(rest, substr(rest, 1, 1), ''), printable)
      FROM step, characters WHERE rest <> ''
    )
    SELECT folded FROM step WHERE rest = ''
  ) WHERE field = NEW.field;

  -- Each step passes a character, or swaps it with a lesser mark after it and goes back by one character.
  UPDATE reading SET folded = (
    WITH RECURSIVE step (sorted, rest) AS (
      SELECT '', folded
      UNION ALL
      SELECT CASE WHEN rest GLOB marks || marks || '*' AND substr(rest, 1, 1) > substr(rest, 2, 1) THEN substr(sorted, 1, length(sorted) - 1) ELSE sorted || substr(rest, 1, 1) END,
        CASE WHEN rest GLOB marks || marks || '*' AND substr(rest, 1, 1) > substr(rest, 2, 1)
          THEN substr(sorted, -1) || substr(rest, 2, 1) || substr(rest, 1, 1) || substr(rest, 3) ELSE substr(rest, 2) END
      FROM step, characters WHERE rest <> ''
    )
    SELECT sorted FROM step WHERE rest = ''
  ) WHERE field = NEW.field AND folded GLOB (SELECT '*' || marks || marks || '*' FROM characters);

  -- A Korean syllable may be written letter by letter: it is the same text as a whole one.
  UPDATE reading SET folded = (
    WITH RECURSIVE step (composed, rest) AS (
      SELECT '', folded
      UNION ALL
      SELECT composed || CASE
          WHEN rest GLOB '[ᄀ-ᄒ][ᅡ-ᅵ]*' THEN ''
          WHEN rest GLOB '[가-힣][ᆨ-ᇂ]*' AND (unicode(rest) - 44032) % 28 = 0 THEN char(unicode(rest) + unicode(substr(rest, 2)) - 4519)
          ELSE substr(rest, 1, 1) END,
        CASE
          WHEN rest GLOB '[ᄀ-ᄒ][ᅡ-ᅵ]*' THEN char(44032 + ((unicode(rest) - 4352) * 21 + unicode(substr(rest, 2)) - 4449) * 28) || substr(rest, 3)
          WHEN rest GLOB '[가-힣][ᆨ-ᇂ]*' AND (unicode(rest) - 44032) % 28 = 0 THEN substr(rest, 3)
          ELSE substr(rest, 2) END
      FROM step WHERE rest <> ''
    )
    SELECT composed FROM step WHERE rest = ''
  ) WHERE field = NEW.field AND folded GLOB '*[ᅡ-ᅵᆨ-ᇂ]*';

  UPDATE reading SET folded = (
    WITH RECURSIVE step (folded) AS (
      SELECT trim(folded)
      UNION ALL
      SELECT replace(folded, '  ', ' ') FROM step WHERE instr(folded, '  ') > 0
    )
    SELECT folded FROM step WHERE instr(folded, '  ') = 0
  ) WHERE field = NEW.field;

  -- The words, with one space between them. An apostrophe stands between two, but for that
  -- of a word and its s. After a line's end come the words that an apostrophe or a hyphen joins,
  -- from each of them up to four. Then comes, for each letter that stands by itself
  -- before another, a dot and up to three such letters: for J. R. R., they are ·jrr and ·rr.
  UPDATE reading SET words = (
    WITH RECURSIVE step (words, rest) AS (
      SELECT folded, ltrim(folded, spaced) FROM characters
      UNION ALL
      SELECT replace(words, substr(rest, 1, 1), CASE (SELECT kind FROM spacing WHERE first <= unicode(rest) AND last >= unicode(rest) ORDER BY first DESC LIMIT 1)
          WHEN 0 THEN ' ' WHEN 1 THEN ' ' || substr(rest, 1, 1) || ' ' WHEN 2 THEN '''' WHEN 3 THEN '-' ELSE substr(rest, 1, 1) END),
        ltrim(replace(rest, substr(rest, 1, 1), ''), spaced)
      FROM step, characters WHERE rest <> ''
    ), possessive (words, rest) AS (
      SELECT '', words FROM step WHERE rest = ''
      UNION ALL
      SELECT words || substr(rest, 1, instr(rest, '''s') - 1) || CASE
          WHEN substr(rest, instr(rest, '''s') + 2) GLOB '[0-9a-z]*' OR unicode(substr(rest, instr(rest, '''s') + 2)) > 127 THEN '-s'
          WHEN substr(rest, instr(rest, '''s') - 1, 1) IN ('''', '-') THEN ' s' ELSE 's' END,
        substr(rest, instr(rest, '''s') + 2)
      FROM possessive WHERE instr(rest, '''s') > 0
    ), signs (words) AS (
      SELECT replace(replace(replace(' ' || replace(words || rest, '''', '-') || ' ', '--', '  '), ' -', ' '), '- ', ' ') FROM possessive WHERE instr(rest, '''s') = 0
    ), chains (words) AS (
      SELECT trim(replace(replace(replace(words, ' ', '<>'), '><', ''), '<>', ' ')) FROM signs
    ), joined (words) AS (
      SELECT replace(words, '-', ' ') FROM chains
    ), initials (found, rest) AS (
      SELECT '', ' ' || words || ' ' FROM joined, characters WHERE ' ' || words || ' ' GLOB '* ' || single || ' ' || single || ' *'
      UNION ALL
      SELECT found || CASE
          WHEN rest GLOB ' ' || single || ' ' || single || ' ' || single || ' *' THEN ' ·' || substr(rest, 2, 1) || substr(rest, 4, 1) || substr(rest, 6, 1)
          WHEN rest GLOB ' ' || single || ' ' || single || ' *' THEN ' ·' || substr(rest, 2, 1) || substr(rest, 4, 1) ELSE '' END,
        substr(rest, instr(substr(rest, 2), ' ') + 1)
      FROM initials, characters WHERE length(rest) > 1
    ), further (words) AS (
      SELECT coalesce((SELECT ' ' || group_concat(entry, ' ') FROM (
          SELECT group_concat(part.value, '') OVER (PARTITION BY chain.key ORDER BY part.key ROWS BETWEEN CURRENT ROW AND 3 FOLLOWING) AS entry,
            part.key < json_array_length(chain.value) - 1 AS joins
          FROM json_each('[["' || replace(replace(words, '-', '","'), ' ', '"],["') || '"]]') AS chain, json_each(chain.value) AS part
          ORDER BY chain.key, part.key
        ) WHERE joins), '') || coalesce((SELECT found FROM initials WHERE length(rest) <= 1), '')
      FROM chains WHERE words GLOB '*-*' OR EXISTS (SELECT 1 FROM initials)
    )
    SELECT words || coalesce((SELECT char(10) || ltrim(words) FROM further), '') FROM joined
  ) WHERE field = NEW.field;
END;
-- +goose StatementEnd

-- The program gives the words of a new description in another column than programs before this step, whose folded
-- forms the triggers derive again. A later release drops description_words.
ALTER TABLE categories ADD COLUMN given_words TEXT;
DROP TRIGGER categories_search_given;
-- +goose StatementBegin
CREATE TRIGGER categories_search_given AFTER INSERT ON categories WHEN NEW.given_words IS NOT NULL
BEGIN
  INSERT OR REPLACE INTO categories_search (rowid, name, description) VALUES (NEW.id, NEW.name_words, NEW.given_words);
  UPDATE categories SET given_words = NULL, actor = NULL WHERE id = NEW.id;
END;
-- +goose StatementEnd
ALTER TABLE genres ADD COLUMN given_words TEXT;
DROP TRIGGER genres_search_given;
-- +goose StatementBegin
CREATE TRIGGER genres_search_given AFTER INSERT ON genres WHEN NEW.given_words IS NOT NULL
BEGIN
  INSERT OR REPLACE INTO genres_search (rowid, name, description) VALUES (NEW.id, NEW.name_words, NEW.given_words);
  UPDATE genres SET given_words = NULL, actor = NULL WHERE id = NEW.id;
END;
-- +goose StatementEnd
ALTER TABLE books ADD COLUMN given_words TEXT;
DROP TRIGGER books_search_given;
-- +goose StatementBegin
CREATE TRIGGER books_search_given AFTER INSERT ON books WHEN NEW.given_words IS NOT NULL
BEGIN
  INSERT OR REPLACE INTO books_search (rowid, name, author, description) VALUES (NEW.id, NEW.name_words, NEW.author_words, NEW.given_words);
  UPDATE books SET author_words = NULL, given_words = NULL, actor = NULL WHERE id = NEW.id;
END;
-- +goose StatementEnd

INSERT INTO passes SELECT 8, 'categories', 0 WHERE EXISTS (SELECT 1 FROM categories);
INSERT INTO passes SELECT 8, 'genres', 0 WHERE EXISTS (SELECT 1 FROM genres);
INSERT INTO passes SELECT 8, 'books', 0 WHERE EXISTS (SELECT 1 FROM books);

INSERT INTO schema_versions VALUES (8, 3);
