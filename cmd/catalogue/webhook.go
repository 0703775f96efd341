package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"library-catalogue/cmd/catalogue/cli"
	"library-catalogue/db"
	"library-catalogue/graph/model"
	"library-catalogue/importer"
	"library-catalogue/webhooks"
)

// webhookCmd holds the commands for endpoints that get changes by HTTP.
type webhookCmd struct {
	Add    webhookAddCmd    `cmd:"" help:"Add an endpoint, and print its secret once."`
	List   webhookListCmd   `cmd:"" help:"List the endpoints and their state."`
	Remove webhookRemoveCmd `cmd:"" help:"Remove an endpoint."`
	Enable webhookEnableCmd `cmd:"" help:"Enable a disabled endpoint, or retry a failing one at once."`
	Replay webhookReplayCmd `cmd:"" help:"Send all changes after a position again."`
	Rotate webhookRotateCmd `cmd:"" help:"Replace the secret, and print the new one once."`
	Test   webhookTestCmd   `cmd:"" help:"Send a message of type webhook.test from this machine."`
}

// webhook is the JSON of an endpoint.
type webhook struct {
	ID          model.ID   `json:"id"`
	URL         string     `json:"url"`
	Types       []string   `json:"types"` // empty: all
	Description string     `json:"description"`
	Secret      string     `json:"secret,omitempty"` // only of add and rotate
	Position    string     `json:"position"`
	DeliveredAt *time.Time `json:"delivered_at"` // null before the first delivery
	Failures    int        `json:"failures"`
	Error       string     `json:"error,omitempty"`
	RetryAt     *time.Time `json:"retry_at"` // null unless the last attempt failed
	Disabled    string     `json:"disabled,omitempty"`
	CreatedAt   time.Time  `json:"created_at"`
}

func webhookOf(w *model.Webhook) webhook {
	shown := webhook{
		ID: w.ID, URL: w.URL, Types: typeNames(w.Types), Description: w.Description, Position: w.Position,
		Failures: w.Failures,
		Error:    w.Error, Disabled: w.Disabled, CreatedAt: timeOf(w.CreatedAt),
	}
	if w.DeliveredAt != nil {
		at := timeOf(*w.DeliveredAt)
		shown.DeliveredAt = &at
	}
	if w.Failures > 0 && w.Disabled == "" {
		at := timeOf(w.DueAt)
		shown.RetryAt = &at
	}
	return shown
}

func timeOf(t model.Timestamp) time.Time { return time.UnixMicro(int64(t)).UTC() }

// typeNames returns the names of types under /api.
func typeNames(types []model.CatalogueType) []string {
	names := []string{}
	for _, t := range types {
		names = append(names, strings.ToLower(string(t)))
	}
	return names
}

// storeFlags open the database of a command that manages a catalogue.
type storeFlags struct{ cli.DatabaseFlags }

// withStore calls fn with an existing catalogue. It returns an error of a use case as its message.
func (f storeFlags) withStore(ctx context.Context, std cli.Stdio, fn func(*db.Store) error) error {
	store, err := f.OpenExisting(ctx, db.Options{Logger: std.Log()})
	if err != nil {
		return err
	}
	defer store.Close()
	err = fn(store)
	if e, ok := errors.AsType[*model.Error](err); ok && e.Err == nil {
		return errors.New(e.Message)
	}
	return err
}

// with calls fn with the webhooks of an existing catalogue.
func (f storeFlags) with(ctx context.Context, std cli.Stdio, fn func(db.Webhooks) error) error {
	return f.withStore(ctx, std, func(store *db.Store) error { return fn(store.Webhooks) })
}

type webhookAddCmd struct {
	storeFlags
	cli.OutputFlags
	cli.WebhookFlags

	URL         string   `arg:"" name:"url" help:"Address of the endpoint, like https://example.com/hook."`
	Types       []string `enum:"book,genre,category" placeholder:"TYPE,…" help:"Send only changes of these types: book, genre, category (default: all)."`
	Description string   `placeholder:"TEXT" help:"Text shown by list."`
}

func (c *webhookAddCmd) Run(ctx context.Context, std cli.Stdio) error {
	if err := webhooks.NewClient(c.WebhookPrivate).CheckURL(c.URL); err != nil {
		return err
	}
	secret := webhooks.NewSecret()
	w := &model.Webhook{URL: c.URL, Description: c.Description, Secrets: []string{secret}}
	for _, name := range c.Types {
		w.Types = append(w.Types, model.CatalogueType(strings.ToUpper(name)))
	}
	return c.with(ctx, std, func(hooks db.Webhooks) error {
		if err := hooks.Add(ctx, w); err != nil {
			return err
		}
		return c.printSecret(std.Out, c.OutputFlags, w, secret,
			fmt.Sprintf("Webhook %d sends all changes from now on.", w.ID))
	})
}

func (f storeFlags) printSecret(
	out io.Writer, format cli.OutputFlags, w *model.Webhook, secret, sentence string,
) error {
	shown := webhookOf(w)
	shown.Secret = secret
	return format.Print(out, shown, func(out io.Writer) error {
		_, err := fmt.Fprintf(out, "%s\nIts secret is not shown again: %s\n", sentence, secret)
		return err
	})
}

type webhookListCmd struct {
	storeFlags
	cli.OutputFlags
}

func (c *webhookListCmd) Run(ctx context.Context, std cli.Stdio) error {
	return c.with(ctx, std, func(hooks db.Webhooks) error {
		found, err := hooks.List(ctx)
		if err != nil {
			return err
		}
		shown := []webhook{}
		for _, w := range found {
			shown = append(shown, webhookOf(w))
		}
		return c.Print(std.Out, shown, func(out io.Writer) error {
			table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(table, "ID\tURL\tTYPES\tPOSITION\tSTATE\tDESCRIPTION")
			for _, w := range shown {
				types := strings.Join(w.Types, ",")
				if types == "" {
					types = "all"
				}
				fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\n", w.ID, importer.Printable(w.URL), types, w.Position,
					w.state(), importer.Printable(w.Description))
			}
			return table.Flush()
		})
	})
}

func (w webhook) state() string {
	switch {
	case w.Disabled != "":
		return "disabled: " + importer.Printable(w.Disabled)
	case w.Failures > 0:
		return fmt.Sprintf("attempt %d failed: %s; retry at %s", w.Failures, importer.Printable(w.Error),
			w.RetryAt.Format(time.RFC3339))
	case w.DeliveredAt != nil:
		return "delivered at " + w.DeliveredAt.Format(time.RFC3339)
	}
	return "enabled"
}

// webhookFlags name an endpoint.
type webhookFlags struct {
	storeFlags

	ID model.ID `arg:"" name:"id" help:"Number of the endpoint, from list."`
}

type webhookRemoveCmd struct{ webhookFlags }

func (c *webhookRemoveCmd) Run(ctx context.Context, std cli.Stdio) error {
	return c.with(ctx, std, func(hooks db.Webhooks) error {
		w, err := hooks.Remove(ctx, c.ID)
		if err != nil {
			return err
		}
		fmt.Fprintf(std.Out, "Webhook %d is removed.\n", w.ID)
		return nil
	})
}

type webhookEnableCmd struct{ webhookFlags }

func (c *webhookEnableCmd) Run(ctx context.Context, std cli.Stdio) error {
	return c.with(ctx, std, func(hooks db.Webhooks) error {
		w, err := hooks.Enable(ctx, c.ID)
		if err != nil {
			return err
		}
		fmt.Fprintf(std.Out, "Webhook %d is enabled and goes on after position %s.\n", w.ID, w.Position)
		return nil
	})
}

type webhookReplayCmd struct {
	webhookFlags

	From string `required:"" placeholder:"POSITION" help:"Position of the last change not to send again: a webhook-id, or a position of the feed."`
}

func (c *webhookReplayCmd) Run(ctx context.Context, std cli.Stdio) error {
	if _, ok := model.ParsePosition(c.From); !ok {
		return errors.New("--from must be a webhook-id or a position that the feed of changes gave")
	}
	return c.with(ctx, std, func(hooks db.Webhooks) error {
		w, err := hooks.Replay(ctx, c.ID, c.From)
		if err != nil {
			return err
		}
		fmt.Fprintf(std.Out, "Webhook %d sends all changes after position %s again.\n", w.ID, w.Position)
		if w.Disabled != "" {
			fmt.Fprintf(std.Out, "It is disabled: run catalogue webhook enable %d.\n", w.ID)
		}
		return nil
	})
}

type webhookRotateCmd struct {
	webhookFlags
	cli.OutputFlags

	Overlap time.Duration `default:"24h" help:"Time in which the old secret signs too (default: ${default})."`
}

func (c *webhookRotateCmd) Run(ctx context.Context, std cli.Stdio) error {
	const maxOverlap = 365 * 24 * time.Hour
	if c.Overlap < 0 || c.Overlap > maxOverlap {
		return fmt.Errorf("--overlap must be from 0s to %s, and is %s", maxOverlap, c.Overlap)
	}
	secret := webhooks.NewSecret()
	return c.with(ctx, std, func(hooks db.Webhooks) error {
		w, err := hooks.Rotate(ctx, c.ID, secret, c.Overlap)
		if err != nil {
			return err
		}
		return c.printSecret(std.Out, c.OutputFlags, w, secret,
			fmt.Sprintf("Webhook %d has a new secret. The old one signs too for %s.", w.ID, c.Overlap))
	})
}

type webhookTestCmd struct {
	webhookFlags
	cli.WebhookFlags
}

func (c *webhookTestCmd) Run(ctx context.Context, std cli.Stdio) error {
	return c.with(ctx, std, func(hooks db.Webhooks) error {
		w, err := hooks.Get(ctx, c.ID)
		if err != nil {
			return err
		}
		if err := webhooks.NewClient(c.WebhookPrivate).Test(ctx, w); err != nil {
			return cli.Found{Err: err}
		}
		fmt.Fprintf(std.Out, "Webhook %d accepted a test.\n", w.ID)
		return nil
	})
}
