package webhooks

import (
	"crypto/rand"
	"encoding/base64"
	"strings"

	"library-catalogue/graph/model"
)

// message is the content of a request. Standard Webhooks 1.0.0, section "Payload structure", has the fields.
type message struct {
	id   string // webhook-id
	body []byte
}

// resetType is the type of the message that some changes cannot be delivered, because they are no longer kept.
const resetType = "catalogue.reset"

// verbs are the ends of the types of messages.
var verbs = map[model.ChangeOperation]string{
	model.ChangeCreate: "created", model.ChangeUpdate: "updated", model.ChangeDelete: "deleted",
	model.ChangeReset: "reset",
}

// messageOf returns the message of a change. A change without a type is a reset of the catalogue.
func messageOf(c *model.Change) message {
	kind := resetType
	if c.Type != "" {
		kind = strings.ToLower(string(c.Type)) + "." + verbs[c.Operation]
	}
	return message{id: c.Position, body: append(c.AppendJSON(envelope(kind, c.At)), '}')}
}

// testMessage returns a message of no change.
func testMessage(now model.Timestamp) message {
	return message{id: "test_" + rand.Text(), body: append(envelope("webhook.test", now), "{}}"...)}
}

// envelope returns the beginning of a body, up to its data.
func envelope(kind string, at model.Timestamp) []byte {
	body := model.AppendString([]byte(`{"type":`), kind)
	return append(at.AppendJSON(append(body, `,"timestamp":`...)), `,"data":`...)
}

// NewSecret returns a secret of 32 random bytes (Standard Webhooks 1.0.0, section "Signature scheme").
func NewSecret() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it never fails
	return "whsec_" + base64.StdEncoding.EncodeToString(key)
}
