package imports

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"time"

	"library-catalogue/graph/model"
	"library-catalogue/importer"
	"library-catalogue/importer/source"
	"library-catalogue/task"
)

// The states of an import, which are final from asking on.
const (
	waiting   = "waiting" // for other imports
	reading   = "reading" // the file, to its end
	lookingUp = "looking_up"
	importing = "importing" // its rows, or comparing them in a dry run
	asking    = "question"  // an option must decide, and nothing was stored
	refused   = "refused"   // the file cannot be imported, and nothing was stored
	stopped   = "stopped"   // by its caller or by the server's stop
	failed    = "failed"    // by an error of the server
	done      = "done"
)

type job struct {
	imports          *Imports
	subject          string
	key, fingerprint string // Idempotency-Key, and hash of the file and its options
	options          importer.Options
	strict, lookup   bool
	cancel           context.CancelFunc
	done             chan struct{} // closed at the end
	importer         importer.Importer
	rejects          *rejects
	expiry           *time.Timer // forgets the ended import

	mu sync.Mutex
	view
}

// run imports the file.
func (j *job) run(ctx context.Context, in *source.Source) {
	err := task.Run(ctx, func() error {
		places, work := j.imports.running, j.importFile
		if j.lookup {
			places, work = j.imports.looking, j.lookUp
		}
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
			return work(ctx, in)
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	j.finish(ctx, err)
}

// lookUp looks up the rows of a list. Its rejects are all rows, with what was found: the file to import then. The end
// of ctx ends the look-ups.
func (j *job) lookUp(ctx context.Context, in *source.Source) error {
	file, err := j.survey(ctx, in)
	if err != nil {
		return err
	}
	if !file.CanLookUp() {
		return &refusal{importer.ErrNoISBNs}
	}
	j.set(func() { j.Status = lookingUp })
	j.importer.DryRun = true
	j.rejects = newRejects(file, 2*j.imports.MaxBytes, j.imports.Logger)
	defer j.rejects.end()
	find := func(isbn string) ([]*model.FoundBook, string) { return j.imports.Catalogue.FindBooks(ctx, isbn) }
	err = file.LookUp(context.WithoutCancel(ctx), find, func(row *importer.Row) error {
		j.set(func() {
			if j.LookedUp++; len(j.FirstRows) < firstLookups {
				j.FirstRows = append(j.FirstRows, rowViews([]*importer.Row{row})...)
			}
		})
		j.rejects.add(row)
		return nil
	})
	if err == nil && !j.rejects.whole { // a part must not look like the list
		err = errNotKept
	}
	return err
}

var errNotKept = model.Errorf(model.Unavailable,
	"The server could not keep all rows with what was found. Try again later, or send the list in parts.")

// importFile reads the file, and stores its rows unless it is a dry run.
func (j *job) importFile(ctx context.Context, in *source.Source) error {
	file, err := j.survey(ctx, in)
	if err != nil {
		return err
	}
	if j.strict && !j.DryRun && file.Rows > maxStrictRows {
		return &refusal{model.Messagef("a strict import may have at most %d rows: send fewer, or check the file with "+
			"dry_run and import it without strict", maxStrictRows)}
	}
	count := firstRows
	if file.HasLookups() {
		count = firstLookups
	}
	first, err := file.First(ctx, count)
	if err != nil {
		return err
	}
	j.set(func() {
		j.Status = importing
		j.FirstRows = rowViews(first)
	})
	im := &j.importer
	*im = importer.Importer{
		Catalogue: j.imports.Catalogue, BatchRows: batchRows, Strict: j.strict, DryRun: j.DryRun, Reject: j.reject,
		Change:   j.change,
		Progress: func(c importer.Counts) { j.set(func() { j.Counts = c }) },
	}
	j.rejects = newRejects(file, 2*j.imports.MaxBytes, j.imports.Logger)
	defer j.rejects.end()
	if j.strict && !j.DryRun {
		// for all rows, because waiting inside the transaction would block other writes
		release, err := j.admit(ctx, file.Rows)
		if err != nil {
			return err
		}
		defer release()
	} else {
		im.Admit = j.admit
	}
	err = im.Import(ctx, file)
	if err != nil && j.strict && !j.DryRun { // nothing is stored
		j.set(func() { j.Counts = importer.Counts{} })
	}
	if bad, ok := errors.AsType[*importer.Row](err); ok {
		err = errors.Join(&refusal{bad}, j.reject(bad))
	}
	if im.Outcome(err) == importer.AllStored && im.Created > 0 && !j.strict {
		if slow := j.imports.Catalogue.AnalyzeGrown(ctx, im.Created); slow != nil {
			j.imports.Logger.WarnContext(ctx, "ANALYZE failed after an import: lists may be slow for a minute",
				"error", slow)
		}
	}
	return err
}

// survey surveys and describes the file, with a permit for its size.
func (j *job) survey(ctx context.Context, in *source.Source) (*importer.File, error) {
	j.set(func() { j.Status = reading })
	release, err := j.admit(ctx, int(in.Size()/rowBytes))
	if err != nil {
		return nil, err
	}
	defer release()
	file, err := importer.Survey(ctx, in, j.options)
	if err != nil && !isOurs(err) && ctx.Err() == nil {
		err = &refusal{err}
	}
	if file != nil {
		j.set(func() {
			j.describe(file)
			j.Lookups = j.imports.Lookup && file.CanLookUp()
		})
	}
	return file, err
}

const (
	// rowCost is the price of a row in cost units.
	rowCost = 3
	// rowBytes is the number of file bytes that cost as much as one row.
	rowBytes = 1 << 10
)

// admit waits for a permit for rows, and retries while the server is busy.
func (j *job) admit(ctx context.Context, rows int) (release func(), err error) {
	for {
		release, err = j.imports.Admit(ctx, int64(rows)*rowCost)
		if err == nil || ctx.Err() != nil || !model.IsCode(err, model.Unavailable) {
			return release, err
		}
	}
}

// reject takes a bad row.
func (j *job) reject(bad *importer.Row) error {
	j.set(func() {
		if len(j.Rejects.First) < shownRejects {
			j.Rejects.First = append(j.Rejects.First, rowViews([]*importer.Row{bad})...)
		}
	})
	j.rejects.add(bad)
	return nil
}

// change takes a book that a dry run would change.
func (j *job) change(row *importer.Row, change model.BookChange) {
	j.set(func() {
		if len(j.Changes) < shownChanges {
			j.Changes = append(j.Changes, newChange(row, change))
		}
	})
}

// errTemporary is the error of an unusable temporary file.
var errTemporary = model.Errorf(model.Unavailable, "The server cannot write its temporary files. Try again later.")

// isOurs reports whether an error is of a file on the server, and not of the sent file.
func isOurs(err error) bool {
	_, ours := errors.AsType[*fs.PathError](err)
	return ours
}

// refusal is an error of the sent file, or a question about it.
type refusal struct{ error }

func (r *refusal) Unwrap() error { return r.error }

// finish records the end of the import.
func (j *job) finish(ctx context.Context, err error) {
	j.set(func() {
		status, text := j.result(ctx, err)
		j.Status, j.Message, j.EndedAt = status, &text, new(now())
		j.importer = importer.Importer{} // its preview takes memory
		if j.rejects != nil && j.rejects.count > 0 {
			j.Rejects.Whole = j.rejects.whole
			if j.rejects.file != nil {
				j.Rejects.URL = new("/api/imports/" + j.ID + "/rejects")
			}
		}
		stored := []any{"import", j.ID, "created", j.Counts.Created, "updated", j.Counts.Updated}
		switch status {
		case failed:
			j.imports.Logger.WarnContext(ctx, "import failed", append([]any{"error", err}, stored...)...)
		case stopped: // the error of a canceled statement blames the database
			j.imports.Logger.WarnContext(ctx, "import stopped", stored...)
		}
	})
}

// result returns the final state of the import and its message. It adds the questions of err.
func (j *job) result(ctx context.Context, err error) (status string, text message) {
	outcome, kept := j.importer.Outcome(err), model.Messagef("Nothing was stored.")
	if outcome == importer.SomeStored && j.Counts.Created+j.Counts.Updated > 0 {
		kept = model.Messagef("The counted rows are stored. Send the file again for the rest.")
	}
	questions, isQuestion := errors.AsType[importer.Questions](err)
	r, isRefusal := errors.AsType[*refusal](err)
	switch {
	case outcome == importer.AllStored:
		return done, message{model.Messagef("The file is imported.")}
	case err == nil:
		return done, message{model.Messagef("Nothing was stored: this was a dry run.")}
	case isQuestion:
		for _, q := range questions {
			text = append(text, model.Message{Key: q.String()}) // the page shows the questions
			j.Questions = append(j.Questions, newQuestion(q))
		}
		j.Question = &j.Questions[0]
		return asking, text
	case isRefusal:
		return refused, message{model.MessageOf(r.error)}
	case outcome == importer.Unconfirmed:
		return failed, message{model.Messagef(
			"The database did not confirm the commit: all rows are stored, or none. Send the file again.")}
	case model.IsInDoubt(err):
		return failed, message{model.Messagef("The database did not confirm the last rows; the counted rows are " +
			"stored. Send the file again for the rest.")}
	case ctx.Err() != nil:
		return stopped, message{model.Messagef("The import was stopped."), kept}
	case isOurs(err):
		return failed, message{errTemporary.Text(), kept}
	}
	text = message{model.AsError(err).Text()}
	if model.IsCode(model.AsError(err), model.Internal) {
		text = append(text, model.Messagef("The server's log has the cause, with the id of this import."))
	}
	return failed, append(text, kept)
}

// set changes the import under its lock.
func (j *job) set(change func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	change()
}

// sentence returns a text of the importer as a sentence.
func sentence(text string) string {
	return strings.ToUpper(text[:1]) + strings.TrimSuffix(text[1:], ".") + "."
}
