package lang_test

import (
	"testing"

	"library-catalogue/graph/model/lang"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"en": "en", "EN": "en", "eng": "en", "ger": "de", "deu": "de", "fre": "fr", "slo": "sk", "en-gb": "en-GB", "zh_Hant": "zh-Hant", "iw": "he",
		"English": "en", "german": "de", "Deutsch": "de", "français": "fr", "FRANCAIS": "fr", "slovenščina": "sl", "日本語": "ja", "русский": "ru",
		"British English": "en-GB", "Englisch": "en", "Französisch": "fr", "anglais": "en", "inglés": "en", "английский": "en", "英语": "en", "немецкий": "de", "орыс тілі": "ru", "ruština": "ru", "Rus dili": "ru", "mul": "mul", "grc": "grc",
		"\u200een": "en", "Deutsch\u200b": "de",
		"": "", "xx": "", "und": "", "English; French": "", "klingonese": "", "e": "", "1": "",
	} {
		if got, ok := lang.Parse(text); got != want || ok != (want != "") {
			t.Errorf("Parse(%q) = %q, %v, want %q", text, got, ok, want)
		}
	}
}
