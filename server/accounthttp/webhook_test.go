package accounthttp_test

import (
	"strings"
	"testing"

	"library-catalogue/graph/model"
	"library-catalogue/server/servertest"
)

// TestWebhooks has an admin add, disable, enable and remove a webhook. Nobody else may, and the secret is shown once.
func TestWebhooks(t *testing.T) {
	on(t, func(t *testing.T, s site) {
		admin, editor := s.join(t, "Ada", model.Admin), s.join(t, "Eve", model.Editor)
		stored := func() []*model.Webhook {
			t.Helper()
			list, err := s.Store.Webhooks.List(t.Context())
			servertest.Must(t, err)
			return list
		}
		const hook = `{"url":" https://example.com/hook ","description":" for  the shop ","types":["book"]}`
		for _, path := range []string{"/webhooks", "/webhooks/1/disable", "/webhooks/1/enable", "/webhooks/1/remove"} {
			want(t, s.post(path, hook, editor), 403, "Your account may not do this.")
			want(t, s.post(path, hook), 401, "Unauthenticated")
			want(t, s.send("POST", path, hook, admin, "Sec-Fetch-Site: cross-site"), 403, "")
		}
		for body, message := range map[string]string{
			`{}`:                                 "The url field is required.",
			`{"url":"http://example.com"}`:       "The URL must begin with https://",
			`{"url":"https://10.0.0.1/"}`:        "10.0.0.1",
			`{"url":"https://u:p@example.com/"}`: "The URL has a user",
			`{"url":"https://example.com/` + strings.Repeat("a", 2_000) + `"}`:                "2000 characters",
			`{"url":"https://example.com/","description":"` + strings.Repeat("a", 201) + `"}`: "at most 200 characters",
			`{"url":"https://example.com/","types":["account"]}`:                              "must be book",
		} {
			want(t, s.post("/webhooks", body, admin), 422, message)
		}
		if len(stored()) != 0 {
			t.Fatal("a refused webhook is stored")
		}
		added := s.post("/webhooks", hook, admin)
		want(t, added, 200, `"signing":"whsec_`)
		w := stored()[0]
		if w.URL != "https://example.com/hook" || w.Description != "for the shop" || len(w.Types) != 1 || w.Types[0] != model.TypeBook {
			t.Errorf("stored is %+v", w)
		}
		want(t, s.send("POST", "/webhooks", "url=https%3A%2F%2Fexample.com%2Fother&types=book&types=genre", admin, "Content-Type: application/x-www-form-urlencoded", "Sec-Fetch-Site: same-origin"), 200, "It is not shown again: whsec_")
		if types := stored()[1].Types; len(types) != 2 {
			t.Errorf("the types are %v", types)
		}
		want(t, s.post("/webhooks/1/disable", "", admin), 200, "")
		if leased, err := s.Store.Webhooks.Lease(t.Context(), "a sender", 0); err != nil || leased == nil || leased.ID != 2 {
			t.Errorf("leased is %+v, %v", leased, err)
		}
		if reason := stored()[0].Disabled; reason != "by an admin" {
			t.Errorf("it is disabled %q", reason)
		}
		want(t, s.post("/webhooks/1/enable", "", admin), 200, "")
		if stored()[0].Disabled != "" {
			t.Error("it is disabled after enable")
		}
		want(t, s.post("/webhooks/1/remove", "", admin), 200, "")
		want(t, s.post("/webhooks/1/remove", "", admin), 404, "There is no webhook 1.")
		if len(stored()) != 1 {
			t.Error("it is there after remove")
		}
	})
}
