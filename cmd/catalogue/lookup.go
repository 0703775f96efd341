package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"library-catalogue/cmd/catalogue/cli"
	"library-catalogue/cmd/catalogue/progress"
	"library-catalogue/db"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/isbn"
	"library-catalogue/importer"
	"library-catalogue/lookup"
	"library-catalogue/resolvers"
	"library-catalogue/task"
)

type lookupCmd struct {
	cli.DatabaseFlags
	cli.LookupFlags
	cli.OutputFlags

	ISBN    []string `arg:"" optional:"" name:"isbn" help:"ISBNs of the books. Without them --fill takes all stored books that have one."`
	Add     bool     `xor:"add" help:"Add the first book found for each ISBN. Books of the catalogue are never changed."`
	Default []string `sep:";" placeholder:"FIELD=VALUE" help:"Value of a field that an added book lacks; repeat for each such field, or separate several by semicolons. Fields: ${fields}."`
	Fill    []string `placeholder:"FIELD" xor:"add" enum:"description,publisher,language,subtitle,series,series_number" help:"Complete stored books that have an ISBN and lack one of these fields, separated by commas: ${enum}. Stored values are never changed."`
	Yes     bool     `help:"Store what --fill finds without a question."`
}

// lookedUp is the JSON of an ISBN.
type lookedUp struct {
	ISBN string `json:"isbn"`
	*model.Lookup
	Stored   string            `json:"stored,omitempty"` // of --add: added, rejected, or not added
	Problems model.FieldErrors `json:"problems,omitempty"`
}

func (c *lookupCmd) Run(ctx context.Context, std cli.Stdio, env cli.Getenv) error {
	defaults, invalid := importer.ParseOptions(map[string][]string{"default": c.Default})
	if rule := invalid["default"]; rule != "" {
		return fmt.Errorf("--default %s", rule)
	}
	switch {
	case c.Default != nil && !c.Add:
		return errors.New("--default applies to --add only")
	case c.Yes && c.Fill == nil:
		return errors.New("--yes applies to --fill only")
	case len(c.ISBN) == 0 && c.Fill == nil:
		return errors.New("give the ISBNs of the books, or --fill for stored books")
	}
	for i, number := range c.ISBN {
		digits, ok := isbn.Parse(number)
		if c.ISBN[i] = digits; !ok {
			return fmt.Errorf("%s is not a valid ISBN", importer.Printable(number))
		}
	}
	sources, err := openSources(c.Lookup, env)
	if err != nil {
		return err
	}
	if c.Fill != nil {
		return c.fill(ctx, std, sources)
	}
	var all []*lookedUp
	for _, number := range c.ISBN {
		found, err := sources.Find(ctx, number)
		if err != nil {
			return err
		}
		all = append(all, &lookedUp{ISBN: found.ISBN, Lookup: found})
	}
	if c.Add {
		if err := c.add(ctx, std, all, defaults.Defaults); err != nil {
			return err
		}
	}
	if err := c.Print(std.Out, all, func(out io.Writer) error { return printLookups(out, all) }); err != nil {
		return err
	}
	for _, l := range all {
		if len(l.Books) == 0 || l.Stored == "rejected" {
			return cli.ExitCode(1)
		}
	}
	return nil
}

// openSources returns the sources of a setting. It returns an error if there is none.
func openSources(setting string, env cli.Getenv) (*lookup.Service, error) {
	sources, err := lookup.New(setting, env("CATALOGUE_PUBLIC_URL"))
	switch {
	case err != nil:
		return nil, fmt.Errorf("--lookup or CATALOGUE_LOOKUP: %w", err)
	case sources == nil:
		return nil, errors.New("look-ups are off: " + lookup.Advice)
	}
	return sources, nil
}

// add stores the first book of each look-up, unless the catalogue has its ISBN.
func (c *lookupCmd) add(ctx context.Context, std cli.Stdio, all []*lookedUp, defaults map[string]string) error {
	store, err := c.DatabaseFlags.Open(ctx, db.Options{Logger: std.Log()})
	if err != nil {
		return err
	}
	defer store.Close()
	r, ctx := resolvers.New(store), importer.AsOperator(ctx)
	for _, l := range all {
		if len(l.Books) == 0 {
			continue
		}
		var existing []*model.Book
		_, err := r.Read(ctx, model.NoRevision, model.NoReplica, func(ctx context.Context) (_ bool, err error) {
			existing, err = r.Query().BooksByIsbn(ctx, l.ISBN)
			return false, err
		})
		if err != nil {
			return err
		}
		if l.Stored = "not added, the catalogue has it"; len(existing) > 0 {
			continue
		}
		form := l.Books[0].Form
		for field, text := range defaults {
			if form[field].Missing() {
				form[field] = model.Text(text)
			}
		}
		form[model.Apart] = model.Text("true") // it never means a stored book
		result, err := r.ImportBooks(ctx, []model.Form{form})
		if err != nil {
			return err
		}
		if l.Stored = "added"; len(result.Rejected) > 0 {
			l.Stored, l.Problems = "rejected", result.Rejected[0].Problems
		}
	}
	return nil
}

// gap is a stored book that lacks fields, with what was found for them.
type gap struct {
	*model.Book
	values  model.Form
	sources map[string]string
	problem string // why no book was found
}

// filling is the JSON of a value that --fill has found.
type filling struct {
	ID     model.ID `json:"id"`
	Name   string   `json:"name"`
	Field  string   `json:"field"`
	Value  string   `json:"value"`
	Source string   `json:"source"`
}

// fill completes stored books. All look-ups come first, then a preview, then one transaction.
func (c *lookupCmd) fill(ctx context.Context, std cli.Stdio, sources *lookup.Service) error {
	store, err := c.OpenExisting(ctx, db.Options{Logger: std.Log()})
	if err != nil {
		return err
	}
	defer store.Close()
	r, ctx := resolvers.New(store), importer.AsOperator(ctx)
	gaps, err := c.gaps(ctx, r)
	if err == nil {
		err = c.lookUp(ctx, std, sources, gaps)
	}
	if ctx.Err() != nil {
		return errors.New("stopped: nothing was stored")
	}
	if err != nil {
		return err
	}
	fillings := []filling{}
	for _, g := range gaps {
		if g.problem != "" {
			fmt.Fprintf(std.Err, "%s: %s\n", *g.ISBN, importer.Printable(g.problem))
		}
		for _, field := range model.ImportFields {
			if source := g.sources[field]; source != "" {
				fillings = append(fillings, filling{g.ID, g.Name, field, g.values[field].Written(), source})
			}
		}
	}
	err = c.Print(std.Out, fillings, func(out io.Writer) error { return printFillings(out, fillings) })
	if err != nil {
		return err
	}
	if len(fillings) == 0 {
		return nil
	}
	if !c.Yes {
		fmt.Fprintf(std.Err, "Store these %d values? [y/N] ", len(fillings))
		answer, _ := bufio.NewReader(std.In).ReadString('\n')
		if !strings.EqualFold(strings.TrimSpace(answer), "y") {
			return errors.New("nothing was stored: answer y, or give --yes")
		}
	}
	return storeFillings(ctx, std, r, gaps)
}

// gaps returns the stored books that have an ISBN, one of the given if there are some, and lack a field.
func (c *lookupCmd) gaps(ctx context.Context, r *resolvers.Resolver) (gaps []*gap, err error) {
	err = r.ReadTransaction(ctx, model.NoReplica, func(ctx context.Context, _ int64) error {
		all := model.PageArgs{}
		return r.StreamBooks(ctx, all, exportBatchBooks, func(_ context.Context, books []*model.Book) error {
			for _, b := range books {
				isAsked := b.ISBN != nil && (len(c.ISBN) == 0 || slices.Contains(c.ISBN, *b.ISBN))
				form := b.Form()
				if isAsked && slices.ContainsFunc(c.Fill, func(field string) bool { return form[field].Missing() }) {
					gaps = append(gaps, &gap{Book: b})
				}
			}
			return nil
		})
	})
	return gaps, err
}

// lookUp looks up books, two at a time.
func (c *lookupCmd) lookUp(ctx context.Context, std cli.Stdio, sources *lookup.Service, gaps []*gap) error {
	done := 0
	bar := progress.New(std.Err, cli.IsTerminal(std.Err), "look-ups", int64(len(gaps)),
		func() int64 { return int64(done) })
	defer bar.Done()
	for window := range slices.Chunk(gaps, lookupWindow) {
		var lookups []func() error
		for _, g := range window {
			lookups = append(lookups, func() error {
				found, err := sources.Find(ctx, *g.ISBN)
				if err != nil {
					return err
				}
				if g.values, g.sources = importer.Fill(g.Form(), c.Fill, found.Books); len(found.Books) == 0 {
					g.problem = found.Problem()
				}
				return nil
			})
		}
		if err := task.RunAll(ctx, importer.MaxLookups, lookups); err != nil {
			return err
		}
		done += len(window)
		bar.Step(done)
	}
	return nil
}

// lookupWindow is the number of look-ups between two steps of their progress.
const lookupWindow = 20

func printFillings(out io.Writer, fillings []filling) error {
	if len(fillings) == 0 {
		_, err := fmt.Fprintln(out, "No missing values were found.")
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tNAME\tFIELD\tVALUE\tSOURCE")
	for _, f := range fillings {
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\n", f.ID, importer.Printable(f.Name), f.Field,
			importer.Printable(f.Value), f.Source)
	}
	return table.Flush()
}

// storeFillings stores what was found in one transaction. It names and skips a book that has changed since it was read.
func storeFillings(ctx context.Context, std cli.Stdio, r *resolvers.Resolver, gaps []*gap) error {
	var changed []*gap
	completed := 0
	err := r.Atomically(ctx, func(ctx context.Context) error {
		changed, completed = nil, 0
		for _, g := range gaps {
			if len(g.values) == 0 {
				continue
			}
			in := g.values.CreateBook()
			patch := &model.BookPatch{Description: in.Description, Publisher: in.Publisher, Language: in.Language,
				Subtitle: in.Subtitle, Series: in.Series, SeriesNumber: in.SeriesNumber}
			_, err := r.Mutation().UpdateBook(ctx,
				model.UpdateBookInput{ID: g.ID, Patch: patch, ExpectedVersion: &g.Version})
			switch {
			case model.IsCode(err, model.Stale), model.IsCode(err, model.NotFound):
				changed = append(changed, g)
			case err != nil:
				return err
			default:
				completed++
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, g := range changed {
		fmt.Fprintf(std.Err, "Book %d %s has changed since it was read, and was not completed. Run the "+
			"command again.\n", g.ID, importer.Printable(g.Name))
	}
	fmt.Fprintf(std.Err, "%d books completed\n", completed)
	if len(changed) > 0 {
		return cli.ExitCode(1)
	}
	return nil
}

// printLookups prints a table of the books, and why others were not found.
func printLookups(out io.Writer, all []*lookedUp) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ISBN\tSOURCE\tNAME\tAUTHOR\tPUBLISHED\tPAGES\tPUBLISHER")
	for _, l := range all {
		for _, b := range l.Books {
			fmt.Fprintf(table, "%s\t%s", l.ISBN, b.Source)
			for _, field := range []string{"name", "author", "published_at", "pages", "publisher"} {
				fmt.Fprint(table, "\t"+importer.Printable(b.Form[field].Written()))
			}
			fmt.Fprintln(table)
		}
	}
	err := table.Flush()
	for _, l := range all {
		for _, s := range l.Sources {
			if message := "It does not have the book."; s.Status != model.LookupFound {
				if s.Message != nil {
					message = *s.Message
				}
				fmt.Fprintf(out, "%s: %s: %s\n", l.ISBN, s.Name, importer.Printable(message))
			}
		}
		if l.Stored != "" {
			fmt.Fprintf(out, "%s: %s\n", l.ISBN, l.Stored)
		}
		for _, p := range l.Problems {
			fmt.Fprintf(out, "%s: %s Set it with --default %s=VALUE.\n", l.ISBN, p.Message, p.Field)
		}
	}
	return err
}
