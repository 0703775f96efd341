package server

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// counting is a connection that counts how often a deadline is set on it.
type counting struct {
	net.Conn
	set int
}

func (c *counting) SetReadDeadline(t time.Time) error {
	c.set++
	return c.Conn.SetReadDeadline(t)
}

// TestDeadlinesAreMoved wants a read to end at the deadline there is at its end, be
// it moved before the read or by another goroutine meanwhile.
func TestDeadlinesAreMoved(t *testing.T) {
	after := func(d time.Duration) time.Time {
		if d == 0 {
			return time.Time{}
		}
		return time.Now().Add(d)
	}
	for name, c := range map[string]struct {
		before, meanwhile []time.Duration // from now; 0: none
		want              time.Duration   // until the read ends, of which meanwhile is a second
	}{
		"one":                     {[]time.Duration{5 * time.Second}, nil, 5 * time.Second},
		"moved on":                {[]time.Duration{5 * time.Second, 9 * time.Second}, nil, 9 * time.Second},
		"moved on meanwhile":      {[]time.Duration{5 * time.Second}, []time.Duration{9 * time.Second}, 10 * time.Second},
		"twice":                   {[]time.Duration{5 * time.Second}, []time.Duration{9 * time.Second, 7 * time.Second}, 8 * time.Second},
		"moved nearer":            {[]time.Duration{5 * time.Second, 2 * time.Second}, nil, 2 * time.Second},
		"moved nearer meanwhile":  {[]time.Duration{5 * time.Second}, []time.Duration{time.Second}, 2 * time.Second},
		"none, then one":          {nil, []time.Duration{3 * time.Second}, 4 * time.Second},
		"passed":                  {[]time.Duration{-time.Hour}, nil, 0},
		"passed meanwhile":        {[]time.Duration{5 * time.Second}, []time.Duration{-time.Hour}, time.Second},
		"passed, then moved on":   {[]time.Duration{-time.Hour, 4 * time.Second}, nil, 4 * time.Second},
		"taken away, then one":    {[]time.Duration{5 * time.Second, 0}, []time.Duration{9 * time.Second}, 10 * time.Second},
		"taken away and set once": {[]time.Duration{5 * time.Second, 0, 6 * time.Second}, nil, 6 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ours, theirs := net.Pipe()
				defer theirs.Close()
				conn := &deadlines{Conn: ours}
				for _, d := range c.before {
					if err := conn.SetReadDeadline(after(d)); err != nil {
						t.Fatal(err)
					}
				}
				go func() {
					time.Sleep(time.Second)
					for _, d := range c.meanwhile {
						if err := conn.SetReadDeadline(after(d)); err != nil {
							t.Error(err)
						}
					}
				}()
				begin := time.Now()
				n, err := conn.Read(make([]byte, 1))
				if n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("the read gave %d bytes and %v", n, err)
				}
				if took := time.Since(begin); took != c.want {
					t.Errorf("the read took %v, not %v", took, c.want)
				}
				time.Sleep(time.Minute) // no goroutine may be left
			})
		})
	}
}

// TestDeadlineTakenAway wants a read to outlast a deadline that was taken away.
func TestDeadlineTakenAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		conn := &deadlines{Conn: ours}
		if err := errors.Join(conn.SetDeadline(time.Now().Add(time.Second)), conn.SetDeadline(time.Time{})); err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(time.Minute)
			_, _ = io.WriteString(theirs, "late")
		}()
		text := make([]byte, 10)
		if n, err := conn.Read(text); err != nil || string(text[:n]) != "late" {
			t.Errorf("read %q, %v", text[:n], err)
		}
	})
}

// TestWritesGoOn moves the deadline of a write on when half of it is taken. All of
// it must arrive, and no byte twice; and a write that nobody takes must end.
func TestWritesGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		conn := &deadlines{Conn: ours}
		if err := conn.SetDeadline(time.Now().Add(2 * time.Second)); err != nil {
			t.Fatal(err)
		}
		sent, got := []byte("half and half"), make([]byte, 13)
		go func() {
			if _, err := io.ReadFull(theirs, got[:4]); err != nil {
				t.Error(err)
			}
			if err := conn.SetWriteDeadline(time.Now().Add(9 * time.Second)); err != nil {
				t.Error(err)
			}
			time.Sleep(5 * time.Second)
			if _, err := io.ReadFull(theirs, got[4:]); err != nil {
				t.Error(err)
			}
		}()
		if n, err := conn.Write(sent); n != len(sent) || err != nil {
			t.Errorf("wrote %d bytes, %v", n, err)
		}
		synctest.Wait()
		if !bytes.Equal(got, sent) {
			t.Errorf("%q arrived", got)
		}
		begin := time.Now()
		if n, err := conn.Write(sent); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(begin) != 4*time.Second {
			t.Errorf("wrote %d bytes in %v, %v", n, time.Since(begin), err)
		}
	})
}

// TestDeadlinesAreSetWhereNeeded moves deadlines as net/http does for a request.
func TestDeadlinesAreSetWhereNeeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		counted := &counting{Conn: ours}
		conn := &deadlines{Conn: counted}
		move := func(t time.Time) { _ = conn.SetReadDeadline(t) }
		byte1 := make([]byte, 1)
		const requests = 100
		for range requests {
			go func() { _, _ = theirs.Write(byte1) }()
			move(time.Now().Add(idleTimeout))
			if _, err := conn.Read(byte1); err != nil {
				t.Fatal(err)
			}
			move(time.Time{})
			move(time.Now().Add(readHeaderTimeout))
			move(time.Now().Add(readTimeout))
			move(time.Time{})
			go func() { _, _ = conn.Read(byte1) }() // is the client still there?
			synctest.Wait()
			move(time.Unix(1, 0))
			synctest.Wait()
			move(time.Time{})
			time.Sleep(time.Millisecond)
		}
		if counted.set > 2*requests {
			t.Errorf("deadlines of %d requests were set %d times", requests, counted.set)
		}
	})
}
