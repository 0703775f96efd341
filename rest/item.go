package rest

import (
	"context"
	"errors"
	"net/http"

	"library-catalogue/graph/model"
)

// get answers one object.
func (h *handler) get(w http.ResponseWriter, r *http.Request, res *resource, id string) error {
	found, err := h.find(r.Context(), res, id)
	if err != nil || NotModified(w, r, found.tag) {
		return err
	}
	writeBytes(w, http.StatusOK, success(res.noun+" retrieved successfully", found.json))
	return nil
}

// find reads one object with what is nested in it.
func (h *handler) find(ctx context.Context, res *resource, id string) (found *object, err error) {
	err = h.catalogue.ReadConsistent(ctx, func(ctx context.Context) error {
		found, err = res.one(ctx, id)
		return err
	})
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
	return newObject(ctx, payload.Row)
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
	stored, replayed, err := h.idempotently(r, res, body, create)
	if err != nil {
		return err
	}
	if replayed {
		w.Header().Set(ReplayedHeader, "true")
	}
	return writeStored(w, stored)
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
	// What is wrong with the input is said before whether the object is there
	// or is the one expected.
	version, precondition := h.expectedVersion(r, res, id)
	updated, err := res.update(r.Context(), model.ParseID(id), form, version)
	if model.IsCode(err, model.BadUserInput) {
		return err
	}
	if precondition != nil {
		return precondition
	}
	if err != nil {
		return res.deletedSince(err)
	}
	w.Header().Set("ETag", updated.tag)
	writeBytes(w, http.StatusOK, success(res.noun+" updated successfully", updated.json))
	return nil
}

// delete deletes an object.
func (h *handler) delete(w http.ResponseWriter, r *http.Request, res *resource, id string) error {
	ctx := r.Context()
	if err := h.catalogue.Authorise(ctx, res.name, "delete"); err != nil {
		if !h.options.OpenDelete || !model.IsCode(err, model.Unauthenticated) {
			return err
		}
		ctx = model.WithPrincipal(ctx, model.Principal{})
	}
	policy, err := h.onChildren(r)
	if err != nil {
		return err
	}
	version, err := h.expectedVersion(r, res, id)
	if err != nil {
		return err
	}
	if err := res.remove(ctx, model.ParseID(id), version, policy); err != nil {
		return err
	}
	writeBytes(w, http.StatusOK, success(res.noun+" deleted successfully", []byte("null")))
	return nil
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
