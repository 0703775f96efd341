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

var errReadTimeout = model.Errorf(model.Unavailable,
	"Reading the list takes longer than 2 minutes. Request pages with per_page.")

// serveWhole responds with a whole list. The list is read and compressed into a temporary file, which concurrent
// requests share. It is sent after that, so that a failed read is a 503. paid means that the caller was charged
// before.
func (l *listRequest) serveWhole(w http.ResponseWriter, r *http.Request, paid bool) error {
	page, err := l.args.Page(l.typename)
	if err != nil {
		return err
	}
	gzipped := strings.Contains(r.Header.Get("Accept-Encoding"), "gzip")
	key := fmt.Sprintf("%s%s %t %t %s", l.name, l.f.tagSuffix, gzipped, l.wanted, page.Key())
	serve := func(w http.ResponseWriter, r *http.Request, known model.Revision) error {
		if r.Method == http.MethodHead {
			if known.IsKnown() {
				w.Header().Set("ETag", l.f.listTag(known.Catalogue))
			}
			l.setHeaders(w, "")
			return nil
		}
		if l.lists == nil {
			return l.stream(w, r)
		}
		ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
		defer cancel()
		list, err := l.lists.Open(ctx, key, known.Catalogue,
			func(ctx context.Context, dst io.Writer, begin func()) (revision int64, err error) {
				release, err := l.options.Pipeline.Admission.AcquireWhole(ctx, l.price)
				if err != nil {
					return 0, err
				}
				defer release()
				begin()
				compressor := newCompressor(dst, gzipped)
				err = l.read(ctx, model.FreshReplica, func(at int64, position string) io.Writer {
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
		return l.send(w, r, gzipped, list)
	}
	operation := &pipeline.Operation{Price: l.price, Tag: l.f.listTag, Serve: serve}
	if paid {
		operation.Price = cost.Estimate{}
	}
	return l.options.Pipeline.Run(w, r, nil, pipeline.Ready(operation))
}

// newCompressor returns a writer that compresses a list with gzip, the encoding of the response, or with s2, which
// decompresses fast.
func newCompressor(dst io.Writer, gzipped bool) io.WriteCloser {
	if !gzipped {
		return s2.NewWriter(dst, s2.WriterConcurrency(1), s2.WriterBlockSize(blockBytes))
	}
	compressor, _ := gzip.NewWriterLevel(dst, gzip.BestSpeed) // a valid level
	return compressor
}

// read reads a whole list in a transaction and writes it to the writer that begin returns.
func (l *listRequest) read(
	ctx context.Context, replicas model.Replicas, begin func(revision int64, position string) io.Writer,
) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readTimeout, errReadTimeout)
	defer cancel()
	err := l.catalogue.ReadTransaction(ctx, replicas, func(ctx context.Context, revision int64) error {
		position, err := l.position(ctx)
		if err != nil {
			return err
		}
		return l.f.packTo(begin(revision, position), func(dst io.Writer) error {
			return l.writeAll(ctx, dst, l.f, l.args, l.f.appendBegin(nil, l.resource))
		})
	})
	if err != nil && errors.Is(context.Cause(ctx), errReadTimeout) {
		return errReadTimeout
	}
	return err
}

var sendBuffers = sync.Pool{New: func() any { return new([blockBytes]byte) }}

// send sends a whole list. On failure it returns http.ErrAbortHandler, so that the client notices the incomplete
// response.
func (l *listRequest) send(w http.ResponseWriter, r *http.Request, gzipped bool, list *spool.List) error {
	tag := l.f.listTag(list.Revision) // may be newer than the revision of the request
	text := list.Reader()
	var position [positionBytes]byte
	if _, err := io.ReadFull(text, position[:]); err != nil {
		return err
	}
	l.setHeaders(w, strings.TrimSpace(string(position[:])))
	if gzipped {
		w.Header().Set("Content-Encoding", "gzip")
		tag = httpcond.SuffixTag(tag, "-gzip")
	} else {
		text = s2.NewReader(text, s2.ReaderMaxBlockSize(blockBytes))
	}
	w.Header().Set("ETag", tag)
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
			return l.aborted(w, r, err)
		}
	}
}

// aborted logs the error of a started response and returns http.ErrAbortHandler.
func (h *handler) aborted(w http.ResponseWriter, r *http.Request, err error) error {
	h.logFailure(w, r, err)
	return http.ErrAbortHandler
}

// stream sends a whole list while it is read. It is used if there are no temporary files.
func (l *listRequest) stream(w http.ResponseWriter, r *http.Request) error {
	release, err := l.options.Pipeline.Admission.AcquireWhole(r.Context(), l.price)
	if err != nil {
		return err
	}
	defer release()
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(readTimeout)) // a stalled client would hold the transaction
	defer control.SetWriteDeadline(time.Time{})
	started := false
	err = l.read(r.Context(), model.NoReplica, func(revision int64, position string) io.Writer {
		started = true
		w.Header().Set("ETag", l.f.listTag(revision))
		l.setHeaders(w, position)
		return w
	})
	if err != nil && started {
		return l.aborted(w, r, err)
	}
	return err
}
