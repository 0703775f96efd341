-- +goose Up
SET LOCAL lock_timeout = '2s';

-- The subtitle, and the series with the book's number in it.
ALTER TABLE books
  ADD COLUMN subtitle text CHECK (char_length(subtitle) BETWEEN 1 AND 1000),
  ADD COLUMN subtitle_fold text COLLATE "C" NOT NULL DEFAULT '',
  ADD COLUMN series text CHECK (char_length(series) BETWEEN 1 AND 1000),
  ADD COLUMN series_fold text COLLATE "C" NOT NULL DEFAULT '',
  ADD COLUMN series_number text CHECK (char_length(series_number) BETWEEN 1 AND 50),
  ADD COLUMN series_number_fold text COLLATE "C" NOT NULL DEFAULT '',
  ADD COLUMN series_number_key text COLLATE "C" NOT NULL DEFAULT '';

-- The words of a subtitle and a series have the letter of the author, so that a search has no further rank to look up.
-- +goose StatementBegin
CREATE FUNCTION further_words(subtitle text, series text) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  IF subtitle = '' AND series = '' THEN
    RETURN '';
  END IF;
  RETURN searchable(NULL, words(subtitle) || joined(subtitle), NULL) || searchable(NULL, words(series) || joined(series), NULL);
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION books_search_insert() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO books_search (id, name, words) SELECT id, w, searchable(w || joined(name_fold), words(author_fold) || joined(author_fold), words(description_fold) || joined(description_fold)) || further_words(subtitle_fold, series_fold) FROM added, words(name_fold) AS w;
  RETURN NULL;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION books_search_update() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM books_search WHERE id = OLD.id;
  INSERT INTO books_search (id, name, words) SELECT NEW.id, w, searchable(w || joined(NEW.name_fold), words(NEW.author_fold) || joined(NEW.author_fold), words(NEW.description_fold) || joined(NEW.description_fold)) || further_words(NEW.subtitle_fold, NEW.series_fold) FROM words(NEW.name_fold) AS w;
  RETURN NULL;
END $$;
-- +goose StatementEnd
DROP TRIGGER books_search_update ON books;
CREATE TRIGGER books_search_update AFTER UPDATE ON books FOR EACH ROW
  WHEN ((OLD.id, OLD.name, OLD.author, OLD.description, OLD.subtitle, OLD.series) IS DISTINCT FROM (NEW.id, NEW.name, NEW.author, NEW.description, NEW.subtitle, NEW.series))
  EXECUTE FUNCTION books_search_update();

INSERT INTO schema_versions VALUES (18, 3);
