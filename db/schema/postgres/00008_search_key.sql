-- +goose Up
SET LOCAL lock_timeout = '2s';

-- It waits for transactions that have written with the former functions, so that the pass sees their rows.
LOCK TABLE categories, genres, books IN SHARE ROW EXCLUSIVE MODE;

-- The passes over all rows that follow migrations and are not complete (db/schema/pass.go).
CREATE TABLE passes (
  version  bigint NOT NULL, -- of the migration
  name     text NOT NULL,   -- of the table
  position bigint NOT NULL, -- id of the last row that was changed
  PRIMARY KEY (version, name)
);

-- The setting catalogue.deriving is on for statements that only derive folded forms again. They neither stamp nor
-- log a row.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION stamp_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('catalogue.deriving', true) = 'on' THEN
    RETURN NEW;
  END IF;
  NEW.version := OLD.version + 1;
  NEW.created_at := OLD.created_at;
  NEW.updated_at := now();
  RETURN NEW;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION log_change() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  writer text := coalesce(nullif(current_setting('catalogue.actor', true), ''), session_user);
  columns jsonb := to_jsonb(OLD) - TG_ARGV[1]::text[];
BEGIN
  IF current_setting('catalogue.deriving', true) = 'on' THEN
    RETURN NULL;
  END IF;
  IF TG_OP = 'UPDATE' AND NEW.id = OLD.id THEN
    INSERT INTO changes (row_id, version, type, operation, actor, old) VALUES (NEW.id, NEW.version, TG_ARGV[0]::"char", 'u', writer, columns);
    RETURN NULL;
  END IF;
  INSERT INTO changes (row_id, version, type, operation, actor, old) VALUES (OLD.id, OLD.version, TG_ARGV[0]::"char", 'd', writer, columns);
  IF TG_OP = 'UPDATE' THEN
    INSERT INTO changes (row_id, version, type, operation, actor) VALUES (NEW.id, NEW.version, TG_ARGV[0]::"char", 'c', writer);
  END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd

-- The folding of collate.Fold. It keeps the map of the former function, which has the canonical forms. New are the
-- compatible forms (width, ligatures), vowel points, invisible characters, the order of marks, and white space.
-- Characters of Unicode 14 and later are in the map, because an older PostgreSQL does not know them.
-- +goose StatementBegin
DO $made$
DECLARE
  former text := (SELECT prosrc FROM pg_proc WHERE oid = 'fold(text)'::regprocedure);
  map text := rtrim(substring(former FROM '''(\{"[^'']*)''::jsonb'), '}') || ',
"ꟲ":"c","ꟳ":"f","ꟴ":"q","𐞁":"ː","𐞂":"ˑ","𐞃":"ae","𐞄":"ʙ","𐞅":"ɓ","𐞇":"ʣ","𐞈":"ꭦ","𐞉":"ʥ","𐞊":"ʤ","𐞋":"ɖ",
"𐞌":"ɗ","𐞍":"ᶑ","𐞎":"ɘ","𐞏":"ɞ","𐞐":"ʩ","𐞑":"ɤ","𐞒":"ɢ","𐞓":"ɠ","𐞔":"ʛ","𐞕":"h","𐞖":"ʜ","𐞗":"ɧ","𐞘":"ʄ",
"𐞙":"ʪ","𐞚":"ʫ","𐞛":"ɬ","𐞜":"𝼄","𐞝":"ꞎ","𐞞":"ɮ","𐞟":"𝼅","𐞠":"ʎ","𐞡":"𝼆","𐞢":"o","𐞣":"ɶ","𐞤":"ɷ","𐞥":"q",
"𐞦":"ɺ","𐞧":"𝼈","𐞨":"ɽ","𐞩":"ɾ","𐞪":"ʀ","𐞫":"ʨ","𐞬":"ʦ","𐞭":"ꭧ","𐞮":"ʧ","𐞯":"ʈ","𐞰":"ⱱ","𐞲":"ʏ","𐞳":"ʡ",
"𐞴":"ʢ","𐞵":"ʘ","𐞶":"ǀ","𐞷":"ǁ","𐞸":"ǂ","𐞹":"𝼊","𐞺":"𝼞","𞀰":"а","𞀱":"б","𞀲":"в","𞀳":"г","𞀴":"д","𞀵":"е",
"𞀶":"ж","𞀷":"з","𞀸":"и","𞀹":"к","𞀺":"л","𞀻":"м","𞀼":"о","𞀽":"п","𞀾":"р","𞀿":"с","𞁀":"т","𞁁":"у","𞁂":"ф",
"𞁃":"х","𞁄":"ц","𞁅":"ч","𞁆":"ш","𞁇":"ы","𞁈":"э","𞁉":"ю","𞁊":"ꚉ","𞁋":"ә","𞁌":"і","𞁍":"ј","𞁎":"ө","𞁏":"ү",
"𞁐":"ӏ","𞁑":"а","𞁒":"б","𞁓":"в","𞁔":"г","𞁕":"д","𞁖":"е","𞁗":"ж","𞁘":"з","𞁙":"и","𞁚":"к","𞁛":"л","𞁜":"о",
"𞁝":"п","𞁞":"с","𞁟":"у","𞁠":"ф","𞁡":"х","𞁢":"ц","𞁣":"ч","𞁤":"ш","𞁥":"ъ","𞁦":"ы","𞁧":"ґ","𞁨":"і","𞁩":"ѕ",
"𞁪":"џ","𞁫":"ҫ","𞁬":"ꙑ","𞁭":"ұ"}';
  mapped text := substring(former FROM 'folded !~ ''(\[[^'']*)'' THEN');
  compatible CONSTANT text := '[\u00A0\u00A8\u00AA\u00AF\u00B2-\u00B5\u00B8-\u00BA\u00BC-\u00BE\u0132-\u0133\u013F-\u0140\u0149\u017F\u01C4-\u01CC\u01F1-\u01F3\u02B0-\u02B8\u02D8-\u02DD\u02E0-\u02E4\u037A\u0384-\u0385\u03D0-\u03D6\u03F0-\u03F2\u03F4-\u03F5\u03F9\u0587\u0675-\u0678\u0E33\u0EB3\u0EDC-\u0EDD\u0F0C\u0F77\u0F79\u10FC\u1D2C-\u1D2E\u1D30-\u1D3A\u1D3C-\u1D4D\u1D4F-\u1D6A\u1D78\u1D9B-\u1DBF\u1E9A-\u1E9B\u1FBD\u1FBF-\u1FC1\u1FCD-\u1FCF\u1FDD-\u1FDF\u1FED-\u1FEE\u1FFD-\u1FFE\u2000-\u200A\u2011\u2017\u2024-\u2026\u202F\u2033-\u2034\u2036-\u2037\u203C\u203E\u2047-\u2049\u2057\u205F\u2070-\u2071\u2074-\u208E\u2090-\u209C\u20A8\u2100-\u2189\u222C-\u2230\u2460-\u24EA\u2A0C\u2A74-\u2A76\u2C7C-\u2C7D\u2D6F\u2E9F\u2EF3\u2F00-\u2FD5\u3000\u3036-\u303A\u309B-\u309F\u30FF\u3131-\u318E\u3192-\u319F\u3200-\u321E\u3220-\u33FF\uA69C-\uA69D\uA770\uA7F8-\uA7F9\uAB5C-\uAB5F\uAB69\uFB00-\uFB06\uFB13-\uFB17\uFB20-\uFB29\uFB4F-\uFBB1\uFBD3-\uFD8F\uFD92-\uFDC7\uFDF0-\uFE19\uFE30-\uFE52\uFE54-\uFE66\uFE68-\uFE6B\uFE70-\uFE74\uFE76-\uFEFC\uFF01-\uFFBE\uFFC2-\uFFC7\uFFCA-\uFFCF\uFFD2-\uFFD7\uFFDA-\uFFDC\uFFE0-\uFFE6\uFFE8-\uFFEE\U0001D400-\U0001D7FF\U0001EE00-\U0001EEBB\U0001F100-\U0001F190\U0001F200-\U0001F202\U0001F210-\U0001F23B\U0001F240-\U0001F248\U0001F250-\U0001F251\U0001FBF0-\U0001FBF9]';
  ignored CONSTANT text := '[\u00AD\u0591-\u05BD\u05BF\u05C1-\u05C2\u05C4-\u05C5\u05C7\u0610-\u061A\u061C\u0640\u064B-\u0652\u0656-\u065F\u0670\u06D6-\u06DC\u06DF-\u06E4\u06E7-\u06E8\u06EA-\u06ED\u0898-\u089F\u08CA-\u08E1\u08E3-\u08FF\u115F-\u1160\u17B4-\u17B5\u180B-\u180F\u200B-\u200F\u202A-\u202E\u2060-\u206F\u3164\uFB1E\uFCF2-\uFCF4\uFE00-\uFE0F\uFE71\uFE77\uFE79\uFE7B\uFE7D\uFE7F\uFEFF\uFFA0\uFFF0-\uFFF8\U0001BCA0-\U0001BCA3\U0001D173-\U0001D17A\U000E0000-\U000E0FFF]';
  marks CONSTANT text := '[\u0483-\u0487\u0653-\u0655\u0711\u0730-\u074A\u07EB-\u07F3\u07FD\u0816-\u0819\u081B-\u0823\u0825-\u0827\u0829-\u082D\u0859-\u085B\u093C\u094D\u0951-\u0954\u09BC\u09CD\u09FE\u0A3C\u0A4D\u0ABC\u0ACD\u0B3C\u0B4D\u0BCD\u0C3C\u0C4D\u0C55-\u0C56\u0CBC\u0CCD\u0D3B-\u0D3C\u0D4D\u0DCA\u0E38-\u0E3A\u0E48-\u0E4B\u0EB8-\u0EBA\u0EC8-\u0ECB\u0F18-\u0F19\u0F35\u0F37\u0F39\u0F71-\u0F72\u0F74\u0F7A-\u0F7D\u0F80\u0F82-\u0F84\u0F86-\u0F87\u0FC6\u1037\u1039-\u103A\u108D\u135D-\u135F\u1714-\u1715\u1734\u17D2\u17DD\u18A9\u1939-\u193B\u1A17-\u1A18\u1A60\u1A75-\u1A7C\u1A7F\u1B34\u1B44\u1B6B-\u1B73\u1BAA-\u1BAB\u1BE6\u1BF2-\u1BF3\u1C37\u1CD0-\u1CD2\u1CD4-\u1CE0\u1CE2-\u1CE8\u1CED\u1CF4\u1CF8-\u1CF9\u2CEF-\u2CF1\u2D7F\u2DE0-\u2DFF\u302A-\u302F\u3099-\u309A\uA66F\uA674-\uA67D\uA69E-\uA69F\uA6F0-\uA6F1\uA806\uA82C\uA8C4\uA8E0-\uA8F1\uA92B-\uA92D\uA953\uA9B3\uA9C0\uAAB0\uAAB2-\uAAB4\uAAB7-\uAAB8\uAABE-\uAABF\uAAC1\uAAF6\uABED\U000101FD\U000102E0\U00010376-\U0001037A\U00010A0D\U00010A0F\U00010A38-\U00010A3A\U00010A3F\U00010AE5-\U00010AE6\U00010D24-\U00010D27\U00010EAB-\U00010EAC\U00010EFD-\U00010EFF\U00010F46-\U00010F50\U00010F82-\U00010F85\U00011046\U00011070\U0001107F\U000110B9-\U000110BA\U00011100-\U00011102\U00011133-\U00011134\U00011173\U000111C0\U000111CA\U00011235-\U00011236\U000112E9-\U000112EA\U0001133B-\U0001133C\U0001134D\U00011366-\U0001136C\U00011370-\U00011374\U00011442\U00011446\U0001145E\U000114C2-\U000114C3\U000115BF-\U000115C0\U0001163F\U000116B6-\U000116B7\U0001172B\U00011839-\U0001183A\U0001193D-\U0001193E\U00011943\U000119E0\U00011A34\U00011A47\U00011A99\U00011C3F\U00011D42\U00011D44-\U00011D45\U00011D97\U00011F41-\U00011F42\U00016AF0-\U00016AF4\U00016B30-\U00016B36\U00016FF0-\U00016FF1\U0001BC9E\U0001D165-\U0001D169\U0001D16D-\U0001D172\U0001D17B-\U0001D182\U0001D185-\U0001D18B\U0001D1AA-\U0001D1AD\U0001D242-\U0001D244\U0001E000-\U0001E006\U0001E008-\U0001E018\U0001E01B-\U0001E021\U0001E023-\U0001E024\U0001E026-\U0001E02A\U0001E08F\U0001E130-\U0001E136\U0001E2AE\U0001E2EC-\U0001E2EF\U0001E4EC-\U0001E4EF\U0001E8D0-\U0001E8D6\U0001E944-\U0001E94A]';
BEGIN
  EXECUTE format($function$
CREATE OR REPLACE FUNCTION fold(text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $fold$
DECLARE
  folded text := lower($1 COLLATE "C");
  rare boolean;
  found text;
  replacement text;
BEGIN
  IF octet_length(folded) <> char_length(folded) THEN
    rare := folded ~ '%1$s';
    IF rare THEN
      FOR found IN SELECT DISTINCT m[1] FROM regexp_matches(folded, '%2$s', 'g') AS m LOOP
        folded := replace(folded, found, normalize(found, NFKD));
      END LOOP;
      folded := lower(folded COLLATE "C");
    END IF;
    IF folded ~ '%3$s' THEN
      FOR found, replacement IN
        SELECT c, map ->> c FROM (SELECT DISTINCT m[1] AS c FROM regexp_matches(folded, '%3$s', 'g') AS m) AS characters, (SELECT '%4$s'::jsonb AS map) AS folding
        WHERE map ? c
      LOOP
        folded := replace(folded, found, replacement);
      END LOOP;
    END IF;
    IF rare THEN
      folded := regexp_replace(folded, '%5$s', '', 'g');
      FOR found, replacement IN -- the longest first, because one may be in another
        SELECT run, string_agg(c, '' ORDER BY c COLLATE "C")
        FROM (SELECT DISTINCT m[1] AS run FROM regexp_matches(folded, '%6$s', 'g') AS m) AS runs, string_to_table(run, NULL) AS c GROUP BY run ORDER BY char_length(run) DESC
      LOOP
        folded := replace(folded, found, replacement);
      END LOOP;
      FOR found IN -- a syllable that lacks its last letter may be the beginning of another
        SELECT s[1] FROM regexp_matches(folded, '([\u1100-\u1112][\u1161-\u1175][\u11A8-\u11C2]?|[\uAC00-\uD7A3][\u11A8-\u11C2])', 'g') AS s GROUP BY 1 ORDER BY char_length(s[1]) DESC
      LOOP
        folded := replace(folded, found, normalize(found, NFC));
      END LOOP;
    END IF;
  END IF;
  IF folded ~ '[\t-\r\u0085\u1680\u2028\u2029]' THEN
    folded := translate(folded, E'\t\n\u000B\f\r\u0085\u1680\u2028\u2029', '         ');
  END IF;
  WHILE strpos(folded, '  ') > 0 LOOP
    folded := replace(folded, '  ', ' ');
  END LOOP;
  folded := btrim(folded);
  RETURN folded;
END $fold$
$function$, left(compatible, -1) || substr(left(ignored, -1), 2) || substr(left(marks, -1), 2) || '\u1161-\u1175\u11A8-\u11C2]', compatible,
    left(mapped, -1) || '\uA7F2-\uA7F4\U00010781-\U000107BA\U0001E030-\U0001E06D]', map, ignored, '(' || marks || '{2,})');
END $made$;
-- +goose StatementEnd

-- The words of a folded text that an apostrophe or a hyphen joins, as further words after spaces: you'll adds youll,
-- wi-fi adds wifi. From each word on, up to four are joined. The program has it as collate.Entries. Signs are those of
-- the function words. An 's without a join may be in the result too, which is then a word of the text.
-- +goose StatementBegin
DO $made$
DECLARE
  words text := (SELECT prosrc FROM pg_proc WHERE oid = 'words(text)'::regprocedure);
  letter text := '[^' || substring(words FROM 'signs CONSTANT text := ''\[([^'']*)\]''') || substring(words FROM '''\(\[([^'']*)\]\)''') || ']+';
BEGIN
  EXECUTE format($function$
CREATE FUNCTION joined(folded text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $joined$
DECLARE
  found text;
BEGIN
  IF folded !~ '[''\u2019\u2010-]' THEN
    RETURN '';
  END IF;
  found := (SELECT string_agg(m[1], ' ') FROM regexp_matches(folded, '%1$s(?:[''\u2019\u2010-]%1$s)+', 'g') AS m);
  found := regexp_replace(found, '[''\u2019]s(?=[''\u2019\u2010 -]|$)', 's', 'g');
  IF found ~ '[''\u2019\u2010-][^ ]*[''\u2019\u2010-]' THEN
    RETURN (SELECT string_agg(' ' || array_to_string(parts[i : i + 3], ''), '')
      FROM string_to_table(found, ' ') AS chain, regexp_split_to_array(chain, '[''\u2019\u2010-]') AS parts, generate_series(1, greatest(1, array_length(parts, 1) - 1)) AS i);
  END IF;
  RETURN coalesce(' ' || translate(found, E'\'\u2019-\u2010', ''), '');
END $joined$
$function$, letter);
END $made$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION categories_search_insert() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO categories_search (id, name, words) SELECT id, w, searchable(w || joined(name_fold), NULL, words(description_fold) || joined(description_fold)) FROM added, words(name_fold) AS w;
  RETURN NULL;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION categories_search_update() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM categories_search WHERE id = OLD.id;
  INSERT INTO categories_search (id, name, words) SELECT NEW.id, w, searchable(w || joined(NEW.name_fold), NULL, words(NEW.description_fold) || joined(NEW.description_fold)) FROM words(NEW.name_fold) AS w;
  RETURN NULL;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION genres_search_insert() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO genres_search (id, name, words) SELECT id, w, searchable(w || joined(name_fold), NULL, words(description_fold) || joined(description_fold)) FROM added, words(name_fold) AS w;
  RETURN NULL;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION genres_search_update() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM genres_search WHERE id = OLD.id;
  INSERT INTO genres_search (id, name, words) SELECT NEW.id, w, searchable(w || joined(NEW.name_fold), NULL, words(NEW.description_fold) || joined(NEW.description_fold)) FROM words(NEW.name_fold) AS w;
  RETURN NULL;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION books_search_insert() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO books_search (id, name, words) SELECT id, w, searchable(w || joined(name_fold), words(author_fold) || joined(author_fold), words(description_fold) || joined(description_fold)) FROM added, words(name_fold) AS w;
  RETURN NULL;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION books_search_update() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM books_search WHERE id = OLD.id;
  INSERT INTO books_search (id, name, words) SELECT NEW.id, w, searchable(w || joined(NEW.name_fold), words(NEW.author_fold) || joined(NEW.author_fold), words(NEW.description_fold) || joined(NEW.description_fold)) FROM words(NEW.name_fold) AS w;
  RETURN NULL;
END $$;
-- +goose StatementEnd

INSERT INTO passes SELECT 8, 'categories', 0 WHERE EXISTS (SELECT FROM categories);
INSERT INTO passes SELECT 8, 'genres', 0 WHERE EXISTS (SELECT FROM genres);
INSERT INTO passes SELECT 8, 'books', 0 WHERE EXISTS (SELECT FROM books);

INSERT INTO schema_versions VALUES (8, 3);
