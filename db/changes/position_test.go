package changes

import (
	"math"
	"testing"

	"library-catalogue/graph/model"
)

// TestPositions parses positions in the order of the log: each is before the next, and prints as it was.
func TestPositions(t *testing.T) {
	t.Parallel()
	var last *model.Position
	for _, text := range []string{"0.1", "0.0", "7.1", "7.9", "7.10", "7.0", "8.3", "9223372036854775807.0"} {
		p, err := Parse(&text)
		if err != nil || p.String() != text {
			t.Fatalf("%s is %v: %v", text, p, err)
		}
		if last != nil && (!last.Before(*p) || p.Before(*last)) || p.Before(*p) {
			t.Errorf("%v is not before %v", last, p)
		}
		last = p
	}
	if whole, part := (model.Position{Tick: 7}).Last(), (model.Position{Tick: 7, Seq: 4}).Last(); whole != math.MaxInt64 || part != 4 {
		t.Errorf("the last changes are %d and %d", whole, part)
	}
}

func TestMalformedPositions(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "7", ".", "7.", ".7", "7.1.", "+7.1", "07.1", "-1.0", "7.-1", "7.1 ", "9223372036854775808.0", "a.b", "7.0x1"} {
		if p, err := Parse(&text); !model.IsCode(err, model.BadUserInput) {
			t.Errorf("%q is %v: %v", text, p, err)
		}
	}
	if p, err := Parse(nil); p != nil || err != nil {
		t.Errorf("nothing is %v: %v", p, err)
	}
}
