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

	"library-catalogue/graph/cost"
	"library-catalogue/graph/model"
	"library-catalogue/rest/spool"
	"library-catalogue/server/httpcond"
	"library-catalogue/server/pipeline"
)

const (
	// chunk is how many objects of a whole list are read at a time.
	chunk = 500
	// maxShort and maxShortBytes bound a whole list that is answered like a page, from
	// memory: 200 slow clients hold 25 MB.
	maxShort, maxShortBytes = 200, 128 << 10
	// blockSize is how much of a whole list is packed, unpacked and sent at once: each client
	// holds three times as much.
	blockSize = 32 << 10
	// wholeTimeout is the time to read a whole list. To send it may take longer.
	wholeTimeout = 2 * time.Minute
	// wholeReadyTimeout is the time until a whole list may be sent: 15 s to wait for its place,
	// and what little comes before and after that and its reading.
	wholeReadyTimeout = 150 * time.Second
)

var errWholeTimeout = model.Errorf(model.Unavailable, "The list takes longer than 2 minutes to read. Ask for pages with per_page.")

// getWhole answers a long list without pages. It is read and compressed into a temporary
// file, once for all who ask at the same time, and then sent, so that a failure to read is
// a 503.
func (h *handler) getWhole(w http.ResponseWriter, r *http.Request, res *resource, f *format, args model.PageArgs, price cost.Estimate, paid bool) error {
	page, err := args.Page(res.typename)
	if err != nil {
		return err
	}
	zipped := strings.Contains(r.Header.Get("Accept-Encoding"), "gzip")
	key := fmt.Sprintf("%s%s %t %s", res.name, f.tag, zipped, page.Key())
	serve := func(w http.ResponseWriter, r *http.Request, since model.Revision) error {
		if r.Method == http.MethodHead {
			w.Header().Set("ETag", f.listTag(since.Catalogue))
			f.setHeaders(w, res)
			return nil
		}
		if h.lists == nil {
			return h.streamWhole(w, r, res, f, args, price)
		}
		ctx, cancel := context.WithTimeout(r.Context(), wholeReadyTimeout)
		defer cancel()
		list, err := h.lists.Open(ctx, key, since.Catalogue, func(ctx context.Context, dst io.Writer, begin func()) (revision int64, err error) {
			release, err := h.options.Pipeline.Admission.AcquireWhole(ctx, price)
			if err != nil {
				return 0, err
			}
			defer release()
			begin()
			packed := newPacker(dst, zipped)
			err = h.readWhole(ctx, res, f, args, func(at int64) io.Writer {
				revision = at
				return packed
			})
			return revision, errors.Join(err, packed.Close())
		})
		if err != nil {
			return err
		}
		defer list.Close()
		return h.sendWhole(w, r, zipped, res, f, list)
	}
	operation := &pipeline.Operation{Price: price, Tag: f.listTag, Serve: serve}
	if paid {
		operation.Price = cost.Estimate{}
	}
	return h.options.Pipeline.Run(w, r, nil, pipeline.Ready(operation))
}

// newPacker returns a writer that compresses a list: with gzip as it is sent, or with s2,
// which is quick to unpack.
func newPacker(dst io.Writer, zipped bool) io.WriteCloser {
	if !zipped {
		return s2.NewWriter(dst, s2.WriterConcurrency(1), s2.WriterBlockSize(blockSize))
	}
	packer, _ := gzip.NewWriterLevel(dst, gzip.BestSpeed) // it is a level
	return packer
}

// readWhole reads a whole list on one snapshot, and writes it to what begin returns for the
// revision of that.
func (h *handler) readWhole(ctx context.Context, res *resource, f *format, args model.PageArgs, begin func(revision int64) io.Writer) error {
	ctx, cancel := context.WithTimeoutCause(ctx, wholeTimeout, errWholeTimeout)
	defer cancel()
	err := h.catalogue.ReadTransaction(ctx, func(ctx context.Context, revision int64) error {
		dst := begin(revision)
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
	})
	if err != nil && errors.Is(context.Cause(ctx), errWholeTimeout) {
		return errWholeTimeout
	}
	return err
}

var sendBuffers = sync.Pool{New: func() any { return new([blockSize]byte) }}

// sendWhole sends a whole list. Where that fails it returns http.ErrAbortHandler, so that
// no client takes a part for the whole.
func (h *handler) sendWhole(w http.ResponseWriter, r *http.Request, zipped bool, res *resource, f *format, list *spool.List) error {
	tag := f.listTag(list.Revision) // it may be newer than the look
	text := list.Reader()
	if zipped {
		w.Header().Set("Content-Encoding", "gzip")
		tag = httpcond.SuffixTag(tag, "-gzip")
	} else {
		text = s2.NewReader(text, s2.ReaderMaxBlockSize(blockSize))
	}
	w.Header().Set("ETag", tag)
	f.setHeaders(w, res)
	buffer := sendBuffers.Get().(*[blockSize]byte)
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

// aborted logs why an answer failed after it began, and returns http.ErrAbortHandler.
func (h *handler) aborted(w http.ResponseWriter, r *http.Request, err error) error {
	h.logFailure(w, r, err)
	return http.ErrAbortHandler
}

// streamWhole sends a whole list while it is read, where there are no temporary files.
func (h *handler) streamWhole(w http.ResponseWriter, r *http.Request, res *resource, f *format, args model.PageArgs, price cost.Estimate) error {
	release, err := h.options.Pipeline.Admission.AcquireWhole(r.Context(), price)
	if err != nil {
		return err
	}
	defer release()
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(wholeTimeout)) // a client that takes nothing holds the snapshot
	defer control.SetWriteDeadline(time.Time{})
	begun := false
	err = h.readWhole(r.Context(), res, f, args, func(revision int64) io.Writer {
		begun = true
		w.Header().Set("ETag", f.listTag(revision))
		f.setHeaders(w, res)
		return w
	})
	if err != nil && begun {
		return h.aborted(w, r, err)
	}
	return err
}

// streamOf makes what reads a whole list in chunks.
func streamOf[P any](read func(context.Context, model.PageArgs, int, func(context.Context, []P) error) error,
	object func(ctx context.Context, dst []byte, row P) ([]byte, error),
) func(context.Context, *format, model.PageArgs, func(context.Context, objects) error) error {
	return func(ctx context.Context, f *format, args model.PageArgs, send func(context.Context, objects) error) error {
		return read(ctx, args, chunk, func(ctx context.Context, rows []P) error { return send(ctx, objectsOf(f, rows, object)) })
	}
}
