-- +goose Up
-- The words of a folded text, separated by one space. The program implements this rule as
-- collate.Words: punctuation separates words, except the apostrophe of a possessive s. Each
-- character of a script without spaces is a word.
-- +goose StatementBegin
CREATE FUNCTION words(folded text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $words$
DECLARE
  signs CONSTANT text := '[\u0001-/:-`{-\u007F\u0080-\u00A9\u00AB-\u00B4\u00B6-\u00B9\u00BB-\u00BF\u00D7\u00F7\u05BE\u05C0\u05C3\u05F3-\u05F4\u060C\u061B-\u061F\u066A-\u066D\u06D4\u0964-\u0965\u2000-\u206F\u20A0-\u20CF\u2100-\u2125\u2127-\u2129\u212C-\u214F\u2190-\u2BFF\u2E00-\u2E7F\u3000-\u3004\u3008-\u3020\u3030\u303D-\u303F\u30FB\uFE10-\uFE1F\uFE30-\uFE6F\uFEFF-\uFF0F\uFF1A-\uFF20\uFF3B-\uFF40\uFF5B-\uFF65\uFFE0-\uFFFF]';
  found text := folded;
BEGIN
  IF octet_length(found) <> char_length(found) THEN
    found := regexp_replace(found, '([\u3005-\u3007\u3021-\u3029\u3040-\u30FA\u30FC-\u30FF\u31F0-\u31FF\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF\uFF66-\uFF9D\U00020000-\U0003FFFF])', ' \1 ', 'g');
  END IF;
  IF found ~ '[''\u2019]s' THEN
    found := regexp_replace(found, '[''\u2019]s(?=$|' || signs || ')', 's', 'g');
  END IF;
  RETURN btrim(regexp_replace(found, signs || '+', ' ', 'g'));
END $words$;
-- +goose StatementEnd

-- The search entry of a row. Each word is preceded by the letter of its column: n for the name, a
-- for the author, d for the description. A word longer than a search allows is truncated. Each
-- single letter before another one adds the capital letter of the column and up to three such
-- letters: J. R. R. in a name adds Njrr and Nrr.
-- +goose StatementBegin
CREATE FUNCTION searchable(name text, author text, description text) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $searchable$
DECLARE
  single CONSTANT text := '[^ 0-9\u3005-\u3007\u3021-\u3029\u3040-\u30FA\u30FC-\u30FF\u31F0-\u31FF\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF\uFF66-\uFF9D\U00020000-\U0003FFFF]';
  found text := concat(replace(' ' || nullif(name, ''), ' ', ' n'), replace(' ' || nullif(author, ''), ' ', ' a'), replace(' ' || nullif(description, ''), ' ', ' d'));
  words text[];
BEGIN
  IF found ~ '[^ ]{251}' THEN
    found := regexp_replace(found, '([^ ]{250})[^ ]+', '\1', 'g');
  END IF;
  words := string_to_array(ltrim(found), ' ');
  IF found ~ (' .' || single || ' .' || single || '(?= |$)') THEN
    words := words || ARRAY(
      SELECT upper(left(run, 1)) || substr(letters, i, 3)
      FROM regexp_matches(found, replace(' (n_(?: n_)+|a_(?: a_)+|d_(?: d_)+)(?= |$)', '_', single), 'g') AS m, unnest(m) AS run,
        regexp_replace(run, '.(.) ?', '\1', 'g') AS letters, generate_series(1, char_length(letters) - 1) AS i);
  END IF;
  RETURN array_to_tsvector(words);
END $searchable$;
-- +goose StatementEnd

-- The vocabulary for typo correction: words of two letters or more. A word stays when its last row
-- is deleted, and is stored twice if two writers insert it at the same time, so that no writer
-- waits for another.
CREATE TABLE vocabulary (word text COLLATE "C" NOT NULL);
CREATE INDEX vocabulary_word ON vocabulary USING hash (word);

-- +goose StatementBegin
CREATE FUNCTION learn() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO vocabulary
  SELECT DISTINCT substr(w, 2) FROM added, unnest(tsvector_to_array(words)) AS w
  WHERE w ~ '^[nad][^0-9]{2,}$' AND (SELECT v.word FROM vocabulary v WHERE v.word = substr(w, 2) LIMIT 1) IS NULL;
  RETURN NULL;
END $$;
-- +goose StatementEnd

-- The indexes buffer some kilobytes of new entries, because inserting many at once is cheaper. The
-- buffer is limited, because each search reads all of it. Books are written most, so theirs is the
-- largest. The names are stored as words, in which prefixes are searched.
CREATE TABLE categories_search (
  id    bigint PRIMARY KEY,
  name  text COLLATE "C" NOT NULL,
  words tsvector NOT NULL
);
CREATE INDEX categories_search_words ON categories_search USING gin (words) WITH (gin_pending_list_limit = 128);
CREATE TRIGGER categories_search_learn AFTER INSERT ON categories_search REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION learn();
-- +goose StatementBegin
CREATE FUNCTION categories_search_insert() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO categories_search (id, name, words) SELECT id, w, searchable(w, NULL, words(description_fold)) FROM added, words(name_fold) AS w;
  RETURN NULL;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION categories_search_update() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM categories_search WHERE id = OLD.id;
  INSERT INTO categories_search (id, name, words) SELECT NEW.id, w, searchable(w, NULL, words(NEW.description_fold)) FROM words(NEW.name_fold) AS w;
  RETURN NULL;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION categories_search_delete() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    TRUNCATE categories_search;
  ELSE
    DELETE FROM categories_search WHERE id = OLD.id;
  END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER categories_search_insert AFTER INSERT ON categories REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION categories_search_insert();
CREATE TRIGGER categories_search_update AFTER UPDATE ON categories FOR EACH ROW
  WHEN ((OLD.id, OLD.name, OLD.description) IS DISTINCT FROM (NEW.id, NEW.name, NEW.description))
  EXECUTE FUNCTION categories_search_update();
CREATE TRIGGER categories_search_delete AFTER DELETE ON categories FOR EACH ROW EXECUTE FUNCTION categories_search_delete();
CREATE TRIGGER categories_search_truncate AFTER TRUNCATE ON categories FOR EACH STATEMENT EXECUTE FUNCTION categories_search_delete();

CREATE TABLE genres_search (
  id    bigint PRIMARY KEY,
  name  text COLLATE "C" NOT NULL,
  words tsvector NOT NULL
);
CREATE INDEX genres_search_words ON genres_search USING gin (words) WITH (gin_pending_list_limit = 128);
CREATE TRIGGER genres_search_learn AFTER INSERT ON genres_search REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION learn();
-- +goose StatementBegin
CREATE FUNCTION genres_search_insert() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO genres_search (id, name, words) SELECT id, w, searchable(w, NULL, words(description_fold)) FROM added, words(name_fold) AS w;
  RETURN NULL;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION genres_search_update() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM genres_search WHERE id = OLD.id;
  INSERT INTO genres_search (id, name, words) SELECT NEW.id, w, searchable(w, NULL, words(NEW.description_fold)) FROM words(NEW.name_fold) AS w;
  RETURN NULL;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION genres_search_delete() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    TRUNCATE genres_search;
  ELSE
    DELETE FROM genres_search WHERE id = OLD.id;
  END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER genres_search_insert AFTER INSERT ON genres REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION genres_search_insert();
CREATE TRIGGER genres_search_update AFTER UPDATE ON genres FOR EACH ROW
  WHEN ((OLD.id, OLD.name, OLD.description) IS DISTINCT FROM (NEW.id, NEW.name, NEW.description))
  EXECUTE FUNCTION genres_search_update();
CREATE TRIGGER genres_search_delete AFTER DELETE ON genres FOR EACH ROW EXECUTE FUNCTION genres_search_delete();
CREATE TRIGGER genres_search_truncate AFTER TRUNCATE ON genres FOR EACH STATEMENT EXECUTE FUNCTION genres_search_delete();

CREATE TABLE books_search (
  id    bigint PRIMARY KEY,
  name  text COLLATE "C" NOT NULL,
  words tsvector NOT NULL
);
CREATE INDEX books_search_words ON books_search USING gin (words) WITH (gin_pending_list_limit = 1024);
CREATE INDEX books_search_name ON books_search (CAST(name AS varchar(100)));
CREATE TRIGGER books_search_learn AFTER INSERT ON books_search REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION learn();
-- +goose StatementBegin
CREATE FUNCTION books_search_insert() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO books_search (id, name, words) SELECT id, w, searchable(w, words(author_fold), words(description_fold)) FROM added, words(name_fold) AS w;
  RETURN NULL;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION books_search_update() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM books_search WHERE id = OLD.id;
  INSERT INTO books_search (id, name, words) SELECT NEW.id, w, searchable(w, words(NEW.author_fold), words(NEW.description_fold)) FROM words(NEW.name_fold) AS w;
  RETURN NULL;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION books_search_delete() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    TRUNCATE books_search;
  ELSE
    DELETE FROM books_search WHERE id = OLD.id;
  END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER books_search_insert AFTER INSERT ON books REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION books_search_insert();
CREATE TRIGGER books_search_update AFTER UPDATE ON books FOR EACH ROW
  WHEN ((OLD.id, OLD.name, OLD.author, OLD.description) IS DISTINCT FROM (NEW.id, NEW.name, NEW.author, NEW.description))
  EXECUTE FUNCTION books_search_update();
CREATE TRIGGER books_search_delete AFTER DELETE ON books FOR EACH ROW EXECUTE FUNCTION books_search_delete();
CREATE TRIGGER books_search_truncate AFTER TRUNCATE ON books FOR EACH STATEMENT EXECUTE FUNCTION books_search_delete();

-- Without ANALYZE, PostgreSQL plans for tables of ten pages.
ANALYZE categories_search, genres_search, books_search;
