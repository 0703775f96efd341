-- how many it finds
WITH m AS MATERIALIZED (SELECT m.id FROM books_search m WHERE m.words @@ $1::tsquery) SELECT count(*) FROM (SELECT FROM m LIMIT 1000) m
-- $1 = (('njr':*|'ajr':*|'djr':*)|(('nj'|'aj'|'dj')&('nr'|'ar'|'dr')))&(('ntolkein':*|'atolkein':*|'dtolkein':*))

-- what it finds
SELECT m.id FROM books_search m WHERE m.words @@ $1::tsquery
-- $1 = (('njr':*|'ajr':*|'djr':*)|(('nj'|'aj'|'dj')&('nr'|'ar'|'dr')))&(('ntolkein':*|'atolkein':*|'dtolkein':*))

-- what it finds, with ranks
SELECT m.id, CASE WHEN NOT m.words @@ $1::tsquery THEN 8 WHEN m.name = $2 THEN 1 WHEN starts_with(m.name, $3) OR starts_with(m.name, $4) THEN 2 WHEN starts_with(m.name, $5) THEN 3 WHEN starts_with(m.author, $6) THEN 3 WHEN m.words @@ $7::tsquery THEN 4 WHEN m.words @@ $8::tsquery THEN 5 WHEN m.words @@ $9::tsquery THEN 6 ELSE 7 END AS rank FROM books_search m WHERE m.words @@ $10::tsquery
-- $1 = (('njr':*|'ajr':*)|(('nj'|'aj')&('nr'|'ar')))&(('ntolkein':*|'atolkein':*))
-- $2 = jr tolkein
-- $3 = jr tolkein:
-- $4 = jr tolkein (
-- $5 = jr tolkein
-- $6 = jr tolkein
-- $7 = (('njr')|(('nj')&('nr')))&(('ntolkein'))
-- $8 = (('njr'|'ajr')|(('nj'|'aj')&('nr'|'ar')))&(('ntolkein'|'atolkein'))
-- $9 = (('njr':*)|(('nj')&('nr')))&(('ntolkein':*))
-- $10 = (('njr':*|'ajr':*|'djr':*)|(('nj'|'aj'|'dj')&('nr'|'ar'|'dr')))&(('ntolkein':*|'atolkein':*|'dtolkein':*))

-- a page by rank of many
WITH rank4 AS MATERIALIZED (SELECT m.id FROM books_search m JOIN books r ON r.id = m.id WHERE m.words @@ $3::tsquery AND (r.pages > $2) AND NOT starts_with(m.name, $4) AND NOT starts_with(m.author, $5) AND m.id > $1 ORDER BY m.id LIMIT 20), rank5 AS MATERIALIZED (SELECT id FROM (SELECT m.id FROM books_search m JOIN books r ON r.id = m.id WHERE m.words @@ $7::tsquery AND (r.pages > $6) AND NOT starts_with(m.name, $8) AND NOT starts_with(m.author, $9) AND NOT m.words @@ $10::tsquery ORDER BY m.id LIMIT 20) t WHERE (SELECT count(*) FROM rank4) < 20), rank6 AS MATERIALIZED (SELECT id FROM (SELECT m.id FROM books_search m JOIN books r ON r.id = m.id WHERE m.words @@ $12::tsquery AND (r.pages > $11) AND NOT starts_with(m.name, $13) AND NOT starts_with(m.author, $14) AND NOT m.words @@ $15::tsquery AND NOT m.words @@ $16::tsquery ORDER BY m.id LIMIT 20) t WHERE (SELECT count(*) FROM rank4) + (SELECT count(*) FROM rank5) < 20), rank7 AS MATERIALIZED (SELECT id FROM (SELECT m.id FROM books_search m JOIN books r ON r.id = m.id WHERE m.words @@ $18::tsquery AND (r.pages > $17) AND NOT starts_with(m.name, $19) AND NOT starts_with(m.author, $20) AND NOT m.words @@ $21::tsquery AND NOT m.words @@ $22::tsquery AND NOT m.words @@ $23::tsquery ORDER BY m.id LIMIT 20) t WHERE (SELECT count(*) FROM rank4) + (SELECT count(*) FROM rank5) + (SELECT count(*) FROM rank6) < 20), rank8 AS MATERIALIZED (SELECT id FROM (SELECT m.id FROM books_search m JOIN books r ON r.id = m.id WHERE m.words @@ $25::tsquery AND NOT m.words @@ $26::tsquery AND (r.pages > $24) ORDER BY m.id LIMIT 20) t WHERE (SELECT count(*) FROM rank4) + (SELECT count(*) FROM rank5) + (SELECT count(*) FROM rank6) + (SELECT count(*) FROM rank7) < 20) SELECT id, 4 AS rank FROM rank4 UNION ALL SELECT id, 5 AS rank FROM rank5 UNION ALL SELECT id, 6 AS rank FROM rank6 UNION ALL SELECT id, 7 AS rank FROM rank7 UNION ALL SELECT id, 8 AS rank FROM rank8
-- $1 = 7
-- $2 = 300
-- $3 = (('njr')|(('nj')&('nr')))&(('ntolkein'))
-- $4 = jr tolkein
-- $5 = jr tolkein
-- $6 = 300
-- $7 = (('njr'|'ajr')|(('nj'|'aj')&('nr'|'ar')))&(('ntolkein'|'atolkein'))
-- $8 = jr tolkein
-- $9 = jr tolkein
-- $10 = (('njr')|(('nj')&('nr')))&(('ntolkein'))
-- $11 = 300
-- $12 = (('njr':*)|(('nj')&('nr')))&(('ntolkein':*))
-- $13 = jr tolkein
-- $14 = jr tolkein
-- $15 = (('njr')|(('nj')&('nr')))&(('ntolkein'))
-- $16 = (('njr'|'ajr')|(('nj'|'aj')&('nr'|'ar')))&(('ntolkein'|'atolkein'))
-- $17 = 300
-- $18 = (('njr':*|'ajr':*)|(('nj'|'aj')&('nr'|'ar')))&(('ntolkein':*|'atolkein':*))
-- $19 = jr tolkein
-- $20 = jr tolkein
-- $21 = (('njr')|(('nj')&('nr')))&(('ntolkein'))
-- $22 = (('njr'|'ajr')|(('nj'|'aj')&('nr'|'ar')))&(('ntolkein'|'atolkein'))
-- $23 = (('njr':*)|(('nj')&('nr')))&(('ntolkein':*))
-- $24 = 300
-- $25 = (('njr':*|'ajr':*|'djr':*)|(('nj'|'aj'|'dj')&('nr'|'ar'|'dr')))&(('ntolkein':*|'atolkein':*|'dtolkein':*))
-- $26 = (('njr':*|'ajr':*)|(('nj'|'aj')&('nr'|'ar')))&(('ntolkein':*|'atolkein':*))

-- how many it finds
WITH m AS MATERIALIZED (SELECT m.id FROM books_search m WHERE m.words @@ $1::tsquery) SELECT count(*) FROM (SELECT FROM m LIMIT 1000) m
-- $1 = (('njr':*|'ajr':*|'djr':*)|(('nj'|'aj'|'dj')&('nr'|'ar'|'dr')))&(('ntolkein':*|'atolkein':*|'dtolkein':*))

-- words that are similar
SELECT DISTINCT word FROM vocabulary WHERE to_regclass('vocabulary_trigrams') IS NOT NULL
AND char_length(word) BETWEEN 5 AND 9 AND word LIKE ANY ($1)
-- $1 = [t% %in %tol% %olk% %lke% %kei% %ein%]

-- which words the table has
SELECT word FROM unnest($1::text[]) AS word WHERE EXISTS (SELECT FROM books_search m
WHERE m.words @@ ('''n' || word || '''' || '|' || '''a' || word || '''' || '|' || '''d' || word || '''')::tsquery)
-- $1 = [tolkien]

-- what it finds
SELECT m.id FROM books_search m WHERE m.words @@ $1::tsquery
-- $1 = (('njr':*|'ajr':*|'djr':*)|(('nj'|'aj'|'dj')&('nr'|'ar'|'dr')))&(('ntolkein':*|'atolkein':*|'dtolkein':*)|(('ntolkien'|'atolkien'|'dtolkien')))

-- what it finds, with ranks
SELECT m.id, CASE WHEN NOT m.words @@ $1::tsquery THEN 8 WHEN m.name = $2 THEN 1 WHEN starts_with(m.name, $3) OR starts_with(m.name, $4) THEN 2 WHEN starts_with(m.name, $5) THEN 3 WHEN starts_with(m.author, $6) THEN 3 WHEN m.words @@ $7::tsquery THEN 4 WHEN m.words @@ $8::tsquery THEN 5 WHEN m.words @@ $9::tsquery THEN 6 ELSE 7 END AS rank FROM books_search m WHERE m.words @@ $10::tsquery
-- $1 = (('njr':*|'ajr':*)|(('nj'|'aj')&('nr'|'ar')))&(('ntolkein':*|'atolkein':*)|(('ntolkien'|'atolkien')))
-- $2 = jr tolkein
-- $3 = jr tolkein:
-- $4 = jr tolkein (
-- $5 = jr tolkein
-- $6 = jr tolkein
-- $7 = (('njr')|(('nj')&('nr')))&(('ntolkein')|(('ntolkien')))
-- $8 = (('njr'|'ajr')|(('nj'|'aj')&('nr'|'ar')))&(('ntolkein'|'atolkein')|(('ntolkien'|'atolkien')))
-- $9 = (('njr':*)|(('nj')&('nr')))&(('ntolkein':*)|(('ntolkien')))
-- $10 = (('njr':*|'ajr':*|'djr':*)|(('nj'|'aj'|'dj')&('nr'|'ar'|'dr')))&(('ntolkein':*|'atolkein':*|'dtolkein':*)|(('ntolkien'|'atolkien'|'dtolkien')))

-- a page by rank of many


