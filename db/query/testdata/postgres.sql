-- page by id
SELECT r.id, r.name, (r.published_at - date '1970-01-01'), timestamptz_send(r.created_at) FROM books r WHERE r.id > $1 ORDER BY r.id LIMIT 20
-- $1 = 7

-- page by id, backwards
SELECT r.id, r.name, (r.published_at - date '1970-01-01'), timestamptz_send(r.created_at) FROM books r WHERE r.id >= $1 AND r.id < $2 AND r.id <= $3 ORDER BY r.id DESC LIMIT 20
-- $1 = 2
-- $2 = 9
-- $3 = 8

-- page with an offset
SELECT r.id, r.name, (r.published_at - date '1970-01-01'), timestamptz_send(r.created_at) FROM (SELECT r.id FROM books r ORDER BY r.id LIMIT 20 OFFSET $1) k JOIN books r ON r.id = k.id ORDER BY k.id
-- $1 = 20

-- positions
SELECT k.id, k.key1 AS key1, k.key2 AS key2 FROM (SELECT r.id, CAST(r.author_fold AS varchar(100)) AS key1, r.pages AS key2, row_number() OVER (ORDER BY CAST(r.author_fold AS varchar(100)) DESC, r.pages, r.id) AS place FROM books r WHERE (r.pages > $1)) k WHERE place % 100 = 0 ORDER BY place LIMIT 1000
-- $1 = 99

-- page by name
SELECT r.id, r.name, (r.published_at - date '1970-01-01'), timestamptz_send(r.created_at), CAST(r.name_fold AS varchar(100)) AS key1 FROM books r WHERE (CAST(r.name_fold AS varchar(100)), r.id) > ($1, $2) ORDER BY CAST(r.name_fold AS varchar(100)), r.id LIMIT 20
-- $1 = momo
-- $2 = 7

-- page by shelf mark
SELECT r.id, r.name, (r.published_at - date '1970-01-01'), timestamptz_send(r.created_at), r.shelf_mark_key AS key1 FROM books r WHERE (r.shelf_mark_key, r.id) > ($1, $2) AND ((r.shelf_mark IS NOT NULL AND r.shelf_mark_key >= $3) AND (r.shelf_mark IS NOT NULL AND CAST(r.shelf_mark_fold AS varchar(100)) >= $5 AND CAST(r.shelf_mark_fold AS varchar(100)) < $6 AND r.shelf_mark_fold LIKE $7 AND r.shelf_mark LIKE $4)) ORDER BY r.shelf_mark_key, r.id LIMIT 20
-- $1 = qa19 qa9
-- $2 = 7
-- $3 = qa19 qa9
-- $4 = QA%
-- $5 = qa
-- $6 = qb
-- $7 = qa%

-- page by two keys of two directions
SELECT r.id, r.name, (r.published_at - date '1970-01-01'), timestamptz_send(r.created_at), r.pages AS key1, CAST(r.author_fold AS varchar(100)) AS key2 FROM books r WHERE r.pages <= $1 AND (r.pages <> $1 OR CAST(r.author_fold AS varchar(100)) >= $2 AND (CAST(r.author_fold AS varchar(100)) <> $2 OR r.id > $3)) ORDER BY r.pages DESC, CAST(r.author_fold AS varchar(100)), r.id LIMIT 20
-- $1 = 300
-- $2 = ende
-- $3 = 7

-- page by the genre's name, filtered
SELECT r.id, r.name, (r.published_at - date '1970-01-01'), timestamptz_send(r.created_at), CAST(og.name_fold AS varchar(100)) AS key1 FROM books r JOIN genres og ON og.id = r.genre_id WHERE CAST(og.name_fold AS varchar(100)) >= $1 AND (CAST(og.name_fold AS varchar(100)) <> $1 OR r.id > $2) AND (r.pages > $3) ORDER BY CAST(og.name_fold AS varchar(100)), r.id LIMIT 20
-- $1 = fantasy
-- $2 = 7
-- $3 = 300

-- page by the category's and the genre's name
SELECT r.id, r.name, (r.published_at - date '1970-01-01'), timestamptz_send(r.created_at), CAST(og.name_fold AS varchar(100)) AS key1, CAST(oc.name_fold AS varchar(100)) AS key2 FROM books r JOIN genres og ON og.id = r.genre_id JOIN categories oc ON oc.id = og.category_id ORDER BY CAST(og.name_fold AS varchar(100)), CAST(oc.name_fold AS varchar(100)), r.id LIMIT 20

-- page by date, filtered by author, price and date
SELECT r.id, r.name, (r.published_at - date '1970-01-01'), timestamptz_send(r.created_at), k.key1 AS key1 FROM (SELECT r.id, r.published_at AS key1 FROM books r WHERE (((r.price_cents >= $1) AND (r.price_cents <= $2)) AND (r.published_at < $3) AND ((r.author_short IS NOT NULL AND r.author_short LIKE $4 OR r.author_short IS NULL AND long_author(r.id) LIKE $5))) ORDER BY r.published_at DESC, r.id DESC LIMIT 20) k JOIN books r ON r.id = k.id ORDER BY k.key1 DESC, k.id DESC
-- $1 = 100
-- $2 = 8000
-- $3 = 2005-08-05
-- $4 = %ende\_\%%
-- $5 = %ende\_\%%

-- whole list
SELECT r.id, r.name, (r.published_at - date '1970-01-01'), timestamptz_send(r.created_at), r.created_at AS key1 FROM books r ORDER BY r.created_at, r.id

-- page of a search
SELECT r.id, r.name, (r.published_at - date '1970-01-01'), timestamptz_send(r.created_at), k.key1 AS key1 FROM (SELECT s.id, s.rank AS key1 FROM (SELECT id, rank FROM searched) s WHERE (s.rank, s.id) > ($1, $2) ORDER BY s.rank, s.id LIMIT 20) k JOIN books r ON r.id = k.id ORDER BY k.key1, k.id
-- $1 = 4
-- $2 = 7

-- page of a search, filtered
SELECT r.id, r.name, (r.published_at - date '1970-01-01'), timestamptz_send(r.created_at), s.rank AS key1 FROM books r JOIN (SELECT id, rank FROM searched) s ON s.id = r.id WHERE (r.pages > $1) ORDER BY s.rank, r.id LIMIT 20
-- $1 = 300

-- page of a search by name
SELECT r.id, r.name, (r.published_at - date '1970-01-01'), timestamptz_send(r.created_at), CAST(r.name_fold AS varchar(100)) AS key1 FROM books r JOIN (SELECT id, rank FROM searched) s ON s.id = r.id ORDER BY CAST(r.name_fold AS varchar(100)) DESC, r.id DESC LIMIT 20

-- page of a search that has chosen the ids
SELECT r.id, r.name, k.key1 AS key1 FROM (SELECT s.id, s.rank AS key1 FROM (SELECT id, rank FROM chosen) s ORDER BY s.rank, s.id LIMIT 20) k JOIN books r ON r.id = k.id ORDER BY k.key1, k.id

-- page of each parent
SELECT p.id, r.* FROM unnest((SELECT $1::bigint[])) AS p (id) CROSS JOIN LATERAL (SELECT r.id, r.name, r.price_cents AS key1 FROM books r JOIN genres g ON g.id = r.genre_id WHERE g.category_id = p.id ORDER BY r.price_cents, r.id LIMIT 20) r ORDER BY p.id, r.key1, r.id
-- $1 = [1 2]

-- count
SELECT count(*) FROM books r WHERE (r.pages = ANY($1))
-- $1 = [1 3]

-- count of a search
SELECT count(*) FROM (SELECT id FROM searched) s

-- counts of parents
SELECT r.genre_id AS parent, count(*) AS n FROM books r WHERE r.genre_id = ANY($1) GROUP BY r.genre_id
-- $1 = [1 2]

-- ids that match
SELECT r.id FROM genres r WHERE (r.category_id IN (SELECT f1.id FROM categories f1 WHERE (CAST(f1.name_fold AS varchar(100)) = $2 AND f1.name = $1))) ORDER BY r.id LIMIT 11 FOR UPDATE
-- $1 = Art
-- $2 = art

-- filter: numbers and ids
((r.id > $1) AND (((r.pages >= $2) AND (r.pages <= $3)) AND NOT (r.pages = $4)) AND NOT (r.price_cents = ANY($5)))
-- $1 = 7
-- $2 = 1
-- $3 = 3
-- $4 = 3
-- $5 = [150 200 900]

-- filter: times
((r.created_at < $1) AND (r.published_at >= $2))
-- $1 = 2024-01-01T00:00:00.000000Z
-- $2 = 1973-01-01

-- filter: exact text
((CAST(r.name_fold AS varchar(100)) = $2 AND r.name = $1) AND (CAST(r.name_fold AS varchar(100)) = ANY($4) AND r.name = ANY($3)))
-- $1 = Momo
-- $2 = momo
-- $3 = [Momo Émile]
-- $4 = [momo emile]

-- filter: text in order
((CAST(r.author_fold AS varchar(100)) >= $1) AND (CAST(r.author_fold AS varchar(100)) < $2))
-- $1 = ende
-- $2 = f

-- filter: parts of texts
((r.name_fold LIKE $2 AND r.name LIKE $1) AND (r.name_fold LIKE $4 AND r.name LIKE $3) AND (CAST(r.name_fold AS varchar(100)) >= $6 AND CAST(r.name_fold AS varchar(100)) < $7 AND r.name_fold LIKE $8 AND r.name LIKE $5))
-- $1 = %Mo%
-- $2 = %mo%
-- $3 = %\_\%\\
-- $4 = %\_\%\\
-- $5 = M%
-- $6 = m
-- $7 = n
-- $8 = m%

-- filter: parts of folded texts
((r.name_fold LIKE $1) AND (r.name_fold LIKE $2) AND (CAST(r.name_fold AS varchar(100)) >= $3 AND CAST(r.name_fold AS varchar(100)) < $4 AND r.name_fold LIKE $5))
-- $1 = %e%
-- $2 = %mo
-- $3 = mo
-- $4 = mp
-- $5 = mo%

-- filter: parts of authors
(((r.author_short IS NOT NULL AND r.author_short LIKE $1 OR r.author_short IS NULL AND long_author(r.id) LIKE $2)) AND ((r.author_short IS NOT NULL AND r.author_short LIKE $3 OR r.author_short IS NULL AND long_author(r.id) LIKE $4)) AND (CAST(r.author_fold AS varchar(100)) >= $5 AND CAST(r.author_fold AS varchar(100)) < $6 AND r.author_fold LIKE $7))
-- $1 = %e%
-- $2 = %e%
-- $3 = %de
-- $4 = %de
-- $5 = mi
-- $6 = mj
-- $7 = mi%

-- filter: a text that may be null
(NOT (r.description IS NULL) AND (r.description IS NOT NULL AND r.description_fold LIKE $2 AND r.description LIKE $1) AND (r.description IS NOT NULL AND r.description_fold LIKE $3))
-- $1 = %Grey%
-- $2 = %grey%
-- $3 = %grey%

-- filter: null of what is never null
(1 = 0)

-- filter: and, or, not
((1 = 1) AND (((r.pages > $1) AND (r.name_fold LIKE $2)) OR NOT (r.pages < $3)))
-- $1 = 1
-- $2 = %a%
-- $3 = 9

-- filter: an empty or
(1 = 0)

-- filter: the genre
(r.genre_id IN (SELECT f1.id FROM genres f1 WHERE ((f1.category_id IN (SELECT f2.id FROM categories f2 WHERE (f2.id = $1))) AND (CAST(f1.name_fold AS varchar(100)) = $3 AND f1.name = $2))))
-- $1 = 2
-- $2 = Art
-- $3 = art

-- filter: rows at an edge
(NOT (EXISTS (SELECT 1 FROM books f1 WHERE f1.genre_id = r.id AND NOT (f1.pages > $1))) AND NOT (EXISTS (SELECT 1 FROM books f2 WHERE f2.genre_id = r.id AND (1 = 1))) AND (EXISTS (SELECT 1 FROM books f3 WHERE f3.genre_id = r.id AND (f3.pages > $2))))
-- $1 = 2
-- $2 = 1

-- aggregate of all books
SELECT count(*) AS n, (coalesce(CAST(sum(r.price_cents) AS bigint), 0) + count(*) / 2) / nullif(count(*), 0) AS price_avg, max(r.published_at) AS published_at_max FROM books r

-- groups by category and year
SELECT a.category_id, a.year, a.n, a.price_sum FROM (SELECT rg.category_id AS category_id, CAST(date_part('year', r.published_at) AS integer) AS year, count(*) AS n, coalesce(CAST(sum(r.price_cents) AS bigint), 0) AS price_sum FROM books r JOIN genres rg ON rg.id = r.genre_id GROUP BY 1, 2) a JOIN categories ac ON ac.id = a.category_id WHERE (a.n > $1) ORDER BY CAST(ac.name_fold AS varchar(100)), a.category_id, a.year LIMIT 10 OFFSET 20
-- $1 = 2

-- groups of parents by author and price range
SELECT parent, author, price_range, n FROM (SELECT a.parent, a.author, a.price_range, a.n, row_number() OVER (PARTITION BY a.parent ORDER BY CAST(a.author_fold AS varchar(100)), a.author COLLATE "C", a.price_range) AS place FROM (SELECT r.genre_id AS parent, r.author AS author, CASE WHEN r.price_cents < $2 THEN CASE WHEN r.price_cents < $3 THEN 0 ELSE 1 END ELSE CASE WHEN r.price_cents < $4 THEN 2 ELSE 3 END END AS price_range, count(*) AS n, min(r.author_fold) AS author_fold FROM books r WHERE r.genre_id = ANY($1) GROUP BY 1, 2, 3) a) t WHERE place <= 10 ORDER BY parent, place
-- $1 = [1 2]
-- $2 = 1000
-- $3 = 500
-- $4 = 2000

