package accounts

import (
	"context"
	"time"

	"library-catalogue/db/account"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
)

// linkTTL is the lifetime of a link to choose a password.
const linkTTL = 48 * time.Hour

var (
	errLinkUsed    = model.Errorf(model.Conflict, "This link was used. Ask for another.")
	errLinkExpired = model.Errorf(model.Conflict, "This link has expired. Ask for another.")
	errLastAdmin   = model.Errorf(model.Conflict, "This is the last admin. Make another account an admin first.")
)

// Invitation describes a new account.
type Invitation struct {
	Name        string
	DisplayName string // empty: the name
	Role        model.Role
}

// Invite makes an account without a password, and returns the secret of its link. The caller has AdminScope.
func (s *Service) Invite(ctx context.Context, in Invitation) (a *model.Account, secret string, err error) {
	if _, err := model.Authorise(ctx, model.AdminScope); err != nil {
		return nil, "", err
	}
	var problems model.FieldErrors
	checkAccount(&problems, &in)
	if err := problems.Err(); err != nil {
		return nil, "", err
	}
	secret = newSecret()
	err = s.asAdmin(ctx, func(ctx context.Context) error {
		row, err := s.add(ctx, in, "")
		if err != nil {
			return err
		}
		a = row.Account()
		return s.store.AddLink(ctx, &row.ID, digest(secret), s.micros(linkTTL))
	})
	if err != nil {
		return nil, "", err
	}
	return a, secret, nil
}

// checkAccount trims the names of a new account, and adds its problems.
func checkAccount(problems *model.FieldErrors, in *Invitation) {
	in.Name, in.DisplayName = trim(in.Name), trim(in.DisplayName)
	checkName(problems, "name", in.Name)
	if in.DisplayName == "" {
		in.DisplayName = in.Name
	} else {
		checkName(problems, "display_name", in.DisplayName)
	}
	if model.Roles[in.Role] == "" {
		problems.Add("role", "The selected role is invalid.")
	}
}

func (s *Service) add(ctx context.Context, in Invitation, password string) (*account.Row, error) {
	row, err := s.store.Add(ctx, in.Name, collate.Identity(in.Name), in.DisplayName, password, in.Role, s.micros(0))
	if err == nil && row == nil {
		var problems model.FieldErrors
		problems.Add("name", "The %s has already been taken.")
		err = problems.Err()
	}
	return row, err
}

// FirstLink makes the link of the first admin and ends the earlier one. It returns "" if there is an admin. The caller
// has AdminScope.
func (s *Service) FirstLink(ctx context.Context) (secret string, err error) {
	err = s.asAdmin(ctx, func(ctx context.Context) error {
		secret = ""
		if n, err := s.store.OtherAdmins(ctx, 0); err != nil || n > 0 {
			return err
		}
		secret = newSecret()
		return s.store.AddLink(ctx, nil, digest(secret), s.micros(linkTTL))
	})
	return secret, err
}

// Relink makes a new link for an account to choose a password, and ends the earlier one. The caller has AdminScope.
func (s *Service) Relink(ctx context.Context, id model.ID) (secret string, err error) {
	secret = newSecret()
	err = s.manage(ctx, id, func(ctx context.Context, row *account.Row) error {
		if row.DisabledAt != nil {
			return model.Errorf(model.Conflict, "The account is disabled. Enable it first.")
		}
		return s.store.AddLink(ctx, &id, digest(secret), s.micros(linkTTL))
	})
	return secret, err
}

// asAdmin runs fn in a transaction, after other changes of admins. The caller has AdminScope, and still is an admin.
func (s *Service) asAdmin(ctx context.Context, fn func(context.Context) error) error {
	p, err := model.Authorise(ctx, model.AdminScope)
	if err != nil {
		return err
	}
	return s.store.DB.Write(ctx, func(ctx context.Context) error {
		if err := s.store.LockAdmins(ctx); err != nil {
			return err
		}
		if p.Account != nil { // the caller may be a second old
			caller, err := s.store.ByID(ctx, p.Account.ID)
			if err != nil {
				return err
			}
			if caller == nil || caller.DisabledAt != nil || caller.Role != model.Admin {
				return model.Errorf(model.Forbidden, "You are no longer an admin.")
			}
		}
		return fn(ctx)
	})
}

// manage runs a change of an account as asAdmin does.
func (s *Service) manage(ctx context.Context, id model.ID, change func(context.Context, *account.Row) error) error {
	defer s.generation.Add(1)
	return s.asAdmin(ctx, func(ctx context.Context) error {
		row, err := s.store.ByID(ctx, id)
		if err == nil && row == nil {
			err = model.Errorf(model.NotFound, "There is no account %d.", id)
		}
		if err != nil {
			return err
		}
		return change(ctx, row)
	})
}

// keepAdmin returns an error if an account is the only admin who can sign in.
func (s *Service) keepAdmin(ctx context.Context, row *account.Row) error {
	if row.Role != model.Admin || row.DisabledAt != nil || row.Password == "" {
		return nil
	}
	n, err := s.store.OtherAdmins(ctx, row.ID)
	if err == nil && n == 0 {
		err = errLastAdmin
	}
	return err
}

// SetRole sets the role of an account, and ends its sessions. The last admin keeps the role. The caller has AdminScope.
func (s *Service) SetRole(ctx context.Context, id model.ID, role model.Role) error {
	return s.manage(ctx, id, func(ctx context.Context, row *account.Row) error {
		switch {
		case model.Roles[role] == "":
			return model.BadArgument("role", "The selected role is invalid.")
		case row.Role == role:
			return nil
		}
		if err := s.keepAdmin(ctx, row); err != nil {
			return err
		}
		if err := s.store.SetRole(ctx, id, role); err != nil {
			return err
		}
		return s.store.EndSessions(ctx, id)
	})
}

// Disable ends all sessions, links and tokens of an account, and refuses its logins. The last admin stays enabled.
// The caller has AdminScope.
func (s *Service) Disable(ctx context.Context, id model.ID) error {
	return s.manage(ctx, id, func(ctx context.Context, row *account.Row) error {
		if err := s.keepAdmin(ctx, row); err != nil {
			return err
		}
		now := s.micros(0)
		if err := s.store.SetDisabled(ctx, id, &now); err != nil {
			return err
		}
		if err := s.store.EndLinks(ctx, id); err != nil {
			return err
		}
		if err := s.store.RevokeTokens(ctx, id); err != nil {
			return err
		}
		return s.store.EndSessions(ctx, id)
	})
}

// Enable undoes Disable. The caller has AdminScope.
func (s *Service) Enable(ctx context.Context, id model.ID) error {
	return s.manage(ctx, id, func(ctx context.Context, _ *account.Row) error {
		return s.store.SetDisabled(ctx, id, nil)
	})
}

// Remove deletes an account with its sessions, links and tokens. The last admin stays. The caller has AdminScope.
func (s *Service) Remove(ctx context.Context, id model.ID) error {
	return s.manage(ctx, id, func(ctx context.Context, row *account.Row) error {
		if err := s.keepAdmin(ctx, row); err != nil {
			return err
		}
		_, err := s.store.Remove(ctx, id)
		return err
	})
}

// List returns all accounts by id. The caller has AdminScope.
func (s *Service) List(ctx context.Context) ([]*model.Account, error) {
	if _, err := model.Authorise(ctx, model.AdminScope); err != nil {
		return nil, err
	}
	rows, err := s.store.List(ctx)
	all := make([]*model.Account, len(rows))
	for i, row := range rows {
		all[i] = row.Account()
	}
	return all, err
}

// Find returns the account with a name. An unknown one is NotFound. The caller has AdminScope.
func (s *Service) Find(ctx context.Context, name string) (*model.Account, error) {
	if _, err := model.Authorise(ctx, model.AdminScope); err != nil {
		return nil, err
	}
	row, err := s.store.ByKey(ctx, keyOf(name))
	if err == nil && row == nil {
		err = model.Errorf(model.NotFound, "There is no account %q. List them with catalogue user list.", name)
	}
	if err != nil {
		return nil, err
	}
	return row.Account(), nil
}

// Acceptance is the use of a link.
type Acceptance struct {
	Secret   string
	Name     string // name of the first admin; else ignored
	Password string
	Agent    string
}

// CheckLink returns the name of the account of a link, or "" for the link of the first admin. It uses nothing up. The
// error is Conflict for a link that was used or has expired. The secret authorises.
func (s *Service) CheckLink(ctx context.Context, secret string) (name string, err error) {
	row, err := s.ofLink(ctx, secret)
	if err != nil || row == nil {
		return "", err
	}
	return row.Name, nil
}

// ofLink returns the account of a link that can be used, or nil for the link of the first admin.
func (s *Service) ofLink(ctx context.Context, secret string) (*account.Row, error) {
	link, err := s.store.Link(ctx, digest(secret))
	switch {
	case err != nil:
		return nil, err
	case link == nil, link.UsedAt == nil && link.ExpiresAt <= s.micros(0):
		return nil, errLinkExpired
	case link.UsedAt != nil:
		return nil, errLinkUsed
	case link.Account == nil:
		return nil, nil
	}
	row, err := s.store.ByID(ctx, *link.Account)
	if err == nil && row == nil {
		err = errLinkExpired
	}
	return row, err
}

// Accept uses a link up: its account gets the password, and its sessions end. The link of the first admin makes that
// account. It begins a session. The error is Conflict for a link that was used or has expired, BadUserInput for a weak
// password, which uses nothing up, else as of Login. The secret authorises.
func (s *Service) Accept(ctx context.Context, in Acceptance) (*SignedIn, error) {
	row, err := s.ofLink(ctx, in.Secret)
	if err != nil {
		return nil, err
	}
	first := Invitation{Name: in.Name, Role: model.Admin}
	var problems model.FieldErrors
	if row == nil {
		checkAccount(&problems, &first)
	} else {
		first.Name, first.DisplayName = row.Name, row.DisplayName
	}
	checkPassword(&problems, "password", in.Password, first.Name, first.DisplayName)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	stored, err := s.hash(ctx, in.Password)
	if err != nil {
		return nil, err
	}
	defer s.generation.Add(1)
	err = s.store.DB.Write(ctx, func(ctx context.Context) (err error) {
		row, err = s.accept(ctx, digest(in.Secret), first, stored)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.begin(ctx, row, in.Agent)
}

// accept uses a link up in a transaction.
func (s *Service) accept(ctx context.Context, secret []byte, first Invitation, stored string) (*account.Row, error) {
	if err := s.store.LockAdmins(ctx); err != nil {
		return nil, err
	}
	link, err := s.store.UseLink(ctx, secret, s.micros(0))
	if err != nil {
		return nil, err
	}
	if link == nil {
		return nil, errLinkUsed
	}
	if link.Account == nil {
		n, err := s.store.OtherAdmins(ctx, 0)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			return nil, errLinkUsed
		}
		return s.add(ctx, first, stored)
	}
	row, err := s.store.ByID(ctx, *link.Account)
	if err != nil {
		return nil, err
	}
	if row == nil || row.DisabledAt != nil {
		return nil, errLinkExpired
	}
	changed, err := s.store.SetPassword(ctx, row.ID, row.Password, stored)
	if err == nil && !changed {
		err = errLinkUsed
	}
	if err != nil {
		return nil, err
	}
	row.Password = stored
	return row, s.store.EndSessions(ctx, row.ID)
}
