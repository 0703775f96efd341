package sru

import (
	"slices"
	"strings"
)

// Limits of a query.
const (
	maxQuery = 4 << 10 // bytes
	maxDepth = 20      // nested parentheses
)

// node is a query or a part of one. Without operands it is a clause.
type node struct {
	clause
	boolean  string // and, or, not
	operands []node
}

// clause is a condition on an index.
type clause struct{ index, relation, term string }

// sortKey is an index to sort by.
type sortKey struct {
	index      string
	descending bool
}

// serverChoice is the index and the relation of a clause that has only a term.
const serverChoice, defaultRelation = "cql.serverchoice", "="

// parseCQL parses a query of CQL 1.2 (loc.gov/standards/sru/cql). Names are in lower case. A chain of one operator is
// one node.
func parseCQL(text string) (node, []sortKey, error) {
	if len(text) > maxQuery {
		return node{}, nil, diagnosticError{tooManyCharacters, "at most 4096 bytes"}
	}
	p := &parser{}
	if err := p.split(text); err != nil {
		return node{}, nil, err
	}
	query, err := p.query(0)
	if err != nil {
		return node{}, nil, err
	}
	var keys []sortKey
	if p.word("sortby") {
		if keys, err = p.sortKeys(); err != nil {
			return node{}, nil, err
		}
	}
	if len(p.tokens) > 0 {
		return node{}, nil, diagnosticError{badSyntax, "unexpected " + p.tokens[0].text}
	}
	return query, keys, nil
}

// token is a sign or a word of a query.
type token struct {
	text   string
	quoted bool
}

// is reports whether a token is a sign, or a word that is not quoted.
func (t token) is(text string) bool { return !t.quoted && strings.EqualFold(t.text, text) }

// isSign reports whether a token is a sign of the grammar.
func (t token) isSign() bool { return !t.quoted && strings.ContainsAny(t.text[:1], `()=<>/`) }

type parser struct{ tokens []token }

// split splits a text into tokens. Quoted terms keep their backslashes, which may escape a masking sign.
func (p *parser) split(text string) error {
	for {
		text = strings.TrimLeft(text, " \t\r\n")
		switch {
		case text == "":
			return nil
		case text[0] == '"':
			end := 1
			for ; end < len(text) && text[end] != '"'; end++ {
				if text[end] == '\\' {
					end++
				}
			}
			if end >= len(text) {
				return diagnosticError{badSyntax, "a quotation mark is missing"}
			}
			p.tokens = append(p.tokens, token{text[1:end], true})
			text = text[end+1:]
		default:
			n := 1
			if sign := slices.IndexFunc(signs, func(s string) bool { return strings.HasPrefix(text, s) }); sign >= 0 {
				n = len(signs[sign])
			} else if n = strings.IndexAny(text, "()=<>/\" \t\r\n"); n < 0 {
				n = len(text)
			}
			p.tokens = append(p.tokens, token{text: text[:n]})
			text = text[n:]
		}
	}
}

// signs are the signs of the grammar, longer ones first.
var signs = []string{"==", "<>", "<=", ">=", "=", "<", ">", "(", ")", "/"}

// word takes the next token if it is this word or sign.
func (p *parser) word(text string) bool {
	if len(p.tokens) == 0 || !p.tokens[0].is(text) {
		return false
	}
	p.tokens = p.tokens[1:]
	return true
}

// query parses clauses that booleans join. They associate to the left.
func (p *parser) query(depth int) (node, error) {
	if depth > maxDepth {
		return node{}, diagnosticError{tooManyBooleans, "at most 20 nested parentheses"}
	}
	left, err := p.clause(depth)
	for err == nil {
		var boolean string
		for _, name := range []string{"and", "or", "not", "prox"} {
			if p.word(name) {
				boolean = name
			}
		}
		switch {
		case boolean == "":
			return left, nil
		case boolean == "prox":
			return node{}, diagnosticError{code: noProximity}
		case p.word("/"):
			return node{}, diagnosticError{code: noBooleanModifier}
		}
		var right node
		if right, err = p.clause(depth); err != nil {
			break
		}
		if left.boolean == boolean {
			left.operands = append(left.operands, right)
		} else {
			left = node{boolean: boolean, operands: []node{left, right}}
		}
	}
	return node{}, err
}

// clause parses a clause or a query in parentheses.
func (p *parser) clause(depth int) (node, error) {
	if p.word("(") {
		inner, err := p.query(depth + 1)
		if err == nil && !p.word(")") {
			err = diagnosticError{badSyntax, "a closing parenthesis is missing"}
		}
		return inner, err
	}
	if p.word(">") {
		return node{}, diagnosticError{unsupportedFeature, "prefix assignment"}
	}
	first, err := p.operand("a term")
	if err != nil {
		return node{}, err
	}
	relation := p.relation()
	if relation == "" {
		return node{clause: clause{serverChoice, defaultRelation, first.text}}, nil
	}
	if first.quoted {
		return node{}, diagnosticError{badSyntax, "an index must not be quoted"}
	}
	if p.word("/") {
		modifier, err := p.operand("a relation modifier")
		if err != nil {
			return node{}, err
		}
		return node{}, diagnosticError{unsupportedRelationModifier, modifier.text}
	}
	term, err := p.operand("a term")
	return node{clause: clause{strings.ToLower(first.text), relation, term.text}}, err
}

// operand takes the next token, which must be no sign. The error says that noun is missing.
func (p *parser) operand(noun string) (token, error) {
	if len(p.tokens) == 0 || p.tokens[0].isSign() {
		return token{}, diagnosticError{badSyntax, noun + " is missing"}
	}
	next := p.tokens[0]
	p.tokens = p.tokens[1:]
	return next, nil
}

// relations are the relations of CQL, without their context set.
var relations = []string{"=", "==", "<>", "<", "<=", ">", ">=", "exact", "scr", "all", "any", "adj", "within",
	"encloses"}

// relation takes the next token if it is a relation; empty: it is none.
func (p *parser) relation() string {
	for _, name := range relations {
		if p.word(name) || p.word("cql."+name) {
			return name
		}
	}
	return ""
}

// sortKeys parses the keys after sortBy.
func (p *parser) sortKeys() (keys []sortKey, _ error) {
	for len(keys) == 0 || len(p.tokens) > 0 {
		index, err := p.operand("an index to sort by")
		if err != nil {
			return nil, err
		}
		key := sortKey{index: strings.ToLower(index.text)}
		for p.word("/") {
			modifier, err := p.operand("a sort modifier")
			if err != nil {
				return nil, err
			}
			switch name := strings.TrimPrefix(strings.ToLower(modifier.text), "sort."); name {
			case "ascending", "ignorecase", "missingvaluelow": // as the catalogue sorts
			case "descending":
				key.descending = true
			default:
				return nil, diagnosticError{unsupportedSort, modifier.text}
			}
		}
		keys = append(keys, key)
	}
	return keys, nil
}
