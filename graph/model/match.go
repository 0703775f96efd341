package model

import "slices"

// MayMatch reports whether a *Book, *Genre or *Category may meet the condition; nil matches all rows. It returns true
// in doubt: for comparisons of texts other than Eq and In, and for conditions on related rows.
func (c *Condition) MayMatch(row any) bool {
	if c == nil {
		return true
	}
	possible, _ := c.outcomes(row)
	return possible
}

// outcomes reports whether a row may meet the condition, and whether it must.
func (c *Condition) outcomes(row any) (possible, certain bool) {
	switch c.Op {
	case And:
		possible, certain = true, true
		for _, part := range c.Of {
			p, must := part.outcomes(row)
			possible, certain = possible && p, certain && must
		}
		return possible, certain
	case Or:
		for _, part := range c.Of {
			p, must := part.outcomes(row)
			possible, certain = possible || p, certain || must
		}
		return possible, certain
	case Not:
		p, must := c.Of[0].outcomes(row)
		return !must, !p
	}
	var value any
	known := false
	switch row := row.(type) {
	case *Book:
		value, known = operandOf(BookFields, row, c.Field)
	case *Genre:
		value, known = operandOf(GenreFields, row, c.Field)
	case *Category:
		value, known = operandOf(CategoryFields, row, c.Field)
	}
	if known {
		if met, decided := c.compare(value); decided {
			return met, met
		}
	}
	return true, false
}

// operandOf returns the value of a field as an operand: int64, string, or nil for null.
func operandOf[T any](fields []RowField[T], row *T, name string) (value any, known bool) {
	i := slices.IndexFunc(fields, func(f RowField[T]) bool { return f.Name == name })
	if i < 0 {
		return nil, false
	}
	switch p := fields[i].Pointer(row).(type) {
	case *string:
		return *p, true
	case **string:
		if *p == nil {
			return nil, true
		}
		return **p, true
	case *int:
		return int64(*p), true
	case *int64:
		return *p, true
	case *ID:
		return int64(*p), true
	case *Cents:
		return int64(*p), true
	case *Date:
		return p.String(), true
	case *Timestamp:
		return p.String(), true
	}
	return nil, false
}

// compare compares a value as the database does. decided is false if the database compares folded texts.
func (c *Condition) compare(value any) (met, decided bool) {
	if c.Op == IsNull {
		return value == nil, true
	}
	if value == nil {
		return false, true
	}
	switch operand := c.Operand.(type) {
	case []int64:
		n, ok := value.(int64)
		return slices.Contains(operand, n), ok && c.Op == In
	case []string:
		text, ok := value.(string)
		return slices.Contains(operand, text), ok && c.Op == In
	case string:
		text, ok := value.(string)
		return text == operand, ok && c.Op == Eq
	case int64:
		n, ok := value.(int64)
		if !ok {
			return false, false
		}
		switch c.Op {
		case Eq:
			return n == operand, true
		case Gt:
			return n > operand, true
		case Gte:
			return n >= operand, true
		case Lt:
			return n < operand, true
		case Lte:
			return n <= operand, true
		}
	}
	return false, false
}

// HasRelation reports whether the condition depends on other rows.
func (c *Condition) HasRelation() bool {
	return c != nil && (c.Op == Related || slices.ContainsFunc(c.Of, (*Condition).HasRelation))
}
