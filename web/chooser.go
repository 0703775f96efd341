package web

import (
	"fmt"
	"html/template"
	"net/http"
	"strings"

	"library-catalogue/accounts"
	"library-catalogue/graph/model"
	"library-catalogue/web/language"
	"library-catalogue/web/view"
)

// maxChoiceBytes is the maximum size of the form that chooses a language. It has an address.
const maxChoiceBytes = 64 << 10

// routeChooser adds the form that chooses a language. Only a page of the own origin may send it.
func (p *Pages) routeChooser() error {
	protection := http.NewCrossOriginProtection()
	if p.publicURL != "" {
		if err := protection.AddTrustedOrigin(p.publicURL); err != nil {
			return err
		}
	}
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.Fail(w, r, model.Errorf(model.Forbidden, "This request comes from another origin."))
	}))
	p.mux.Handle("POST /language", protection.Handler(http.HandlerFunc(p.chooseLanguage)))
	return nil
}

// chooseLanguage stores the chosen language in a cookie and in the caller's account, and redirects to the page of the
// form.
func (p *Pages) chooseLanguage(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxChoiceBytes)
	l := language.Find(r.PostFormValue("language"))
	if l == nil {
		p.Fail(w, r, model.Errorf(model.BadUserInput, "Choose one of the languages."))
		return
	}
	if v := view.ViewerOf(r.Context(), p.accounts != nil); v.Account != nil {
		if err := p.accounts.SetLanguage(r.Context(), l.Tag); err != nil {
			p.Fail(w, r, err)
			return
		}
	}
	const year = 365 * 24 * 60 * 60 // seconds
	http.SetCookie(w, &http.Cookie{Name: language.CookieName, Value: l.Tag, Path: "/", MaxAge: year, HttpOnly: true,
		SameSite: http.SameSiteLaxMode})
	http.Redirect(w, r, accounts.LocalPath(r.PostFormValue("next")), http.StatusSeeOther)
}

// languageChoices returns the buttons of the form for pages in a language.
func languageChoices(in *language.Language) template.HTML {
	var buttons strings.Builder
	for _, l := range language.All() {
		current := ""
		if l == in {
			current = ` aria-current="true"`
		}
		fmt.Fprintf(&buttons, `<button class="text-button" name="language" value="%[1]s" lang="%[1]s"%s>%s</button>`,
			l.Tag, current, l.Name)
	}
	return template.HTML(buttons.String()) //nolint:gosec // names of languages
}
