package graphqlhttp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/maypok86/otter/v2"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"library-catalogue/graph/model"
	"library-catalogue/server/caller"
)

// TrustedDocuments are the only documents that a server answers, by the ids that
// its clients ask for them by.
type TrustedDocuments map[string]string

// ParseTrustedDocuments reads the manifest that a client's build writes: an
// object of texts by their ids, as of relay-compiler (persistConfig) and GraphQL
// Code Generator (persistedDocuments), or the one with "format":
// "apollo-persisted-query-manifest" of Apollo's generate-persisted-query-manifest.
func ParseTrustedDocuments(manifest []byte) (TrustedDocuments, error) {
	var apollo struct {
		Format     string `json:"format"`
		Operations []struct {
			ID   string `json:"id"`
			Body string `json:"body"`
		} `json:"operations"`
	}
	trusted := TrustedDocuments{}
	if json.Unmarshal(manifest, &apollo) == nil && apollo.Format == "apollo-persisted-query-manifest" {
		for _, operation := range apollo.Operations {
			if err := trusted.add(operation.ID, operation.Body); err != nil {
				return nil, err
			}
		}
	} else {
		var texts map[string]string
		if err := json.Unmarshal(manifest, &texts); err != nil { // also where an id is there twice
			return nil, fmt.Errorf("not a JSON object of texts by their ids: %w", err)
		}
		for id, text := range texts {
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

const (
	// persistedBytes is how much text of documents is cached that clients ask for by
	// their hash, and persistedOverhead what each costs in addition to its text.
	persistedBytes    = 8 << 20
	persistedOverhead = 200
	// persistedShares is how many parts the cache has. The documents of one caller are
	// all in one, so that it can push out an eighth of the others' at most; a part
	// holds hundreds of documents, more than an application has.
	persistedShares = 8
)

// persisted finds the documents that clients name in place of sending them.
type persisted struct {
	documents *documents
	trusted   TrustedDocuments // nil: any document is answered, and cached where it was sent with its hash
	texts     map[string]bool  // those of trusted
	seed      maphash.Seed
	cached    [persistedShares]*otter.Cache[string, string] // by caller
}

func newPersisted(documents *documents, trusted TrustedDocuments, logger *slog.Logger) (*persisted, error) {
	p := &persisted{documents: documents, trusted: trusted, texts: map[string]bool{}, seed: maphash.MakeSeed()}
	for id, text := range trusted {
		p.texts[text] = true
		if _, refused := documents.get(context.Background(), text); refused != nil {
			logger.Warn("a trusted document is not one of this schema and its limits", "id", id, "error", refused.errors)
		}
	}
	for i := range p.cached {
		var err error
		p.cached[i], err = otter.New(&otter.Options[string, string]{
			MaximumWeight: persistedBytes / persistedShares,
			Weigher:       func(_, text string) uint32 { return uint32(len(text) + persistedOverhead) },
		})
		if err != nil {
			return nil, err
		}
	}
	return p, nil
}

// resolve puts the text of a document that the request names into it, or refuses
// what cannot be answered. The name is the request's documentId, or
// extensions.persistedQuery of Apollo's automatic persisted queries.
func (h *Handler) resolve(ctx context.Context, q *request) *refusal {
	p := h.persisted
	id, err := q.documentName()
	switch {
	case err != nil:
		return invalid(err)
	case p.trusted != nil:
		return p.resolveTrusted(id, q)
	case id == "" && q.query == "":
		return badRequest("The request has no query.")
	case id == "":
		return nil
	case q.query != "":
		if refused := h.chargeText(ctx, q); refused != nil {
			return refused
		}
		return p.store(ctx, id, q)
	}
	for _, share := range p.cached {
		if text, ok := share.GetIfPresent(strings.ToLower(id)); ok {
			q.query = text
			return nil
		}
	}
	return notFound()
}

func (p *persisted) resolveTrusted(id string, q *request) *refusal {
	text, known := p.trusted[id]
	switch {
	case q.query == "" && known:
		q.query = text
	case q.query == "" && id != "":
		return notFound()
	case q.query == "":
		return badRequest("The request has no query.")
	case !p.texts[q.query]:
		return invalid(newError(model.Forbidden, "This server answers only the documents that it was given."))
	}
	return nil
}

// store caches a document that may be executed under its hash.
func (p *persisted) store(ctx context.Context, id string, q *request) (refused *refusal) {
	if sum := sha256.Sum256([]byte(q.query)); !strings.EqualFold(id, hex.EncodeToString(sum[:])) {
		return invalid(newError(model.BadUserInput, "The document is not the one of that SHA-256 hash."))
	}
	if q.document, refused = p.documents.get(ctx, q.query); refused != nil {
		return refused
	}
	share := maphash.Comparable(p.seed, caller.Of(ctx)) % persistedShares
	p.cached[share].Set(strings.ToLower(id), q.query)
	return nil
}

// notFound tells a client to send the document itself.
func notFound() *refusal {
	return invalid(&gqlerror.Error{Message: "PersistedQueryNotFound", Extensions: map[string]any{"code": "PERSISTED_QUERY_NOT_FOUND"}})
}

// documentName returns the name of a document that the request has, without its
// prefix, or none.
func (q *request) documentName() (string, *gqlerror.Error) {
	id := bareID(q.documentID)
	var extensions struct {
		PersistedQuery jsontext.Value `json:"persistedQuery"`
	}
	_ = json.Unmarshal(q.extensions, &extensions) // no extensions, or an object that was read before
	if extensions.PersistedQuery == nil || extensions.PersistedQuery.Kind() == jsontext.KindNull {
		return id, nil
	}
	var persisted struct {
		Version jsontext.Value `json:"version"`
		Hash    string         `json:"sha256Hash"`
	}
	err := json.Unmarshal(extensions.PersistedQuery, &persisted)
	hash := bareID(persisted.Hash)
	if err != nil || string(persisted.Version) != "1" || hash == "" {
		return "", newError(model.BadUserInput, "extensions.persistedQuery must have version 1 and a sha256Hash.")
	}
	if id != "" && id != hash {
		return "", newError(model.BadUserInput, "documentId and extensions.persistedQuery must name the same document.")
	}
	return hash, nil
}
