package socket

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/coder/websocket"

	"library-catalogue/server/graphqlhttp"
)

// Close codes of the protocol.
const (
	badMessage      websocket.StatusCode = 4400
	unauthorized    websocket.StatusCode = 4401
	forbidden       websocket.StatusCode = 4403
	badSubprotocol  websocket.StatusCode = 4406
	initTimeout     websocket.StatusCode = 4408
	duplicateID     websocket.StatusCode = 4409
	tooManyInits    websocket.StatusCode = 4429
	maxReasonLength                      = 123 // bytes (RFC 6455, section 5.5)
)

// closing is the error that closes a socket.
type closing struct {
	code   websocket.StatusCode
	reason string
}

func (c *closing) Error() string { return strconv.Itoa(int(c.code)) + " " + c.reason }

type message struct {
	ID      *string         `json:"id"`
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload"`
}

// parse reads a message from a client. The error is a *closing.
func parse(kind websocket.MessageType, text []byte) (m message, err error) {
	if kind != websocket.MessageText {
		return m, &closing{badMessage, "Send messages as text."}
	}
	if json.Unmarshal(text, &m) != nil {
		return m, &closing{badMessage, "A message must be a JSON object with the string type."}
	}
	switch m.Type {
	case "connection_init", "ping", "pong":
		if m.hasPayload() && m.Payload[0] != '{' {
			return m, &closing{badMessage, "The payload must be an object."}
		}
	case "subscribe":
		return m, m.checkSubscribe()
	case "complete":
		if m.ID == nil || *m.ID == "" {
			return m, &closing{badMessage, "The message complete needs an id."}
		}
	default:
		return m, &closing{badMessage, "Unknown type of a message."}
	}
	return m, nil
}

func (m message) hasPayload() bool { return len(m.Payload) > 0 && string(m.Payload) != "null" }

// checkSubscribe checks the types in a message subscribe. The server's rules for a request follow later.
func (m message) checkSubscribe() error {
	var payload struct {
		Query         *string         `json:"query"`
		DocumentID    *string         `json:"documentId"`
		OperationName *string         `json:"operationName"`
		Variables     *map[string]any `json:"variables"`
		Extensions    *map[string]any `json:"extensions"`
	}
	switch {
	case m.ID == nil || *m.ID == "":
		return &closing{badMessage, "The message subscribe needs an id."}
	case !m.hasPayload() || json.Unmarshal(m.Payload, &payload) != nil:
		return &closing{badMessage, "The payload of subscribe must be a GraphQL request."}
	case payload.Query == nil && payload.DocumentID == nil && payload.Extensions == nil:
		return &closing{badMessage, "The payload of subscribe needs a query."}
	}
	return nil
}

var errAuthorization = errors.New("the authorization in the payload of connection_init is not a string")

// authorization returns the value of Authorization in the payload of connection_init: a member of the payload, or of
// its object headers. Names are case-insensitive.
func (m message) authorization() (value string, err error) {
	var payload map[string]json.RawMessage
	if !m.hasPayload() {
		return "", nil
	}
	if err := json.Unmarshal(m.Payload, &payload); err != nil {
		return "", err
	}
	var headers map[string]json.RawMessage
	_ = json.Unmarshal(payload["headers"], &headers) // another type has no token
	for _, members := range []map[string]json.RawMessage{payload, headers} {
		for name, text := range members {
			if !strings.EqualFold(name, "authorization") || string(text) == "null" {
				continue
			}
			if json.Unmarshal(text, &value) != nil {
				return "", errAuthorization
			}
			return value, nil
		}
	}
	return "", nil
}

// Messages to the client.

var ack = []byte(`{"type":"connection_ack"}`)

// pong returns the response to a ping, with its payload.
func pong(m message) []byte {
	if !m.hasPayload() {
		return []byte(`{"type":"pong"}`)
	}
	return append(append([]byte(`{"type":"pong","payload":`), m.Payload...), '}')
}

// result returns the message next for a response, or error for one without data.
func result(id string, response *graphql.Response) []byte {
	if response.Data != nil {
		return append(graphqlhttp.AppendResponse(begin(id, "next"), response), '}')
	}
	list, err := json.Marshal(response.Errors)
	if err != nil {
		panic(err) // unreachable: the executor made the response
	}
	return append(append(begin(id, "error"), list...), '}')
}

func complete(id string) []byte {
	quoted, _ := json.Marshal(id) // a string
	return append(append([]byte(`{"type":"complete","id":`), quoted...), '}')
}

// begin returns the text of a message before its payload.
func begin(id, kind string) []byte {
	quoted, _ := json.Marshal(id) // a string
	return append(append([]byte(`{"id":`), quoted...), `,"type":"`+kind+`","payload":`...)
}
