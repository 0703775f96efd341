package rest

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"

	"library-catalogue/graph/model"
	"library-catalogue/rest/spool"
)

// chunk is how many objects of a whole list are read at a time.
const chunk = 500

// getAll answers a whole list. It is read as fast as the database gives it, and
// compressed if that is wanted, once for all who ask for it at the same revision or
// before that begins; how fast a client takes it is its own affair.
func (h *handler) getAll(w http.ResponseWriter, r *http.Request, res *resource, f *format, args model.PageArgs) error {
	ctx := r.Context()
	if _, err := res.list(ctx, f, args); err != nil { // it reads nothing yet
		return err
	}
	revision, err := h.catalogue.Revision(ctx)
	if err != nil || NotModified(w, r, f.listTag(revision.Catalogue)) {
		return err
	}
	asked, err := json.Marshal(args)
	if err != nil {
		return err
	}
	zipped := strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") && res.listing.list(args).Rows(h.catalogue.Sizes()) > chunk
	key := fmt.Sprintf("%s%s %t %s", res.name, f.tag, zipped, asked)
	list := h.lists.Open(ctx, key, revision.Catalogue, h.options.Caller(ctx), func(ctx context.Context, dst io.Writer, begin func()) ([]byte, error) {
		return h.readAll(ctx, dst, begin, zipped, res, f, args)
	})
	defer list.Close()
	return h.sendAll(w, r, zipped, res, f, list)
}

// readAll writes the whole list to dst: the revision that it is of, in 8 bytes, and the
// answer, with gzip if that is wanted. It returns the end of that. Each part of it may
// take Options.Timeout.
func (h *handler) readAll(ctx context.Context, dst io.Writer, begin func(), zipped bool, res *resource, f *format, args model.PageArgs) (end []byte, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	release, err := h.options.Admit(ctx, res.wholeCost(args, h.catalogue.Sizes()).Work())
	if err != nil {
		return nil, err
	}
	defer release()
	begin()
	timer := time.AfterFunc(h.options.Timeout, cancel)
	defer timer.Stop()
	var text []byte
	var compressor *gzip.Writer
	err = h.catalogue.InSnapshot(ctx, func(ctx context.Context, revision int64) error {
		text = binary.BigEndian.AppendUint64(nil, uint64(revision))
		if zipped {
			if _, err := dst.Write(text); err != nil {
				return err
			}
			compressor, _ = gzip.NewWriterLevel(dst, gzip.BestSpeed)
			text, dst = text[:0], compressor
		}
		text = f.appendBegin(text, res)
		first := true
		var encoding beside
		defer encoding.wait()
		err := res.stream(ctx, f, args, func(ctx context.Context, part objects) error {
			timer.Reset(h.options.Timeout)
			return encoding.begin(func() (err error) {
				if !first {
					if _, err := dst.Write(text); err != nil {
						return err
					}
					text = append(text[:0], f.separator...)
				}
				first = false
				text, err = part(ctx, text)
				return err
			})
		})
		return cmp.Or(encoding.wait(), err)
	})
	if err != nil {
		return nil, err
	}
	text = append(text, f.end...)
	if !zipped {
		return text, nil
	}
	if _, err := compressor.Write(text); err != nil {
		return nil, err
	}
	return nil, compressor.Close()
}

// beside runs one function after another beside its caller.
type beside struct {
	running sync.WaitGroup
	err     error // of the last
}

// begin begins fn when the function before has ended, unless that failed: it returns why.
func (b *beside) begin(fn func() error) error {
	if err := b.wait(); err != nil {
		return err
	}
	b.running.Go(func() {
		defer func() {
			if failure := recover(); failure != nil {
				b.err = fmt.Errorf("panic: %v\n%s", failure, debug.Stack())
			}
		}()
		b.err = fn()
	})
	return nil
}

// wait waits until the last function has ended, and returns its error.
func (b *beside) wait() error {
	b.running.Wait()
	return b.err
}

// sendBuffers are for what is sent at once: as much as net/http's own copies take.
var sendBuffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// sendAll sends a whole list that is being read. Where that fails after the first
// byte, it returns http.ErrAbortHandler, so that no client takes a part for the whole.
func (h *handler) sendAll(w http.ResponseWriter, r *http.Request, zipped bool, res *resource, f *format, list *spool.Reader) error {
	var revision [8]byte
	if _, err := io.ReadFull(list, revision[:]); err != nil {
		return err
	}
	tag := f.listTag(int64(binary.BigEndian.Uint64(revision[:]))) // it may be newer than the look
	if zipped {
		w.Header().Set("Content-Encoding", "gzip")
		tag = suffixTag(tag, "-gzip")
	}
	w.Header().Set("ETag", tag)
	f.setHeaders(w, res)
	buffer := sendBuffers.Get().(*[32 << 10]byte)
	defer sendBuffers.Put(buffer)
	control := http.NewResponseController(w)
	for sent := false; ; sent = true {
		n, err := list.Read(buffer[:])
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !sent:
			return err
		case err != nil:
			h.logFailure(w, r, err)
			return http.ErrAbortHandler
		}
		_, err = w.Write(buffer[:n])
		if more, waiting := list.More(); err == nil && (waiting || more && !sent) {
			err = control.Flush()
		}
		if err != nil {
			return http.ErrAbortHandler // the client has gone
		}
		if r.Method == http.MethodHead {
			return nil // the headers are known
		}
	}
}

// streamOf makes what sends a whole list in chunks.
func streamOf[P any](read func(context.Context, model.PageArgs, int, func(context.Context, []P) error) error,
	object func(ctx context.Context, dst []byte, row P) ([]byte, error),
) func(context.Context, *format, model.PageArgs, func(context.Context, objects) error) error {
	return func(ctx context.Context, f *format, args model.PageArgs, send func(context.Context, objects) error) error {
		return read(ctx, args, chunk, func(ctx context.Context, rows []P) error { return send(ctx, objectsOf(f, rows, object)) })
	}
}
