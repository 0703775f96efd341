package rest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"

	"library-catalogue/edge/httpcond"
	"library-catalogue/edge/pipeline"
	"library-catalogue/graph/cost"
	"library-catalogue/graph/model"
	"library-catalogue/rest/spool"
)

const (
	// rowsPerRead is the number of rows of a whole list that are read at a time.
	rowsPerRead = 500
	// maxShortRows and maxShortBytes limit a whole list that is sent like a page, from memory: 200 slow clients hold
	// 25 MB.
	maxShortRows, maxShortBytes = 200, 128 << 10
	// blockBytes is the size of the blocks in which a whole list is compressed, decompressed and sent. Each client
	// holds three blocks.
	blockBytes = 32 << 10
	// positionBytes is the length of the position at the beginning of a temporary file, padded with spaces.
	positionBytes = 64
	// readTimeout limits the time to read a whole list. Sending it may take longer.
	readTimeout = 2 * time.Minute
	// readyTimeout limits the time until a whole list can be sent: readTimeout, 15 s in a queue, and some reserve.
	readyTimeout = 150 * time.Second
)

var errReadTimeout = model.Errorf(model.Unavailable, "Reading the list takes longer than 2 minutes. Request pages with per_page.")

// getWhole responds with a whole list. The list is read and compressed into a temporary file, which concurrent requests
// share. It is sent after that, so that a failed read is a 503. paid means that the caller was charged before. With wanted the
// response has Catalogue-Position.
func (h *handler) getWhole(w http.ResponseWriter, r *http.Request, res *resource, f *format, args model.PageArgs, price cost.Estimate, paid, wanted bool) error {
	page, err := args.Page(res.typename)
	if err != nil {
		return err
	}
	gzipped := strings.Contains(r.Header.Get("Accept-Encoding"), "gzip")
	key := fmt.Sprintf("%s%s %t %t %s", res.name, f.tagSuffix, gzipped, wanted, page.Key())
	serve := func(w http.ResponseWriter, r *http.Request, known model.Revision) error {
		if r.Method == http.MethodHead {
			if known.IsKnown() {
				w.Header().Set("ETag", f.listTag(known.Catalogue))
			}
			f.setHeaders(w, res.name)
			return nil
		}
		if h.lists == nil {
			return h.streamWhole(w, r, res, f, args, price, wanted)
		}
		ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
		defer cancel()
		list, err := h.lists.Open(ctx, key, known.Catalogue, func(ctx context.Context, dst io.Writer, begin func()) (revision int64, err error) {
			release, err := h.options.Pipeline.Admission.AcquireWhole(ctx, price)
			if err != nil {
				return 0, err
			}
			defer release()
			begin()
			compressor := newCompressor(dst, gzipped)
			err = h.readWhole(ctx, model.FreshReplica, res, f, args, wanted, func(at int64, position string) io.Writer {
				begin() // discards what a replica sent before it failed
				revision, compressor = at, newCompressor(dst, gzipped)
				fmt.Fprintf(dst, "%-*s", positionBytes, position)
				return compressor
			})
			return revision, errors.Join(err, compressor.Close())
		})
		if err != nil {
			return err
		}
		defer list.Close()
		return h.sendWhole(w, r, gzipped, res, f, list)
	}
	operation := &pipeline.Operation{Price: price, Tag: f.listTag, Serve: serve}
	if paid {
		operation.Price = cost.Estimate{}
	}
	return h.options.Pipeline.Run(w, r, nil, pipeline.Ready(operation))
}

// newCompressor returns a writer that compresses a list with gzip, as it is sent, or with s2, which decompresses fast.
func newCompressor(dst io.Writer, gzipped bool) io.WriteCloser {
	if !gzipped {
		return s2.NewWriter(dst, s2.WriterConcurrency(1), s2.WriterBlockSize(blockBytes))
	}
	compressor, _ := gzip.NewWriterLevel(dst, gzip.BestSpeed) // a valid level
	return compressor
}

// readWhole reads a whole list in the transaction of read and writes it to the writer that begin returns.
func (h *handler) readWhole(ctx context.Context, replicas model.Replicas, res *resource, f *format, args model.PageArgs, wanted bool, begin func(revision int64, position string) io.Writer) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readTimeout, errReadTimeout)
	defer cancel()
	err := h.catalogue.ReadTransaction(ctx, replicas, func(ctx context.Context, revision int64) error {
		position, err := h.position(ctx, wanted)
		if err != nil {
			return err
		}
		return f.packTo(begin(revision, position), func(dst io.Writer) error { return res.writeTo(ctx, dst, f, args) })
	})
	if err != nil && errors.Is(context.Cause(ctx), errReadTimeout) {
		return errReadTimeout
	}
	return err
}

// writeTo writes the text of a whole list.
func (res *resource) writeTo(ctx context.Context, dst io.Writer, f *format, args model.PageArgs) error {
	text := f.appendBegin(nil, res)
	first := true
	err := res.stream(ctx, f, args, func(ctx context.Context, part objects) (err error) {
		if !first {
			text = append(text, f.separator...)
		}
		first = false
		if text, err = part(ctx, text); err != nil {
			return err
		}
		_, err = dst.Write(text)
		text = text[:0]
		return err
	})
	if err != nil {
		return err
	}
	_, err = dst.Write(append(text, f.end...))
	return err
}

var sendBuffers = sync.Pool{New: func() any { return new([blockBytes]byte) }}

// sendWhole sends a whole list. On failure it returns http.ErrAbortHandler, so that the client notices the incomplete
// response.
func (h *handler) sendWhole(w http.ResponseWriter, r *http.Request, gzipped bool, res *resource, f *format, list *spool.List) error {
	tag := f.listTag(list.Revision) // may be newer than the revision of the request
	text := list.Reader()
	var position [positionBytes]byte
	if _, err := io.ReadFull(text, position[:]); err != nil {
		return err
	}
	setPosition(w, strings.TrimSpace(string(position[:])))
	if gzipped {
		w.Header().Set("Content-Encoding", "gzip")
		tag = httpcond.SuffixTag(tag, "-gzip")
	} else {
		text = s2.NewReader(text, s2.ReaderMaxBlockSize(blockBytes))
	}
	w.Header().Set("ETag", tag)
	f.setHeaders(w, res.name)
	buffer := sendBuffers.Get().(*[blockBytes]byte)
	defer sendBuffers.Put(buffer)
	for {
		n, err := text.Read(buffer[:])
		if _, gone := w.Write(buffer[:n]); gone != nil {
			return http.ErrAbortHandler
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return h.aborted(w, r, err)
		}
	}
}

// aborted logs the error of a started response and returns http.ErrAbortHandler.
func (h *handler) aborted(w http.ResponseWriter, r *http.Request, err error) error {
	h.logFailure(w, r, err)
	return http.ErrAbortHandler
}

// streamWhole sends a whole list while it is read. It is used if there are no temporary files.
func (h *handler) streamWhole(w http.ResponseWriter, r *http.Request, res *resource, f *format, args model.PageArgs, price cost.Estimate, wanted bool) error {
	release, err := h.options.Pipeline.Admission.AcquireWhole(r.Context(), price)
	if err != nil {
		return err
	}
	defer release()
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(readTimeout)) // a stalled client would hold the transaction
	defer control.SetWriteDeadline(time.Time{})
	started := false
	err = h.readWhole(r.Context(), model.NoReplica, res, f, args, wanted, func(revision int64, position string) io.Writer {
		started = true
		setPosition(w, position)
		w.Header().Set("ETag", f.listTag(revision))
		f.setHeaders(w, res.name)
		return w
	})
	if err != nil && started {
		return h.aborted(w, r, err)
	}
	return err
}

// streamOf returns the stream function of a resource.
func streamOf[P any](read func(context.Context, model.PageArgs, int, func(context.Context, []P) error) error,
	object func(ctx context.Context, dst []byte, row P) ([]byte, error),
) func(context.Context, *format, model.PageArgs, func(context.Context, objects) error) error {
	return func(ctx context.Context, f *format, args model.PageArgs, send func(context.Context, objects) error) error {
		return read(ctx, args, rowsPerRead, func(ctx context.Context, rows []P) error { return send(ctx, objectsOf(f, rows, object)) })
	}
}
