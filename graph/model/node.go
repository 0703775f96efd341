package model

import (
	"encoding/base64"
	"strings"
)

// Node is a row with a global id.
type Node interface {
	RowID() ID
	NodeID() string
	// OrderKeys returns the order keys of a row from a list, each in the format of AppendKey. It is
	// empty in order of id.
	OrderKeys() string
}

// Ordered holds the values that reading sets in rows, in addition to their columns.
type Ordered struct {
	Keys string    `db:"-"` // see Node's OrderKeys
	AsOf *Position `db:"-"` // the changes up to it are in a row of the past; nil for a row of now
}

// SetAsOf makes a row one of the past.
func (o *Ordered) SetAsOf(p *Position) { o.AsOf = p }

// OrderKeys implements Node.
func (o *Ordered) OrderKeys() string { return o.Keys }

// NoLists returns BadUserInput for a row of the past, because its lists are not kept.
func (o *Ordered) NoLists() error {
	if o.AsOf == nil {
		return nil
	}
	return Errorf(BadUserInput,
		"The lists of a row of the past are not kept. Ask for them without asOf, or for single rows with it.")
}

// NodeID returns the global id of a type and a row's id.
func NodeID(typename string, id ID) string {
	return base64.RawURLEncoding.EncodeToString([]byte(typename + ":" + id.String()))
}

// ParseNodeID parses a global id. ok is false for an invalid one.
func ParseNodeID(nodeID string) (typename string, id ID, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(nodeID)
	if err != nil {
		return "", 0, false
	}
	typename, number, _ := strings.Cut(string(raw), ":")
	id = ParseID(number)
	return typename, id, id > 0 && NodeID(typename, id) == nodeID // refuse other spellings
}
