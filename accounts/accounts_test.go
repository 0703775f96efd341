package accounts

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alexedwards/argon2id"
	"github.com/golang-jwt/jwt/v5"

	"library-catalogue/db"
	"library-catalogue/db/account"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// bench is a service with a clock, and a second one on the same database.
type bench struct {
	*Service
	other   *Service
	store   *db.Store
	clock   *atomic.Int64
	network *atomic.Pointer[netip.Addr]
}

// from sets the client network of logins.
func (b *bench) from(network string) { b.network.Store(new(netip.MustParseAddr(network))) }

func (b *bench) pass(d time.Duration) { b.clock.Add(int64(d)) }

// on runs a parallel test on each engine.
func on(t *testing.T, run func(t *testing.T, b *bench)) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		b := &bench{store: catalogtest.Open(t, url), clock: new(atomic.Int64), network: new(atomic.Pointer[netip.Addr])}
		b.clock.Store(time.Now().UnixNano())
		b.from("192.0.2.1")
		now := func() time.Time { return time.Unix(0, b.clock.Load()) }
		network := func(context.Context) netip.Addr { return *b.network.Load() }
		b.Service = New(b.store.Accounts, now, network)
		b.other = New(catalogtest.Open(t, url).Accounts, now, network)
		run(t, b)
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

const password = "correct horse"

// add makes an account that has a password, and returns its first session.
func (b *bench) add(t *testing.T, name string, role model.Role) *SignedIn {
	t.Helper()
	_, secret, err := b.Invite(WithCommandLine(t.Context()), Invitation{Name: name, Role: role})
	check(t, err)
	in, err := b.Accept(t.Context(), Acceptance{Secret: secret, Password: password})
	check(t, err)
	return in
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// as returns the context of a session.
func (b *bench) as(t *testing.T, in *SignedIn) context.Context {
	t.Helper()
	p, ok, err := b.Cookie(t.Context(), in.Secret)
	if err != nil || !ok {
		t.Fatalf("the session of %s: %t, %v", in.Account.Name, ok, err)
	}
	return model.WithCaller(t.Context(), p)
}

// wantIn demands that a session counts or not, at once where it was ended and after a second elsewhere.
func (b *bench) wantIn(t *testing.T, in *SignedIn, want bool) {
	t.Helper()
	if _, ok, err := b.Cookie(t.Context(), in.Secret); ok != want || err != nil {
		t.Errorf("the session counts: %t, %v, want %t", ok, err, want)
	}
	b.pass(900 * time.Millisecond) // within a second, with a margin
	if _, ok, err := b.other.Cookie(t.Context(), in.Secret); ok != want || err != nil {
		t.Errorf("after a second, the session counts at another server: %t, %v, want %t", ok, err, want)
	}
}

func wantCode(t *testing.T, err error, code model.Code, message string) {
	t.Helper()
	if !model.IsCode(err, code) || !strings.Contains(err.Error(), message) {
		t.Errorf("%v, want %s with %q", err, code, message)
	}
}

// TestNamesAsPasswords refuses each name of an account as its password, in any case, also the part of an address before @.
func TestNamesAsPasswords(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		_, secret, err := b.Invite(WithCommandLine(t.Context()), Invitation{Name: "ada.lovelace@example.com", DisplayName: "Countess Ada", Role: model.Editor})
		check(t, err)
		for _, given := range []string{"ADA.Lovelace@example.com", "Ada.Lovelace", "countess  ada"} {
			_, err := b.Accept(t.Context(), Acceptance{Secret: secret, Password: given})
			wantCode(t, err, model.BadUserInput, "must not be the account's name")
		}
		if name := must(b.CheckLink(t.Context(), secret)); name != "ada.lovelace@example.com" {
			t.Errorf("the link is of %q", name)
		}
		ada := b.as(t, must(b.Accept(t.Context(), Acceptance{Secret: secret, Password: password})))
		for given, message := range map[string]string{"Countess ADA": "must not be the account's name", password: "Choose another password than the present one."} {
			_, err := b.ChangePassword(ada, password, given, "")
			wantCode(t, err, model.BadUserInput, message)
		}
		_, err = b.ChangePassword(ada, "not this one", "not this one", "")
		wantCode(t, err, model.BadUserInput, "is not correct")
		_, err = b.CheckLink(t.Context(), secret)
		wantCode(t, err, model.Conflict, "This link was used.")
	})
}

// TestControlsInNames refuses names of accounts with characters that change how a list of accounts reads.
func TestControlsInNames(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		for _, name := range []string{"ada\x00", "a\x1bda", "ada\u202egnp", "\u2066ada", "ada\u0085x\u0086"} {
			for _, in := range []Invitation{{Name: name, Role: model.Editor}, {Name: "eve", DisplayName: name, Role: model.Editor}} {
				_, _, err := b.Invite(WithCommandLine(t.Context()), in)
				wantCode(t, err, model.BadUserInput, "must not have control characters")
			}
		}
		for _, name := range []string{"ada\u200dx", "עדה\u200f", "O’Neill"} {
			_, _, err := b.Invite(WithCommandLine(t.Context()), Invitation{Name: name, Role: model.Editor})
			check(t, err)
		}
	})
}

// TestLinks uses a link once, within 48 hours, with a password that is good enough.
func TestLinks(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		ctx := WithCommandLine(t.Context())
		a, secret, err := b.Invite(ctx, Invitation{Name: " Ada  Lovelace ", Role: model.Editor})
		check(t, err)
		if a.Name != "Ada Lovelace" || a.DisplayName != a.Name || a.Role != model.Editor || !a.Pending || a.ID == 0 {
			t.Errorf("invited %+v", a)
		}
		const repeated = "must not be one character again and again, or only spaces"
		for given, message := range map[string]string{
			"": "is required", "Password123": "most common ones", "1q2w3e4r5t": "most common ones", "ninechars": "at least 10", strings.Repeat("é", 9): "at least 10", strings.Repeat("é", 501): "1,000 bytes", "ADA  lovelace": "must not be the account's name", "\xff123456789": "UTF-8",
			"zzzzzzzzzzzz": repeated, "zZzZzZzZzZ": repeated, "ｚzzzzzzzzz": repeated, strings.Repeat("é", 10): repeated, strings.Repeat("e\u0301", 12): repeated,
			strings.Repeat(" ", 10): repeated, strings.Repeat("\u3000\t", 6): repeated, "7" + strings.Repeat(" ", 10): repeated, strings.Repeat("\u200b", 10): repeated,
		} {
			_, err := b.Accept(t.Context(), Acceptance{Secret: secret, Password: given})
			wantCode(t, err, model.BadUserInput, message)
		}
		_, err = b.Accept(t.Context(), Acceptance{Secret: secret + "x", Password: password})
		wantCode(t, err, model.Conflict, "expired")
		in := must(b.Accept(t.Context(), Acceptance{Secret: secret, Password: password}))
		b.wantIn(t, in, true)
		_, err = b.Accept(t.Context(), Acceptance{Secret: secret, Password: password})
		wantCode(t, err, model.Conflict, "This link was used. Ask for another.")

		first := must(b.Relink(ctx, a.ID))
		second := must(b.Relink(ctx, a.ID))
		_, err = b.Accept(t.Context(), Acceptance{Secret: first, Password: password})
		wantCode(t, err, model.Conflict, "expired")
		b.pass(linkTTL - time.Second)
		again := must(b.Accept(t.Context(), Acceptance{Secret: second, Password: password + "2"}))
		b.wantIn(t, in, false) // the password has changed
		b.wantIn(t, again, true)
		third := must(b.Relink(ctx, a.ID))
		b.pass(linkTTL)
		_, err = b.Accept(t.Context(), Acceptance{Secret: third, Password: password})
		wantCode(t, err, model.Conflict, "expired")
	})
}

// TestNames refuses a second name with the same identity key, and names that are none.
func TestNames(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		ctx := WithCommandLine(t.Context())
		b.add(t, "Jörg Straße", model.Reader)
		for _, same := range []string{"jörg STRASSE", "Jo\u0308rg Straße", " Jörg\u00a0Straße", "Jörg\u200b Stra\u00adße", "Ｊörg Straße"} {
			_, _, err := b.Invite(ctx, Invitation{Name: same, Role: model.Reader})
			wantCode(t, err, model.BadUserInput, "already been taken")
		}
		for name, message := range map[string]string{"": "required", " \u200b": "required", strings.Repeat("a", 201): "200 characters", strings.Repeat("\ufdfa", 200): "200 characters", "a\x00b": "control"} {
			_, _, err := b.Invite(ctx, Invitation{Name: name, Role: model.Reader})
			wantCode(t, err, model.BadUserInput, message)
		}
		_, _, err := b.Invite(ctx, Invitation{Name: "Jorg Strasse", Role: "owner"})
		wantCode(t, err, model.BadUserInput, "role is invalid")
		_, _, err = b.Invite(ctx, Invitation{Name: strings.Repeat("é", 200), Role: model.Reader})
		check(t, err)
		if _, err := b.Login(t.Context(), "JÖRG strasse", password, ""); err != nil {
			t.Error(err)
		}
	})
}

// TestFirstAdmin makes the first admin once.
func TestFirstAdmin(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		ctx := WithCommandLine(t.Context())
		old := must(b.FirstLink(ctx))
		secret := must(b.FirstLink(ctx)) // a restart
		_, err := b.Accept(t.Context(), Acceptance{Secret: old, Name: "ada", Password: password})
		wantCode(t, err, model.Conflict, "expired")
		_, err = b.Accept(t.Context(), Acceptance{Secret: secret, Password: password})
		wantCode(t, err, model.BadUserInput, "name field is required")
		made := inParallel(2, func(i int) error {
			server := []*Service{b.Service, b.other}[i]
			_, err := server.Accept(t.Context(), Acceptance{Secret: secret, Name: []string{"ada", "eve"}[i], Password: password})
			return err
		})
		if got := must(b.List(ctx)); made.succeeded != 1 || len(got) != 1 || got[0].Role != model.Admin {
			t.Errorf("%d of 2 made an admin: %+v, %v", made.succeeded, got, made.errors)
		}
		if secret := must(b.FirstLink(ctx)); secret != "" {
			t.Error("there is a link although there is an admin")
		}
	})
	t.Run("another admin", func(t *testing.T) {
		on(t, func(t *testing.T, b *bench) {
			secret := must(b.FirstLink(WithCommandLine(t.Context())))
			b.add(t, "ada", model.Admin)
			_, err := b.Accept(t.Context(), Acceptance{Secret: secret, Name: "eve", Password: password})
			wantCode(t, err, model.Conflict, "was used")
		})
	})
}

type outcome struct {
	succeeded int
	errors    []error
}

// inParallel calls fn n times at once.
func inParallel(n int, fn func(i int) error) (o outcome) {
	var running sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		running.Go(func() { errs[i] = fn(i) })
	}
	running.Wait()
	for _, err := range errs {
		if err == nil {
			o.succeeded++
		} else {
			o.errors = append(o.errors, err)
		}
	}
	return o
}

// TestLinkRace uses one link twice at once.
func TestLinkRace(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		_, secret, err := b.Invite(WithCommandLine(t.Context()), Invitation{Name: "ada", Role: model.Reader})
		check(t, err)
		used := inParallel(4, func(i int) error {
			_, err := []*Service{b.Service, b.other}[i%2].Accept(t.Context(), Acceptance{Secret: secret, Password: password})
			return err
		})
		if used.succeeded != 1 {
			t.Errorf("%d of 4 used the link: %v", used.succeeded, used.errors)
		}
		for _, err := range used.errors {
			wantCode(t, err, model.Conflict, "was used")
		}
	})
}

// TestLastAdmin lets two admins demote and disable each other at once.
func TestLastAdmin(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		ada, eve := b.add(t, "ada", model.Admin), b.add(t, "eve", model.Admin)
		_, _, err := b.Invite(WithCommandLine(t.Context()), Invitation{Name: "pending", Role: model.Admin})
		check(t, err)
		ctx := WithCommandLine(t.Context())
		done := inParallel(2, func(i int) error {
			if i == 0 {
				return b.SetRole(ctx, ada.Account.ID, model.Editor)
			}
			return b.other.Disable(ctx, eve.Account.ID)
		})
		if done.succeeded != 1 {
			t.Errorf("%d of 2 succeeded: %v", done.succeeded, done.errors)
		}
		for _, err := range done.errors {
			wantCode(t, err, model.Conflict, "last admin")
		}
		if n := must(b.store.Accounts.OtherAdmins(ctx, 0)); n != 1 {
			t.Errorf("%d admins are left", n)
		}
		for _, a := range must(b.List(ctx)) {
			if a.Role == model.Admin && !a.Disabled && !a.Pending {
				for _, err := range []error{b.Remove(ctx, a.ID), b.Disable(ctx, a.ID), b.SetRole(ctx, a.ID, model.Reader)} {
					wantCode(t, err, model.Conflict, "last admin")
				}
			}
		}
	})
}

// TestSessions ends sessions in each way.
func TestSessions(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		ctx := WithCommandLine(t.Context())
		b.add(t, "root", model.Admin)
		in := b.add(t, "ada", model.Editor)
		login := func() *SignedIn {
			t.Helper()
			return must(b.Login(t.Context(), "ada", password, "Firefox"))
		}
		ends := func(name string, in *SignedIn, end func() error) {
			t.Helper()
			b.wantIn(t, in, true)
			if err := end(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			b.wantIn(t, in, false)
		}
		second := login()
		if second.Secret == in.Secret {
			t.Error("two logins have one secret")
		}
		ends("logout", second, func() error { return b.Logout(b.as(t, second)) })
		b.wantIn(t, in, true)
		second = login()
		ends("end it", second, func() error {
			own := b.as(t, in)
			for _, s := range must(b.Sessions(own, in.Account.ID)) {
				if !s.Current && s.Agent == "Firefox" {
					return b.EndSession(own, in.Account.ID, s.ID)
				}
			}
			return errors.New("it is not in the list")
		})
		second = login()
		ends("role", second, func() error { return b.SetRole(ctx, in.Account.ID, model.Reader) })
		second = login()
		ends("disable", second, func() error { return b.Disable(ctx, in.Account.ID) })
		_, err := b.Login(t.Context(), "ada", password, "")
		wantCode(t, err, model.Unauthenticated, "do not match")
		check(t, b.Enable(ctx, in.Account.ID))
		second, in = login(), login()
		var renewed *SignedIn
		ends("password", second, func() error {
			own := b.as(t, in)
			_, err := b.ChangePassword(own, "wrong password", "another password", "")
			wantCode(t, err, model.BadUserInput, "old password is not correct")
			_, err = b.ChangePassword(own, password, "short", "")
			wantCode(t, err, model.BadUserInput, "at least 10")
			renewed, err = b.ChangePassword(own, password, "another password", "")
			return err
		})
		b.wantIn(t, in, false)
		b.wantIn(t, renewed, true)
		ends("30 days", renewed, func() error {
			if left := renewed.Expires.Sub(b.now()); left < sessionTTL-time.Minute || left > sessionTTL {
				t.Errorf("it lasts %s", left)
			}
			b.clock.Store(renewed.Expires.Add(-maxAge / 2).UnixNano())
			b.as(t, renewed) // the cache has it beyond its end
			b.pass(maxAge / 2)
			return nil
		})
	})
}

// TestLoginAmid begins sessions while the password changes, which ends all. None is left.
func TestLoginAmid(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		store, id := b.store.Accounts, b.add(t, "ada", model.Reader).Account.ID
		for i := range 50 {
			row := must(store.ByID(t.Context(), id))
			_ = inParallel(2, func(n int) error {
				if n == 0 {
					return second(store.AddSession(t.Context(), row, digest(newSecret()), "", b.micros(0), b.micros(time.Hour)))
				}
				return store.DB.Write(t.Context(), func(ctx context.Context) error {
					return errors.Join(second(store.SetPassword(ctx, id, row.Password, fmt.Sprint("new", i))), store.EndSessions(ctx, id))
				})
			})
			if left := must(store.Sessions(t.Context(), id, b.micros(0))); len(left) > 0 {
				t.Fatalf("after change %d a session is left", i+1)
			}
		}
	})
}

// TestLogins refuses all bad logins alike, and counts them.
func TestLogins(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		b.add(t, "ada", model.Reader)
		_, _, err := b.Invite(WithCommandLine(t.Context()), Invitation{Name: "pending", Role: model.Reader})
		check(t, err)
		for _, tt := range []struct{ name, password string }{{"ada", "wrong"}, {"nobody", password}, {"pending", password}, {"ada", strings.Repeat("x", 5000)}, {strings.Repeat("x", 5000), "x"}, {"a\x00", "x"}, {"\xff", "x"}} {
			if _, err := b.Login(t.Context(), tt.name, tt.password, ""); !errors.Is(err, ErrCredentials) {
				t.Errorf("%.20s: %v", tt.name, err)
			}
		}
		for range 7 { // 10 of ada
			_, err := b.Login(t.Context(), "ada", "wrong", "")
			wantCode(t, err, model.Unauthenticated, "")
		}
		if _, err := b.Login(t.Context(), "ada", password, ""); err != nil {
			t.Error(err) // it does not count
		}
		_, err = b.other.Login(t.Context(), "ada", "wrong", "")
		wantCode(t, err, model.Unauthenticated, "")
		tickets := b.fill()
		_, err = b.Login(t.Context(), "ada", password, "")
		wantCode(t, err, model.RateLimited, "") // without a place
		for _, ticket := range tickets {
			b.queue.leave(ticket, true)
		}
		for _, server := range []*Service{b.Service, b.other} {
			_, err = server.Login(t.Context(), "ADA", password, "")
			wantCode(t, err, model.RateLimited, "Try again in a few minutes")
			if retry, ok := errors.AsType[*model.RetryError](err); !ok || retry.After <= 0 || retry.After > failureWindow {
				t.Errorf("retry after %v", retry)
			}
		}
		b.from("192.0.2.2") // the account is not locked out
		if _, err := b.Login(t.Context(), "ada", password, ""); err != nil {
			t.Error(err)
		}
		b.from("192.0.2.1")
		b.pass(failureWindow)
		if _, err := b.Login(t.Context(), "ada", password, ""); err != nil {
			t.Error(err)
		}
	})
}

// TestAddressFailures counts the failures of one address with many names, sent at once.
func TestAddressFailures(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		b.add(t, "ada", model.Reader)
		codes := map[model.Code]int{}
		for range 5 {
			for _, err := range inParallel(12, func(i int) error {
				_, err := []*Service{b.Service, b.other}[i%2].Login(t.Context(), newSecret(), "wrong", "")
				return err
			}).errors {
				codes[model.AsError(err).Code]++
			}
		}
		if codes[model.Unauthenticated] != maxAddressFailures || codes[model.RateLimited] != 60-maxAddressFailures {
			t.Errorf("of 60 logins: %v", codes)
		}
		_, err := b.Login(t.Context(), "ada", password, "")
		wantCode(t, err, model.RateLimited, "")
		check(t, b.store.Accounts.BoundFailures(t.Context(), b.micros(0), 3))
		check(t, b.store.Accounts.BoundFailures(t.Context(), b.micros(failureWindow), 3))
		if _, err := b.Login(t.Context(), "ada", password, ""); err != nil {
			t.Error(err)
		}
	})
}

// TestBoundFailures deletes rows of logins that did not fail first, so that they end no count of another.
func TestBoundFailures(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		store, failed := b.store.Accounts, []byte("failed")
		count := func(key []byte, after time.Duration) int64 {
			t.Helper()
			n, _, err := store.CountFailure(t.Context(), key, b.micros(0), b.micros(failureWindow+after))
			check(t, err)
			return n
		}
		count(failed, 0)
		for _, key := range []string{"a", "b", "c"} {
			count([]byte(key), time.Second)
			check(t, store.ForgiveFailure(t.Context(), []byte(key)))
		}
		check(t, store.BoundFailures(t.Context(), b.micros(0), 1))
		if n := count(failed, 0); n != 2 {
			t.Errorf("it failed %d times, want 2", n)
		}
	})
}

// fill takes all permits and places by callers with a session, each at another network.
func (s *Service) fill() (tickets []*ticket) {
	for i := range maxHashes + maxWaiting {
		tickets = append(tickets, s.queue.enter(ip4(100, i), "", true))
	}
	return tickets
}

// TestBusy lets callers wait until their request ends.
func TestBusy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(account.Store{}, time.Now, func(context.Context) netip.Addr { return ip4(10, 1) })
		running := []*ticket{s.queue.enter(ip4(10, 2), "", true), s.queue.enter(ip4(10, 3), "", true)}
		ctx, cancel := context.WithCancel(t.Context())
		waiting := make(chan outcome)
		go func() { waiting <- inParallel(maxWaiting, func(int) error { return second(s.hash(ctx, password)) }) }()
		synctest.Wait()
		cancel()
		o := <-waiting
		for _, err := range o.errors {
			wantCode(t, err, model.Unavailable, "Try again in a few seconds")
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the cause is not the end of the request: %v", err)
			}
		}
		if o.succeeded != 0 || len(s.queue.waiting) != 0 || s.queue.free != 0 {
			t.Errorf("%d hashed without a permit, %d wait, %d permits are free", o.succeeded, len(s.queue.waiting), s.queue.free)
		}
		for _, t := range running {
			s.queue.leave(t, true)
		}
		check(t, second(s.hash(t.Context(), password)))
	})
}

// TestDoors comes to all places that hash a password while none is free.
func TestDoors(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		ada := b.as(t, b.add(t, "ada", model.Reader))
		_, secret, err := b.Invite(WithCommandLine(t.Context()), Invitation{Name: "eve", Role: model.Reader})
		check(t, err)
		tickets := b.fill()
		doors := map[string]func() error{
			"login":    func() error { return second(b.Login(t.Context(), "ada", password, "")) },
			"token":    func() error { _, _, err := b.LoginToken(t.Context(), "ada", password, ""); return err },
			"password": func() error { return second(b.ChangePassword(ada, password, "another horse", "")) },
			"link":     func() error { return second(b.Accept(t.Context(), Acceptance{Secret: secret, Password: password})) },
		}
		for name, door := range doors {
			err := door()
			wantCode(t, err, model.Unavailable, "Try again in a few seconds")
			if seconds := model.RetryAfter(err); seconds != 2 {
				t.Errorf("%s: retry after %d s", name, seconds)
			}
		}
		for _, ticket := range tickets {
			b.queue.leave(ticket, true)
		}
		for _, name := range []string{"login", "token", "link", "password"} {
			check(t, doors[name]())
		}
	})
}

// TestSameWork logs in while no password can be checked: all logins get as far.
func TestSameWork(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		ctx := WithCommandLine(t.Context())
		b.add(t, "ada", model.Reader)
		disabled := b.add(t, "eve", model.Reader)
		check(t, b.Disable(ctx, disabled.Account.ID))
		_, _, err := b.Invite(ctx, Invitation{Name: "pending", Role: model.Reader})
		check(t, err)
		b.fill()
		for range 2 * maxAccountFailures { // which do not count
			for _, name := range []string{"ada", "eve", "pending", "nobody"} {
				_, err := b.Login(t.Context(), name, password, "")
				wantCode(t, err, model.Unavailable, "Try again in a few seconds")
			}
		}
	})
}

// TestColleagues logs more accounts in at once behind one address than may fail there.
func TestColleagues(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		b.add(t, "ada", model.Reader)
		o := inParallel(maxAddressFailures+5, func(int) error { return second(b.Login(t.Context(), "ada", password, "")) })
		if o.succeeded != maxAddressFailures+5 {
			t.Error(o.errors)
		}
	})
}

// TestKnown remembers where an account signed in, by any of its spellings, and not where a login failed.
func TestKnown(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		b.add(t, "ada", model.Reader)
		known := func(name, network string) bool {
			ticket := b.queue.enter(netip.MustParseAddr(network), "account "+keyOf(name), false)
			b.queue.leave(ticket, false)
			return ticket.known
		}
		check(t, second(b.Login(t.Context(), "ADA", password, "")))
		b.from("192.0.2.2")
		_, err := b.Login(t.Context(), "ada", "wrong", "")
		wantCode(t, err, model.Unauthenticated, "")
		for _, tt := range []struct {
			name, network string
			want          bool
		}{{"ada", "192.0.2.1", true}, {"Ada", "192.0.2.1", true}, {"eve", "192.0.2.1", false}, {"", "192.0.2.1", false}, {"ada", "192.0.2.2", false}} {
			if got := known(tt.name, tt.network); got != tt.want {
				t.Errorf("%q from %s: known %t, want %t", tt.name, tt.network, got, tt.want)
			}
		}
	})
}

// TestManySessions begins more sessions than an account may have: the oldest end.
func TestManySessions(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		first, other := b.add(t, "ada", model.Reader), b.add(t, "eve", model.Reader)
		store := b.store.Accounts
		row := must(store.ByID(t.Context(), first.Account.ID))
		for range 200 {
			must(store.AddSession(t.Context(), row, digest(newSecret()), "", b.micros(0), b.micros(time.Hour)))
		}
		b.wantIn(t, first, false)
		b.wantIn(t, other, true)
		if got := must(store.Sessions(t.Context(), row.ID, b.micros(0))); len(got) != 200 {
			t.Errorf("%d sessions", len(got))
		}
	})
}

// TestForget deletes what has expired, and nothing else. A removed account leaves nothing.
func TestForget(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		ctx, store := WithCommandLine(t.Context()), b.store.Accounts
		b.add(t, "root", model.Admin)
		in := b.add(t, "ada", model.Editor)
		own := b.as(t, in)
		must(b.CreateToken(own, TokenInput{"x", []string{"catalogue:read"}, 24 * time.Hour}))
		_, _, err := b.LoginToken(t.Context(), "ada", password, "")
		check(t, err)
		left := func() string {
			t.Helper()
			return fmt.Sprintf("%d sessions, %d tokens", len(must(store.Sessions(ctx, in.Account.ID, 0))), len(must(store.Tokens(ctx, in.Account.ID))))
		}
		for _, step := range []struct {
			pass time.Duration
			want string
		}{{0, "2 sessions, 1 tokens"}, {2 * time.Hour, "1 sessions, 1 tokens"}, {24 * time.Hour, "1 sessions, 0 tokens"}, {sessionTTL, "0 sessions, 0 tokens"}} {
			b.pass(step.pass)
			check(t, store.Forget(ctx, b.micros(0)))
			if got := left(); got != step.want {
				t.Errorf("after %s: %s, want %s", step.pass, got, step.want)
			}
		}
		in = must(b.Login(t.Context(), "ada", password, ""))
		must(b.CreateToken(b.as(t, in), TokenInput{"x", []string{"catalogue:read"}, 24 * time.Hour}))
		must(b.Relink(ctx, in.Account.ID))
		check(t, b.Remove(ctx, in.Account.ID))
		b.wantIn(t, in, false)
		if got := must(b.List(ctx)); len(got) != 1 {
			t.Errorf("after the removal: %+v", got)
		}
		wantCode(t, b.Remove(ctx, in.Account.ID), model.NotFound, "no account")
	})
}

// TestRehash stores a password again when the parameters have risen.
func TestRehash(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		in := b.add(t, "ada", model.Reader)
		row := must(b.store.Accounts.ByID(t.Context(), in.Account.ID))
		if !strings.HasPrefix(row.Password, "$argon2id$v=19$m=19456,t=2,p=1$") {
			t.Errorf("stored as %s", row.Password)
		}
		weak := must(argon2id.CreateHash(password, &argon2id.Params{Memory: 1 << 10, Iterations: 1, Parallelism: 1, SaltLength: 16, KeyLength: 32}))
		must(b.store.Accounts.SetPassword(t.Context(), row.ID, row.Password, weak))
		if _, err := b.Login(t.Context(), "ada", "wrong", ""); !errors.Is(err, ErrCredentials) {
			t.Error(err)
		}
		must(b.Login(t.Context(), "ada", password, ""))
		if row = must(b.store.Accounts.ByID(t.Context(), row.ID)); !strings.HasPrefix(row.Password, "$argon2id$v=19$m=19456,") {
			t.Errorf("after a login it is %s", row.Password)
		}
		must(b.Login(t.Context(), "ada", password, ""))
	})
}

// TestStoredPasswords verifies hashes that earlier builds stored, and refuses parameters that argon2 would panic on.
func TestStoredPasswords(t *testing.T) {
	t.Parallel()
	const salt = "$MDEyMzQ1Njc4OWFiY2RlZg$"
	const hash = salt + "2e6VBrIGe4o5wvEblitWf9xh44XAiEswYmjeWD4bYtY"
	for stored, want := range map[string]struct{ ok, outdated, fails bool }{
		"$argon2id$v=19$m=19456,t=2,p=1" + hash:                                                {ok: true},
		"$argon2id$v=19$m=1024,t=1,p=1" + salt + "tkIlVmB13U74nSnodLHd0BrS4sMWtyvbcPL6+PJAFy0": {ok: true, outdated: true},
		"$argon2id$v=19$m=1024,t=1,p=1" + hash:                                                 {outdated: true},
		unmatched:                                                                              {},
		"":                                                                                     {},
		"$argon2id$v=19$m=19456,t=2,p=1$AA$":                                                   {fails: true},
		"$argon2id$v=19$m=19456,t=0,p=1" + hash:                                                {fails: true},
		"$argon2id$v=19$m=19456,t=2,p=0" + hash:                                                {fails: true},
		"$argon2id$v=16$m=19456,t=2,p=1" + hash:                                                {fails: true},
		"$argon2i$v=19$m=19456,t=2,p=1" + hash:                                                 {fails: true},
		"$2a$10$abc":                                                                           {fails: true},
	} {
		// The password as a browser of another system sends it: Ö in two code points.
		ok, outdated, err := verify(stored, "correct horse O\u0308")
		if ok != want.ok || outdated != want.outdated || (err != nil) != want.fails {
			t.Errorf("%s: %v, %v, %v", stored, ok, outdated, err)
		}
	}
}

// TestFormerAdmin manages accounts by a caller that was looked up before its account lost the role.
func TestFormerAdmin(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		b.add(t, "root", model.Admin)
		b.add(t, "ada", model.Admin)
		ada := b.as(t, must(b.Login(t.Context(), "ada", password, "")))
		p, err := model.CallerOf(ada)
		check(t, err)
		check(t, b.SetRole(WithCommandLine(t.Context()), p.Account.ID, model.Editor))
		_, _, err = b.Invite(ada, Invitation{Name: "eve", Role: model.Admin})
		wantCode(t, err, model.Forbidden, "no longer an admin")
		wantCode(t, b.SetRole(ada, p.Account.ID, model.Admin), model.Forbidden, "no longer an admin")
	})
}

// TestLoginToken checks the session of a login token, and the rotation of keys.
func TestLoginToken(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		b.add(t, "ada", model.Editor)
		issuer := ""
		if key, err := b.other.Key(t.Context(), IssuerPrefix, "unknown"); key != nil || err != nil { // reads the keys
			t.Errorf("there is a key %v, %v", key, err)
		}
		sign := func() (session, kid string) {
			t.Helper()
			token, expires, err := b.LoginToken(t.Context(), "ada", password, "curl")
			check(t, err)
			claims := jwt.MapClaims{}
			parsed, err := jwt.NewParser(jwt.WithoutClaimsValidation()).ParseWithClaims(token, claims, func(parsed *jwt.Token) (any, error) {
				issuer = claims["iss"].(string)
				if !strings.HasPrefix(issuer, IssuerPrefix) || len(issuer) < 40 {
					t.Errorf("iss %s", issuer)
				}
				if key, err := b.other.Key(t.Context(), IssuerPrefix+"another", parsed.Header["kid"].(string)); key != nil || err != nil {
					t.Errorf("another issuer has the key %v, %v", key, err)
				}
				return b.other.Key(t.Context(), issuer, parsed.Header["kid"].(string)) // made within the second
			})
			check(t, err)
			if claims["exp"] != float64(expires.Unix()) || claims["sub"] != "account:1" {
				t.Errorf("claims %v", claims)
			}
			return claims["sid"].(string), parsed.Header["kid"].(string)
		}
		session, kid := sign()
		if len(session) != 64 {
			t.Errorf("the sid %q is no hash: ids of sessions are given again after a restore", session)
		}
		if _, ok, _ := b.Session(t.Context(), "1"); ok {
			t.Error("a session counts by its id")
		}
		p, ok, err := b.Session(t.Context(), session)
		if !ok || err != nil || p.Subject != "account:1" || p.Scopes != model.Roles[model.Editor] || !p.Scoped || p.Cookie {
			t.Errorf("%+v %t %v", p, ok, err)
		}
		check(t, b.Logout(model.WithCaller(t.Context(), p)))
		if _, ok, _ := b.Session(t.Context(), session); ok {
			t.Error("it counts after logout")
		}
		session, _ = sign()
		b.pass(loginTTL)
		if _, ok, _ := b.Session(t.Context(), session); ok {
			t.Error("it counts after an hour")
		}

		b.pass(keyAge)
		_, next := sign()
		has := func(kid string) bool {
			key, err := b.other.Key(t.Context(), issuer, kid)
			check(t, err)
			return key != nil
		}
		b.pass(maxAge)
		if next == kid || !has(kid) || !has(next) {
			t.Errorf("after 90 days: key %s, then %s", kid, next)
		}
		if b.pass(oldKeyAge); has(kid) || !has(next) {
			t.Error("the old key counts after its tokens")
		}
	})
}

// TestTokens makes, uses and revokes tokens.
func TestTokens(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		b.add(t, "root", model.Admin)
		own := b.as(t, b.add(t, "ada", model.Editor))
		input := TokenInput{Name: "backup", Scopes: []string{"books:create", "catalogue:read"}, TTL: 24 * time.Hour}
		for name, bad := range map[string]TokenInput{
			"no scope": {"x", nil, time.Hour}, "admin": {"x", []string{model.AdminScope}, time.Hour}, "unknown": {"x", []string{"books:*"}, time.Hour},
			"for ever": {"x", []string{"books:create"}, 400 * 24 * time.Hour}, "no name": {"", []string{"books:create"}, time.Hour}, "two in one": {"x", []string{"books:create catalogue:admin"}, time.Hour},
		} {
			if _, err := b.CreateToken(own, bad); !model.IsCode(err, model.BadUserInput) {
				t.Errorf("%s: %v", name, err)
			}
		}
		_, err := b.CreateToken(own, TokenInput{Name: "x", TTL: time.Hour})
		wantCode(t, err, model.BadUserInput, "Choose what the token may do")
		reader := b.as(t, b.add(t, "eve", model.Reader))
		if _, err := b.CreateToken(reader, input); !model.IsCode(err, model.BadUserInput) {
			t.Errorf("more than a reader's scopes: %v", err)
		}
		text := must(b.CreateToken(own, input))
		use := func(s *Service) string {
			t.Helper()
			p, ok, err := s.Token(t.Context(), text)
			check(t, err)
			if !ok {
				return "refused"
			}
			return p.Scopes
		}
		if got := use(b.Service); got != "books:create catalogue:read" || !strings.HasPrefix(text, "cat_") || len(text) != 53 {
			t.Errorf("%s has %q", text, got)
		}
		p, _, _ := b.Token(t.Context(), text)
		ctx := model.WithCaller(t.Context(), p)
		for name, err := range map[string]error{
			"a token": second(b.CreateToken(ctx, input)), "sessions": second(b.Sessions(ctx, p.Account.ID)), "accounts": second(b.List(ctx)),
			"password": second(b.ChangePassword(ctx, password, "another password", "")), "role": b.SetRole(ctx, p.Account.ID, model.Admin),
		} {
			if !model.IsCode(err, model.Forbidden) {
				t.Errorf("%s by a token: %v", name, err)
			}
		}
		wantCode(t, b.Logout(ctx), model.BadUserInput, "no session")
		listed := must(b.Tokens(own))
		if len(listed) != 1 || listed[0].UsedAt == nil || int64(*listed[0].UsedAt) != b.micros(0) {
			t.Errorf("listed %+v", listed)
		}
		b.pass(30 * time.Second)
		use(b.Service)
		if again := must(b.Tokens(own)); *again[0].UsedAt != *listed[0].UsedAt {
			t.Error("a use within a minute is written")
		}
		b.pass(30 * time.Second)
		if use(b.Service); *must(b.Tokens(own))[0].UsedAt == *listed[0].UsedAt {
			t.Error("a use after a minute is not written")
		}
		check(t, b.SetRole(WithCommandLine(t.Context()), p.Account.ID, model.Reader))
		if got := use(b.Service); got != "catalogue:read" {
			t.Errorf("of a reader the token has %q", got)
		}
		check(t, b.Disable(WithCommandLine(t.Context()), p.Account.ID))
		if got := use(b.Service); got != "refused" {
			t.Errorf("of a disabled account the token has %q", got)
		}
		check(t, b.Enable(WithCommandLine(t.Context()), p.Account.ID))
		b.pass(maxAge)
		if got := use(b.other); got != "refused" {
			t.Errorf("of an account that is enabled again the token has %q", got)
		}
		own = b.as(t, must(b.Login(t.Context(), "ada", password, "")))
		text = must(b.CreateToken(own, TokenInput{"x", []string{"catalogue:read"}, 24 * time.Hour}))
		if use(b.other) == "refused" {
			t.Error("a new one is refused")
		}
		check(t, b.RevokeToken(own, must(b.Tokens(own))[0].ID))
		if got := use(b.Service); got != "refused" {
			t.Errorf("revoked, it has %q", got)
		}
		b.pass(maxAge)
		if got := use(b.other); got != "refused" {
			t.Errorf("revoked, at another server after a second it has %q", got)
		}
		text = must(b.CreateToken(own, TokenInput{"x", []string{"catalogue:read"}, 24 * time.Hour}))
		b.pass(24 * time.Hour)
		if got := use(b.Service); got != "refused" {
			t.Errorf("expired, it has %q", got)
		}
		for _, broken := range []string{text[:52] + "!", "cat_", text + "x", text[4:]} {
			if _, ok, err := b.Token(t.Context(), broken); ok || err != nil {
				t.Errorf("%s: %t %v", broken, ok, err)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }

// TestAuthorisation calls each use case without the right to it.
func TestAuthorisation(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		root := b.add(t, "root", model.Admin).Account.ID
		for name, ctx := range map[string]context.Context{
			"nobody":           t.Context(),
			"an editor":        b.as(t, b.add(t, "ada", model.Editor)),
			"a foreign token":  model.WithCaller(t.Context(), model.Caller{Subject: "x"}),
			"a foreign scope":  model.WithCaller(t.Context(), model.Caller{Subject: "x", Scoped: true, Scopes: model.AdminScope}),
			"every narrow one": model.WithCaller(t.Context(), model.Caller{Subject: "x", Scoped: true, Scopes: model.WriteScope}),
		} {
			for use, err := range map[string]error{
				"invite": func() error { _, _, err := b.Invite(ctx, Invitation{Name: "eve", Role: model.Admin}); return err }(),
				"first":  second(b.FirstLink(ctx)), "link": second(b.Relink(ctx, root)), "role": b.SetRole(ctx, root, model.Reader),
				"disable": b.Disable(ctx, root), "enable": b.Enable(ctx, root), "remove": b.Remove(ctx, root), "list": second(b.List(ctx)), "find": second(b.Find(ctx, "root")),
				"sessions": second(b.Sessions(ctx, root)), "end": b.EndSession(ctx, root, 1), "end all": b.EndSessions(ctx, root),
			} {
				if !model.IsCode(err, model.Forbidden) && (name != "nobody" || !model.IsCode(err, model.Unauthenticated)) {
					t.Errorf("%s of %s: %v", use, name, err)
				}
			}
		}
	})
}

// TestActorName names accounts to those who may see them.
func TestActorName(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		reader := b.as(t, b.add(t, "ada", model.Reader))
		for name, tt := range map[string]struct {
			ctx         context.Context
			actor, want string
		}{
			"a reader": {reader, "account:1", "ada"}, "nobody": {t.Context(), "account:1", ""}, "a database role": {reader, "catalogue", ""}, "unknown": {reader, "account:9", ""},
			"a narrow scope": {model.WithCaller(t.Context(), model.Caller{Scoped: true, Scopes: "books:create"}), "account:1", ""},
			"a foreign one":  {model.WithCaller(t.Context(), model.Caller{Scoped: true, Scopes: model.WriteScope}), "account:1", "ada"},
		} {
			if got, err := b.ActorName(tt.ctx, tt.actor); got != tt.want || err != nil {
				t.Errorf("%s: %q, %v, want %q", name, got, err, tt.want)
			}
		}
	})
}
