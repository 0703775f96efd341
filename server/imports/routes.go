package imports

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"library-catalogue/edge/caller"
	"library-catalogue/edge/envelope"
	"library-catalogue/edge/httpcond"
	"library-catalogue/graph/model"
	"library-catalogue/importer/source"
)

const path = "/api/imports"

// Routes returns the routes of imports.
func (m *Imports) Routes() []envelope.Route {
	return []envelope.Route{
		{Method: http.MethodPost, Pattern: path, Serve: m.post},
		{Method: http.MethodGet, Pattern: path + "/{id}", Serve: m.get},
		{Method: http.MethodDelete, Pattern: path + "/{id}", Serve: m.delete},
		{Method: http.MethodGet, Pattern: path + "/{id}/rejects", Serve: m.getRejects},
	}
}

// post receives a file, and begins its import.
func (m *Imports) post(w http.ResponseWriter, r *http.Request, _ string) error {
	who, err := model.Authorise(r.Context())
	if err != nil {
		return err
	}
	j := &job{subject: who.KeyScope()}
	key, given, err := httpcond.Key(r)
	if given {
		if err := cmp.Or(who.CheckKeys(), err); err != nil {
			return err
		}
		j.key = key
	}
	if media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); strings.HasPrefix(media, "multipart/") {
		return envelope.Error(http.StatusUnsupportedMediaType, "The request body must be the file itself, and no "+
			"form: curl --data-binary @books.csv, or fetch with the file as its body.")
	}
	if err := j.parseQuery(r.URL.Query()); err != nil {
		return err
	}
	if j.lookup && !m.Lookup {
		return model.Errorf(model.Forbidden, "Look-ups are off. The operator turns them on with CATALOGUE_LOOKUP.")
	}
	if err := m.reserve(j); err != nil {
		return err
	}
	defer m.release(j)
	hash := sha256.New()
	hash.Write([]byte(r.URL.Query().Encode() + "\n"))
	// The body ends with its connection, which ends its reader too.
	file, err := source.Open(context.WithoutCancel(r.Context()), "-",
		io.TeeReader(http.MaxBytesReader(w, r.Body, m.MaxBytes), hash))
	if err != nil {
		return m.bodyError(err)
	}
	j.fingerprint = hex.EncodeToString(hash.Sum(nil))
	ctx := model.WithCaller(caller.With(context.Background(), caller.Of(r.Context())), who)
	j, replayed, err := m.start(ctx, j, file)
	if err != nil {
		return err
	}
	if replayed {
		w.Header().Set(httpcond.ReplayedHeader, "true")
	}
	w.Header().Set("Location", path+"/"+j.ID)
	j.write(w, r, http.StatusAccepted, "Import accepted")
	return nil
}

// bodyError returns the error of a file that was not received.
func (m *Imports) bodyError(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return model.Errorf(model.TooLarge, "The file must not be larger than %d MiB.", m.MaxBytes>>20)
	}
	if isOurs(err) {
		return &model.Error{Code: errTemporary.Code, Message: errTemporary.Message, Err: err}
	}
	return envelope.Error(http.StatusBadRequest, "The request body could not be read.")
}

// get responds with the state of an import.
func (m *Imports) get(w http.ResponseWriter, r *http.Request, id string) error {
	j, err := m.authorised(r, id)
	if err != nil {
		return err
	}
	j.write(w, r, http.StatusOK, "Import retrieved successfully")
	return nil
}

// stopWait is the time in which a stopped import usually ends.
const stopWait = time.Second

// delete stops an import. It responds after its end, or after stopWait if that comes first.
func (m *Imports) delete(w http.ResponseWriter, r *http.Request, id string) error {
	j, err := m.authorised(r, id)
	if err != nil {
		return err
	}
	j.cancel()
	select {
	case <-j.done:
		j.write(w, r, http.StatusOK, "Import stopped")
	case <-time.After(stopWait):
		j.set(func() {
			if j.EndedAt == nil {
				j.Message = &message{model.Messagef("The import is being stopped. No batch begins; one that is being " +
					"stored now is counted at the end.")}
			}
		})
		j.write(w, r, http.StatusAccepted, "Import is stopping")
	case <-r.Context().Done():
		return r.Context().Err()
	}
	return nil
}

// getRejects responds with the bad rows as CSV.
func (m *Imports) getRejects(w http.ResponseWriter, r *http.Request, id string) error {
	j, err := m.authorised(r, id)
	if err != nil {
		return err
	}
	isRunning := false
	j.set(func() { isRunning = j.EndedAt == nil }) // done is closed a moment after clients see the end
	switch {
	case isRunning:
		return model.Errorf(model.Conflict, "The import is still running. Try again after its end.")
	case j.rejects == nil || j.rejects.count == 0:
		return model.Errorf(model.NotFound, "No row was rejected")
	case j.rejects.file == nil:
		return model.Errorf(model.NotFound,
			"The rejected rows are not kept: the server could not write a temporary file. "+
				"Send the file again.")
	}
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Type", "text/csv; charset=utf-8")
	header.Set("Content-Disposition", `attachment; filename="rejects.csv"`)
	if _, err := io.Copy(w, j.rejects.content()); err != nil { // the import was forgotten, or the client disconnected
		return http.ErrAbortHandler
	}
	return nil
}

// authorised returns the caller's import with an id.
func (m *Imports) authorised(r *http.Request, id string) (*job, error) {
	who, err := model.Authorise(r.Context())
	if err != nil {
		return nil, err
	}
	return m.find(who.KeyScope(), id)
}

// write responds with the state of the import.
func (j *job) write(w http.ResponseWriter, r *http.Request, status int, message string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	w.Header().Set("Cache-Control", "no-store")
	if httpcond.WantsTexts(r.Header) {
		view, err := json.Marshal(j.view, withParts)
		if err != nil {
			panic(err) // all our types can be encoded
		}
		envelope.WriteSuccess(w, status, message, jsontext.Value(view))
		return
	}
	envelope.WriteSuccess(w, status, message, j.view)
}
