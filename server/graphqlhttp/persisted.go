package graphqlhttp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"library-catalogue/edge/caller"
	"library-catalogue/graph/model"
	"library-catalogue/lru"
)

// TrustedDocuments are the only documents that a server runs, by their ids.
type TrustedDocuments map[string]string

// ParseTrustedDocuments reads the manifest of a client's build. It accepts two formats:
//
//   - an object of texts by ids, from relay-compiler (persistConfig) or GraphQL Code Generator
//     (persistedDocuments)
//   - "format": "apollo-persisted-query-manifest", from generate-persisted-query-manifest
func ParseTrustedDocuments(manifest []byte) (TrustedDocuments, error) {
	if _, err := jsontext.AppendFormat(nil, manifest); err != nil { // also for duplicate ids
		return nil, fmt.Errorf("the manifest must be a JSON object of texts by ids: %w", err)
	}
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
		if err := json.Unmarshal(manifest, &texts); err != nil {
			return nil, fmt.Errorf("the manifest must be a JSON object of texts by ids: %w", err)
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
		return fmt.Errorf("document %q has no text, or an empty or duplicate id", id)
	}
	t[id] = text
	return nil
}

// bareID returns an id without the prefix of its hash (GraphQL over HTTP, appendix on persisted
// documents), because some clients omit the prefix.
func bareID(id string) string { return strings.TrimPrefix(id, "sha256:") }

const (
	// persistedBytes is the maximum size of the cache of documents by hash, in bytes. Each
	// counts persistedOverhead in addition to its text.
	persistedBytes    = 8 << 20
	persistedOverhead = 200
	// persistedShares is the number of shards of the cache. A caller's documents are in one
	// shard, so that it can evict at most an eighth of the cache. A shard holds hundreds of
	// documents, more than an application has.
	persistedShares = 8
)

// persisted finds documents by the ids that clients send in place of the text.
type persisted struct {
	documents *documents
	trusted   TrustedDocuments // nil allows any document, and caches those sent with their hash
	texts     map[string]bool  // texts of trusted
	seed      maphash.Seed
	cached    [persistedShares]lru.Cache[string, string] // by caller
}

func newPersisted(documents *documents, trusted TrustedDocuments, logger *slog.Logger) *persisted {
	p := &persisted{documents: documents, trusted: trusted, texts: map[string]bool{}, seed: maphash.MakeSeed()}
	for id, text := range trusted {
		p.texts[text] = true
		if _, refused := documents.get(context.Background(), text); refused != nil {
			logger.Warn("trusted document is invalid or exceeds limits", "id", id, "error", refused.errors)
		}
	}
	for i := range p.cached {
		p.cached[i] = lru.New(persistedBytes/persistedShares, func(_, text string) int {
			return len(text) + persistedOverhead
		})
	}
	return p
}

// resolve sets the query of a request that has only the id of its document. The id is documentId,
// or the hash in extensions.persistedQuery (Apollo's automatic persisted queries).
func (h *Handler) resolve(ctx context.Context, q *request) *refusal {
	p := h.persisted
	id, err := q.documentName()
	if err == nil {
		err = q.readLive()
	}
	switch {
	case err != nil:
		return invalid(err)
	case p.trusted != nil:
		return p.resolveTrusted(id, q)
	case id == "" && q.query == "":
		return notRequest("The request has no query.")
	case id == "":
		return nil
	case q.query != "":
		if refused := h.chargeText(ctx, q); refused != nil {
			return refused
		}
		return p.store(ctx, id, q)
	}
	for _, share := range p.cached {
		if text, ok := share.Get(strings.ToLower(id)); ok {
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
		return notRequest("The request has no query.")
	case !p.texts[q.query]:
		return refuse(untrusted, model.Forbidden, "This server runs only trusted documents.")
	}
	return nil
}

// store caches a valid document under its hash.
func (p *persisted) store(ctx context.Context, id string, q *request) (refused *refusal) {
	if sum := sha256.Sum256([]byte(q.query)); !strings.EqualFold(id, hex.EncodeToString(sum[:])) {
		return invalid(newError(model.BadUserInput, "The document does not match the SHA-256 hash."))
	}
	if q.document, refused = p.documents.get(ctx, q.query); refused != nil {
		return refused
	}
	share := maphash.Comparable(p.seed, caller.Of(ctx)) % persistedShares
	p.cached[share].Set(strings.ToLower(id), q.query)
	return nil
}

// notFound returns the error that makes a client send the document.
func notFound() *refusal {
	return invalid(newError(model.PersistedQueryNotFound, "PersistedQueryNotFound"))
}

// documentName returns the id of the request's document without its prefix, or "".
func (q *request) documentName() (string, *gqlerror.Error) {
	id := bareID(q.documentID)
	var persisted jsontext.Value
	for key, value := range members(q.extensions) {
		if key == "persistedQuery" && value.Kind() != jsontext.KindNull {
			persisted = value.Clone()
		}
	}
	if persisted == nil {
		return id, nil
	}
	var hash, version string
	for key, value := range members(persisted) {
		switch key {
		case "sha256Hash":
			hash, _ = scalar(value).(string)
		case "version":
			version = string(value)
		}
	}
	if hash = bareID(hash); version != "1" || hash == "" {
		return "", newError(model.BadUserInput, "extensions.persistedQuery must have version 1 and a sha256Hash.")
	}
	if id != "" && id != hash {
		return "", newError(model.BadUserInput, "documentId and extensions.persistedQuery must name the same document.")
	}
	return hash, nil
}
