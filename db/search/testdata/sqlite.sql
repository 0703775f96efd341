-- how many it finds
SELECT count(*) FROM (SELECT m.id FROM (SELECT rowid AS id FROM books_search WHERE books_search MATCH $1) m LIMIT 1000)
-- $1 = {name author description} : (("jr" * OR "·jr" *) AND ("tolkein" *))

-- how many names begin with it
SELECT count(*) FROM (SELECT id FROM books WHERE name_words >= $1 AND name_words < $2 LIMIT 1000)
-- $1 = jr tolkein
-- $2 = jr tolkeio

-- what it finds
SELECT m.id FROM (SELECT rowid AS id FROM books_search WHERE books_search MATCH $1) m
-- $1 = {name author description} : (("jr" * OR "·jr" *) AND ("tolkein" *))

-- what it finds, with ranks
SELECT m.id, CASE WHEN NOT m.id IN (SELECT rowid AS id FROM books_search WHERE books_search MATCH $1) THEN 7 WHEN NOT m.id IN (SELECT rowid AS id FROM books_search WHERE books_search MATCH $2) THEN 6 WHEN m.id IN (SELECT id FROM books WHERE name_words >= $3 AND name_words < $4) THEN 1 WHEN m.id IN (SELECT id FROM books WHERE name_words >= $5 AND name_words < $6) THEN 2 WHEN m.id IN (SELECT id FROM books WHERE name_words >= $7 AND name_words < $8) THEN 3 WHEN m.id IN (SELECT rowid AS id FROM books_search WHERE books_search MATCH $9) THEN 4 ELSE 5 END AS rank FROM (SELECT rowid AS id FROM books_search WHERE books_search MATCH $10) m
-- $1 = {name author} : (("jr" * OR "·jr" *) AND ("tolkein" *))
-- $2 = {name} : (("jr" * OR "·jr" *) AND ("tolkein" *))
-- $3 = jr tolkein
-- $4 = jr tolkein
-- $5 = jr tolkein 
-- $6 = jr tolkein!
-- $7 = jr tolkein
-- $8 = jr tolkeio
-- $9 = {name} : (("jr" OR "·jr" *) AND ("tolkein"))
-- $10 = {name author description} : (("jr" * OR "·jr" *) AND ("tolkein" *))

-- a page by rank of many
WITH rank4 AS MATERIALIZED (SELECT m.id FROM (SELECT rowid AS id FROM books_search WHERE books_search MATCH $5) m CROSS JOIN books r ON r.id = m.id WHERE NOT EXISTS (SELECT 1 FROM books n WHERE n.id = m.id AND n.name_words >= $3 AND n.name_words < $4) AND (r.pages > $1) AND m.id > $2 ORDER BY m.id LIMIT 20), rank5 AS MATERIALIZED (SELECT m.id FROM (SELECT rowid AS id FROM books_search WHERE books_search MATCH $8) m CROSS JOIN books r ON r.id = m.id WHERE NOT EXISTS (SELECT 1 FROM books n WHERE n.id = m.id AND n.name_words >= $6 AND n.name_words < $7) AND (r.pages > $1) ORDER BY m.id LIMIT max(0, 20 - (SELECT count(*) FROM rank4))), rank6 AS MATERIALIZED (SELECT m.id FROM (SELECT rowid AS id FROM books_search WHERE books_search MATCH $9) m CROSS JOIN books r ON r.id = m.id WHERE (r.pages > $1) ORDER BY m.id LIMIT max(0, 20 - (SELECT count(*) FROM rank4) - (SELECT count(*) FROM rank5))), rank7 AS MATERIALIZED (SELECT m.id FROM (SELECT rowid AS id FROM books_search WHERE books_search MATCH $10) m CROSS JOIN books r ON r.id = m.id WHERE (r.pages > $1) ORDER BY m.id LIMIT max(0, 20 - (SELECT count(*) FROM rank4) - (SELECT count(*) FROM rank5) - (SELECT count(*) FROM rank6))) SELECT id, 4 AS rank FROM rank4 UNION ALL SELECT id, 5 AS rank FROM rank5 UNION ALL SELECT id, 6 AS rank FROM rank6 UNION ALL SELECT id, 7 AS rank FROM rank7
-- $1 = 300
-- $2 = 7
-- $3 = jr tolkein
-- $4 = jr tolkeio
-- $5 = {name} : (("jr" OR "·jr" *) AND ("tolkein"))
-- $6 = jr tolkein
-- $7 = jr tolkeio
-- $8 = ({name} : (("jr" * OR "·jr" *) AND ("tolkein" *))) NOT ({name} : (("jr" OR "·jr" *) AND ("tolkein")))
-- $9 = ({name author} : (("jr" * OR "·jr" *) AND ("tolkein" *))) NOT ({name} : (("jr" * OR "·jr" *) AND ("tolkein" *)))
-- $10 = ({name author description} : (("jr" * OR "·jr" *) AND ("tolkein" *))) NOT ({name author} : (("jr" * OR "·jr" *) AND ("tolkein" *)))

-- how many it finds
SELECT count(*) FROM (SELECT m.id FROM (SELECT rowid AS id FROM books_search WHERE books_search MATCH $1) m LIMIT 1000)
-- $1 = {name author description} : (("jr" * OR "·jr" *) AND ("tolkein" *))

-- which words are in no row
SELECT 0 WHERE (SELECT count(*) FROM (SELECT m.id FROM (SELECT rowid AS id FROM books_search WHERE books_search MATCH $1) m LIMIT 1)) = 0 UNION ALL SELECT 1 WHERE (SELECT count(*) FROM (SELECT m.id FROM (SELECT rowid AS id FROM books_search WHERE books_search MATCH $2) m LIMIT 1)) = 0
-- $1 = {name author description} : (("jr" * OR "·jr" *))
-- $2 = {name author description} : (("tolkein" *))

-- words that are similar
SELECT term FROM books_vocabulary WHERE length(term) BETWEEN 5 AND 9 AND term NOT GLOB '*[0-9·]*'

-- which words the table has
SELECT value FROM json_each($1) WHERE EXISTS (SELECT 1 FROM books_vocabulary WHERE term = value)
-- $1 = ["tolkien"]

-- how many it finds
SELECT count(*) FROM (SELECT m.id FROM (SELECT rowid AS id FROM books_search WHERE books_search MATCH $1) m LIMIT 1000)
-- $1 = {name author description} : (("jr" * OR "·jr" *) AND ("tolkien" *))

-- what it finds
SELECT m.id FROM (SELECT rowid AS id FROM books_search WHERE books_search MATCH $1) m
-- $1 = {name author description} : (("jr" * OR "·jr" *) AND ("tolkien" *))

-- what it finds, with ranks
SELECT m.id, CASE WHEN NOT m.id IN (SELECT rowid AS id FROM books_search WHERE books_search MATCH $1) THEN 7 WHEN NOT m.id IN (SELECT rowid AS id FROM books_search WHERE books_search MATCH $2) THEN 6 WHEN m.id IN (SELECT id FROM books WHERE name_words >= $3 AND name_words < $4) THEN 1 WHEN m.id IN (SELECT id FROM books WHERE name_words >= $5 AND name_words < $6) THEN 2 WHEN m.id IN (SELECT id FROM books WHERE name_words >= $7 AND name_words < $8) THEN 3 WHEN m.id IN (SELECT rowid AS id FROM books_search WHERE books_search MATCH $9) THEN 4 ELSE 5 END AS rank FROM (SELECT rowid AS id FROM books_search WHERE books_search MATCH $10) m
-- $1 = {name author} : (("jr" * OR "·jr" *) AND ("tolkien" *))
-- $2 = {name} : (("jr" * OR "·jr" *) AND ("tolkien" *))
-- $3 = jr tolkien
-- $4 = jr tolkien
-- $5 = jr tolkien 
-- $6 = jr tolkien!
-- $7 = jr tolkien
-- $8 = jr tolkieo
-- $9 = {name} : (("jr" OR "·jr" *) AND ("tolkien"))
-- $10 = {name author description} : (("jr" * OR "·jr" *) AND ("tolkien" *))

-- a page by rank of many


