package imports

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"library-catalogue/graph/model"
	"library-catalogue/importer"
	"library-catalogue/importer/source"
)

// The states of an import. From asking on it has ended.
const (
	waiting   = "waiting"   // for others
	reading   = "reading"   // the file, to its end
	importing = "importing" // its rows, or, in a dry run, finding out what that would do
	asking    = "question"  // the file leaves something open, and nothing was stored
	refused   = "refused"   // the file cannot be imported, and nothing was stored
	stopped   = "stopped"   // by its caller, or with the server
	failed    = "failed"    // for the server's sake
	done      = "done"
)

// job is one import.
type job struct {
	imports          *Imports
	subject          string
	key, fingerprint string // Idempotency-Key, and what stands for the file and its options
	options          importer.Options
	strict           bool
	cancel           context.CancelFunc
	done             chan struct{} // is closed when it has ended
	rejects          *rejects

	mu sync.Mutex
	view
}

// run imports the file.
func (j *job) run(ctx context.Context, in *source.Source) {
	err := errors.New("panic") // which Background logs
	defer func() { j.finish(ctx, err) }()
	select {
	case j.imports.running <- struct{}{}:
		defer func() { <-j.imports.running }()
		err = j.importFile(ctx, in)
	case <-ctx.Done():
		err = ctx.Err()
	}
}

// importFile reads the file, then stores its rows or finds out what that would do.
func (j *job) importFile(ctx context.Context, in *source.Source) error {
	j.set(func() { j.Status = reading })
	file, err := j.survey(ctx, in)
	if file != nil {
		j.set(func() { j.describe(file) })
	}
	if err != nil {
		return err
	}
	if j.strict && !j.DryRun && file.Rows > maxStrictRows {
		return &refusal{fmt.Errorf("a strict import may have %d rows here, since others wait while it is stored: send fewer, or check the file by dry_run and import it without strict", maxStrictRows)}
	}
	first, err := file.First(ctx, firstRows)
	if err != nil {
		return err
	}
	j.set(func() {
		j.Status = importing
		j.FirstRows = rowViews(first)
	})
	im := &importer.Importer{
		Catalogue: j.imports.Catalogue, BatchRows: batchRows, Reject: j.reject,
		Progress: func(c importer.Counts) { j.set(func() { j.Counts = c }) },
	}
	if j.DryRun {
		im.Preview = j.imports.Catalogue.PreviewImport()
	}
	j.rejects = newRejects(file, 2*j.imports.MaxBytes, j.imports.Logger)
	defer j.rejects.end()
	if j.strict && !j.DryRun {
		release, err := j.admit(ctx, file.Rows) // for all: who waits within a transaction keeps others waiting
		if err != nil {
			return err
		}
		defer release()
		err = im.ImportStrict(ctx, file)
		if err != nil { // then nothing is stored
			j.set(func() { j.Counts = importer.Counts{} })
		}
		if bad, ok := errors.AsType[*importer.Row](err); ok {
			return errors.Join(&refusal{bad}, j.reject(bad))
		}
		return err
	}
	im.Admit = j.admit
	if err = im.Import(ctx, file); err == nil && im.Created > 0 && !j.DryRun {
		if slow := j.imports.Catalogue.AnalyzeGrown(ctx, im.Created); slow != nil {
			j.imports.Logger.WarnContext(ctx, "after an import PostgreSQL did not look at the new rows, so that lists may be slow for a minute", "error", slow)
		}
	}
	return err
}

// survey finds out how the file is read, in a place among other heavy work.
func (j *job) survey(ctx context.Context, in *source.Source) (*importer.File, error) {
	release, err := j.admit(ctx, int(in.Size()/rowBytes))
	if err != nil {
		return nil, err
	}
	defer release()
	file, err := importer.Survey(ctx, in, j.options)
	if err != nil && !isOurs(err) && ctx.Err() == nil {
		err = &refusal{err}
	}
	return file, err
}

const (
	// rowCost is what the import of a row costs, in the units of GraphQL's cost.
	rowCost = 3
	// rowBytes is how much of a file is read for a row's cost.
	rowBytes = 1 << 10
)

// admit waits until there is room for so many rows, however busy the server is.
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

// errTemporary is of a file on the server that it cannot write or read.
var errTemporary = model.Errorf(model.Unavailable, "The server cannot write its temporary files. Try again later.")

// isOurs reports whether an error is of a file on the server, and not of the one to import.
func isOurs(err error) bool {
	_, ours := errors.AsType[*fs.PathError](err)
	return ours
}

// refusal is what is wrong with a file, or what it leaves open.
type refusal struct{ error }

func (r *refusal) Unwrap() error { return r.error }

// finish notes how the import has ended.
func (j *job) finish(ctx context.Context, err error) {
	j.set(func() {
		j.EndedAt = new(now())
		kept := "Nothing was stored."
		if !j.DryRun && j.Counts.Created+j.Counts.Updated > 0 {
			kept = "What is counted is stored. Send the file again for the rest."
		}
		if j.rejects != nil && j.rejects.count > 0 {
			j.Rejects.Whole = j.rejects.whole
			if j.rejects.file != nil {
				j.Rejects.URL = new("/api/imports/" + j.ID + "/rejects")
			}
		}
		q, isQuestion := errors.AsType[*importer.Question](err)
		r, isRefusal := errors.AsType[*refusal](err)
		switch {
		case err == nil && j.DryRun:
			j.Status, j.Message = done, new("Nothing was stored: this was a dry run.")
		case err == nil:
			j.Status, j.Message = done, new("The file is imported.")
		case isQuestion:
			j.Status, j.Message, j.Question = asking, new(sentence(q.Text)), newQuestion(q)
		case isRefusal:
			j.Status, j.Message = refused, new(sentence(r.Error()))
		case model.IsInDoubt(err) && j.strict:
			j.Status, j.Message = failed, new("The database did not say whether the rows are stored: all are, or none. "+
				"Send the file again.")
		case model.IsInDoubt(err):
			j.Status, j.Message = failed, new("The database did not say whether the last rows are stored; what is counted is. Send the file again for the rest.")
		case ctx.Err() != nil:
			j.Status, j.Message = stopped, new("The import was stopped. "+kept)
		default:
			message := sentence(model.AsError(err).Message)
			if isOurs(err) {
				message = errTemporary.Message
			} else if model.IsCode(model.AsError(err), model.Internal) {
				message += " The server's log has the cause, with the id of this import."
			}
			j.Status, j.Message = failed, new(message+" "+kept)
		}
		if j.Status == failed || j.Status == stopped {
			j.imports.Logger.WarnContext(ctx, "an import did not come to its end", "error", err, "import", j.ID, "created", j.Counts.Created, "updated", j.Counts.Updated)
		}
	})
}

// set changes what is known of the import.
func (j *job) set(change func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	change()
}

// sentence makes a text of the importer a sentence.
func sentence(text string) string {
	return strings.ToUpper(text[:1]) + strings.TrimSuffix(text[1:], ".") + "."
}
