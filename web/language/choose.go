package language

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/language"

	"library-catalogue/graph/model"
	"library-catalogue/lru"
)

// Parameter is the parameter of an address with the language of the page. CookieName is the name of the cookie with
// the chosen language.
const (
	Parameter  = "lang"
	CookieName = "language"
)

// Find returns the language of a tag, or nil.
func Find(tag string) *Language {
	i := slices.IndexFunc(All(), func(l *Language) bool { return l.Tag == tag })
	if i < 0 {
		return nil
	}
	return All()[i]
}

// Of returns the language of a request that Middleware has passed, or English.
func Of(r *http.Request) *Language {
	if l := Find(r.Header.Get("Accept-Language")); l != nil {
		return l
	}
	return All()[0]
}

// Middleware reduces Accept-Language to the chosen language, so that later handlers agree on it.
func Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		Choose(r)
		next.ServeHTTP(w, r)
	})
}

// Choose reduces Accept-Language to the chosen language. The parameter lang of the address counts first, then the
// account, the cookie and Accept-Language.
func Choose(r *http.Request) { r.Header["Accept-Language"] = []string{choose(r).Tag} }

// Asked returns the language in the address of a request, or nil.
func Asked(r *http.Request) *Language {
	if !strings.Contains(r.URL.RawQuery, Parameter+"=") {
		return nil
	}
	return Find(r.URL.Query().Get(Parameter))
}

func choose(r *http.Request) *Language {
	if l := Asked(r); l != nil {
		return l
	}
	if caller, err := model.CallerOf(r.Context()); err == nil && caller.Cookie {
		if l := Find(caller.Account.Language); l != nil {
			return l
		}
	}
	for _, cookie := range r.CookiesNamed(CookieName) {
		if l := Find(cookie.Value); l != nil {
			return l
		}
	}
	return accepted(strings.Join(r.Header["Accept-Language"], ","))
}

// maxHeader is the maximum length of an Accept-Language header that counts.
const maxHeader = 200

// matched has the languages of headers, because parsing one takes longer than a cached page.
var matched = lru.New(1000, func(string, *Language) int { return 1 })

var matcher = sync.OnceValue(func() language.Matcher {
	var tags []language.Tag
	for _, l := range All() {
		tags = append(tags, l.tag)
	}
	return language.NewMatcher(tags)
})

// accepted returns the best language for an Accept-Language header (RFC 9110, section 12.5.4), or English.
func accepted(header string) *Language {
	if header == "" || len(header) > maxHeader {
		return All()[0]
	}
	if l, ok := matched.Get(header); ok {
		return l
	}
	known := slices.DeleteFunc(strings.Split(header, ","), func(part string) bool {
		_, _, err := language.ParseAcceptLanguage(part) // one unknown language would refuse all
		return err != nil
	})
	_, i := language.MatchStrings(matcher(), strings.Join(known, ","))
	matched.Set(header, All()[i])
	return All()[i]
}
