package model

// The encoders append JSON values in the formats of GraphQL and /api.

// AppendString appends s in quotes and escapes only what RFC 8259, section 7, requires, like
// gqlgen's executor.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for {
		n := plain(s)
		dst = append(dst, s[:n]...)
		if n == len(s) {
			return append(dst, '"')
		}
		switch c := s[n]; c {
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
		s = s[n+1:]
	}
}

// plain returns the length of the prefix that needs no escape (RFC 8259, section 7): no quote,
// backslash or control character. It checks eight bytes at once: a byte below n borrows from its
// highest bit in x - n, and a byte that equals c is below 1 in x ^ c.
func plain(s string) (n int) {
	const ones, highest = 0x0101010101010101, 0x8080808080808080
	for ; n+8 <= len(s); n += 8 {
		x := uint64(s[n]) | uint64(s[n+1])<<8 | uint64(s[n+2])<<16 | uint64(s[n+3])<<24 |
			uint64(s[n+4])<<32 | uint64(s[n+5])<<40 | uint64(s[n+6])<<48 | uint64(s[n+7])<<56
		quote, backslash := x^ones*'"', x^ones*'\\'
		if ((x-ones*0x20)&^x|(quote-ones)&^quote|(backslash-ones)&^backslash)&highest != 0 {
			break
		}
	}
	for n < len(s) && s[n] >= 0x20 && s[n] != '"' && s[n] != '\\' {
		n++
	}
	return n
}

// AppendNullable appends a nullable text.
func AppendNullable(dst []byte, s *string) []byte {
	if s == nil {
		return append(dst, "null"...)
	}
	return AppendString(dst, *s)
}

// append2 appends a number below 100 as two digits.
func append2(dst []byte, n int) []byte {
	return append(dst, '0'+uint8(n)/10, '0'+uint8(n)%10)
}
