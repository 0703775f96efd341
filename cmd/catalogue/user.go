package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"library-catalogue/accounts"
	"library-catalogue/cmd/catalogue/cli"
	"library-catalogue/db"
	"library-catalogue/graph/model"
	"library-catalogue/importer"
)

// userCmd holds the commands for accounts.
type userCmd struct {
	Add      userAddCmd      `cmd:"" help:"Add an account, and print its link once."`
	List     userListCmd     `cmd:"" help:"List the accounts."`
	Role     userRoleCmd     `cmd:"" help:"Set the role of an account, which ends its sessions."`
	Disable  userDisableCmd  `cmd:"" help:"Disable an account, which ends its sessions."`
	Enable   userEnableCmd   `cmd:"" help:"Enable a disabled account."`
	Password userPasswordCmd `cmd:"" help:"Print a link to choose a new password."`
	Sessions userSessionsCmd `cmd:"" help:"List the sessions of an account, or end them."`
	Remove   userRemoveCmd   `cmd:"" help:"Remove an account with its name, sessions and tokens."`
}

// userFlags open the database.
type userFlags struct{ storeFlags }

// with calls fn with the accounts of an existing catalogue.
func (f userFlags) with(ctx context.Context, std cli.Stdio, fn func(context.Context, *accounts.Service) error) error {
	return f.withStore(ctx, std, func(store *db.Store) error {
		return fn(accounts.WithCommandLine(ctx), accounts.New(store.Accounts, time.Now, nil))
	})
}

// namedFlags name an account.
type namedFlags struct {
	userFlags

	Name string `arg:"" help:"Name of the account."`
}

// userChange changes the account with an id.
type userChange func(*accounts.Service, context.Context, model.ID) error

// change runs a change of the account, and prints a sentence.
func (f namedFlags) change(ctx context.Context, std cli.Stdio, sentence string, do userChange) error {
	return f.with(ctx, std, func(ctx context.Context, service *accounts.Service) error {
		a, err := service.Find(ctx, f.Name)
		if err != nil {
			return err
		}
		if err := do(service, ctx, a.ID); err != nil {
			return err
		}
		_, err = fmt.Fprintf(std.Out, sentence+"\n", importer.Printable(a.Name))
		return err
	})
}

// linkFlags choose the address of a link.
type linkFlags struct {
	PublicURL string `env:"CATALOGUE_PUBLIC_URL" default:"http://127.0.0.1:8080" placeholder:"URL" help:"Address of the service in the link (default: ${default})."`
}

func (f linkFlags) print(out io.Writer, sentence, secret string) error {
	_, err := fmt.Fprintf(out, "%s\nThe link is good once, for 48 hours, and is not shown again:\n  %s/welcome#%s\n",
		sentence, f.PublicURL, secret)
	return err
}

type userAddCmd struct {
	namedFlags
	linkFlags

	Role        string `enum:"reader,editor,admin" default:"reader" help:"Role: reader, editor (books, genres, categories) or admin (also accounts) (default: ${default})."`
	DisplayName string `placeholder:"TEXT" help:"Name that others see (default: the name)."`
}

func (c *userAddCmd) Run(ctx context.Context, std cli.Stdio) error {
	return c.with(ctx, std, func(ctx context.Context, service *accounts.Service) error {
		a, secret, err := service.Invite(ctx,
			accounts.Invitation{Name: c.Name, DisplayName: c.DisplayName, Role: model.Role(c.Role)})
		if err != nil {
			return err
		}
		return c.print(std.Out,
			fmt.Sprintf("Account %d, %s, is added. Send its person the link to choose a password.", a.ID,
				importer.Printable(a.Name)), secret)
	})
}

type userPasswordCmd struct {
	namedFlags
	linkFlags
}

func (c *userPasswordCmd) Run(ctx context.Context, std cli.Stdio) error {
	return c.with(ctx, std, func(ctx context.Context, service *accounts.Service) error {
		a, err := service.Find(ctx, c.Name)
		if err != nil {
			return err
		}
		secret, err := service.Relink(ctx, a.ID)
		if err != nil {
			return err
		}
		return c.print(std.Out,
			fmt.Sprintf("The password of %s counts until the link is used.", importer.Printable(a.Name)), secret)
	})
}

type userRoleCmd struct {
	namedFlags

	Role string `arg:"" enum:"reader,editor,admin" help:"Role: reader, editor or admin."`
}

func (c *userRoleCmd) Run(ctx context.Context, std cli.Stdio) error {
	return c.change(ctx, std, "The role of %s is "+c.Role+" now.",
		func(service *accounts.Service, ctx context.Context, id model.ID) error {
			return service.SetRole(ctx, id, model.Role(c.Role))
		})
}

type userDisableCmd struct{ namedFlags }

func (c *userDisableCmd) Run(ctx context.Context, std cli.Stdio) error {
	return c.change(ctx, std, "The account %s is disabled.", (*accounts.Service).Disable)
}

type userEnableCmd struct{ namedFlags }

func (c *userEnableCmd) Run(ctx context.Context, std cli.Stdio) error {
	return c.change(ctx, std, "The account %s is enabled.", (*accounts.Service).Enable)
}

type userRemoveCmd struct{ namedFlags }

func (c *userRemoveCmd) Run(ctx context.Context, std cli.Stdio) error {
	return c.change(ctx, std, "The account %s is removed. The log of changes keeps its number.",
		(*accounts.Service).Remove)
}

type userSessionsCmd struct {
	namedFlags

	End bool `help:"End all sessions."`
}

func (c *userSessionsCmd) Run(ctx context.Context, std cli.Stdio) error {
	if c.End {
		return c.change(ctx, std, "All sessions of %s have ended.", (*accounts.Service).EndSessions)
	}
	return c.with(ctx, std, func(ctx context.Context, service *accounts.Service) error {
		a, err := service.Find(ctx, c.Name)
		if err != nil {
			return err
		}
		sessions, err := service.Sessions(ctx, a.ID)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(std.Out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "ID\tLAST USED\tEXPIRES\tBROWSER")
		for _, s := range sessions {
			fmt.Fprintf(table, "%d\t%s\t%s\t%s\n", s.ID, timeOf(s.UsedAt).Format(time.RFC3339),
				timeOf(s.ExpiresAt).Format(time.RFC3339), importer.Printable(s.Agent))
		}
		return table.Flush()
	})
}

type userListCmd struct {
	userFlags
	cli.OutputFlags
}

// user is the JSON of an account.
type user struct {
	ID          model.ID   `json:"id"`
	Name        string     `json:"name"`
	DisplayName string     `json:"display_name"`
	Role        model.Role `json:"role"`
	State       string     `json:"state"` // enabled, disabled, or pending without a password
	CreatedAt   time.Time  `json:"created_at"`
	SeenAt      *time.Time `json:"seen_at"` // null before the first login
}

func userOf(a *model.Account) user {
	u := user{ID: a.ID, Name: a.Name, DisplayName: a.DisplayName, Role: a.Role, State: "enabled",
		CreatedAt: timeOf(a.CreatedAt)}
	switch {
	case a.Disabled:
		u.State = "disabled"
	case a.Pending:
		u.State = "pending"
	}
	if a.SeenAt != nil {
		at := timeOf(*a.SeenAt)
		u.SeenAt = &at
	}
	return u
}

func (c *userListCmd) Run(ctx context.Context, std cli.Stdio) error {
	return c.with(ctx, std, func(ctx context.Context, service *accounts.Service) error {
		list, err := service.List(ctx)
		if err != nil {
			return err
		}
		shown := []user{}
		for _, a := range list {
			shown = append(shown, userOf(a))
		}
		return c.Print(std.Out, shown, func(out io.Writer) error {
			table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(table, "ID\tNAME\tROLE\tSTATE\tLAST SEEN")
			for _, u := range shown {
				seen := "never"
				if u.SeenAt != nil {
					seen = u.SeenAt.Format(time.RFC3339)
				}
				fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\n", u.ID, importer.Printable(u.Name), u.Role, u.State, seen)
			}
			return table.Flush()
		})
	})
}
