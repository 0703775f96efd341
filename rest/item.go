package rest

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"library-catalogue/graph/cost"
	"library-catalogue/graph/model"
	"library-catalogue/server/httpcond"
	"library-catalogue/server/pipeline"
)

// get answers one object.
func (h *handler) get(w http.ResponseWriter, r *http.Request, res *resource, id string) error {
	var found *object
	return h.options.Pipeline.Run(w, r, cacheKey(r, ""), pipeline.Ready(&pipeline.Operation{
		Price: cost.Estimate{Total: res.rowCost},
		Read: func(ctx context.Context) (cacheable bool, err error) {
			found, err = res.find(ctx, id)
			return true, err
		},
		Answer: func(w http.ResponseWriter) {
			if !httpcond.NotModified(w, r, found.tag) {
				writeBytes(w, http.StatusOK, success(res.noun+" retrieved successfully", found.json))
			}
		},
	}))
}

// cacheKey returns what stands for the answer to a request in the cache.
func cacheKey(r *http.Request, format string) pipeline.Key {
	return pipeline.KeyOf("rest", r.URL.EscapedPath(), r.URL.RawQuery, format)
}

// find reads one object with what is nested in it.
func (res *resource) find(ctx context.Context, id string) (*object, error) {
	found, err := res.one(ctx, id)
	if err == nil && found == nil {
		err = model.Errorf(model.NotFound, "%s not found", res.noun)
	}
	return found, err
}

// objectOrNil returns the object of a row that may not be there.
func objectOrNil[T any](ctx context.Context, row *T, newObject func(context.Context, *T) (*object, error), err error) (*object, error) {
	if err != nil || row == nil {
		return nil, err
	}
	return newObject(ctx, row)
}

// written returns the object of the row that was written.
func written[T any](ctx context.Context, payload *model.Payload[T], newObject func(context.Context, *T) (*object, error), err error) (*object, error) {
	if err != nil {
		return nil, err
	}
	object, err := newObject(ctx, payload.Row)
	if err != nil && !errors.Is(err, model.ErrSnapshotChanged) {
		return nil, &model.Error{Code: model.Unavailable, InDoubt: true, Message: "It was stored, but could not be read afterwards. Read it before you send it again.", Err: err}
	}
	return object, err
}

// post creates an object.
func (h *handler) post(w http.ResponseWriter, r *http.Request, res *resource, _ string) error {
	if err := h.catalogue.Authorise(r.Context(), res.name, "create"); err != nil {
		return err
	}
	body, form, err := readForm(w, r)
	if err != nil {
		return err
	}
	create := func(ctx context.Context) ([]byte, error) {
		created, err := res.create(ctx, form)
		if err != nil {
			return nil, res.deletedSince(err)
		}
		return encode(storedAnswer{
			Location: "/api/" + res.name + "/" + created.id.String(),
			ETag:     created.tag,
			Body:     success(res.noun+" created successfully", created.json),
		}), nil
	}
	var stored []byte
	var replayed bool
	return h.write(w, r, res, func(ctx context.Context) (err error) {
		stored, replayed, err = h.idempotently(ctx, r, res, body, create)
		return err
	}, func(w http.ResponseWriter) {
		if replayed {
			w.Header().Set(httpcond.ReplayedHeader, "true")
		}
		writeStored(w, stored)
	})
}

// write runs an operation that writes.
func (h *handler) write(w http.ResponseWriter, r *http.Request, res *resource, write func(context.Context) error, answer func(http.ResponseWriter)) error {
	price := cost.Estimate{Total: writeCost + res.rowCost}
	return h.options.Pipeline.Run(w, r, nil, pipeline.Ready(&pipeline.Operation{Price: price, Write: write, Answer: answer}))
}

// deletedSince returns the error of a write whose answer could not be read: where what
// the object belongs to is not there any more, the object was stored, and deleted
// with that in the same moment.
func (res *resource) deletedSince(err error) error {
	if !errors.Is(err, model.ErrSnapshotChanged) {
		return err
	}
	return model.Errorf(model.Conflict, "%s was stored, and deleted by someone else in the same moment with what it belongs to.", res.noun)
}

// put replaces an object.
func (h *handler) put(w http.ResponseWriter, r *http.Request, res *resource, id string) error {
	if err := h.catalogue.Authorise(r.Context(), res.name, "update"); err != nil {
		return err
	}
	_, form, err := readForm(w, r)
	if err != nil {
		return err
	}
	var updated *object
	return h.write(w, r, res, func(ctx context.Context) (err error) {
		// What is wrong with the input is said before whether the object is there
		// or is the one expected.
		version, precondition := h.expectedVersion(ctx, r, res, id)
		updated, err = res.update(ctx, model.ParseID(id), form, version)
		if err == nil || model.IsCode(err, model.BadUserInput) {
			return err
		}
		return cmp.Or(precondition, res.deletedSince(err))
	}, func(w http.ResponseWriter) {
		w.Header().Set("ETag", updated.tag)
		writeBytes(w, http.StatusOK, success(res.noun+" updated successfully", updated.json))
	})
}

// delete deletes an object.
func (h *handler) delete(w http.ResponseWriter, r *http.Request, res *resource, id string) error {
	if err := h.catalogue.Authorise(r.Context(), res.name, "delete"); err != nil {
		if !h.options.OpenDelete || !model.IsCode(err, model.Unauthenticated) {
			return err
		}
		r = r.WithContext(model.WithPrincipal(r.Context(), model.Principal{}))
	}
	policy, err := h.onChildren(r)
	if err != nil {
		return err
	}
	return h.write(w, r, res, func(ctx context.Context) error {
		version, err := h.expectedVersion(ctx, r, res, id)
		if err != nil {
			return err
		}
		return res.remove(ctx, model.ParseID(id), version, policy)
	}, func(w http.ResponseWriter) {
		writeBytes(w, http.StatusOK, success(res.noun+" deleted successfully", []byte("null")))
	})
}

// onChildren returns what the request wants to become of an object's children.
func (h *handler) onChildren(r *http.Request) (model.OnChildren, error) {
	cascade := h.options.Cascade
	switch r.URL.Query().Get("cascade") {
	case "":
	case "true", "1":
		cascade = true
	case "false", "0":
		cascade = false
	default:
		var f model.FieldErrors
		f.Add("cascade", "The %s field must be true or false.")
		return "", f.Err()
	}
	if cascade {
		return model.Cascade, nil
	}
	return model.Restrict, nil
}

// noVersion is a version that no row has.
const noVersion int64 = -1

// expectedVersion returns the version that the row must still have when it is written,
// or nil where the request sets no condition (RFC 9110 sections 13.1.1 and
// 13.1.2). Tags also speak of what is nested in the object, so they are compared
// here. With an error the version is noVersion.
func (h *handler) expectedVersion(ctx context.Context, r *http.Request, res *resource, id string) (*int64, error) {
	if r.Header["If-Match"] == nil && r.Header["If-None-Match"] == nil {
		return nil, nil
	}
	refused := noVersion
	var found *object
	_, err := h.catalogue.Read(ctx, nil, func(ctx context.Context) (_ bool, err error) {
		found, err = res.find(ctx, id)
		return false, err
	})
	if err != nil {
		return &refused, err
	}
	if !httpcond.IfMatchAllows(r, found.tag) {
		return &refused, model.Errorf(model.Stale, "%s was changed by someone else. Read it again.", res.noun)
	}
	if httpcond.IfNoneMatchHas(r, found.tag) {
		return &refused, model.Errorf(model.Stale, "%s is one that the If-None-Match header excludes.", res.noun)
	}
	return &found.version, nil
}
