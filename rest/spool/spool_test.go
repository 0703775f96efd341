package spool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
)

const mebibyte = 1 << 20

// newSpools returns Spools that have to be empty at the end of the test.
func newSpools(t *testing.T, maxBytes int64) *Spools {
	t.Helper()
	s := New(maxBytes, slog.New(slog.NewTextHandler(t.Output(), nil)))
	t.Cleanup(func() {
		if len(s.texts) > 0 || s.used != 0 || s.plain.Load() != 0 {
			t.Errorf("%d texts, %d bytes and %d blocks are left", len(s.texts), s.used, s.plain.Load())
		}
	})
	return s
}

// textOf returns a text of so many bytes of which a half is by chance.
func textOf(seed uint64, length int) []byte {
	text := make([]byte, length)
	noise := rand.NewChaCha8([32]byte{byte(seed)})
	for i := 0; i < length; i += 128 {
		_, _ = noise.Read(text[i:min(i+64, length)])
	}
	return text
}

// writing returns what produces a text, in parts.
func writing(text []byte) Producer {
	const part = 100_000
	return func(ctx context.Context, w io.Writer, _ func()) ([]byte, error) {
		rest := text
		for ; len(rest) > part && ctx.Err() == nil; rest = rest[part:] {
			if _, err := w.Write(rest[:part]); err != nil {
				return nil, err
			}
		}
		return rest, ctx.Err()
	}
}

// TestReaders lets many read a text, some of them slowly or not to the end: it is
// produced once, before the slow ones are done.
func TestReaders(t *testing.T) {
	t.Parallel()
	for name, inFiles := range map[string]bool{"files": true, "memory": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSpools(t, 64*mebibyte)
			s.inFiles = inFiles
			text := textOf(1, 5*mebibyte+17)
			var produced atomic.Int64
			done := make(chan struct{})
			produce := func(ctx context.Context, w io.Writer, begin func()) ([]byte, error) {
				produced.Add(1)
				defer close(done)
				return writing(text)(ctx, w, begin)
			}
			var all sync.WaitGroup
			for i := range 200 {
				r := s.Open(t.Context(), "key", 1, i, produce)
				all.Go(func() {
					defer r.Close()
					var in io.Reader = r
					switch i % 4 {
					case 0:
						in = iotest.HalfReader(r)
					case 1:
						<-done
					case 2:
						in = io.LimitReader(r, int64(i)*10_000)
					}
					got, err := io.ReadAll(in)
					if err != nil || !bytes.HasPrefix(text, got) || i%4 != 2 && len(got) < len(text) {
						t.Errorf("reader %d got %d of %d bytes, or others: %v", i, len(got), len(text), err)
					}
				})
			}
			all.Wait()
			if n := produced.Load(); n != 1 {
				t.Errorf("the text was produced %d times", n)
			}
		})
	}
}

// TestReadersFollow reads what there is before the rest is written.
func TestReadersFollow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSpools(t, mebibyte)
		in, out := io.Pipe()
		r := s.Open(t.Context(), "key", 1, nil, func(_ context.Context, w io.Writer, _ func()) ([]byte, error) {
			_, err := io.Copy(w, in)
			return nil, err
		})
		defer r.Close()
		for i := range 3 {
			synctest.Wait()
			if more, waiting := r.More(); !more || !waiting {
				t.Error("there is something to read")
			}
			want := fmt.Sprint("part ", i)
			_, _ = io.WriteString(out, want)
			got := make([]byte, 100)
			if n, err := r.Read(got); err != nil || string(got[:n]) != want {
				t.Errorf("read %q, %v", got[:n], err)
			}
		}
		out.Close()
		synctest.Wait()
		more, waiting := r.More()
		if n, err := r.Read(make([]byte, 1)); n > 0 || !errors.Is(err, io.EOF) || more || waiting {
			t.Errorf("at the end: %d, %v, %v, %v", n, err, more, waiting)
		}
	})
}

// TestEnd reads the first byte of a text's end while that is written: no more comes.
func TestEnd(t *testing.T) {
	t.Parallel()
	text := textOf(1, mebibyte)
	for range 100 {
		s := newSpools(t, mebibyte)
		r := s.Open(t.Context(), "key", 1, nil, func(context.Context, io.Writer, func()) ([]byte, error) { return text, nil })
		for waiting := true; waiting; _, waiting = r.More() {
		}
		_, err := r.Read(make([]byte, 1))
		if more, waiting := r.More(); err != nil || more || waiting {
			t.Error("more of the text is to be made", err)
		}
		r.Close()
	}
}

// TestOneAtATime asks for a text while one of an earlier revision is written: it is written
// next, once for all who ask until it begins.
func TestOneAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSpools(t, mebibyte)
		var latest atomic.Int64 // revision
		open := func() *Reader {
			return s.Open(t.Context(), "key", latest.Add(1), nil, func(_ context.Context, _ io.Writer, begin func()) ([]byte, error) {
				begin()
				text := fmt.Sprint("of ", latest.Load())
				time.Sleep(time.Second)
				return []byte(text), nil
			})
		}
		asked := time.Now()
		var readers []*Reader
		for range 4 {
			readers = append(readers, open())
			synctest.Wait()
		}
		other := s.Open(t.Context(), "other", 4, nil, writing([]byte("other")))
		if text, err := io.ReadAll(other); string(text) != "other" || err != nil || time.Since(asked) > 0 {
			t.Errorf("another key's: %q, %v after %v", text, err, time.Since(asked))
		}
		for i, want := range []string{"of 1", "of 4", "of 4", "of 4"} {
			if text, err := io.ReadAll(readers[i]); string(text) != want || err != nil {
				t.Errorf("%d: %q, %v, want %q", i, text, err, want)
			}
		}
		if took := time.Since(asked); took != 2*time.Second {
			t.Errorf("two texts take %v", took)
		}
		for _, r := range append(readers, other) {
			r.Close()
		}
	})
}

// TestFailures ends a text that cannot be produced, for all its readers. Who comes
// later has another try.
func TestFailures(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, fail := range map[string]func() ([]byte, error){"error": func() ([]byte, error) { return nil, broken }, "panic": func() ([]byte, error) { panic("broken") }} {
		synctest.Test(t, func(t *testing.T) {
			s := newSpools(t, mebibyte)
			produce := func(_ context.Context, w io.Writer, _ func()) ([]byte, error) {
				_, _ = w.Write([]byte("half"))
				time.Sleep(time.Second)
				return fail()
			}
			first, second := s.Open(t.Context(), "key", 1, 1, produce), s.Open(t.Context(), "key", 1, 2, produce)
			for i, want := range []string{"half", ""} { // the second reads when all is over
				text, err := io.ReadAll([]*Reader{first, second}[i])
				if string(text) != want || err == nil || !strings.Contains(err.Error(), "broken") {
					t.Errorf("%s: read %q, %v", name, text, err)
				}
			}
			third := s.Open(t.Context(), "key", 1, 1, writing([]byte("whole")))
			if text, err := io.ReadAll(third); string(text) != "whole" || err != nil {
				t.Errorf("%s: later: %q, %v", name, text, err)
			}
			for _, r := range []*Reader{first, second, third} {
				r.Close()
			}
		})
	}
}

// TestReadersLeave ends what nobody reads any more, and not before. Who asks again
// starts anew.
func TestReadersLeave(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSpools(t, mebibyte)
		type value struct{}
		asking, gone := context.WithCancel(context.WithValue(t.Context(), value{}, "kept"))
		var ended error
		produce := func(ctx context.Context, w io.Writer, _ func()) ([]byte, error) {
			if ctx.Value(value{}) != "kept" {
				t.Error("the values of the context are lost")
			}
			<-ctx.Done()
			ended = ctx.Err()
			return nil, ended
		}
		first, second := s.Open(asking, "key", 1, 1, produce), s.Open(t.Context(), "key", 1, 2, produce)
		gone()
		if _, err := first.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
			t.Errorf("who has gone gets %v", err)
		}
		first.Close()
		if synctest.Wait(); ended != nil {
			t.Error("the text has ended, though somebody reads it")
		}
		second.Close()
		if ended == nil {
			t.Error("the text is still produced when its last reader is told that it is not")
		}
		third := s.Open(t.Context(), "key", 1, 1, writing([]byte("whole")))
		defer third.Close()
		if text, err := io.ReadAll(third); string(text) != "whole" || err != nil {
			t.Errorf("later: %q, %v", text, err)
		}
	})
}

// TestRoom fills the room with the texts of one who reads none of them: the oldest of
// these go, and neither those of others nor one that others read too.
func TestRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSpools(t, 8*mebibyte)
		text := textOf(1, 3*mebibyte) // of which 1 MB or so is compressed
		open := func(key, owner string) *Reader {
			r := s.Open(t.Context(), key, 1, owner, writing(text))
			t.Cleanup(r.Close)
			synctest.Wait()
			return r
		}
		shared := []*Reader{open("shared", "greedy"), open("shared", "modest")}
		modest := open("modest", "modest")
		var greedy []*Reader
		for i := range 20 {
			greedy = append(greedy, open(fmt.Sprint("greedy ", i), "greedy"))
		}
		if s.used > s.max {
			t.Errorf("%d bytes are taken", s.used)
		}
		for _, r := range append(shared, modest, greedy[len(greedy)-1]) {
			if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, text) {
				t.Errorf("a text that stays: %d bytes, %v", len(got), err)
			}
		}
		if got, err := io.ReadAll(greedy[0]); !errors.Is(err, ErrFull) {
			t.Errorf("the first of the others: %d bytes, %v", len(got), err)
		}
		// One that is longer than the room ends too.
		r := s.Open(t.Context(), "long", 1, "modest", writing(textOf(2, 40*mebibyte)))
		defer r.Close()
		if _, err := io.ReadAll(r); !errors.Is(err, ErrFull) {
			t.Errorf("one that is too long: %v", err)
		}
	})
}

// TestNoFiles has no directory for temporary files.
func TestNoFiles(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()+"/none")
	if s := New(1<<40, slog.New(slog.DiscardHandler)); s.inFiles || s.max != maxInMemory {
		t.Errorf("%v, %d bytes", s.inFiles, s.max)
	}
}
