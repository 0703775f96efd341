-- +goose Up
-- A Korean syllable may be written letter by letter. It is the same text: these views
-- have the texts with whole syllables, and the folded texts and the words come of them.
-- +goose StatementBegin
CREATE VIEW categories_composed AS
SELECT id, CASE WHEN length(CAST(r.name AS BLOB)) = length(r.name) OR r.name NOT GLOB '*[ᅡ-ᅵᆨ-ᇂ]*' THEN r.name ELSE (
    WITH RECURSIVE step (composed, rest) AS (
      SELECT '', r.name
      UNION ALL
      SELECT composed || CASE
          WHEN rest GLOB '[ᄀ-ᄒ][ᅡ-ᅵ][ᆨ-ᇂ]*' THEN char(44032 + ((unicode(rest) - 4352) * 21 + unicode(substr(rest, 2)) - 4449) * 28 + unicode(substr(rest, 3)) - 4519)
          WHEN rest GLOB '[ᄀ-ᄒ][ᅡ-ᅵ]*' THEN char(44032 + ((unicode(rest) - 4352) * 21 + unicode(substr(rest, 2)) - 4449) * 28)
          WHEN rest GLOB '[가-힣][ᆨ-ᇂ]*' AND (unicode(rest) - 44032) % 28 = 0 THEN char(unicode(rest) + unicode(substr(rest, 2)) - 4519)
          ELSE substr(rest, 1, 1) END,
        substr(rest, CASE WHEN rest GLOB '[ᄀ-ᄒ][ᅡ-ᅵ][ᆨ-ᇂ]*' THEN 4
          WHEN rest GLOB '[ᄀ-ᄒ][ᅡ-ᅵ]*' OR rest GLOB '[가-힣][ᆨ-ᇂ]*' AND (unicode(rest) - 44032) % 28 = 0 THEN 3 ELSE 2 END)
      FROM step WHERE rest <> ''
    )
    SELECT composed FROM step WHERE rest = ''
  ) END AS name, CASE WHEN length(CAST(r.description AS BLOB)) = length(r.description) OR r.description NOT GLOB '*[ᅡ-ᅵᆨ-ᇂ]*' THEN r.description ELSE (
    WITH RECURSIVE step (composed, rest) AS (
      SELECT '', r.description
      UNION ALL
      SELECT composed || CASE
          WHEN rest GLOB '[ᄀ-ᄒ][ᅡ-ᅵ][ᆨ-ᇂ]*' THEN char(44032 + ((unicode(rest) - 4352) * 21 + unicode(substr(rest, 2)) - 4449) * 28 + unicode(substr(rest, 3)) - 4519)
          WHEN rest GLOB '[ᄀ-ᄒ][ᅡ-ᅵ]*' THEN char(44032 + ((unicode(rest) - 4352) * 21 + unicode(substr(rest, 2)) - 4449) * 28)
          WHEN rest GLOB '[가-힣][ᆨ-ᇂ]*' AND (unicode(rest) - 44032) % 28 = 0 THEN char(unicode(rest) + unicode(substr(rest, 2)) - 4519)
          ELSE substr(rest, 1, 1) END,
        substr(rest, CASE WHEN rest GLOB '[ᄀ-ᄒ][ᅡ-ᅵ][ᆨ-ᇂ]*' THEN 4
          WHEN rest GLOB '[ᄀ-ᄒ][ᅡ-ᅵ]*' OR rest GLOB '[가-힣][ᆨ-ᇂ]*' AND (unicode(rest) - 44032) % 28 = 0 THEN 3 ELSE 2 END)
      FROM step WHERE rest <> ''
    )
    SELECT composed FROM step WHERE rest = ''
  ) END AS description
FROM categories r;
-- +goose StatementEnd
DROP VIEW categories_folded;
-- +goose StatementBegin
CREATE VIEW categories_folded AS
SELECT id, CASE WHEN length(CAST(r.name AS BLOB)) = length(r.name) THEN lower(r.name) ELSE (
    WITH RECURSIVE step (folded, rest) AS (
      SELECT lower(r.name), ltrim(r.name, ascii.printable) FROM ascii
      UNION ALL
      SELECT replace(folded, substr(rest, 1, 1), coalesce((SELECT replacement FROM folding WHERE found = substr(rest, 1, 1)), substr(rest, 1, 1))),
        ltrim(replace(rest, substr(rest, 1, 1), ''), ascii.printable)
      FROM step, ascii WHERE rest <> ''
    )
    SELECT folded FROM step WHERE rest = ''
  ) END AS name_fold
FROM categories_composed r;
-- +goose StatementEnd
UPDATE categories SET name_fold = (SELECT name_fold FROM categories_folded f WHERE f.id = categories.id) WHERE name GLOB '*[ᅡ-ᅵᆨ-ᇂ]*';
-- +goose StatementBegin
CREATE VIEW genres_composed AS
SELECT id, CASE WHEN length(CAST(r.name AS BLOB)) = length(r.name) OR r.name NOT GLOB '*[ᅡ-ᅵᆨ-ᇂ]*' THEN r.name ELSE (
    WITH RECURSIVE step (composed, rest) AS (
      SELECT '', r.name
      UNION ALL
      SELECT composed || CASE
          WHEN rest GLOB '[ᄀ-ᄒ][ᅡ-ᅵ][ᆨ-ᇂ]*' THEN char(44032 + ((unicode(rest) - 4352) * 21 + unicode(substr(rest, 2)) - 4449) * 28 + unicode(substr(rest, 3)) - 4519)
          WHEN rest GLOB '[ᄀ-ᄒ][ᅡ-ᅵ]*' THEN char(44032 + ((unicode(rest) - 4352) * 21 + unicode(substr(rest, 2)) - 4449) * 28)
          WHEN rest GLOB '[가-힣][ᆨ-ᇂ]*' AND (unicode(rest) - 44032) % 28 = 0 THEN char(unicode(rest) + unicode(substr(rest, 2)) - 4519)
          ELSE substr(rest, 1, 1) END,
        substr(rest, CASE WHEN rest GLOB '[ᄀ-ᄒ][ᅡ-ᅵ][ᆨ-ᇂ]*' THEN 4
          WHEN rest GLOB '[ᄀ-ᄒ][ᅡ-ᅵ]*' OR rest GLOB '[가-힣][ᆨ-ᇂ]*' AND (unicode(rest) - 44032) % 28 = 0 THEN 3 ELSE 2 END)
      FROM step WHERE rest <> ''
    )
    SELECT composed FROM step WHERE rest = ''
  ) END AS name, CASE WHEN length(CAST(r.description AS BLOB)) = length(r.description) OR r.description NOT GLOB '*[ᅡ-ᅵᆨ-ᇂ]*' THEN r.description ELSE (
    WITH RECURSIVE step (composed, rest) AS (
      SELECT '', r.description
      UNION ALL
      SELECT composed || CASE
          WHEN rest GLOB '[ᄀ-ᄒ][ᅡ-ᅵ][ᆨ-ᇂ]*' THEN char(44032 + ((unicode(rest) - 4352) * 21 + unicode(substr(rest, 2)) - 4449) * 28 + unicode(substr(rest, 3)) - 4519)
          WHEN rest GLOB '[ᄀ-ᄒ][ᅡ-ᅵ]*' THEN char(44032 + ((unicode(rest) - 4352) * 21 + unicode(substr(rest, 2)) - 4449) * 28)
          WHEN rest GLOB '[가-힣][ᆨ-ᇂ]*' AND (unicode(rest) - 44032) % 28 = 0 THEN char(unicode(rest) + unicode(substr(rest, 2)) - 4519)
          ELSE substr(rest, 1, 1) END,
        substr(rest, CASE WHEN rest GLOB '[ᄀ-ᄒ][ᅡ-ᅵ][ᆨ-ᇂ]*' THEN 4
          WHEN rest GLOB '[ᄀ-ᄒ][ᅡ-ᅵ]*' OR rest GLOB '[가-힣][ᆨ-ᇂ]*' AND (unicode(rest) - 44032) % 28 = 0 THEN 3 ELSE 2 END)
      FROM step WHERE rest <> ''
    )
    SELECT composed FROM step WHERE rest = ''
  ) END AS description
FROM genres r;
-- +goose StatementEnd
DROP VIEW genres_folded;
-- +goose StatementBegin
CREATE VIEW genres_folded AS
SELECT id, CASE WHEN length(CAST(r.name AS BLOB)) = length(r.name) THEN lower(r.name) ELSE (
    WITH RECURSIVE step (folded, rest) AS (
      SELECT lower(r.name), ltrim(r.name, ascii.printable) FROM ascii
      UNION ALL
      SELECT replace(folded, substr(rest, 1, 1), coalesce((SELECT replacement FROM folding WHERE found = substr(rest, 1, 1)), substr(rest, 1, 1))),
        ltrim(replace(rest, substr(rest, 1, 1), ''), ascii.printable)
      FROM step, ascii WHERE rest <> ''
    )
    SELECT folded FROM step WHERE rest = ''
  ) END AS name_fold
FROM genres_composed r;
-- +goose StatementEnd
UPDATE genres SET name_fold = (SELECT name_fold FROM genres_folded f WHERE f.id = genres.id) WHERE name GLOB '*[ᅡ-ᅵᆨ-ᇂ]*';
-- +goose StatementBegin
CREATE VIEW books_composed AS
SELECT id, CASE WHEN length(CAST(r.name AS BLOB)) = length(r.name) OR r.name NOT GLOB '*[ᅡ-ᅵᆨ-ᇂ]*' THEN r.name ELSE (
    WITH RECURSIVE step (composed, rest) AS (
      SELECT '', r.name
      UNION ALL
      SELECT composed || CASE
          WHEN rest GLOB '[ᄀ-ᄒ][ᅡ-ᅵ][ᆨ-ᇂ]*' THEN char(44032 + ((unicode(rest) - 4352) * 21 + unicode(substr(rest, 2)) - 4449) * 28 + unicode(substr(rest, 3)) - 4519)
          WHEN rest GLOB '[ᄀ-ᄒ][ᅡ-ᅵ]*' THEN char(44032 + ((unicode(rest) - 4352) * 21 + unicode(substr(rest, 2)) - 4449) * 28)
          WHEN rest GLOB '[가-힣][ᆨ-ᇂ]*' AND (unicode(rest) - 44032) % 28 = 0 THEN char(unicode(rest) + unicode(substr(rest, 2)) - 4519)
          ELSE substr(rest, 1, 1) END,
        substr(rest, CASE WHEN rest GLOB '[ᄀ-ᄒ][ᅡ-ᅵ][ᆨ-ᇂ]*' THEN 4
          WHEN rest GLOB '[ᄀ-ᄒ][ᅡ-ᅵ]*' OR rest GLOB '[가-힣][ᆨ-ᇂ]*' AND (unicode(rest) - 44032) % 28 = 0 THEN 3 ELSE 2 END)
      FROM step WHERE rest <> ''
    )
    SELECT composed FROM step WHERE rest = ''
  ) END AS name, CASE WHEN length(CAST(r.author AS BLOB)) = length(r.author) OR r.author NOT GLOB '*[ᅡ-ᅵᆨ-ᇂ]*' THEN r.author ELSE (
    WITH RECURSIVE step (composed, rest) AS (
      SELECT '', r.author
      UNION ALL
      SELECT composed || CASE
          WHEN rest GLOB '[ᄀ-ᄒ][ᅡ-ᅵ][ᆨ-ᇂ]*' THEN char(44032 + ((unicode(rest) - 4352) * 21 + unicode(substr(rest, 2)) - 4449) * 28 + unicode(substr(rest, 3)) - 4519)
          WHEN rest GLOB '[ᄀ-ᄒ][ᅡ-ᅵ]*' THEN char(44032 + ((unicode(rest) - 4352) * 21 + unicode(substr(rest, 2)) - 4449) * 28)
          WHEN rest GLOB '[가-힣][ᆨ-ᇂ]*' AND (unicode(rest) - 44032) % 28 = 0 THEN char(unicode(rest) + unicode(substr(rest, 2)) - 4519)
          ELSE substr(rest, 1, 1) END,
        substr(rest, CASE WHEN rest GLOB '[ᄀ-ᄒ][ᅡ-ᅵ][ᆨ-ᇂ]*' THEN 4
          WHEN rest GLOB '[ᄀ-ᄒ][ᅡ-ᅵ]*' OR rest GLOB '[가-힣][ᆨ-ᇂ]*' AND (unicode(rest) - 44032) % 28 = 0 THEN 3 ELSE 2 END)
      FROM step WHERE rest <> ''
    )
    SELECT composed FROM step WHERE rest = ''
  ) END AS author, CASE WHEN length(CAST(r.description AS BLOB)) = length(r.description) OR r.description NOT GLOB '*[ᅡ-ᅵᆨ-ᇂ]*' THEN r.description ELSE (
    WITH RECURSIVE step (composed, rest) AS (
      SELECT '', r.description
      UNION ALL
      SELECT composed || CASE
          WHEN rest GLOB '[ᄀ-ᄒ][ᅡ-ᅵ][ᆨ-ᇂ]*' THEN char(44032 + ((unicode(rest) - 4352) * 21 + unicode(substr(rest, 2)) - 4449) * 28 + unicode(substr(rest, 3)) - 4519)
          WHEN rest GLOB '[ᄀ-ᄒ][ᅡ-ᅵ]*' THEN char(44032 + ((unicode(rest) - 4352) * 21 + unicode(substr(rest, 2)) - 4449) * 28)
          WHEN rest GLOB '[가-힣][ᆨ-ᇂ]*' AND (unicode(rest) - 44032) % 28 = 0 THEN char(unicode(rest) + unicode(substr(rest, 2)) - 4519)
          ELSE substr(rest, 1, 1) END,
        substr(rest, CASE WHEN rest GLOB '[ᄀ-ᄒ][ᅡ-ᅵ][ᆨ-ᇂ]*' THEN 4
          WHEN rest GLOB '[ᄀ-ᄒ][ᅡ-ᅵ]*' OR rest GLOB '[가-힣][ᆨ-ᇂ]*' AND (unicode(rest) - 44032) % 28 = 0 THEN 3 ELSE 2 END)
      FROM step WHERE rest <> ''
    )
    SELECT composed FROM step WHERE rest = ''
  ) END AS description
FROM books r;
-- +goose StatementEnd
DROP VIEW books_folded;
-- +goose StatementBegin
CREATE VIEW books_folded AS
SELECT id, CASE WHEN length(CAST(r.name AS BLOB)) = length(r.name) THEN lower(r.name) ELSE (
    WITH RECURSIVE step (folded, rest) AS (
      SELECT lower(r.name), ltrim(r.name, ascii.printable) FROM ascii
      UNION ALL
      SELECT replace(folded, substr(rest, 1, 1), coalesce((SELECT replacement FROM folding WHERE found = substr(rest, 1, 1)), substr(rest, 1, 1))),
        ltrim(replace(rest, substr(rest, 1, 1), ''), ascii.printable)
      FROM step, ascii WHERE rest <> ''
    )
    SELECT folded FROM step WHERE rest = ''
  ) END AS name_fold, CASE WHEN length(CAST(r.author AS BLOB)) = length(r.author) THEN lower(r.author) ELSE (
    WITH RECURSIVE step (folded, rest) AS (
      SELECT lower(r.author), ltrim(r.author, ascii.printable) FROM ascii
      UNION ALL
      SELECT replace(folded, substr(rest, 1, 1), coalesce((SELECT replacement FROM folding WHERE found = substr(rest, 1, 1)), substr(rest, 1, 1))),
        ltrim(replace(rest, substr(rest, 1, 1), ''), ascii.printable)
      FROM step, ascii WHERE rest <> ''
    )
    SELECT folded FROM step WHERE rest = ''
  ) END AS author_fold
FROM books_composed r;
-- +goose StatementEnd
UPDATE books SET (name_fold, author_fold) = (SELECT name_fold, author_fold FROM books_folded f WHERE f.id = books.id) WHERE name GLOB '*[ᅡ-ᅵᆨ-ᇂ]*' OR author GLOB '*[ᅡ-ᅵᆨ-ᇂ]*';

-- A text is kept as its words, with one space between them. The service knows the rule
-- as collate.Words: signs (0) stand between words, but not the apostrophe (2) between a
-- word and its s. After the words comes, for each letter that stands by itself before
-- another, a dot and up to three such letters: for J. R. R., they are ·jrr and ·rr.
INSERT INTO spacing VALUES (1, 47, 0), (39, 39, 2), (58, 64, 0), (91, 96, 0), (123, 127, 0), (8217, 8217, 2);
ALTER TABLE ascii ADD COLUMN alphanumeric TEXT NOT NULL DEFAULT 'abcdefghijklmnopqrstuvwxyz0123456789 ';
-- What a name begins with is looked for in its words.
ALTER TABLE categories ADD COLUMN name_words TEXT NOT NULL DEFAULT '';
ALTER TABLE genres ADD COLUMN name_words TEXT NOT NULL DEFAULT '';
ALTER TABLE books ADD COLUMN name_words TEXT NOT NULL DEFAULT '';

DROP VIEW categories_searchable;
-- +goose StatementBegin
CREATE VIEW categories_searchable AS
SELECT id, (
    WITH RECURSIVE step (words, rest) AS (
      SELECT lower(r.name), ltrim(lower(r.name), ascii.alphanumeric) FROM ascii
      UNION ALL
      SELECT replace(words, substr(rest, 1, 1), (
          SELECT CASE (SELECT alone FROM spacing WHERE first <= unicode(written) AND last >= unicode(written) ORDER BY first DESC LIMIT 1)
            WHEN 0 THEN ' ' WHEN 1 THEN ' ' || substr(written, 1, 1) || ' ' || substr(written, 2) || ' ' WHEN 2 THEN '''' ELSE written END
          FROM (SELECT coalesce((SELECT replacement FROM folding WHERE found = substr(rest, 1, 1)), substr(rest, 1, 1)) AS written))),
        ltrim(replace(rest, substr(rest, 1, 1), ''), ascii.alphanumeric)
      FROM step, ascii WHERE rest <> ''
    ), possessive (words, rest) AS (
      SELECT '', words FROM step WHERE rest = ''
      UNION ALL
      SELECT words || substr(rest, 1, instr(rest, '''s') - 1) || CASE
          WHEN substr(rest, instr(rest, '''s') + 2) GLOB '[0-9a-z]*' OR unicode(substr(rest, instr(rest, '''s') + 2)) > 127 THEN ' s' ELSE 's' END,
        substr(rest, instr(rest, '''s') + 2)
      FROM possessive WHERE instr(rest, '''s') > 0
    ), spaced (words) AS (
      SELECT trim(replace(replace(replace(replace(words || rest, '''', ' '), ' ', '<>'), '><', ''), '<>', ' ')) FROM possessive WHERE instr(rest, '''s') = 0
    ), initials (words, rest) AS (
      SELECT words, CASE WHEN ' ' || words || ' ' GLOB '* [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] *' THEN ' ' || words || ' ' ELSE '' END FROM spaced
      UNION ALL
      SELECT words || CASE
          WHEN rest GLOB ' [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] *' THEN ' ·' || substr(rest, 2, 1) || substr(rest, 4, 1) || substr(rest, 6, 1)
          WHEN rest GLOB ' [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] *' THEN ' ·' || substr(rest, 2, 1) || substr(rest, 4, 1) ELSE '' END,
        substr(rest, instr(substr(rest, 2), ' ') + 1)
      FROM initials WHERE length(rest) > 1
    )
    SELECT words FROM initials WHERE length(rest) <= 1
  ) AS name, (
    WITH RECURSIVE step (words, rest) AS (
      SELECT lower(r.description), ltrim(lower(r.description), ascii.alphanumeric) FROM ascii
      UNION ALL
      SELECT replace(words, substr(rest, 1, 1), (
          SELECT CASE (SELECT alone FROM spacing WHERE first <= unicode(written) AND last >= unicode(written) ORDER BY first DESC LIMIT 1)
            WHEN 0 THEN ' ' WHEN 1 THEN ' ' || substr(written, 1, 1) || ' ' || substr(written, 2) || ' ' WHEN 2 THEN '''' ELSE written END
          FROM (SELECT coalesce((SELECT replacement FROM folding WHERE found = substr(rest, 1, 1)), substr(rest, 1, 1)) AS written))),
        ltrim(replace(rest, substr(rest, 1, 1), ''), ascii.alphanumeric)
      FROM step, ascii WHERE rest <> ''
    ), possessive (words, rest) AS (
      SELECT '', words FROM step WHERE rest = ''
      UNION ALL
      SELECT words || substr(rest, 1, instr(rest, '''s') - 1) || CASE
          WHEN substr(rest, instr(rest, '''s') + 2) GLOB '[0-9a-z]*' OR unicode(substr(rest, instr(rest, '''s') + 2)) > 127 THEN ' s' ELSE 's' END,
        substr(rest, instr(rest, '''s') + 2)
      FROM possessive WHERE instr(rest, '''s') > 0
    ), spaced (words) AS (
      SELECT trim(replace(replace(replace(replace(words || rest, '''', ' '), ' ', '<>'), '><', ''), '<>', ' ')) FROM possessive WHERE instr(rest, '''s') = 0
    ), initials (words, rest) AS (
      SELECT words, CASE WHEN ' ' || words || ' ' GLOB '* [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] *' THEN ' ' || words || ' ' ELSE '' END FROM spaced
      UNION ALL
      SELECT words || CASE
          WHEN rest GLOB ' [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] *' THEN ' ·' || substr(rest, 2, 1) || substr(rest, 4, 1) || substr(rest, 6, 1)
          WHEN rest GLOB ' [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] *' THEN ' ·' || substr(rest, 2, 1) || substr(rest, 4, 1) ELSE '' END,
        substr(rest, instr(substr(rest, 2), ' ') + 1)
      FROM initials WHERE length(rest) > 1
    )
    SELECT words FROM initials WHERE length(rest) <= 1
  ) AS description
FROM categories_composed r;
-- +goose StatementEnd
DROP TRIGGER categories_search_insert;
-- +goose StatementBegin
CREATE TRIGGER categories_search_insert AFTER INSERT ON categories
BEGIN
  INSERT OR REPLACE INTO categories_search (rowid, name, description) SELECT * FROM categories_searchable WHERE id = NEW.id;
  UPDATE categories SET name_words = (SELECT substr(name, 1, instr(name || ' ·', ' ·') - 1) FROM categories_search WHERE rowid = categories.id) WHERE id = NEW.id;
END;
-- +goose StatementEnd
DROP TRIGGER categories_search_update;
-- +goose StatementBegin
CREATE TRIGGER categories_search_update AFTER UPDATE OF id, name, description ON categories
WHEN NEW.id IS NOT OLD.id OR NEW.name IS NOT OLD.name OR NEW.description IS NOT OLD.description
BEGIN
  DELETE FROM categories_search WHERE rowid = OLD.id;
  INSERT OR REPLACE INTO categories_search (rowid, name, description) SELECT * FROM categories_searchable WHERE id = NEW.id;
  UPDATE categories SET name_words = (SELECT substr(name, 1, instr(name || ' ·', ' ·') - 1) FROM categories_search WHERE rowid = categories.id) WHERE id = NEW.id;
END;
-- +goose StatementEnd
DELETE FROM categories_search;
INSERT INTO categories_search (rowid, name, description) SELECT * FROM categories_searchable;
UPDATE categories SET name_words = (SELECT substr(name, 1, instr(name || ' ·', ' ·') - 1) FROM categories_search WHERE rowid = categories.id);

DROP VIEW genres_searchable;
-- +goose StatementBegin
CREATE VIEW genres_searchable AS
SELECT id, (
    WITH RECURSIVE step (words, rest) AS (
      SELECT lower(r.name), ltrim(lower(r.name), ascii.alphanumeric) FROM ascii
      UNION ALL
      SELECT replace(words, substr(rest, 1, 1), (
          SELECT CASE (SELECT alone FROM spacing WHERE first <= unicode(written) AND last >= unicode(written) ORDER BY first DESC LIMIT 1)
            WHEN 0 THEN ' ' WHEN 1 THEN ' ' || substr(written, 1, 1) || ' ' || substr(written, 2) || ' ' WHEN 2 THEN '''' ELSE written END
          FROM (SELECT coalesce((SELECT replacement FROM folding WHERE found = substr(rest, 1, 1)), substr(rest, 1, 1)) AS written))),
        ltrim(replace(rest, substr(rest, 1, 1), ''), ascii.alphanumeric)
      FROM step, ascii WHERE rest <> ''
    ), possessive (words, rest) AS (
      SELECT '', words FROM step WHERE rest = ''
      UNION ALL
      SELECT words || substr(rest, 1, instr(rest, '''s') - 1) || CASE
          WHEN substr(rest, instr(rest, '''s') + 2) GLOB '[0-9a-z]*' OR unicode(substr(rest, instr(rest, '''s') + 2)) > 127 THEN ' s' ELSE 's' END,
        substr(rest, instr(rest, '''s') + 2)
      FROM possessive WHERE instr(rest, '''s') > 0
    ), spaced (words) AS (
      SELECT trim(replace(replace(replace(replace(words || rest, '''', ' '), ' ', '<>'), '><', ''), '<>', ' ')) FROM possessive WHERE instr(rest, '''s') = 0
    ), initials (words, rest) AS (
      SELECT words, CASE WHEN ' ' || words || ' ' GLOB '* [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] *' THEN ' ' || words || ' ' ELSE '' END FROM spaced
      UNION ALL
      SELECT words || CASE
          WHEN rest GLOB ' [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] *' THEN ' ·' || substr(rest, 2, 1) || substr(rest, 4, 1) || substr(rest, 6, 1)
          WHEN rest GLOB ' [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] *' THEN ' ·' || substr(rest, 2, 1) || substr(rest, 4, 1) ELSE '' END,
        substr(rest, instr(substr(rest, 2), ' ') + 1)
      FROM initials WHERE length(rest) > 1
    )
    SELECT words FROM initials WHERE length(rest) <= 1
  ) AS name, (
    WITH RECURSIVE step (words, rest) AS (
      SELECT lower(r.description), ltrim(lower(r.description), ascii.alphanumeric) FROM ascii
      UNION ALL
      SELECT replace(words, substr(rest, 1, 1), (
          SELECT CASE (SELECT alone FROM spacing WHERE first <= unicode(written) AND last >= unicode(written) ORDER BY first DESC LIMIT 1)
            WHEN 0 THEN ' ' WHEN 1 THEN ' ' || substr(written, 1, 1) || ' ' || substr(written, 2) || ' ' WHEN 2 THEN '''' ELSE written END
          FROM (SELECT coalesce((SELECT replacement FROM folding WHERE found = substr(rest, 1, 1)), substr(rest, 1, 1)) AS written))),
        ltrim(replace(rest, substr(rest, 1, 1), ''), ascii.alphanumeric)
      FROM step, ascii WHERE rest <> ''
    ), possessive (words, rest) AS (
      SELECT '', words FROM step WHERE rest = ''
      UNION ALL
      SELECT words || substr(rest, 1, instr(rest, '''s') - 1) || CASE
          WHEN substr(rest, instr(rest, '''s') + 2) GLOB '[0-9a-z]*' OR unicode(substr(rest, instr(rest, '''s') + 2)) > 127 THEN ' s' ELSE 's' END,
        substr(rest, instr(rest, '''s') + 2)
      FROM possessive WHERE instr(rest, '''s') > 0
    ), spaced (words) AS (
      SELECT trim(replace(replace(replace(replace(words || rest, '''', ' '), ' ', '<>'), '><', ''), '<>', ' ')) FROM possessive WHERE instr(rest, '''s') = 0
    ), initials (words, rest) AS (
      SELECT words, CASE WHEN ' ' || words || ' ' GLOB '* [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] *' THEN ' ' || words || ' ' ELSE '' END FROM spaced
      UNION ALL
      SELECT words || CASE
          WHEN rest GLOB ' [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] *' THEN ' ·' || substr(rest, 2, 1) || substr(rest, 4, 1) || substr(rest, 6, 1)
          WHEN rest GLOB ' [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] *' THEN ' ·' || substr(rest, 2, 1) || substr(rest, 4, 1) ELSE '' END,
        substr(rest, instr(substr(rest, 2), ' ') + 1)
      FROM initials WHERE length(rest) > 1
    )
    SELECT words FROM initials WHERE length(rest) <= 1
  ) AS description
FROM genres_composed r;
-- +goose StatementEnd
DROP TRIGGER genres_search_insert;
-- +goose StatementBegin
CREATE TRIGGER genres_search_insert AFTER INSERT ON genres
BEGIN
  INSERT OR REPLACE INTO genres_search (rowid, name, description) SELECT * FROM genres_searchable WHERE id = NEW.id;
  UPDATE genres SET name_words = (SELECT substr(name, 1, instr(name || ' ·', ' ·') - 1) FROM genres_search WHERE rowid = genres.id) WHERE id = NEW.id;
END;
-- +goose StatementEnd
DROP TRIGGER genres_search_update;
-- +goose StatementBegin
CREATE TRIGGER genres_search_update AFTER UPDATE OF id, name, description ON genres
WHEN NEW.id IS NOT OLD.id OR NEW.name IS NOT OLD.name OR NEW.description IS NOT OLD.description
BEGIN
  DELETE FROM genres_search WHERE rowid = OLD.id;
  INSERT OR REPLACE INTO genres_search (rowid, name, description) SELECT * FROM genres_searchable WHERE id = NEW.id;
  UPDATE genres SET name_words = (SELECT substr(name, 1, instr(name || ' ·', ' ·') - 1) FROM genres_search WHERE rowid = genres.id) WHERE id = NEW.id;
END;
-- +goose StatementEnd
DELETE FROM genres_search;
INSERT INTO genres_search (rowid, name, description) SELECT * FROM genres_searchable;
UPDATE genres SET name_words = (SELECT substr(name, 1, instr(name || ' ·', ' ·') - 1) FROM genres_search WHERE rowid = genres.id);

DROP VIEW books_searchable;
-- +goose StatementBegin
CREATE VIEW books_searchable AS
SELECT id, (
    WITH RECURSIVE step (words, rest) AS (
      SELECT lower(r.name), ltrim(lower(r.name), ascii.alphanumeric) FROM ascii
      UNION ALL
      SELECT replace(words, substr(rest, 1, 1), (
          SELECT CASE (SELECT alone FROM spacing WHERE first <= unicode(written) AND last >= unicode(written) ORDER BY first DESC LIMIT 1)
            WHEN 0 THEN ' ' WHEN 1 THEN ' ' || substr(written, 1, 1) || ' ' || substr(written, 2) || ' ' WHEN 2 THEN '''' ELSE written END
          FROM (SELECT coalesce((SELECT replacement FROM folding WHERE found = substr(rest, 1, 1)), substr(rest, 1, 1)) AS written))),
        ltrim(replace(rest, substr(rest, 1, 1), ''), ascii.alphanumeric)
      FROM step, ascii WHERE rest <> ''
    ), possessive (words, rest) AS (
      SELECT '', words FROM step WHERE rest = ''
      UNION ALL
      SELECT words || substr(rest, 1, instr(rest, '''s') - 1) || CASE
          WHEN substr(rest, instr(rest, '''s') + 2) GLOB '[0-9a-z]*' OR unicode(substr(rest, instr(rest, '''s') + 2)) > 127 THEN ' s' ELSE 's' END,
        substr(rest, instr(rest, '''s') + 2)
      FROM possessive WHERE instr(rest, '''s') > 0
    ), spaced (words) AS (
      SELECT trim(replace(replace(replace(replace(words || rest, '''', ' '), ' ', '<>'), '><', ''), '<>', ' ')) FROM possessive WHERE instr(rest, '''s') = 0
    ), initials (words, rest) AS (
      SELECT words, CASE WHEN ' ' || words || ' ' GLOB '* [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] *' THEN ' ' || words || ' ' ELSE '' END FROM spaced
      UNION ALL
      SELECT words || CASE
          WHEN rest GLOB ' [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] *' THEN ' ·' || substr(rest, 2, 1) || substr(rest, 4, 1) || substr(rest, 6, 1)
          WHEN rest GLOB ' [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] *' THEN ' ·' || substr(rest, 2, 1) || substr(rest, 4, 1) ELSE '' END,
        substr(rest, instr(substr(rest, 2), ' ') + 1)
      FROM initials WHERE length(rest) > 1
    )
    SELECT words FROM initials WHERE length(rest) <= 1
  ) AS name, (
    WITH RECURSIVE step (words, rest) AS (
      SELECT lower(r.author), ltrim(lower(r.author), ascii.alphanumeric) FROM ascii
      UNION ALL
      SELECT replace(words, substr(rest, 1, 1), (
          SELECT CASE (SELECT alone FROM spacing WHERE first <= unicode(written) AND last >= unicode(written) ORDER BY first DESC LIMIT 1)
            WHEN 0 THEN ' ' WHEN 1 THEN ' ' || substr(written, 1, 1) || ' ' || substr(written, 2) || ' ' WHEN 2 THEN '''' ELSE written END
          FROM (SELECT coalesce((SELECT replacement FROM folding WHERE found = substr(rest, 1, 1)), substr(rest, 1, 1)) AS written))),
        ltrim(replace(rest, substr(rest, 1, 1), ''), ascii.alphanumeric)
      FROM step, ascii WHERE rest <> ''
    ), possessive (words, rest) AS (
      SELECT '', words FROM step WHERE rest = ''
      UNION ALL
      SELECT words || substr(rest, 1, instr(rest, '''s') - 1) || CASE
          WHEN substr(rest, instr(rest, '''s') + 2) GLOB '[0-9a-z]*' OR unicode(substr(rest, instr(rest, '''s') + 2)) > 127 THEN ' s' ELSE 's' END,
        substr(rest, instr(rest, '''s') + 2)
      FROM possessive WHERE instr(rest, '''s') > 0
    ), spaced (words) AS (
      SELECT trim(replace(replace(replace(replace(words || rest, '''', ' '), ' ', '<>'), '><', ''), '<>', ' ')) FROM possessive WHERE instr(rest, '''s') = 0
    ), initials (words, rest) AS (
      SELECT words, CASE WHEN ' ' || words || ' ' GLOB '* [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] *' THEN ' ' || words || ' ' ELSE '' END FROM spaced
      UNION ALL
      SELECT words || CASE
          WHEN rest GLOB ' [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] *' THEN ' ·' || substr(rest, 2, 1) || substr(rest, 4, 1) || substr(rest, 6, 1)
          WHEN rest GLOB ' [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] *' THEN ' ·' || substr(rest, 2, 1) || substr(rest, 4, 1) ELSE '' END,
        substr(rest, instr(substr(rest, 2), ' ') + 1)
      FROM initials WHERE length(rest) > 1
    )
    SELECT words FROM initials WHERE length(rest) <= 1
  ) AS author, (
    WITH RECURSIVE step (words, rest) AS (
      SELECT lower(r.description), ltrim(lower(r.description), ascii.alphanumeric) FROM ascii
      UNION ALL
      SELECT replace(words, substr(rest, 1, 1), (
          SELECT CASE (SELECT alone FROM spacing WHERE first <= unicode(written) AND last >= unicode(written) ORDER BY first DESC LIMIT 1)
            WHEN 0 THEN ' ' WHEN 1 THEN ' ' || substr(written, 1, 1) || ' ' || substr(written, 2) || ' ' WHEN 2 THEN '''' ELSE written END
          FROM (SELECT coalesce((SELECT replacement FROM folding WHERE found = substr(rest, 1, 1)), substr(rest, 1, 1)) AS written))),
        ltrim(replace(rest, substr(rest, 1, 1), ''), ascii.alphanumeric)
      FROM step, ascii WHERE rest <> ''
    ), possessive (words, rest) AS (
      SELECT '', words FROM step WHERE rest = ''
      UNION ALL
      SELECT words || substr(rest, 1, instr(rest, '''s') - 1) || CASE
          WHEN substr(rest, instr(rest, '''s') + 2) GLOB '[0-9a-z]*' OR unicode(substr(rest, instr(rest, '''s') + 2)) > 127 THEN ' s' ELSE 's' END,
        substr(rest, instr(rest, '''s') + 2)
      FROM possessive WHERE instr(rest, '''s') > 0
    ), spaced (words) AS (
      SELECT trim(replace(replace(replace(replace(words || rest, '''', ' '), ' ', '<>'), '><', ''), '<>', ' ')) FROM possessive WHERE instr(rest, '''s') = 0
    ), initials (words, rest) AS (
      SELECT words, CASE WHEN ' ' || words || ' ' GLOB '* [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] *' THEN ' ' || words || ' ' ELSE '' END FROM spaced
      UNION ALL
      SELECT words || CASE
          WHEN rest GLOB ' [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] *' THEN ' ·' || substr(rest, 2, 1) || substr(rest, 4, 1) || substr(rest, 6, 1)
          WHEN rest GLOB ' [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] [^ 0-9々-〇〡-〩぀-ヺー-ヿㇰ-ㇿ㐀-䶿一-鿿豈-﫿ｦ-ﾝ𠀀-𿿿] *' THEN ' ·' || substr(rest, 2, 1) || substr(rest, 4, 1) ELSE '' END,
        substr(rest, instr(substr(rest, 2), ' ') + 1)
      FROM initials WHERE length(rest) > 1
    )
    SELECT words FROM initials WHERE length(rest) <= 1
  ) AS description
FROM books_composed r;
-- +goose StatementEnd
DROP TRIGGER books_search_insert;
-- +goose StatementBegin
CREATE TRIGGER books_search_insert AFTER INSERT ON books
BEGIN
  INSERT OR REPLACE INTO books_search (rowid, name, author, description) SELECT * FROM books_searchable WHERE id = NEW.id;
  UPDATE books SET name_words = (SELECT substr(name, 1, instr(name || ' ·', ' ·') - 1) FROM books_search WHERE rowid = books.id) WHERE id = NEW.id;
END;
-- +goose StatementEnd
DROP TRIGGER books_search_update;
-- +goose StatementBegin
CREATE TRIGGER books_search_update AFTER UPDATE OF id, name, author, description ON books
WHEN NEW.id IS NOT OLD.id OR NEW.name IS NOT OLD.name OR NEW.author IS NOT OLD.author OR NEW.description IS NOT OLD.description
BEGIN
  DELETE FROM books_search WHERE rowid = OLD.id;
  INSERT OR REPLACE INTO books_search (rowid, name, author, description) SELECT * FROM books_searchable WHERE id = NEW.id;
  UPDATE books SET name_words = (SELECT substr(name, 1, instr(name || ' ·', ' ·') - 1) FROM books_search WHERE rowid = books.id) WHERE id = NEW.id;
END;
-- +goose StatementEnd
DELETE FROM books_search;
INSERT INTO books_search (rowid, name, author, description) SELECT * FROM books_searchable;
UPDATE books SET name_words = (SELECT substr(name, 1, instr(name || ' ·', ' ·') - 1) FROM books_search WHERE rowid = books.id);

CREATE INDEX books_name_words ON books (name_words);

-- The same searches find other rows now: answers at the revision before are of no use.
-- A catalogue in which nothing was ever written stays one.
UPDATE revision SET n = n + 1 WHERE EXISTS (SELECT 1 FROM books);
