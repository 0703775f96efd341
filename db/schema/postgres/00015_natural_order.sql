-- +goose Up
SET LOCAL lock_timeout = '2s';

-- natural_key is collate.NaturalKey of a folded text: the digits of whole numbers after their length, those of fractions
-- as they are, and a space after each number. The kinds of a run of digits are 0 none, 1 whole, 2 fraction, 3 Cutter.
-- +goose StatementBegin
CREATE FUNCTION natural_key(folded text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  key text := '';
  last int := 0;
  kind int;
  found text[];
  before text;
  digits text;
BEGIN
  IF folded = '' THEN
    RETURN '';
  END IF;
  FOR found IN SELECT regexp_matches(translate(folded,
      '٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹߀߁߂߃߄߅߆߇߈߉०१२३४५६७८९০১২৩৪৫৬৭৮৯੦੧੨੩੪੫੬੭੮੯'
      '૦૧૨૩૪૫૬૭૮૯୦୧୨୩୪୫୬୭୮୯௦௧௨௩௪௫௬௭௮௯౦౧౨౩౪౫౬౭౮౯೦೧೨೩೪೫೬೭೮೯൦൧൨൩൪൫൬൭൮൯'
      '๐๑๒๓๔๕๖๗๘๙໐໑໒໓໔໕໖໗໘໙༠༡༢༣༤༥༦༧༨༩၀၁၂၃၄၅၆၇၈၉០១២៣៤៥៦៧៨៩᠐᠑᠒᠓᠔᠕᠖᠗᠘᠙',
      repeat('0123456789', 18)), '([^0-9]*)([0-9]+|$)', 'g') LOOP
    before := ltrim(found[1]);
    digits := found[2];
    kind := CASE WHEN digits = '' THEN 0 WHEN last = 0 THEN 1 WHEN before = '.' THEN 2
      WHEN before ~ '^\.[a-z ]*[a-z]$' OR last = 3 AND before ~ '^[a-z ]*[a-z]$' THEN 3 ELSE 1 END;
    IF kind <> 2 OR last <> 1 THEN -- a fraction continues its whole number
      key := key || CASE WHEN last > 0 THEN ' ' ELSE '' END || rtrim(before);
    END IF;
    IF kind = 1 THEN
      digits := ltrim(digits, '0');
      key := key || CASE WHEN length(digits) < 9 THEN length(digits)::text ELSE '9' || lpad(least(length(digits), 999)::text, 3, '0') END;
    ELSE
      digits := rtrim(digits, '0');
    END IF;
    key := key || digits;
    last := kind;
  END LOOP;
  RETURN left(key || CASE WHEN last > 0 THEN ' ' ELSE '' END || chr(1) || folded, 600);
END $$;
-- +goose StatementEnd

ALTER TABLE books ADD COLUMN shelf_mark_key text COLLATE "C" NOT NULL DEFAULT '';
INSERT INTO passes VALUES (15, 'books', 0);

INSERT INTO schema_versions VALUES (15, 3);
