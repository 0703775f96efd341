package graphqlhttp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/graph/model"
)

// FuzzObject holds the reader of objects to encoding/json: it takes what that takes,
// and finds the same in it, but for keys that are there twice, which it refuses. The
// text that it gives is the same whatever the order of the members and the way that
// they are written.
func FuzzObject(f *testing.F) {
	var keys []string
	for i := range maxMembers + 1 {
		keys = append(keys, fmt.Sprintf(`"%d":0`, i))
	}
	for _, seed := range []string{
		`{}`, " {\t}\r\n", `{"a":1}`, `{"a":[],"b":[[],{}],"c":{"d":null}}`, `{"a":true,"b":false,"c":null}`,
		`{"":"","\u0061":"\ud83d\udc09\"\\\/\b\f\n\r\t"}`, `{"a":-0,"b":0.5,"c":1e+9,"d":-1.5E-10,"e":123456789012345678901234567890}`,
		`{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{"a":{"b":1,"b":2}}`,
		``, `null`, `[]`, `"{}"`, `{`, `{"`, `{"a`, `{"a\`, `{"a"`, `{"a":`, `{"a":1`, `{"a":"`, `{"a":[`, `{"a":[1`, `{}{}`, `{}x`, "{}\x00", "\x00{}",
		`{,}`, `{"a":1,}`, `{"a":1 "b":2}`, `{"a" 1}`, `{"a":,}`, `{"a":[,]}`, `{"a":[1,]}`, `{"a":[1 2]}`, `{"a":[1}}`, `{"a":{]}`, `{a:1}`, `{1:1}`,
		`{"a":01}`, `{"a":+1}`, `{"a":1.}`, `{"a":.5}`, `{"a":1e}`, `{"a":-}`, `{"a":1e999}`, `{"a":0x1}`, `{"a":NaN}`, `{"a":nul}`, `{"a":trues}`, `{"a":1"b"}`, `{"a":null{}}`,
		"{\"a\":\"\x01\"}", "{\"a\":\"\\\x01\"}", `{"a":"\x"}`, `{"a":"\u12"}`, `{"a":"\u12g4"}`, `{"a":"\ud800"}`, "{\"a\":\"\xff\"}", "{\"\u2028\":1\u00a0}",
		`{` + strings.Join(keys[:maxMembers], ",") + `}`, `{"a":{` + strings.Join(keys, ",") + `}}`,
		`{"a":` + strings.Repeat(`[`, 30) + strings.Repeat(`]`, 30) + `}`, `{"a":[` + strings.Repeat(`1,`, maxValues) + `1]}`, `{"a":[` + strings.Repeat(`1,`, maxValues),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		canonical, err := readObject(data, 0)
		_, large := errors.AsType[tooLargeError](err)
		twice := err != nil && strings.HasSuffix(err.Error(), "is given twice")

		isJSON := json.Valid(data)
		isObject := isJSON && bytes.TrimLeft(data, " \t\r\n")[0] == '{'
		if broken := model.CheckJSON(data); broken != nil || !isObject {
			if err == nil || large || twice || (broken == nil && isJSON) != errors.Is(err, errNotObject) ||
				(broken == nil && !isJSON) != errors.Is(err, errNotJSON) {
				t.Fatalf("%q: %v", data, err)
			}
			return
		}
		m := jsonMeasure{Decoder: json.NewDecoder(bytes.NewReader(data))}
		m.UseNumber()
		want := m.value(t, 0)
		m.values-- // the object itself
		tooLarge := m.depth > maxValueDepth || m.values > maxValues || m.members > maxMembers
		if (err == nil) != (!tooLarge && !m.twice) || large && !tooLarge || twice && !m.twice {
			t.Fatalf("%q: %v, for %d levels, %d values, a key twice: %t", data, err, m.depth, m.values, m.twice)
		}
		if err != nil {
			return
		}
		got := jsonMeasure{Decoder: json.NewDecoder(bytes.NewReader(canonical))}
		got.UseNumber()
		if diff := cmp.Diff(want, got.value(t, 0)); diff != "" {
			t.Errorf("%q: %s", data, diff)
		}
		sorted, err := json.Marshal(want) // which escapes more than it must
		if err != nil {
			t.Fatal(err)
		}
		if again, err := readObject(sorted, 0); err != nil || !bytes.Equal(again, canonical) {
			t.Errorf("%q: %q, %v; in order: %q", data, canonical, err, again)
		}
	})
}

// jsonMeasure reads a value token by token, and sees what the limits are for.
type jsonMeasure struct {
	*json.Decoder
	depth, values, members int // members: of the largest object
	twice                  bool
}

func (m *jsonMeasure) value(t *testing.T, depth int) any {
	m.values++
	m.depth = max(m.depth, depth)
	token := m.next(t)
	switch token {
	case json.Delim('['):
		items := []any{}
		for m.More() {
			items = append(items, m.value(t, depth+1))
		}
		m.next(t)
		return items
	case json.Delim('{'):
		members := map[string]any{}
		count := 0
		for ; m.More(); count++ {
			key := m.next(t).(string)
			_, there := members[key]
			m.twice = m.twice || there
			members[key] = m.value(t, depth+1)
		}
		m.members = max(m.members, count)
		m.next(t)
		return members
	}
	return token
}

func (m *jsonMeasure) next(t *testing.T) json.Token {
	token, err := m.Token()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func BenchmarkObject(b *testing.B) {
	for _, fields := range []int{10, 40} {
		body := fmt.Appendf(nil, `{"query":%q,"variables":{"id":"123"}}`, "query($id: ID!) {"+strings.Repeat(" ... on Book { pages }", fields)+" }")
		b.Run(fmt.Sprintf("%d bytes", len(body)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := readObject(body, 2); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
