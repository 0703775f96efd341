package graphqlhttp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"

	"github.com/maypok86/otter/v2"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"library-catalogue/graph/model"
)

// TrustedDocuments are the only documents that a server answers, by the ids that
// its clients ask for them by.
type TrustedDocuments map[string]string

// ParseTrustedDocuments reads the manifest that a client's build writes: an
// object of texts by their ids, as of relay-compiler (persistConfig) and GraphQL
// Code Generator (persistedDocuments), or the one with "format":
// "apollo-persisted-query-manifest" of Apollo's generate-persisted-query-manifest.
func ParseTrustedDocuments(data []byte) (TrustedDocuments, error) {
	text, err := Limits{Tokens: math.MaxInt, VariableDepth: math.MaxInt32, Values: math.MaxInt}.object(data, 0)
	if err != nil {
		return nil, err
	}
	var members map[string]any
	if err := json.Unmarshal([]byte(text), &members); err != nil {
		return nil, err
	}
	trusted := TrustedDocuments{}
	if members["format"] == "apollo-persisted-query-manifest" {
		operations, ok := members["operations"].([]any)
		for _, each := range operations {
			operation, _ := each.(map[string]any)
			id, _ := operation["id"].(string)
			body, _ := operation["body"].(string)
			if err := trusted.add(id, body); err != nil {
				return nil, err
			}
		}
		if !ok {
			return nil, errors.New("the manifest of Apollo has no list of operations, each with id and body")
		}
	} else {
		for id, value := range members {
			text, ok := value.(string)
			if !ok {
				return nil, fmt.Errorf("no manifest: %q is not the id of a text", id)
			}
			if err := trusted.add(id, text); err != nil {
				return nil, err
			}
		}
	}
	if len(trusted) == 0 {
		return nil, errors.New("the manifest has no document")
	}
	return trusted, nil
}

func (t TrustedDocuments) add(id, text string) error {
	id = bareID(id)
	if id == "" || text == "" || t[id] != "" {
		return fmt.Errorf("a document has no text, or an id that is empty or there twice: %q", id)
	}
	t[id] = text
	return nil
}

// bareID is an id without the prefix that says how it was made (GraphQL over
// HTTP, appendix on persisted documents). Some tools write it, and some clients
// leave it out.
func bareID(id string) string { return strings.TrimPrefix(id, "sha256:") }

// persistedBytes is how much text of documents is kept that clients ask for by
// their hash, and persistedOverhead what each costs beside its text.
const (
	persistedBytes    = 8 << 20
	persistedOverhead = 200
)

// persisted finds the documents that clients name in place of sending them.
type persisted struct {
	documents *documents
	trusted   TrustedDocuments // nil: any document is answered, and kept where it was sent with its hash
	texts     map[string]bool  // those of trusted
	kept      *otter.Cache[string, string]
}

func newPersisted(documents *documents, trusted TrustedDocuments) (*persisted, error) {
	p := &persisted{documents: documents, trusted: trusted, texts: map[string]bool{}}
	for id, text := range trusted {
		p.texts[text] = true
		if _, errs := documents.get(context.Background(), text); errs != nil {
			slog.Warn("a trusted document is not one of this schema and its limits", "id", id, "error", errs)
		}
	}
	var err error
	p.kept, err = otter.New(&otter.Options[string, string]{
		MaximumWeight: persistedBytes,
		Weigher:       func(_, text string) uint32 { return uint32(len(text) + persistedOverhead) },
	})
	return p, err
}

// find puts the text of a document that the request names into it, or says why
// that cannot be answered. The name is the request's documentId, or
// extensions.persistedQuery of Apollo's automatic persisted queries.
func (p *persisted) find(ctx context.Context, q *request) gqlerror.List {
	id, err := q.documentName()
	if err == nil && p.trusted != nil {
		err = p.findTrusted(id, q)
	} else if err == nil && id != "" && q.query == "" {
		text, ok := p.kept.GetIfPresent(strings.ToLower(id))
		if q.query = text; !ok {
			err = notFound()
		}
	} else if err == nil && id != "" {
		return p.keep(ctx, id, q.query)
	}
	if err != nil {
		return gqlerror.List{err}
	}
	return nil
}

func (p *persisted) findTrusted(id string, q *request) *gqlerror.Error {
	text, known := p.trusted[id]
	switch {
	case q.query == "" && known:
		q.query = text
	case q.query == "" && id != "":
		return notFound()
	case q.query != "" && !p.texts[q.query]:
		return withCode(gqlerror.Errorf("This server answers only the documents that it was given."), model.Forbidden)
	}
	return nil
}

// keep keeps a document that may be executed under its hash.
func (p *persisted) keep(ctx context.Context, id, text string) gqlerror.List {
	if sum := sha256.Sum256([]byte(text)); !strings.EqualFold(id, hex.EncodeToString(sum[:])) {
		return gqlerror.List{withCode(gqlerror.Errorf("The document is not the one of that SHA-256 hash."), model.BadUserInput)}
	}
	if _, errs := p.documents.get(ctx, text); errs != nil {
		return errs
	}
	p.kept.Set(strings.ToLower(id), text)
	return nil
}

// notFound is what tells a client to send the document itself.
func notFound() *gqlerror.Error {
	return &gqlerror.Error{Message: "PersistedQueryNotFound", Extensions: map[string]any{"code": "PERSISTED_QUERY_NOT_FOUND"}}
}

// documentName gives the name of a document that the request has, without its
// prefix, or none.
func (q *request) documentName() (string, *gqlerror.Error) {
	id := bareID(q.documentID)
	extension := memberOf(q.extensions, "persistedQuery")
	if extension == "" || extension == "null" {
		return id, nil
	}
	var hash string
	if text := memberOf(extension, "sha256Hash"); strings.HasPrefix(text, `"`) {
		hash = bareID(unquote(text))
	}
	if memberOf(extension, "version") != "1" || hash == "" {
		return "", withCode(gqlerror.Errorf("extensions.persistedQuery must have version 1 and a sha256Hash."), model.BadUserInput)
	}
	if id != "" && id != hash {
		return "", withCode(gqlerror.Errorf("documentId and extensions.persistedQuery must name the same document."), model.BadUserInput)
	}
	return hash, nil
}
