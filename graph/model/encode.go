package model

import "strconv"

// The encoders append to dst what a value is in JSON, as both faces write it.

// AppendString appends s in quotes. Only what must be escaped is (RFC 8259
// section 7), in the way of gqlgen's executor.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\t':
			dst = append(dst, '\\', 't')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\n':
			dst = append(dst, '\\', 'n')
		default:
			const hex = "0123456789ABCDEF"
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(dst, s[start:]...), '"')
}

// AppendNullable appends a text that may be null.
func AppendNullable(dst []byte, s *string) []byte {
	if s == nil {
		return append(dst, "null"...)
	}
	return AppendString(dst, *s)
}

// AppendNumber appends the id as a number, as /api writes it.
func (id ID) AppendNumber(dst []byte) []byte { return strconv.AppendInt(dst, int64(id), 10) }

// AppendJSON appends the id in quotes, as GraphQL writes it.
func (id ID) AppendJSON(dst []byte) []byte { return append(id.AppendNumber(append(dst, '"')), '"') }

// AppendJSON appends the amount as a string with two decimals.
func (c Cents) AppendJSON(dst []byte) []byte { return append(c.append(append(dst, '"')), '"') }

func (c Cents) append(dst []byte) []byte {
	if c < 0 {
		dst, c = append(dst, '-'), -c
	}
	dst = append(strconv.AppendInt(dst, int64(c/100), 10), '.')
	return appendDigits(dst, int(c%100), 2)
}

// AppendJSON appends the day as YYYY-MM-DD in quotes.
func (d Date) AppendJSON(dst []byte) []byte { return append(d.append(append(dst, '"')), '"') }

func (d Date) append(dst []byte) []byte {
	dst = append(appendDigits(dst, int(d.Year), 4), '-')
	dst = append(appendDigits(dst, int(d.Month), 2), '-')
	return appendDigits(dst, int(d.Day), 2)
}

// AppendJSON appends the moment in UTC with six digits of seconds, in quotes.
func (t Timestamp) AppendJSON(dst []byte) []byte { return append(t.append(append(dst, '"')), '"') }

func (t Timestamp) append(dst []byte) []byte {
	const second, day = 1_000_000, 86_400_000_000
	days, rest := int64(t)/day, int64(t)%day
	if rest < 0 {
		days, rest = days-1, rest+day
	}
	dst = append(civil(days).append(dst), 'T')
	seconds := int(rest / second)
	dst = append(appendDigits(dst, seconds/3600, 2), ':')
	dst = append(appendDigits(dst, seconds/60%60, 2), ':')
	dst = append(appendDigits(dst, seconds%60, 2), '.')
	return append(appendDigits(dst, int(rest%second), 6), 'Z')
}

// civil gives the date so many days after 1970-01-01 (proleptic Gregorian
// calendar; the year counted from March, so that the leap day comes last).
func civil(days int64) Date {
	days += 719_468 // from 0000-03-01
	era := days / 146_097
	dayOfEra := days - era*146_097
	yearOfEra := (dayOfEra - dayOfEra/1_460 + dayOfEra/36_524 - dayOfEra/146_096) / 365
	dayOfYear := dayOfEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	month := (5*dayOfYear + 2) / 153
	d := Date{Year: int16(yearOfEra + era*400), Month: uint8(month + 3), Day: uint8(dayOfYear - (153*month+2)/5 + 1)}
	if d.Month > 12 {
		d.Month -= 12
		d.Year++
	}
	return d
}

// appendDigits appends n with leading zeros.
func appendDigits(dst []byte, n, width int) []byte {
	const zeros = "000000"
	dst = append(dst, zeros[:width]...)
	for i := len(dst) - 1; width > 0; i, width = i-1, width-1 {
		dst[i] = byte('0' + n%10)
		n /= 10
	}
	return dst
}
