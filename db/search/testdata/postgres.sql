-- how many it finds
WITH m AS MATERIALIZED (SELECT m.id FROM books_search m WHERE m.words @@ $1::tsquery) SELECT count(*) FROM (SELECT FROM m LIMIT 1000) m
-- $1 = ('njr':*|'Njr':*|'ajr':*|'Ajr':*|'djr':*|'Djr':*)&('ntolkein':*|'atolkein':*|'dtolkein':*)

-- what it finds
SELECT m.id FROM books_search m WHERE m.words @@ $1::tsquery
-- $1 = ('njr':*|'Njr':*|'ajr':*|'Ajr':*|'djr':*|'Djr':*)&('ntolkein':*|'atolkein':*|'dtolkein':*)

-- what it finds, with ranks
SELECT m.id, CASE WHEN NOT m.words @@ $1::tsquery THEN 7 WHEN NOT m.words @@ $2::tsquery THEN 6 WHEN m.name = $3 THEN 1 WHEN starts_with(m.name, $4) THEN 2 WHEN starts_with(m.name, $5) THEN 3 WHEN m.words @@ $6::tsquery THEN 4 ELSE 5 END AS rank FROM books_search m WHERE m.words @@ $7::tsquery
-- $1 = ('njr':*|'Njr':*|'ajr':*|'Ajr':*)&('ntolkein':*|'atolkein':*)
-- $2 = ('njr':*|'Njr':*)&('ntolkein':*)
-- $3 = jr tolkein
-- $4 = jr tolkein 
-- $5 = jr tolkein
-- $6 = ('njr'|'Njr':*)&('ntolkein')
-- $7 = ('njr':*|'Njr':*|'ajr':*|'Ajr':*|'djr':*|'Djr':*)&('ntolkein':*|'atolkein':*|'dtolkein':*)

-- a page by rank of many
WITH rank4 AS MATERIALIZED (SELECT m.id FROM books_search m JOIN books r ON r.id = m.id WHERE m.words @@ $3::tsquery AND NOT starts_with(m.name, $4) AND NOT starts_with(m.name, $5) AND (r.pages > $1) AND m.id > $2 ORDER BY m.id LIMIT 20), rank5 AS MATERIALIZED (SELECT id FROM (SELECT m.id FROM books_search m JOIN books r ON r.id = m.id WHERE m.words @@ $6::tsquery AND NOT starts_with(m.name, $5) AND NOT m.words @@ $3::tsquery AND (r.pages > $1) ORDER BY m.id LIMIT 20) t WHERE (SELECT count(*) FROM rank4) < 20), rank6 AS MATERIALIZED (SELECT id FROM (SELECT m.id FROM books_search m JOIN books r ON r.id = m.id WHERE m.words @@ $7::tsquery AND NOT m.words @@ $3::tsquery AND NOT m.words @@ $6::tsquery AND (r.pages > $1) ORDER BY m.id LIMIT 20) t WHERE (SELECT count(*) FROM rank4) + (SELECT count(*) FROM rank5) < 20), rank7 AS MATERIALIZED (SELECT id FROM (SELECT m.id FROM books_search m JOIN books r ON r.id = m.id WHERE m.words @@ $8::tsquery AND NOT m.words @@ $6::tsquery AND NOT m.words @@ $7::tsquery AND (r.pages > $1) ORDER BY m.id LIMIT 20) t WHERE (SELECT count(*) FROM rank4) + (SELECT count(*) FROM rank5) + (SELECT count(*) FROM rank6) < 20) SELECT id, 4 AS rank FROM rank4 UNION ALL SELECT id, 5 AS rank FROM rank5 UNION ALL SELECT id, 6 AS rank FROM rank6 UNION ALL SELECT id, 7 AS rank FROM rank7
-- $1 = 300
-- $2 = 7
-- $3 = ('njr'|'Njr':*)&('ntolkein')
-- $4 = jr tolkein 
-- $5 = jr tolkein
-- $6 = ('njr':*|'Njr':*)&('ntolkein':*)
-- $7 = ('njr':*|'Njr':*|'ajr':*|'Ajr':*)&('ntolkein':*|'atolkein':*)
-- $8 = ('njr':*|'Njr':*|'ajr':*|'Ajr':*|'djr':*|'Djr':*)&('ntolkein':*|'atolkein':*|'dtolkein':*)

-- how many it finds
WITH m AS MATERIALIZED (SELECT m.id FROM books_search m WHERE m.words @@ $1::tsquery) SELECT count(*) FROM (SELECT FROM m LIMIT 1000) m
-- $1 = ('njr':*|'Njr':*|'ajr':*|'Ajr':*|'djr':*|'Djr':*)&('ntolkein':*|'atolkein':*|'dtolkein':*)

-- which words are in no row
SELECT 0 WHERE (WITH m AS MATERIALIZED (SELECT m.id FROM books_search m WHERE m.words @@ $1::tsquery) SELECT count(*) FROM (SELECT FROM m LIMIT 1) m) = 0 UNION ALL SELECT 1 WHERE (WITH m AS MATERIALIZED (SELECT m.id FROM books_search m WHERE m.words @@ $2::tsquery) SELECT count(*) FROM (SELECT FROM m LIMIT 1) m) = 0
-- $1 = ('njr':*|'Njr':*|'ajr':*|'Ajr':*|'djr':*|'Djr':*)
-- $2 = ('ntolkein':*|'atolkein':*|'dtolkein':*)

-- words that are similar
SELECT DISTINCT word FROM vocabulary WHERE to_regclass('vocabulary_trigrams') IS NOT NULL
AND char_length(word) BETWEEN 5 AND 9 AND word LIKE ANY ($1)
-- $1 = [%ein% %eki% %en %eni% %ien% %in %kei% %ken% %kie% %kin% %kle% %lei% %lek% %lke% %lki% %lok% %ni %oke% %okl% %ole% %olk% %otl% %tlk% %tlo% %tok% %tol% o% t%]

-- which words the table has
SELECT word FROM unnest($1::text[]) AS word WHERE EXISTS (SELECT FROM books_search m
WHERE m.words @@ ('''n' || word || '''' || '|' || '''a' || word || '''' || '|' || '''d' || word || '''')::tsquery)
-- $1 = [tolkien]

-- how many it finds
WITH m AS MATERIALIZED (SELECT m.id FROM books_search m WHERE m.words @@ $1::tsquery) SELECT count(*) FROM (SELECT FROM m LIMIT 1000) m
-- $1 = ('njr':*|'Njr':*|'ajr':*|'Ajr':*|'djr':*|'Djr':*)&('ntolkien':*|'atolkien':*|'dtolkien':*)

-- what it finds
SELECT m.id FROM books_search m WHERE m.words @@ $1::tsquery
-- $1 = ('njr':*|'Njr':*|'ajr':*|'Ajr':*|'djr':*|'Djr':*)&('ntolkien':*|'atolkien':*|'dtolkien':*)

-- what it finds, with ranks
SELECT m.id, CASE WHEN NOT m.words @@ $1::tsquery THEN 7 WHEN NOT m.words @@ $2::tsquery THEN 6 WHEN m.name = $3 THEN 1 WHEN starts_with(m.name, $4) THEN 2 WHEN starts_with(m.name, $5) THEN 3 WHEN m.words @@ $6::tsquery THEN 4 ELSE 5 END AS rank FROM books_search m WHERE m.words @@ $7::tsquery
-- $1 = ('njr':*|'Njr':*|'ajr':*|'Ajr':*)&('ntolkien':*|'atolkien':*)
-- $2 = ('njr':*|'Njr':*)&('ntolkien':*)
-- $3 = jr tolkien
-- $4 = jr tolkien 
-- $5 = jr tolkien
-- $6 = ('njr'|'Njr':*)&('ntolkien')
-- $7 = ('njr':*|'Njr':*|'ajr':*|'Ajr':*|'djr':*|'Djr':*)&('ntolkien':*|'atolkien':*|'dtolkien':*)

-- a page by rank of many


