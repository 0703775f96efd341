package sru

import "fmt"

// diagnosticError is an error of SRU: a code of its list of diagnostics, and what it is about.
type diagnosticError struct {
	code    code
	details string
}

// code is a number of the list at loc.gov/standards/sru/diagnostics/diagnosticsList.html.
type code int

// The codes that the server uses.
const (
	generalError                code = 1
	temporarilyUnavailable      code = 2
	unsupportedOperation        code = 4
	unsupportedVersion          code = 5
	unsupportedParameterValue   code = 6
	missingParameter            code = 7
	unsupportedParameter        code = 8
	badSyntax                   code = 10
	tooManyCharacters           code = 12
	unsupportedIndex            code = 16
	unsupportedRelation         code = 19
	unsupportedRelationModifier code = 20
	unsupportedForIndex         code = 22
	emptyTerm                   code = 27
	unsupportedMask             code = 28
	unsupportedAnchor           code = 32
	invalidTerm                 code = 36
	tooManyBooleans             code = 38
	noProximity                 code = 39
	noBooleanModifier           code = 46
	unsupportedFeature          code = 48
	outOfRange                  code = 61
	unknownSchema               code = 66
	unsupportedPacking          code = 71
	unsupportedSort             code = 80
	noStylesheets               code = 110
)

var messages = map[code]string{
	generalError:                "General system error",
	temporarilyUnavailable:      "System temporarily unavailable",
	unsupportedOperation:        "Unsupported operation",
	unsupportedVersion:          "Unsupported version",
	unsupportedParameterValue:   "Unsupported parameter value",
	missingParameter:            "Mandatory parameter not supplied",
	unsupportedParameter:        "Unsupported parameter",
	badSyntax:                   "Query syntax error",
	tooManyCharacters:           "Too many characters in query",
	unsupportedIndex:            "Unsupported index",
	unsupportedRelation:         "Unsupported relation",
	unsupportedRelationModifier: "Unsupported relation modifier",
	unsupportedForIndex:         "Unsupported combination of relation and index",
	emptyTerm:                   "Empty term unsupported",
	unsupportedMask:             "Masking character not supported",
	unsupportedAnchor:           "Anchoring character in unsupported position",
	invalidTerm:                 "Term in invalid format for index or relation",
	tooManyBooleans:             "Too many boolean operators in query",
	noProximity:                 "Proximity not supported",
	noBooleanModifier:           "Unsupported boolean modifier",
	unsupportedFeature:          "Query feature unsupported",
	outOfRange:                  "First record position out of range",
	unknownSchema:               "Unknown schema for retrieval",
	unsupportedPacking:          "Unsupported record packing",
	unsupportedSort:             "Sort not supported",
	noStylesheets:               "Stylesheets not supported",
}

func (d diagnosticError) Error() string {
	return fmt.Sprintf("%d: %s: %s", d.code, messages[d.code], d.details)
}
