package model

import "testing"

// TestLooksLikeAccount compares subjects of other issuers with those of accounts.
func TestLooksLikeAccount(t *testing.T) {
	t.Parallel()
	for subject, want := range map[string]bool{
		"account:1": true, "ACCOUNT:1": true, " account:1": true, "ａｃｃｏｕｎｔ：1": true, "acc\u200bount:x": true, "acc\x00ount:1": true,
		"\u0430ccount:1": true, "acc\u043eunt:7": true, "a\u0441\u0441ount:1": true, "\u0430\u0441\u0441\u03bf\u0578\u0578\u0442:1": true,
		"\u0251ccount:1": true, "acco\u057dnt:1": true, "account\u05c3 1": true, "account\ua7891": true, "acc\u01d2unt:1": true, "account\u0301:1": true, "acc0unt:1": true,
		"\ua4ee\ua4da\ua4da\ua4f3\ua4f4\ua4e0\ua4d4:1": true, "\u2c81\u2ca5\u2ca5\u2c9f\u2ca9\u2c9b\u2ca7:1": true, "\u03b1\u03f2\u03f2\u03bf\u03c5\u03b7\u03c4:1": true,
		"": false, "account": false, "accounts:1": false, "my account:1": false, "ada": false, "amount1:1": false, "auth0|12": false, "discount:1": false, "acc0un0:1": false, "0ccount:1": false,
		"студент:1": false, "משתמשים:1": false, "使用者七個字:1": false, "müller:1": false, "äccounts:1": false,
	} {
		if got := LooksLikeAccount(subject); got != want {
			t.Errorf("%q (%+q): %t, want %t", subject, subject, got, want)
		}
	}
}
