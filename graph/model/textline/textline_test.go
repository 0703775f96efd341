package textline

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// TestReader reads lines with mixed ends, also from a reader that returns a byte at a time.
func TestReader(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a\nb\r\nc\rd":                     `1 "a\n", 2 "b\r\n", 3 "c\r", 4 "d" unended`,
		"\r\r\n\n":                         `1 "\r", 2 "\r\n", 3 "\n"`,
		ByteOrderMark + "a\n":              `1 "a\n"`,
		ByteOrderMark:                      "",
		"\n" + ByteOrderMark:               `1 "\n", 2 "\ufeff" unended`,
		strings.Repeat("x", 70_000) + "\n": fmt.Sprintf("1 %q", strings.Repeat("x", 70_000)+"\n"),
	} {
		for _, in := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
			r := NewReader(in)
			var got []string
			for {
				line, err := r.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if line.Number == 2 { // unread once
					r.Unread([]Line{line})
					line, _ = r.Next()
				}
				shown := fmt.Sprintf("%d %q", line.Number, line.Text)
				if r.IsUnended() {
					shown += " unended"
				}
				got = append(got, shown)
			}
			if diff := cmp.Diff(want, strings.Join(got, ", ")); diff != "" {
				t.Errorf("%.20q (-want +got):\n%s", text, diff)
			}
		}
	}
	if _, err := new(Reader).Next(); !errors.Is(err, io.EOF) {
		t.Errorf("the zero reader: %v", err)
	}
}

// TestLongLines keeps the beginning of a line that is too long, and the lines after it.
func TestLongLines(t *testing.T) {
	t.Parallel()
	r := NewReader(strings.NewReader(strings.Repeat("x", 2*MaxBytes) + "\r\nb"))
	long, err := r.Next()
	if err != nil || !long.TooLong || len(long.Text) != MaxBytes {
		t.Errorf("%d bytes, too long %v, %v", len(long.Text), long.TooLong, err)
	}
	if next, err := r.NextFull(); err != nil || next.TooLong || string(next.Text) != "b" || next.Number != 2 {
		t.Errorf("behind it: %q in line %d, too long %v, %v", next.Text, next.Number, next.TooLong, err)
	}
}
