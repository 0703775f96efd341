package doctor

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"library-catalogue/db/schema"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// object is a part of a schema.
type object struct {
	Kind       string // table, column, constraint, index, trigger or function
	Table      string // that it belongs to, or empty
	Name       string
	Definition string // compared with the definition of the migrations
	// Make and Definition form the statement that creates the object; Drop removes an existing one
	// first. Make is NULL if creating it again would lose rows.
	Make *string
	Drop string
}

// The objects of the current schema, each after its dependencies. Shadow tables of virtual tables
// are omitted. checkSearch checks the contents of virtual tables.
const (
	sqliteObjectsSQL = `SELECT type AS kind, tbl_name AS "table", name, sql AS definition,
  CASE WHEN type IN ('index', 'trigger') OR sql LIKE 'CREATE VIRTUAL TABLE%' THEN '' END AS make,
'DROP ' || upper(type) || ' ' || name AS "drop"
FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'
AND name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow')
ORDER BY type = 'trigger', type = 'index', rowid`

	postgresObjectsSQL = `WITH tables AS (SELECT oid, relname FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname <> 'goose_db_version')
SELECT 'column' AS kind, t.relname AS "table", t.relname || '.' || a.attname AS name,
concat_ws(' ', format_type(a.atttypid, a.atttypmod), CASE WHEN a.attnotnull THEN 'NOT NULL' END,
  nullif(a.attidentity::text, ''), nullif(a.attgenerated::text, ''), pg_get_expr(d.adbin, d.adrelid),
(SELECT collname FROM pg_collation WHERE oid = a.attcollation)) AS definition,
  NULL AS make, '' AS drop
FROM tables t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_attrdef d ON d.adrelid = t.oid AND d.adnum = a.attnum
UNION ALL SELECT 'function', '', proname, pg_get_functiondef(oid), '', '' FROM pg_proc
WHERE pronamespace = current_schema()::regnamespace AND prokind = 'f'
UNION ALL SELECT 'constraint', t.relname, c.conname, pg_get_constraintdef(c.oid),
format('ALTER TABLE %I ADD CONSTRAINT %I ', t.relname, c.conname),
format('ALTER TABLE %I DROP CONSTRAINT %I', t.relname, c.conname)
FROM tables t JOIN pg_constraint c ON c.conrelid = t.oid AND c.contype IN ('c', 'f', 'p', 'u')
UNION ALL SELECT 'index', t.relname, i.relname, pg_get_indexdef(i.oid) || CASE WHEN x.indisvalid THEN ''
ELSE ' INVALID' END, '', format('DROP INDEX %I', i.relname)
FROM tables t JOIN pg_index x ON x.indrelid = t.oid JOIN pg_class i ON i.oid = x.indexrelid
WHERE NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.oid AND c.contype IN ('p', 'u'))
UNION ALL SELECT 'trigger', t.relname, g.tgname, pg_get_triggerdef(g.oid) || CASE WHEN g.tgenabled = 'O' THEN ''
ELSE ' DISABLED' END, '', format('DROP TRIGGER %I ON %I', g.tgname, t.relname)
FROM tables t JOIN pg_trigger g ON g.tgrelid = t.oid AND NOT g.tgisinternal`
)

// insufficientPrivilege is PostgreSQL's error code for a missing privilege.
const insufficientPrivilege = "42501"

// madeByMigrations returns the objects that the migrations create: in a database in memory for
// SQLite, or in another schema of PostgreSQL, in a transaction that is rolled back.
func madeByMigrations(ctx context.Context, pool *sqlx.DB, on engine) ([]object, error) {
	texts, err := schema.Texts(on.Dialect)
	if err != nil {
		return nil, err
	}
	if on.scratch == nil {
		if pool, err = sqlx.Open("sqlite", ":memory:"); err != nil {
			return nil, err
		}
		defer pool.Close()
		pool.SetMaxOpenConns(1)
	}
	tx, err := pool.BeginTxx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	for _, text := range slices.Concat(on.scratch, texts) {
		text = strings.ReplaceAll(text, " CONCURRENTLY", "") // not possible in a transaction
		_, err := tx.ExecContext(ctx, text)
		if e, ok := errors.AsType[*pq.Error](err); ok && e.Code == insufficientPrivilege {
			return nil, fmt.Errorf("cannot create a temporary schema to compare with: run this as the owner of the "+
				"tables, with the right to create a schema: %w", err)
		}
		if err != nil {
			return nil, err
		}
	}
	return objectsOf(ctx, tx, on)
}

// searchPath matches the line of a function's definition that names the schema.
var searchPath = regexp.MustCompile(`(?m)^ SET search_path TO .*$`)

// objectsOf returns the objects of the current schema without the schema's name.
func objectsOf(ctx context.Context, tx *sqlx.Tx, on engine) (objects []object, err error) {
	if on.scratch == nil {
		err = tx.SelectContext(ctx, &objects, on.objects)
		for i := range objects {
			objects[i].Definition = strings.Join(strings.Fields(objects[i].Definition), " ")
		}
		return objects, err
	}
	var schema string
	if err := tx.GetContext(ctx, &schema, `SELECT quote_ident(current_schema())`); err != nil {
		return nil, err
	}
	err = tx.SelectContext(ctx, &objects, on.objects)
	for i, o := range objects {
		objects[i].Definition = searchPath.ReplaceAllString(strings.ReplaceAll(o.Definition, schema+".", ""),
			" SET search_path FROM CURRENT")
	}
	return objects, err
}

// withoutParentheses removes parentheses and spaces from a definition, because a restored dump has
// fewer of them.
var withoutParentheses = strings.NewReplacer("(", "", ")", "", " ", "")

// checkSchema compares the schema with the one that the migrations make. It ignores additional objects.
func (e *exam) checkSchema(ctx context.Context) error {
	there, err := objectsOf(ctx, e.Tx, e.engine)
	if err != nil {
		return err
	}
	definitions := map[[3]string]string{}
	for _, o := range there {
		definitions[[3]string{o.Kind, o.Table, o.Name}] = o.Definition
	}
	unseen := false // rows may have changed without a trigger
	for _, o := range e.made {
		problem, statements := fmt.Sprintf("The %s %s is missing.", o.Kind, o.Name), []string{}
		if definition, ok := definitions[[3]string{o.Kind, o.Table, o.Name}]; ok {
			if withoutParentheses.Replace(definition) == withoutParentheses.Replace(o.Definition) {
				continue
			}
			problem = fmt.Sprintf("The %s %s differs from the migrations.", o.Kind, o.Name)
			if o.Drop != "" {
				statements = append(statements, o.Drop)
			}
		}
		unseen = unseen || o.Kind == "trigger"
		switch {
		case o.Make == nil:
			e.found(ctx, problem, "restore a backup, or run catalogue archive copy into a new database")
		case o.Kind == "function":
			e.found(ctx, problem, byFix, append(statements, *o.Make+o.Definition)...)
		default:
			e.found(ctx, problem, "", append(statements, *o.Make+o.Definition)...)
		}
	}
	if unseen {
		e.found(ctx, "Rows may have changed without these triggers, so that servers and followers do not know it.",
			byFix, e.resets()...)
	}
	return nil
}
