package schema

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"library-catalogue/db/dialect"
	"library-catalogue/db/query"
	"library-catalogue/db/search"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
)

// trigger is a trigger that follows from the fields of a table: it logs, stamps or folds their columns. The last
// migration makes all of them, in its transaction.
type trigger struct {
	name string
	make string // statements for goose
	text string // as Dialect.SchemaNames returns it, apart from spaces
}

// tables are the tables with triggers and their types, in the order in which writers lock them.
var tables = []struct{ name, entity string }{{query.Categories.Name, "Category"}, {query.Genres.Name, "Genre"},
	{query.Books.Name, "Book"}}

// triggers returns the triggers of all tables, in the order in which writers lock them.
func triggers(d *dialect.Dialect) (all []trigger) {
	for _, table := range tables {
		t := triggered{dialect: d, table: table.name, code: strings.ToLower(table.entity[:1]),
			fields: model.Entities[table.entity].Fields}
		if d.DerivesTexts {
			all = append(all, t.postgres()...)
		} else {
			all = append(all, t.sqlite()...)
		}
	}
	return all
}

// triggered is a table with triggers.
type triggered struct {
	dialect     *dialect.Dialect
	table, code string // code of the type in the log
	fields      []model.FieldInfo
}

// texts returns the fields that are searched or have a stored folded form, searched ones first.
func (t triggered) texts() (texts []*model.FieldInfo) {
	for _, column := range search.Columns(t.table) {
		texts = append(texts,
			&t.fields[slices.IndexFunc(t.fields, func(f model.FieldInfo) bool { return f.Column == column })])
	}
	return append(texts, t.plain()...)
}

// plain returns the fields that have a stored folded form and are not searched.
func (t triggered) plain() (texts []*model.FieldInfo) {
	for i := range t.fields {
		if f := &t.fields[i]; t.folds(f) && !slices.Contains(search.Columns(t.table), f.Column) {
			texts = append(texts, f)
		}
	}
	return texts
}

// natural returns the fields in natural order.
func (t triggered) natural() []*model.FieldInfo {
	return slices.DeleteFunc(t.plain(), func(f *model.FieldInfo) bool { return !f.Natural })
}

func (t triggered) folds(f *model.FieldInfo) bool {
	_, stored := t.dialect.Folded(t.table + "." + f.Column)
	return stored && f.HasFold()
}

// each returns a format with the columns of fields, joined. Each %s or %[1]s is the column.
func each(fields []*model.FieldInfo, format, separator string) string {
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = fmt.Sprintf(format, f.Column)
	}
	return strings.Join(parts, separator)
}

// rowIDs are the other names by which SQLite's UPDATE can set an id. A trigger runs for the names that it lists.
const rowIDs = ", rowid, _rowid_, oid"

// sqlite returns triggers with lists of columns. Texts are folded by the table reading.
func (t triggered) sqlite() (all []trigger) {
	var columns, logged, searched []*model.FieldInfo
	for i := range t.fields {
		f := &t.fields[i]
		columns = append(columns, f)
		if f.Column != "id" && f.Column != "version" {
			logged = append(logged, f)
		}
	}
	texts := t.texts()
	searched = texts[:len(search.Columns(t.table))]
	var read, folded []string
	lacksKey := "" // as rows of a program that does not know the key
	for _, f := range texts {
		value := "NEW." + f.Column
		if f.Nullable {
			value = "coalesce(" + value + ", '')"
		}
		read = append(read, "SELECT '"+f.Column+"' AS field, "+value+" AS text")
		const of = `%s = coalesce((SELECT %s FROM reading WHERE field = '%s'), '')`
		if t.folds(f) {
			folded = append(folded, fmt.Sprintf(of, f.FoldColumn(), "folded", f.Column))
		}
		if f.Column == "name" {
			folded = append(folded, fmt.Sprintf(of, "name_words", "words", "name"))
		}
		if f.Natural {
			folded = append(folded, fmt.Sprintf(of, f.KeyColumn(), "natural_key", f.Column))
			lacksKey += fmt.Sprintf(` OR NEW.%s = '' AND NEW.%s <> ''`, f.KeyColumn(), f.FoldColumn())
		}
	}
	var entry []string
	for _, f := range searched {
		entry = append(entry, `(SELECT coalesce(group_concat(words, ' '), '') FROM (SELECT words FROM reading WHERE field IN ('`+
			strings.Join(search.Sources(t.table, f.Column), "', '")+`') AND words <> '' ORDER BY field))`)
	}
	// A program of a schema before foldingVersion gives words by another rule, which are replaced.
	fold := `
  INSERT INTO reading (field, text) SELECT * FROM (` + strings.Join(read, " UNION ALL ") +
		`) WHERE text <> '';
  UPDATE ` + t.table + ` SET ` + strings.Join(folded, ", ") + `, ` +
		each(searched[1:], "%s_words = NULL", ", ") + `, actor = NULL WHERE id = NEW.id;
  INSERT OR REPLACE INTO ` + t.table + `_search (rowid, ` + each(searched, "%s", ", ") + `) SELECT NEW.id, ` +
		strings.Join(entry, ", ") + `;
  DELETE FROM reading;`
	// The time is not before the time of the newest change n.
	const newest = `max(f.start, coalesce(n.seq, 0))`
	const feed = ` FROM feed f LEFT JOIN changes n ON n.seq = (SELECT max(seq) FROM changes)`
	now := t.dialect.Now
	log := `
  INSERT INTO changes (seq, at, change_set, row_id, version, type, operation, actor, old, untimed)
  SELECT ` + newest + ` + 1 + (random() & 16777215), max(` + now + `, coalesce(n.at, f.at)),
    f.change_set, `
	image := func(row string) string { return `json_object(` + each(logged, "'%[1]s', "+row+".%[1]s", ", ") + `)` }
	add := func(kind, event, body string) {
		name := t.table + "_" + kind
		text := "CREATE TRIGGER " + name + " " + event + "\nBEGIN" + body + "\nEND"
		all = append(all,
			trigger{name,
				"DROP TRIGGER IF EXISTS " + name + ";\n-- +goose StatementBegin\n" + text +
					";\n-- +goose StatementEnd\n", text})
	}
	of := `UPDATE OF ` + each(columns, "%s", ", ") + rowIDs + ` ON ` + t.table
	add("revision_update", `AFTER `+of, `
  UPDATE revision SET n = n + 1 + (random() & 16777215)`+t.reference()+`;`)
	add("search_insert", `AFTER INSERT ON `+t.table+` WHEN NEW.given_words IS NULL`+lacksKey, fold)
	add("search_update",
		`AFTER UPDATE OF id, `+each(texts, "%s", ", ")+rowIDs+` ON `+t.table+` WHEN NEW.id IS NOT OLD.id OR `+
			each(texts, "NEW.%[1]s IS NOT OLD.%[1]s", " OR "), `
  DELETE FROM `+t.table+`_search WHERE rowid = OLD.id;`+fold)
	add("log_delete", `AFTER DELETE ON `+t.table,
		log+`OLD.id, OLD.version, '`+t.code+`', 'd', f.actor, `+image("OLD")+`, 1`+feed+`;`)

	// REPLACE deletes a row without its triggers. A statement that may replace one keeps it in the table replaced, and
	// then logs its deletion, unless something was logged since: with recursive triggers, the deletion. The version
	// of the row goes on.
	keep := `
  DELETE FROM replaced;
  INSERT INTO replaced (type, row_id, version, seq, old) SELECT '` + t.code + `', r.id, r.version, ` + newest + `, ` +
		image("r") + feed + ` CROSS JOIN ` + t.table + ` r WHERE r.id = NEW.id;`
	exists := `EXISTS (SELECT 1 FROM ` + t.table + ` WHERE id = NEW.id)`
	replaced := ` replaced r WHERE r.type = '` + t.code + `' AND r.row_id = NEW.id`
	deleted := log + `r.row_id, r.version, r.type, 'd', f.actor, r.old, 1` + feed + ` CROSS JOIN` + replaced +
		` AND r.seq = ` + newest
	stamped := `, actor = '' WHERE id = NEW.id`
	created := log + `NEW.id, NEW.version, '` + t.code + `', 'c', coalesce(nullif(NEW.actor, ''), f.actor), NULL, `
	// An INSERT of the service that is a transaction has its time at once.
	const alone = `NEW.actor IS NOT NULL AND NEW.given_words IS NOT NULL`
	add("replace_insert", `BEFORE INSERT ON `+t.table+` WHEN NEW.id > 0 AND `+exists, keep)
	add("replace_update", `BEFORE UPDATE OF id`+rowIDs+` ON `+t.table+` WHEN NEW.id <> OLD.id AND `+exists, keep)
	add("log_insert", `AFTER INSERT ON `+t.table+` WHEN NOT EXISTS (SELECT 1 FROM`+replaced+`)`, `
  UPDATE changes SET at = max(`+now+
		`, (SELECT at FROM changes ORDER BY seq DESC LIMIT 1)), untimed = NULL WHERE untimed = 1 AND `+alone+`;`+
		created+`CASE WHEN `+alone+` THEN NULL ELSE 1 END`+feed+`;`)
	add("log_replaced", `AFTER INSERT ON `+t.table+` WHEN EXISTS (SELECT 1 FROM`+replaced+`)`, deleted+`;
  UPDATE replaced SET version = max(version + 1, NEW.version), seq = 0, old = NULL;`+
		strings.Replace(created, "NEW.version", "(SELECT version FROM replaced)", 1)+`1`+feed+`;
  UPDATE `+t.table+` SET version = (SELECT version FROM replaced)`+stamped+`;
  UPDATE `+t.table+` SET actor = NULL WHERE id = NEW.id;`)

	// It logs the old columns and then stamps the row. The empty actor keeps the second UPDATE out of the log, also
	// with recursive triggers.
	wrong := ` AND (NEW.version <> OLD.version + 1 OR NEW.created_at <> OLD.created_at OR NEW.updated_at <> ` + now +
		` OR NEW.id <> OLD.id)`
	next := `max(OLD.version, coalesce((SELECT r.version FROM` + replaced + ` AND NEW.id <> OLD.id), 0)) + 1`
	add("stamp", `AFTER `+of+` WHEN NEW.actor IS NOT ''`,
		deleted+` AND NEW.id <> OLD.id;`+
			log+`OLD.id, OLD.version + (NEW.id = OLD.id), '`+t.code+
			`', CASE WHEN NEW.id = OLD.id THEN 'u' ELSE 'd' END, f.actor, `+image("OLD")+`, 1`+feed+`;`+
			log+`NEW.id, `+next+`, '`+t.code+`', 'c', f.actor, NULL, 1`+feed+` WHERE NEW.id <> OLD.id;
  UPDATE `+t.table+` SET version = `+next+`, created_at = OLD.created_at, updated_at = `+now+stamped+wrong+`;
  UPDATE `+t.table+` SET actor = NULL WHERE id = NEW.id`+wrong+`;`)
	return all
}

// reference returns the assignment that counts changes of genres and categories.
func (t triggered) reference() string {
	if t.table == query.Books.Name {
		return ""
	}
	return ", reference = reference + 1 + (random() & 16777215)"
}

// postgres returns the trigger that logs all columns but derived ones, and one that folds texts that are not searched.
// Folded forms of searched texts are generated columns, which cannot be added without rewriting each row.
func (t triggered) postgres() (all []trigger) {
	derived := []string{"id", "version"}
	for _, f := range t.texts() {
		derived = append(derived, f.FoldColumn())
		if f.Natural {
			derived = append(derived, f.KeyColumn())
		}
		if t.table == query.Books.Name && f.Column == "author" {
			derived = append(derived, "author_short")
		}
	}
	add := func(kind, before, event, function string, args ...string) {
		name := t.table + "_" + kind
		text := name + " " + strings.Join(args, `\000`) + `\000`
		all = append(all, trigger{name, fmt.Sprintf(`-- +goose StatementBegin
DO $made$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = '%[1]s'::regclass
    AND tgname || ' ' || encode(tgargs, 'escape') = '%[2]s') THEN
    %[3]sDROP TRIGGER IF EXISTS %[4]s ON %[1]s;
    CREATE TRIGGER %[4]s %[5]s ON %[1]s FOR EACH ROW EXECUTE FUNCTION %[6]s('%[7]s');
  END IF;
END $made$;
-- +goose StatementEnd
`, t.table, text, before, name, event, function, strings.Join(args, "', '")), text})
	}
	add("log_change", "", "AFTER UPDATE OR DELETE", "log_change", t.code, "{"+strings.Join(derived, ",")+"}")
	if plain := t.plain(); len(plain) > 0 {
		function := t.table + "_fold"
		natural := t.natural()
		derived := each(plain, "%[1]s, %[1]s_fold", ", ") + each(natural, ", %s_key", "")
		add("fold",
			`CREATE OR REPLACE FUNCTION `+
				function+`() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
    BEGIN
      `+each(plain, "NEW.%[1]s_fold := coalesce(fold(NEW.%[1]s), '');", " ")+
				each(natural, " NEW.%[1]s_key := natural_key(NEW.%[1]s_fold);", "")+`
      RETURN NEW;
    END $$;
    `, "BEFORE INSERT OR UPDATE OF "+derived, function, strings.ReplaceAll(derived, " ", ""))
	}
	return all
}

// withMade are migrations of one engine that end with made statements.
type withMade struct {
	fs.FS
	made map[string]string // by file name
}

// migrationsOf returns the migrations of an engine, with triggers.
func migrationsOf(all fs.FS, d *dialect.Dialect) (fs.FS, error) {
	files, err := fs.Sub(all, d.Name)
	if err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return nil, err
	}
	w := withMade{files, map[string]string{}}
	if !d.DerivesTexts && len(entries) >= foldingVersion {
		w.made[entries[foldingVersion-1].Name()] = fillFolding()
	}
	for _, t := range triggers(d) {
		w.made[entries[len(entries)-1].Name()] += t.make
	}
	return w, nil
}

// foldingVersion is the migration that fills SQLite's tables of characters.
const foldingVersion = 8

// fillFolding returns the statements that fill the tables of characters by the rule of package collate. If they change,
// because Go knows a later version of Unicode, a further migration must run them.
var fillFolding = sync.OnceValue(func() string {
	text, _ := json.Marshal(collate.Foldings()) // marshaling texts cannot fail
	return "-- +goose StatementBegin\nINSERT OR REPLACE INTO folding SELECT key, value FROM json_each('" +
		strings.ReplaceAll(string(text), "'", "''") +
		"');\n-- +goose StatementEnd\nUPDATE characters SET marks = '[" + collate.Marks() + "]';\n"
})

// Open implements fs.FS.
func (w withMade) Open(name string) (fs.File, error) {
	file, err := w.FS.Open(name)
	if err != nil || w.made[name] == "" {
		return file, err
	}
	return longer{file, io.MultiReader(file, strings.NewReader("\n"+w.made[name]))}, nil
}

// longer is a file with more text.
type longer struct {
	fs.File
	all io.Reader
}

// Read implements fs.File.
func (l longer) Read(p []byte) (int, error) { return l.all.Read(p) }
