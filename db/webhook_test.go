package db_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// addWebhook adds a webhook of types.
func addWebhook(t *testing.T, s *db.Store, types ...model.CatalogueType) *model.Webhook {
	t.Helper()
	w := &model.Webhook{URL: "https://example.com/hook", Types: types, Description: "Mine", Secrets: []string{"first"}}
	check(t, s.Webhooks.Add(t.Context(), w))
	return w
}

// TestWebhookStored reads what Add, Rotate, Enable, Replay and Remove store.
func TestWebhookStored(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := open(t, url)
		w := addWebhook(t, s, model.TypeBook, model.TypeGenre)
		if w.ID == 0 || w.Position == "" || w.URL != "https://example.com/hook" || w.Description != "Mine" || !slices.Equal(w.Types, []model.CatalogueType{model.TypeBook, model.TypeGenre}) {
			t.Errorf("added %+v", w)
		}
		newShelf(t, s)
		page := must[*model.ChangePage](t)(s.Changes(t.Context(), model.ChangeArgs{After: &w.Position, First: 10}))
		if len(page.Nodes) != 3 {
			t.Fatalf("after its position there are %d changes, want the 3 since", len(page.Nodes))
		}
		all := must[[]*model.Webhook](t)(s.Webhooks.List(t.Context()))
		if len(all) != 1 || all[0].Secrets != nil || all[0].ID != w.ID || all[0].DeliveredAt != nil {
			t.Errorf("listed %+v", all)
		}
		wantSecrets := func(want ...string) {
			t.Helper()
			if got := must[*model.Webhook](t)(s.Webhooks.Get(t.Context(), w.ID)).Secrets; !slices.Equal(got, want) {
				t.Errorf("secrets %q, want %q", got, want)
			}
		}
		wantSecrets("first")
		check(t, second(s.Webhooks.Rotate(t.Context(), w.ID, "second", time.Hour)))
		wantSecrets("second", "first")
		check(t, second(s.Webhooks.Rotate(t.Context(), w.ID, "third", 0)))
		wantSecrets("third")

		later := page.Nodes[1].Position
		if w := must[*model.Webhook](t)(s.Webhooks.Replay(t.Context(), w.ID, later)); w.Position != later {
			t.Errorf("replayed from %s, want %s", w.Position, later)
		}
		for name, err := range map[string]error{
			"replay": second(s.Webhooks.Replay(t.Context(), w.ID+1, later)), "enable": second(s.Webhooks.Enable(t.Context(), w.ID+1)),
			"rotate": second(s.Webhooks.Rotate(t.Context(), w.ID+1, "x", 0)), "get": second(s.Webhooks.Get(t.Context(), w.ID+1)),
			"remove": second(s.Webhooks.Remove(t.Context(), w.ID+1)),
		} {
			if !model.IsCode(err, model.NotFound) || !strings.Contains(err.Error(), "There is no webhook") {
				t.Errorf("%s of an unknown id: %v", name, err)
			}
		}
		if err := second(s.Webhooks.Replay(t.Context(), w.ID, "nonsense")); !model.IsCode(err, model.BadUserInput) {
			t.Errorf("replay from no position: %v", err)
		}
		check(t, second(s.Webhooks.Remove(t.Context(), w.ID)))
		if all := must[[]*model.Webhook](t)(s.Webhooks.List(t.Context())); len(all) != 0 {
			t.Errorf("after remove: %+v", all)
		}
	})
}

// TestWebhookLeases lets two servers ask for leases.
func TestWebhookLeases(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := open(t, url)
		hooks, program := s.Webhooks, other(t, url)
		w, other := addWebhook(t, s), addWebhook(t, s)
		lease := func(holder string, time time.Duration, want *model.Webhook) *model.Webhook {
			t.Helper()
			got := must[*model.Webhook](t)(hooks.Lease(t.Context(), holder, time))
			if (got == nil) != (want == nil) || got != nil && got.ID != want.ID {
				t.Fatalf("%s leased %+v, want %+v", holder, got, want)
			}
			return got
		}
		w = lease("one", time.Hour, w)
		if !slices.Equal(w.Secrets, []string{"first"}) {
			t.Errorf("leased with the secrets %q", w.Secrets)
		}
		lease("two", 0, other) // it expires at once
		lease("one", time.Hour, other)
		lease("two", time.Hour, nil)

		moved := must[*model.Webhook](t)(hooks.Delivered(t.Context(), w, "one", "1.1", time.Hour))
		if moved == nil || moved.Position != "1.1" || moved.DeliveredAt == nil {
			t.Fatalf("delivered: %+v", moved)
		}
		for name, got := range map[string]*model.Webhook{
			"from a position that it has left": must[*model.Webhook](t)(hooks.Delivered(t.Context(), w, "one", "1.2", time.Hour)),
			"by another server":                must[*model.Webhook](t)(hooks.Delivered(t.Context(), moved, "two", "1.2", time.Hour)),
			"extended by another server":       must[*model.Webhook](t)(hooks.Extend(t.Context(), moved, "two", "1.2", time.Hour)),
		} {
			if got != nil {
				t.Errorf("%s: moved to %s", name, got.Position)
			}
		}
		moved = must[*model.Webhook](t)(hooks.Extend(t.Context(), moved, "one", "1.3", time.Hour))
		check(t, hooks.Release(t.Context(), w.ID, "two"))
		lease("two", time.Hour, nil)

		check(t, hooks.Failed(t.Context(), moved, "one", "no route", time.Hour, ""))
		failed := must[*model.Webhook](t)(hooks.Get(t.Context(), w.ID))
		if failed.Failures != 1 || failed.Error != "no route" || failed.Position != "1.3" || failed.DueAt <= failed.CreatedAt+model.Timestamp(59*time.Minute/time.Microsecond) {
			t.Errorf("failed: %+v", failed)
		}
		lease("two", time.Hour, nil) // it is not due
		check(t, second(hooks.Enable(t.Context(), w.ID)))
		w = lease("two", time.Hour, w)
		check(t, hooks.Failed(t.Context(), w, "two", "410", 0, "gone"))
		lease("two", time.Hour, nil)
		if all := must[[]*model.Webhook](t)(hooks.List(t.Context())); all[0].Disabled != "gone" {
			t.Errorf("disabled: %+v", all[0])
		}
		check(t, second(hooks.Enable(t.Context(), w.ID)))
		lease("two", time.Hour, w)
		check(t, hooks.Release(t.Context(), w.ID, "two"))
		lease("one", time.Hour, w)

		// The clock was an hour ahead at a failure, and the webhook has succeeded since.
		check(t, hooks.Release(t.Context(), w.ID, "one"))
		exec(t, program, `UPDATE webhooks SET due_at = '2999-01-01T00:00:00.000000Z', lease_until = '2000-01-01T00:00:00.000000Z' WHERE id = $1`, w.ID)
		lease("one", time.Hour, w)

		check(t, hooks.ForgetLeases(t.Context()))
		if isSQLite(url) { // no other server has it
			lease("two", time.Hour, other)
		} else {
			lease("two", time.Hour, nil)
		}
	})
}
