package model_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"library-catalogue/graph/model"
)

// TestTimestampAppendJSON compares the encoder with the time package, over all
// the years that a timestamp may have.
func TestTimestampAppendJSON(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	first := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	last := time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC).UnixMicro()
	moments := []int64{first, last, -1, 0, 1, time.Date(2024, 2, 29, 12, 0, 0, 1000, time.UTC).UnixMicro()}
	for range 100_000 {
		moments = append(moments, first+r.Int64N(last-first))
	}
	for _, micros := range moments {
		want := time.UnixMicro(micros).UTC().Format(`"2006-01-02T15:04:05.000000Z"`)
		if got := string(model.Timestamp(micros).AppendJSON(nil)); got != want {
			t.Fatalf("%d: got %s, want %s", micros, got, want)
		}
	}
}

// FuzzAppendString holds the encoder to gqlgen's bytes, and to what JSON means
// by them.
func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "plain", `"\`, "\x00\x1f\t\r\n\x7f", "Čapek 🐉\u2028", "<&>"} {
		f.Add(s)
		f.Add("1234567" + s + "12345678") // within eight bytes and across them
	}
	f.Fuzz(func(t *testing.T, s string) {
		var want bytes.Buffer
		graphql.MarshalString(s).MarshalGQL(&want)
		got := model.AppendString([]byte("before"), s)
		if string(got) != "before"+want.String() {
			t.Fatalf("%q: got %s, want %s", s, got, want.String())
		}
		var back string
		must(t, json.Unmarshal(want.Bytes(), &back))
		if clean := string([]rune(s)); back != clean { // JSON has no bytes that are not UTF-8
			t.Fatalf("%q came back as %q", s, back)
		}
	})
}

// BenchmarkAppend writes each kind of value as JSON.
func BenchmarkAppend(b *testing.B) {
	text := strings.Repeat("lorem ipsum — ", 14)
	quoted := strings.Repeat(`"lorem" ipsum — `, 12)
	buffer := make([]byte, 0, 1024)
	for _, value := range []struct {
		name   string
		append func(dst []byte) []byte
	}{
		{"short text", func(dst []byte) []byte { return model.AppendString(dst, text[:24]) }},
		{"text", func(dst []byte) []byte { return model.AppendString(dst, text) }},
		{"text with quotes", func(dst []byte) []byte { return model.AppendString(dst, quoted) }},
		{"id", model.ID(123_456).AppendJSON},
		{"price", model.Cents(1_999).AppendJSON},
		{"day", model.Date{Year: 2024, Month: 2, Day: 29}.AppendJSON},
		{"time", model.Timestamp(1_790_000_000_123_456).AppendJSON},
	} {
		b.Run(value.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				buffer = value.append(buffer[:0])
			}
			b.SetBytes(int64(len(buffer)))
		})
	}
}
