package model_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"library-catalogue/graph/model"
)

func TestParseID(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]model.ID{
		"1": 1, "12": 12, "9223372036854775807": math.MaxInt64, "0": 0,
		"": -1, "-1": -1, "-0": -1, "+1": -1, "01": -1, " 1": -1, "1 ": -1, "1.0": -1, "1e3": -1, "0x1": -1, "1_000": -1,
		"9223372036854775808": -1, "٣": -1, "one": -1, "1\x00": -1,
	} {
		if got := model.ParseID(text); got != want {
			t.Errorf("%q is taken for %d, want %d", text, got, want)
		}
	}
}

func FuzzNodeID(f *testing.F) {
	f.Add("Book", int64(12), "Qm9vazoxMg")
	f.Add("", int64(-1), "")
	f.Fuzz(func(t *testing.T, typename string, number int64, text string) {
		if number > 0 && !strings.Contains(typename, ":") {
			gotName, gotID, ok := model.ParseNodeID(model.NodeID(typename, model.ID(number)))
			if gotName != typename || int64(gotID) != number || !ok {
				t.Errorf("%q and %d came back as %q and %d, %t", typename, number, gotName, gotID, ok)
			}
		}
		if name, id, ok := model.ParseNodeID(text); ok && model.NodeID(name, id) != text {
			t.Errorf("%q is taken for %q", text, model.NodeID(name, id))
		}
	})
}

// cents rounds half up, as a clerk does who has the decimal before him.
func cents(text string) *big.Int {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil
	}
	half := big.NewRat(1, 2)
	if r.Sign() < 0 {
		half.Neg(half) // away from zero: the price is refused anyway
	}
	r.Add(r.Mul(r, big.NewRat(100, 1)), half)
	return new(big.Int).Quo(r.Num(), r.Denom())
}

// TestCentsAreExact compares with exact arithmetic, on decimals of any length.
func TestCentsAreExact(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	digits := func(most int) string {
		b := make([]byte, random.IntN(most+1))
		for i := range b {
			b[i] = "0012345678999"[random.IntN(13)]
		}
		return string(b)
	}
	for range 20_000 {
		text := digits(13)
		if random.IntN(4) > 0 || text == "" {
			text += "." + digits(30) + "5"
		}
		if random.IntN(3) == 0 {
			text += fmt.Sprintf("e%+d", random.IntN(12)-8)
		}
		if random.IntN(3) == 0 {
			text = "-" + text
		}
		want := cents(text)
		got, ok := model.ParseCents(text)
		if !ok {
			t.Fatalf("seed %d: %s is refused", seed, text)
		}
		if limit := big.NewInt(1e17); want.CmpAbs(limit) > 0 {
			continue // past every bound
		}
		if want.Int64() != int64(got) {
			t.Fatalf("seed %d: %s is %d cents, want %d", seed, text, got, want)
		}
	}
}

func TestParseCents(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0": "0.00", "-0": "0.00", "1": "1.00", "+1": "1.00", "1.": "1.00", ".5": "0.50", "19.99": "19.99", "0.005": "0.01", "0.0049999": "0.00",
		"-0.004": "0.00", "-0.005": "-0.01", "-1.5": "-1.50", "007": "7.00", "1e2": "100.00", "1E-2": "0.01", "1e-3": "0.00", "5e-3": "0.01",
		"99999999.99": "99999999.99", "99999999.995": "100000000.00", "0e999999999999": "0.00", "1e-999999999999": "0.00",
		strings.Repeat("0", 100_000) + "1": "1.00", "1" + strings.Repeat("0", 20) + "e-20": "1.00",
	} {
		got, ok := model.ParseCents(text)
		if !ok || got.String() != want {
			t.Errorf("%.50s is %v, %t, want %s", text, got, ok, want)
		}
	}
	for _, huge := range []string{"1e999999999999", "1e16", strings.Repeat("9", 100_000), "12345678901234567890"} {
		if got, ok := model.ParseCents(huge); !ok || got <= model.MaxPrice {
			t.Errorf("%.50s is %v, %t, want more than any price", huge, got, ok)
		}
		if got, ok := model.ParseCents("-" + huge); !ok || got >= 0 {
			t.Errorf("-%.50s is %v, %t, want less than any price", huge, got, ok)
		}
	}
	for _, none := range []string{"", ".", "-", "+", "e5", "1e", "1e+", "1e1.5", "1e1e1", "--1", "+-1", "1-", "1,5", "1 000", "1_000", "0x10", "NaN", "Infinity", "inf",
		"$1", "1€", "１", "1.2.3", "1\x00", " 1"} {
		if got, ok := model.ParseCents(none); ok {
			t.Errorf("%q is taken for %v", none, got)
		}
	}
}

func FuzzParseCents(f *testing.F) {
	for _, text := range []string{"19.99", "1e-3", "-0.005", "1e999999999999"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := model.ParseCents(text)
		if !ok || got > 1e15 || got < -1e15 {
			return
		}
		again, ok := model.ParseCents(got.String())
		if !ok || again != got {
			t.Errorf("%q is %v, which is %v", text, got, again)
		}
	})
}

func TestParseDate(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2000-02-29": "2000-02-29", "0001-01-01": "0001-01-01", "9999-12-31": "9999-12-31",
		"1977-09-15T23:59:59-11:00": "1977-09-15", "1977-09-15T00:00:00Z": "1977-09-15", "1977-09-15t00:00:00.123456z": "1977-09-15",
		"1977-09-15 12:30": "1977-09-15", "1977-09-15T12:30:00+0530": "1977-09-15", "1977-09-15T12:30Z": "1977-09-15",
	} {
		if got, ok := model.ParseDate(text); !ok || got.String() != want {
			t.Errorf("%q is %v, %t, want %s", text, got, ok, want)
		}
	}
	for _, none := range []string{"", "0000-01-01", "10000-01-01", "-001-01-01", "2023-02-29", "2023-13-01", "2023-00-01", "2023-01-00", "2023-1-1", "20230101",
		"2023-01-01T", "2023-01-01T25:00:00Z", "2023-01-01X12:00:00Z", "2023-01-01T12:00:00 and more", "2023-01-0112:00", "today", "2023/01/01", "２０２３-01-01", "2023-01-01\x00"} {
		if got, ok := model.ParseDate(none); ok {
			t.Errorf("%q is taken for %v", none, got)
		}
	}
	// Every day that there is comes back as itself.
	for day := time.Date(1895, 12, 28, 23, 59, 0, 0, time.FixedZone("", 3600*11)); day.Year() < 1905; day = day.AddDate(0, 0, 1) {
		d := model.DateOf(day)
		if again, ok := model.ParseDate(d.String()); !ok || again != d || d.String() != day.Format(time.DateOnly) {
			t.Fatalf("%v is %v, which is %v", day, d, again)
		}
	}
}

func TestTimestamp(t *testing.T) {
	t.Parallel()
	moment := time.Date(2026, 11, 21, 1, 2, 3, 4_005_000, time.FixedZone("", 19_800))
	var fromTime, fromText model.Timestamp
	if err := fromTime.Scan(moment); err != nil {
		t.Error(err)
	}
	if err := fromText.Scan("2026-11-20T19:32:03.004005Z"); err != nil {
		t.Error(err)
	}
	if fromTime != fromText || fromTime.String() != "2026-11-20T19:32:03.004005Z" {
		t.Errorf("%v and %v", fromTime, fromText)
	}
	if zero := model.Timestamp(0).String(); zero != "1970-01-01T00:00:00.000000Z" {
		t.Errorf("the zero is %s", zero)
	}
	for _, none := range []any{nil, 5, "yesterday", "2026-11-20T19:32:03Z", []byte("2026-11-20T19:32:03.004005Z")} {
		if err := new(model.Timestamp).Scan(none); err == nil {
			t.Errorf("%v is scanned", none)
		}
	}
	var d model.Date
	if err := d.Scan(moment); err != nil || d.String() != "2026-11-21" {
		t.Errorf("the date of %v is %v: %v", moment, d, err)
	}
	for _, none := range []any{nil, 5, "yesterday"} {
		if err := d.Scan(none); err == nil {
			t.Errorf("%v is scanned as a date", none)
		}
	}
}

// TestScalarsInGraphQL gives each scalar what GraphQL may: literals as strings
// or integers, variables as what JSON made of them.
func TestScalarsInGraphQL(t *testing.T) {
	t.Parallel()
	written := func(m graphql.Marshaler) string {
		var b bytes.Buffer
		m.MarshalGQL(&b)
		return b.String()
	}
	for _, c := range []struct {
		scalar interface {
			graphql.Marshaler
			graphql.Unmarshaler
		}
		given any
		want  string // "" where it is refused
	}{
		{new(model.ID), "12", `"12"`}, {new(model.ID), json.Number("12"), `"12"`}, {new(model.ID), int64(12), `"12"`}, {new(model.ID), 12, `"12"`},
		{new(model.ID), "nothing", `"-1"`}, {new(model.ID), true, ""}, {new(model.ID), nil, `"0"`}, {new(model.ID), []any{1}, ""}, {new(model.ID), map[string]any{}, ""},
		{new(model.Cents), "19.99", `"19.99"`}, {new(model.Cents), json.Number("19.995"), `"20.00"`}, {new(model.Cents), int64(5), `"5.00"`},
		{new(model.Cents), 0.29, `"0.29"`}, {new(model.Cents), 1.005, `"1.01"`}, {new(model.Cents), " 7 ", `"7.00"`},
		{new(model.Cents), "much", ""}, {new(model.Cents), false, ""}, {new(model.Cents), nil, ""}, {new(model.Cents), math.NaN(), ""}, {new(model.Cents), math.Inf(1), ""},
		{new(model.Date), "2000-02-29", `"2000-02-29"`}, {new(model.Date), " 2000-02-29 ", `"2000-02-29"`},
		{new(model.Date), "2001-02-29", ""}, {new(model.Date), json.Number("2000"), ""}, {new(model.Date), nil, ""}, {new(model.Date), int64(20000229), ""},
		{new(model.Timestamp), "2026-11-21T01:02:03.4+05:30", `"2026-11-20T19:32:03.400000Z"`}, {new(model.Timestamp), "2026-11-21", ""}, {new(model.Timestamp), nil, ""},
	} {
		err := c.scalar.UnmarshalGQL(c.given)
		if c.want == "" {
			if !model.IsCode(err, model.BadUserInput) || !strings.Contains(model.AsError(err).Fields[0].Message, "The %s field must be") {
				t.Errorf("%T of %v: %v", c.scalar, c.given, err)
			}
			continue
		}
		if got := written(c.scalar); err != nil || got != c.want {
			t.Errorf("%T of %v is %s, %v, want %s", c.scalar, c.given, got, err, c.want)
		}
	}
}

// TestTimes multiplies random prices and compares with exact arithmetic, rounded half up.
func TestTimes(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 8))
	factors := []string{"1", "0", "1.5", ".5", "5.", "+1.1", "1e-2", "15E-1", "0.5e+1", "0.005", "1e-400", "-0"}
	for range 20_000 {
		factors = append(factors[:12], fmt.Sprintf("%d.%0*d", random.IntN(20), 1+random.IntN(8), random.IntN(10)))
		factor := factors[random.IntN(len(factors))]
		price := model.Cents(random.Int64N([]int64{10, 10_000, int64(model.MaxPrice)}[random.IntN(3)]))
		exact, ok := new(big.Rat).SetString(factor)
		if !ok {
			t.Fatal(factor)
		}
		exact.Mul(exact, new(big.Rat).SetInt64(int64(price)))
		exact.Add(exact, big.NewRat(1, 2))
		want := new(big.Int).Div(exact.Num(), exact.Denom())
		if got := price.Times(model.Decimal(factor)); int64(got) != want.Int64() {
			t.Fatalf("%v times %s is %v, want %v", price, factor, got, model.Cents(want.Int64()))
		}
	}
	if got := model.MaxPrice.Times("1e999999999"); got <= model.MaxPrice {
		t.Errorf("a huge factor gives %v", got)
	}
}
