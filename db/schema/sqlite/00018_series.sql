-- +goose Up
-- The subtitle, and the series with the book's number in it.
ALTER TABLE books ADD COLUMN subtitle TEXT CHECK (length(subtitle) BETWEEN 1 AND 1000 AND instr(subtitle, char(0)) = 0);
ALTER TABLE books ADD COLUMN subtitle_fold TEXT NOT NULL DEFAULT '';
ALTER TABLE books ADD COLUMN series TEXT CHECK (length(series) BETWEEN 1 AND 1000 AND instr(series, char(0)) = 0);
ALTER TABLE books ADD COLUMN series_fold TEXT NOT NULL DEFAULT '';
ALTER TABLE books ADD COLUMN series_number TEXT CHECK (length(series_number) BETWEEN 1 AND 50 AND instr(series_number, char(0)) = 0);
ALTER TABLE books ADD COLUMN series_number_fold TEXT NOT NULL DEFAULT '';
ALTER TABLE books ADD COLUMN series_number_key TEXT NOT NULL DEFAULT '';
CREATE INDEX books_series ON books (substr(series_fold, 1, 100), id);
CREATE INDEX books_series_number ON books (substr(series_number_fold, 1, 100), id);
CREATE INDEX books_series_number_key ON books (series_number_key, id);

-- It is as before, for the number in the series too.
DROP TRIGGER reading_words;
-- +goose StatementBegin
CREATE TRIGGER reading_words AFTER UPDATE OF words ON reading WHEN NEW.field IN ('shelf_mark', 'series_number') AND NEW.folded <> ''
BEGIN
  UPDATE reading SET natural_key = (
    WITH RECURSIVE scripts (digits) AS (
      SELECT '٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹߀߁߂߃߄߅߆߇߈߉०१२३४५६७८९০১২৩৪৫৬৭৮৯੦੧੨੩੪੫੬੭੮੯'
        || '૦૧૨૩૪૫૬૭૮૯୦୧୨୩୪୫୬୭୮୯௦௧௨௩௪௫௬௭௮௯౦౧౨౩౪౫౬౭౮౯೦೧೨೩೪೫೬೭೮೯൦൧൨൩൪൫൬൭൮൯'
        || '๐๑๒๓๔๕๖๗๘๙໐໑໒໓໔໕໖໗໘໙༠༡༢༣༤༥༦༧༨༩၀၁၂၃၄၅၆၇၈၉០១២៣៤៥៦៧៨៩᠐᠑᠒᠓᠔᠕᠖᠗᠘᠙'
    ), ascii (text, rest) AS (
      SELECT '', NEW.folded
      UNION ALL
      SELECT text || CASE WHEN instr(digits, substr(rest, 1, 1)) > 0 THEN (instr(digits, substr(rest, 1, 1)) - 1) % 10 ELSE substr(rest, 1, 1) END,
        substr(rest, 2)
      FROM ascii, scripts WHERE rest <> ''
    ), whole (text, others) AS ( -- others are all characters but digits
      SELECT text, replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(text, '0', ''), '1', ''), '2', ''), '3', ''), '4', ''), '5', ''), '6', ''), '7', ''), '8', ''), '9', '')
      FROM ascii WHERE rest = ''
    ), run (n, before, digits, rest) AS ( -- of digits, with the text before it
      SELECT 0, '', '', text FROM whole
      UNION ALL
      SELECT n + 1, substr(rest, 1, length(rest) - length(ltrim(rest, others))),
        substr(ltrim(rest, others), 1, length(ltrim(rest, others)) - length(ltrim(ltrim(rest, others), '0123456789'))),
        ltrim(ltrim(rest, others), '0123456789')
      FROM run, whole WHERE rest <> ''
    ), number (n, kind, last, before, digits) AS (
      SELECT 0, 0, 0, '', ''
      UNION ALL
      SELECT r.n, CASE WHEN r.digits = '' THEN 0 WHEN kind = 0 THEN 1 WHEN ltrim(r.before) = '.' THEN 2
          WHEN r.before GLOB '*[a-z]' AND (ltrim(r.before) GLOB '.*' OR kind = 3)
            AND ltrim(substr(ltrim(r.before), 1 + (ltrim(r.before) GLOB '.*')), 'abcdefghijklmnopqrstuvwxyz ') = '' THEN 3
          ELSE 1 END,
        kind, trim(r.before), r.digits
      FROM number k JOIN run r ON r.n = k.n + 1
    ), part (n, text, kind) AS ( -- a fraction continues its whole number
      SELECT n, CASE WHEN kind = 2 AND last = 1 THEN '' WHEN last > 0 THEN ' ' || before ELSE before END || CASE
          WHEN kind <> 1 THEN rtrim(digits, '0')
          WHEN length(ltrim(digits, '0')) < 9 THEN length(ltrim(digits, '0')) || ltrim(digits, '0')
          ELSE printf('9%03d', min(length(ltrim(digits, '0')), 999)) || ltrim(digits, '0') END, kind
      FROM number
    )
    SELECT substr((SELECT group_concat(text, '') FROM (SELECT text FROM part ORDER BY n))
      || CASE WHEN (SELECT kind FROM part ORDER BY n DESC LIMIT 1) > 0 THEN ' ' ELSE '' END || char(1) || NEW.folded, 1, 600)
  ) WHERE field = NEW.field;
END;
-- +goose StatementEnd

INSERT INTO schema_versions VALUES (18, 3);
