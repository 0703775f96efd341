package spool

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// newSpool returns a spool that has to be empty at the end of the test.
func newSpool(t *testing.T, max int64) *Spool {
	t.Helper()
	s := New(max, slog.New(slog.NewTextHandler(t.Output(), nil)))
	t.Cleanup(func() {
		if len(s.lists) > 0 || s.used != 0 {
			t.Errorf("%d lists and %d bytes are left", len(s.lists), s.used)
		}
	})
	return s
}

// writing returns what writes a text, of a revision.
func writing(text string, revision int64) Write {
	return func(_ context.Context, dst io.Writer, begin func()) (int64, error) {
		begin()
		_, err := io.WriteString(dst, text)
		return revision, err
	}
}

// wantText demands that a list is a text.
func wantText(t *testing.T, l *List, want string) {
	t.Helper()
	if got, err := io.ReadAll(l.Reader()); string(got) != want || err != nil {
		t.Errorf("the list has %d bytes, want %d: %v", len(got), len(want), err)
	}
}

// TestJoin asks for a list while others are written: one that has not begun, or is of the
// same revision, is joined.
func TestJoin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSpool(t, 1<<20)
		begin, end := make(chan struct{}), make(chan struct{})
		join := func(key string, revision int64) *List {
			l, _ := s.join(t.Context(), key, revision, func(ctx context.Context, dst io.Writer, begun func()) (int64, error) {
				<-begin
				begun()
				<-end
				return writing("", revision)(ctx, dst, func() {})
			})
			synctest.Wait()
			return l
		}
		lists := []*List{join("a", 1), join("a", 2)} // the first has not begun
		begin <- struct{}{}
		synctest.Wait()
		lists = append(lists, join("a", 1), join("a", 3), join("b", 1))
		close(begin)
		close(end)
		for i, want := range []bool{true, true, true, false, false} {
			<-lists[i].ready
			if joined := lists[i] == lists[0]; joined != want {
				t.Errorf("list %d: joined %t, want %t", i, joined, want)
			}
			lists[i].Close()
		}
	})
}

// TestFailures fails to write a list: nobody gets a part, and who asks next has another try.
func TestFailures(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, fail := range map[string]func() error{"error": func() error { return broken }, "panic": func() error { panic("broken") }} {
		t.Run(name, func(t *testing.T) {
			s := newSpool(t, 1<<20)
			write := func(_ context.Context, dst io.Writer, _ func()) (int64, error) {
				_, _ = dst.Write(bytes.Repeat([]byte("a"), 200_000))
				return 1, fail()
			}
			waits, _ := s.join(t.Context(), "key", 1, write) // does not know yet
			defer waits.Close()
			l, err := s.Open(t.Context(), "key", 1, write)
			if l != nil || err == nil || !strings.Contains(err.Error(), "broken") {
				t.Errorf("%v, %v", l, err)
			}
			<-waits.ready
			l, err = s.Open(t.Context(), "key", 1, writing("whole", 7))
			if err != nil {
				t.Fatal(err)
			}
			wantText(t, l, "whole")
			if l.Revision != 7 {
				t.Errorf("revision %d", l.Revision)
			}
			l.Close()
		})
	}
}

// TestJoinedFails joins a list that fails for the one who asked first: the other has a try
// of its own.
func TestJoinedFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSpool(t, 1<<20)
		fail := make(chan struct{})
		first, _ := s.join(t.Context(), "key", 1, func(context.Context, io.Writer, func()) (int64, error) {
			<-fail
			return 0, ErrFull
		})
		go func() {
			synctest.Wait() // until the other has joined
			close(fail)
		}()
		l, err := s.Open(t.Context(), "key", 1, writing("whole", 1))
		if err != nil {
			t.Fatal(err)
		}
		wantText(t, l, "whole")
		l.Close()
		first.Close()
	})
}

// TestLastReaderStops lets the readers go while a list is written: with the last of them the
// writing ends.
func TestLastReaderStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSpool(t, 1<<20)
		write := func(ctx context.Context, _ io.Writer, _ func()) (int64, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		}
		begun := time.Now()
		var all sync.WaitGroup
		for i := range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+i)*time.Second)
			defer cancel()
			all.Go(func() {
				if _, err := s.Open(ctx, "key", 1, write); err == nil {
					t.Error("there is a list")
				}
			})
		}
		all.Wait()
		if took := time.Since(begun); took != 3*time.Second {
			t.Errorf("the writing ended after %v", took)
		}
	})
}

// TestRoom writes more than there is room for: the oldest lists go, and their readers get no
// end. A list that takes no room yet stays, and one that does not fit alone is refused. Files
// are closed.
func TestRoom(t *testing.T) {
	t.Parallel()
	s := newSpool(t, 300_000)
	text := strings.Repeat("a", 140_000)
	begin := make(chan struct{})
	waits, _ := s.join(t.Context(), "waits", 1, func(ctx context.Context, dst io.Writer, begun func()) (int64, error) {
		<-begin
		return writing("whole", 1)(ctx, dst, begun)
	})
	var lists []*List
	var files []*os.File
	for revision := range int64(3) {
		l, err := s.Open(t.Context(), "key", revision, writing(text, revision))
		if err != nil {
			t.Fatal(err)
		}
		lists, files = append(lists, l), append(files, l.file)
	}
	if got, err := io.ReadAll(lists[0].Reader()); !errors.Is(err, ErrFull) {
		t.Errorf("the oldest list has %d bytes: %v", len(got), err)
	}
	wantText(t, lists[1], text)
	wantText(t, lists[2], text)
	if _, err := s.Open(t.Context(), "large", 1, writing(strings.Repeat(text, 3), 1)); !errors.Is(err, errTooLong) {
		t.Errorf("a list that is too large: %v", err)
	}
	close(begin)
	<-waits.ready
	wantText(t, waits, "whole")
	waits.Close()
	for i, l := range lists {
		l.Close()
		if _, err := files[i].Stat(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("the file of list %d is open: %v", i, err)
		}
	}
}

// TestTemporaryFilesGone takes the directory of temporary files away after the start: a list
// is refused, and nothing of it is sent.
func TestTemporaryFilesGone(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	s := newSpool(t, 1<<20)
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if l, err := s.Open(t.Context(), "key", 1, writing("whole", 1)); l != nil || !errors.Is(err, ErrFull) {
		t.Errorf("%v, %v", l, err)
	}
}

// TestSecondTry begins a list again after a first try that wrote much: its bytes are free again, and nothing of it stays.
func TestSecondTry(t *testing.T) {
	t.Parallel()
	s := newSpool(t, 300_000)
	const first, second = 250_000, 200_000
	l, err := s.Open(t.Context(), "key", 1, func(_ context.Context, dst io.Writer, begin func()) (int64, error) {
		begin()
		_, err := io.WriteString(dst, strings.Repeat("a", first))
		begin()
		_, again := io.WriteString(dst, strings.Repeat("b", second))
		return 1, errors.Join(err, again)
	})
	if err != nil {
		t.Fatal(err)
	}
	wantText(t, l, strings.Repeat("b", second))
	if s.used != second {
		t.Errorf("%d bytes are reserved, want %d", s.used, second)
	}
	l.Close()
}
