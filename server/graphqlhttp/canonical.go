package graphqlhttp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"library-catalogue/graph/model"
)

// errNotObject says that a text is no JSON object.
var errNotObject = errors.New("not a JSON object")

// errTooLarge says that a value is over a limit.
type errTooLarge string

func (e errTooLarge) Error() string { return string(e) }

// object reads a JSON object (RFC 8259), strictly: valid UTF-8, no half of a
// surrogate pair, nothing after it, no key twice in an object. Its members may
// hold as many values as the limits say, nested so many levels deep below base.
//
// It gives the object's canonical text: without white space, with the members of
// each object in order of their names, and with escapes only where JSON wants
// them. Numbers stay as they are written.
func (l Limits) object(data []byte, base int) (canonical string, _ error) {
	if err := model.CheckJSON(data); err != nil {
		return "", err
	}
	c := canonicalizer{jsonReader: jsonReader{text: string(data)}, limits: l, base: base, dst: make([]byte, 0, len(data))}
	err := errNotObject
	if c.next() == '{' {
		err = c.object(0)
	}
	if c.next(); err == nil && c.at < len(data) {
		err = errNotObject
	}
	if err == nil {
		return string(c.dst), nil
	}
	if !json.Valid(data) { // which goes before whatever else is wrong with it
		err = errNotObject
	}
	return "", err
}

// canonicalizer writes the canonical form of a text, which it finds out to be JSON
// or not.
type canonicalizer struct {
	jsonReader
	limits  Limits
	base    int
	values  int
	dst     []byte
	members []member // of the objects that are not closed yet
}

// member is where the name and the value of a member are in the canonical text.
type member struct{ start, colon, end int }

func (c *canonicalizer) value(depth int) error {
	if c.values++; c.values > c.limits.Values {
		return errTooLarge(fmt.Sprintf("The request has too many values: %d are allowed.", c.limits.Values))
	}
	if depth > c.base+c.limits.VariableDepth {
		return errTooLarge(fmt.Sprintf("The values of the request are too deep: %d levels are allowed.", c.limits.VariableDepth))
	}
	switch c.next() {
	case '{':
		return c.object(depth)
	case '[':
		return c.array(depth)
	case '"':
		return c.string()
	}
	word := c.word()
	if word != "null" && word != "true" && word != "false" && !json.Valid([]byte(word)) {
		return errNotObject
	}
	c.dst = append(c.dst, word...)
	return nil
}

func (c *canonicalizer) array(depth int) error {
	c.at++
	c.dst = append(c.dst, '[')
	for n := 0; ; n++ {
		if more, err := c.more(n, ']'); !more {
			c.dst = append(c.dst, ']')
			return err
		}
		if n > 0 {
			c.dst = append(c.dst, ',')
		}
		if err := c.value(depth + 1); err != nil {
			return err
		}
	}
}

func (c *canonicalizer) object(depth int) error {
	c.at++
	c.dst = append(c.dst, '{')
	before, sorted := len(c.members), true
	for n := 0; ; n++ {
		if more, err := c.more(n, '}'); err != nil {
			return err
		} else if !more {
			break
		}
		if n == c.limits.members() {
			return errTooLarge(fmt.Sprintf("An object of the request has too many members: %d are allowed.", n))
		}
		if n > 0 {
			c.dst = append(c.dst, ',')
		}
		m := member{start: len(c.dst)}
		if err := c.string(); err != nil {
			return err
		}
		m.colon = len(c.dst)
		if c.next() != ':' {
			return errNotObject
		}
		c.at++
		c.dst = append(c.dst, ':')
		if err := c.value(depth + 1); err != nil {
			return err
		}
		m.end = len(c.dst)
		sorted = sorted && (n == 0 || c.compare(c.members[len(c.members)-1], m) < 0)
		c.members = append(c.members, m)
	}
	members := c.members[before:]
	c.members = c.members[:before]
	c.dst = append(c.dst, '}')
	if sorted {
		return nil
	}
	return c.sort(members)
}

// sort puts the members of the object that ends the canonical text in order.
func (c *canonicalizer) sort(members []member) error {
	start := members[0].start
	slices.SortFunc(members, c.compare)
	for i, m := range members[1:] {
		if c.compare(members[i], m) == 0 {
			return fmt.Errorf("the key %.50q is there twice", unquote(string(c.dst[m.start:m.colon])))
		}
	}
	written := bytes.Clone(c.dst[start:])
	c.dst = c.dst[:start]
	for i, m := range members {
		if i > 0 {
			c.dst = append(c.dst, ',')
		}
		c.dst = append(c.dst, written[m.start-start:m.end-start]...)
	}
	c.dst = append(c.dst, '}')
	return nil
}

func (c *canonicalizer) compare(a, b member) int {
	return bytes.Compare(c.dst[a.start:a.colon], c.dst[b.start:b.colon])
}

func (c *canonicalizer) string() error {
	quoted, ok := c.quoted()
	if !ok {
		return errNotObject
	}
	if canonicallyEscaped(quoted) {
		c.dst = append(c.dst, quoted...)
		return nil
	}
	var text string
	if json.Unmarshal([]byte(quoted), &text) != nil {
		return errNotObject
	}
	c.dst = model.AppendString(c.dst, text)
	return nil
}

// canonicallyEscaped tells whether all escapes of a string are ones that
// model.AppendString writes.
func canonicallyEscaped(quoted string) bool {
	for {
		_, escape, found := strings.Cut(quoted, `\`)
		if !found {
			return true
		}
		if strings.IndexByte(`"\nrt`, escape[0]) < 0 {
			return false
		}
		quoted = escape[1:]
	}
}
