-- how many it finds
SELECT count(*) FROM (SELECT rowid AS id FROM books_search WHERE books_search MATCH $1 LIMIT 1000)
-- $1 = {name author description} : (("jr"* OR ("j" AND "r")) AND ("tolkein"*))

-- what it finds
SELECT rowid AS id FROM books_search WHERE books_search MATCH $1
-- $1 = {name author description} : (("jr"* OR ("j" AND "r")) AND ("tolkein"*))

-- what it finds, with ranks
SELECT m.id, CASE WHEN m.id NOT IN (SELECT rowid AS id FROM books_search WHERE books_search MATCH $1) THEN 8 WHEN m.id IN (SELECT id FROM books WHERE substr(name_fold, 1, 100) = $2) THEN 1 WHEN m.id IN (SELECT id FROM books WHERE substr(name_fold, 1, 100) >= $3 AND substr(name_fold, 1, 100) < $4) OR m.id IN (SELECT id FROM books WHERE substr(name_fold, 1, 100) >= $5 AND substr(name_fold, 1, 100) < $6) THEN 2 WHEN m.id IN (SELECT id FROM books WHERE substr(name_fold, 1, 100) >= $7 AND substr(name_fold, 1, 100) < $8) THEN 3 WHEN m.id IN (SELECT id FROM books WHERE substr(author_fold, 1, 100) >= $9 AND substr(author_fold, 1, 100) < $10) THEN 3 WHEN m.id IN (SELECT rowid AS id FROM books_search WHERE books_search MATCH $11) THEN 4 WHEN m.id IN (SELECT rowid AS id FROM books_search WHERE books_search MATCH $12) THEN 5 WHEN m.id IN (SELECT rowid AS id FROM books_search WHERE books_search MATCH $13) THEN 6 ELSE 7 END AS rank FROM (SELECT rowid AS id FROM books_search WHERE books_search MATCH $14) m
-- $1 = {name author} : (("jr"* OR ("j" AND "r")) AND ("tolkein"*))
-- $2 = jr tolkein
-- $3 = jr tolkein:
-- $4 = jr tolkein;
-- $5 = jr tolkein (
-- $6 = jr tolkein )
-- $7 = jr tolkein
-- $8 = jr tolkeio
-- $9 = jr tolkein
-- $10 = jr tolkeio
-- $11 = {name} : (("jr" OR ("j" AND "r")) AND ("tolkein"))
-- $12 = {name author} : (("jr" OR ("j" AND "r")) AND ("tolkein"))
-- $13 = {name} : (("jr"* OR ("j" AND "r")) AND ("tolkein"*))
-- $14 = {name author description} : (("jr"* OR ("j" AND "r")) AND ("tolkein"*))

-- a page by rank of many


-- how many it finds
SELECT count(*) FROM (SELECT rowid AS id FROM books_search WHERE books_search MATCH $1 LIMIT 1000)
-- $1 = {name author description} : (("jr"* OR ("j" AND "r")) AND ("tolkein"*))

-- words that are similar
SELECT term FROM books_vocabulary WHERE length(term) BETWEEN 5 AND 9 AND term NOT GLOB '*[0-9]*'

-- which words the table has
SELECT value FROM json_each($1) WHERE EXISTS (SELECT 1 FROM books_vocabulary WHERE term = value)
-- $1 = ["tolkien"]

-- what it finds
SELECT rowid AS id FROM books_search WHERE books_search MATCH $1
-- $1 = {name author description} : (("jr"* OR ("j" AND "r")) AND ("tolkein"* OR ("tolkien")))

-- what it finds, with ranks
SELECT m.id, CASE WHEN m.id NOT IN (SELECT rowid AS id FROM books_search WHERE books_search MATCH $1) THEN 8 WHEN m.id IN (SELECT id FROM books WHERE substr(name_fold, 1, 100) = $2) THEN 1 WHEN m.id IN (SELECT id FROM books WHERE substr(name_fold, 1, 100) >= $3 AND substr(name_fold, 1, 100) < $4) OR m.id IN (SELECT id FROM books WHERE substr(name_fold, 1, 100) >= $5 AND substr(name_fold, 1, 100) < $6) THEN 2 WHEN m.id IN (SELECT id FROM books WHERE substr(name_fold, 1, 100) >= $7 AND substr(name_fold, 1, 100) < $8) THEN 3 WHEN m.id IN (SELECT id FROM books WHERE substr(author_fold, 1, 100) >= $9 AND substr(author_fold, 1, 100) < $10) THEN 3 WHEN m.id IN (SELECT rowid AS id FROM books_search WHERE books_search MATCH $11) THEN 4 WHEN m.id IN (SELECT rowid AS id FROM books_search WHERE books_search MATCH $12) THEN 5 WHEN m.id IN (SELECT rowid AS id FROM books_search WHERE books_search MATCH $13) THEN 6 ELSE 7 END AS rank FROM (SELECT rowid AS id FROM books_search WHERE books_search MATCH $14) m
-- $1 = {name author} : (("jr"* OR ("j" AND "r")) AND ("tolkein"* OR ("tolkien")))
-- $2 = jr tolkein
-- $3 = jr tolkein:
-- $4 = jr tolkein;
-- $5 = jr tolkein (
-- $6 = jr tolkein )
-- $7 = jr tolkein
-- $8 = jr tolkeio
-- $9 = jr tolkein
-- $10 = jr tolkeio
-- $11 = {name} : (("jr" OR ("j" AND "r")) AND ("tolkein" OR ("tolkien")))
-- $12 = {name author} : (("jr" OR ("j" AND "r")) AND ("tolkein" OR ("tolkien")))
-- $13 = {name} : (("jr"* OR ("j" AND "r")) AND ("tolkein"* OR ("tolkien")))
-- $14 = {name author description} : (("jr"* OR ("j" AND "r")) AND ("tolkein"* OR ("tolkien")))

-- a page by rank of many


