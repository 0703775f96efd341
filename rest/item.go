package rest

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"library-catalogue/edge/envelope"
	"library-catalogue/edge/httpcond"
	"library-catalogue/edge/pipeline"
	"library-catalogue/graph/cost"
	"library-catalogue/graph/model"
)

func (h *handler) get(w http.ResponseWriter, r *http.Request, res *resource, id string) error {
	q := &query{values: parseQuery(r.URL.RawQuery)}
	f := q.including(q.format(w, r, res.itemFormats))
	if err := q.problems.Err(); err != nil {
		return err
	}
	if isLive(r) {
		return h.liveItem(w, r, res, id)
	}
	var found *object
	return h.options.Pipeline.Run(w, r, cacheKey(r, f.tagSuffix), pipeline.Ready(&pipeline.Operation{
		Price: cost.Estimate{Total: res.rowCost},
		Read: func(ctx context.Context) (cacheable bool, err error) {
			found, err = res.find(ctx, f, id)
			return true, err
		},
		Answer: func(w http.ResponseWriter) {
			if httpcond.NotModified(w, r, found.tag) {
				return
			}
			body := envelope.Success(res.typename+" retrieved successfully", found.text)
			if f.appender != nil {
				body = slices.Concat([]byte(f.begin), found.text, []byte(f.end))
			}
			f.setHeaders(w, strings.ToLower(res.typename)+"-"+found.id.String())
			envelope.WriteBody(w, http.StatusOK, body)
		},
	}))
}

func cacheKey(r *http.Request, format string) pipeline.Key {
	return pipeline.KeyOf("rest", r.URL.EscapedPath(), r.URL.RawQuery, format)
}

// find reads one object with its nested objects. The error is NotFound if there is none.
func (res *resource) find(ctx context.Context, f *format, id string) (*object, error) {
	found, err := res.one(ctx, f, id)
	if err == nil && found == nil {
		err = model.Errorf(model.NotFound, "%s not found", res.typename)
	}
	return found, err
}

// jsonOf returns the format of the response to a write.
func jsonOf(r *http.Request) *format {
	return (&query{values: parseQuery(r.URL.RawQuery)}).including(jsonFormat)
}

func (h *handler) post(w http.ResponseWriter, r *http.Request, res *resource, _ string) error {
	if err := h.catalogue.Authorise(r.Context(), res.name, "create"); err != nil {
		return err
	}
	body, form, err := readForm(w, r)
	if err != nil {
		return err
	}
	f := jsonOf(r)
	create := func(ctx context.Context) ([]byte, error) {
		created, err := res.create(ctx, f, form)
		if err != nil {
			return nil, err
		}
		return envelope.Encode(storedResponse{
			Location: "/api/" + res.name + "/" + created.id.String(),
			ETag:     created.tag,
			Body:     envelope.Success(res.typename+" created successfully", created.text),
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

func (h *handler) write(
	w http.ResponseWriter, r *http.Request, res *resource, write func(context.Context) error,
	answer func(http.ResponseWriter),
) error {
	price := cost.Estimate{Total: writeCost + res.rowCost}
	return h.options.Pipeline.Run(w, r, nil,
		pipeline.Ready(&pipeline.Operation{Price: price, Write: write, Answer: answer}))
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
	f := jsonOf(r)
	var updated *object
	return h.write(w, r, res, func(ctx context.Context) (err error) {
		// Validation errors take precedence over a missing object or a failed condition.
		version, precondition := h.expectedVersion(ctx, r, res, id)
		updated, err = res.update(ctx, f, model.ParseID(id), form, version)
		if err == nil || model.IsCode(err, model.BadUserInput) {
			return err
		}
		return cmp.Or(precondition, err)
	}, func(w http.ResponseWriter) {
		w.Header().Set("ETag", updated.tag)
		envelope.WriteJSON(w, http.StatusOK, envelope.Success(res.typename+" updated successfully", updated.text))
	})
}

func (h *handler) delete(w http.ResponseWriter, r *http.Request, res *resource, id string) error {
	if err := h.catalogue.Authorise(r.Context(), res.name, "delete"); err != nil {
		if !h.options.OpenDelete || !model.IsCode(err, model.Unauthenticated) {
			return err
		}
		r = r.WithContext(model.WithCaller(r.Context(), model.Caller{}))
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
		return res.remove(ctx, model.DeleteInput{ID: model.ParseID(id), ExpectedVersion: version, OnChildren: policy})
	}, func(w http.ResponseWriter) {
		envelope.WriteJSON(w, http.StatusOK, envelope.Success(res.typename+" deleted successfully", []byte("null")))
	})
}

// onChildren returns what happens to the children of a deleted object: the parameter cascade, else Options.Cascade.
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

const impossibleVersion int64 = -1

// expectedVersion returns the version that the row must have when it is written, or nil if the request has no condition
// (RFC 9110, sections 13.1.1 and 13.1.2). It compares tags itself, because they include the versions of nested objects.
// With an error it returns impossibleVersion.
func (h *handler) expectedVersion(ctx context.Context, r *http.Request, res *resource, id string) (*int64, error) {
	if r.Header["If-Match"] == nil && r.Header["If-None-Match"] == nil {
		return nil, nil
	}
	impossible := impossibleVersion
	var found *object
	_, err := h.catalogue.Read(ctx, model.NoRevision, model.NoReplica, func(ctx context.Context) (_ bool, err error) {
		found, err = res.find(ctx, jsonFormat, id)
		return false, err
	})
	if err != nil {
		return &impossible, err
	}
	if !httpcond.IfMatchAllows(r, found.tag) {
		return &impossible, model.Errorf(model.Stale, "%s was changed by someone else. Read it again.", res.typename)
	}
	if httpcond.IfNoneMatchHas(r, found.tag) {
		return &impossible, model.Errorf(model.Stale, "%s matches the If-None-Match header.", res.typename)
	}
	return &found.version, nil
}
