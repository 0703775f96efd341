package sru

import "fmt"

// diagnosticError is an error of SRU with its details.
type diagnosticError struct {
	code    code
	details string
}

// code is an entry of the list at loc.gov/standards/sru/diagnostics/diagnosticsList.html.
type code struct {
	Number  int
	Message string
}

// The codes that the server uses.
var (
	generalError                = code{1, "General system error"}
	temporarilyUnavailable      = code{2, "System temporarily unavailable"}
	unsupportedOperation        = code{4, "Unsupported operation"}
	unsupportedVersion          = code{5, "Unsupported version"}
	unsupportedParameterValue   = code{6, "Unsupported parameter value"}
	missingParameter            = code{7, "Mandatory parameter not supplied"}
	unsupportedParameter        = code{8, "Unsupported parameter"}
	badSyntax                   = code{10, "Query syntax error"}
	tooManyCharacters           = code{12, "Too many characters in query"}
	unsupportedIndex            = code{16, "Unsupported index"}
	unsupportedRelationModifier = code{20, "Unsupported relation modifier"}
	unsupportedForIndex         = code{22, "Unsupported combination of relation and index"}
	emptyTerm                   = code{27, "Empty term unsupported"}
	unsupportedMask             = code{28, "Masking character not supported"}
	unsupportedAnchor           = code{32, "Anchoring character in unsupported position"}
	invalidTerm                 = code{36, "Term in invalid format for index or relation"}
	tooManyBooleans             = code{38, "Too many boolean operators in query"}
	noProximity                 = code{39, "Proximity not supported"}
	noBooleanModifier           = code{46, "Unsupported boolean modifier"}
	unsupportedFeature          = code{48, "Query feature unsupported"}
	outOfRange                  = code{61, "First record position out of range"}
	unknownSchema               = code{66, "Unknown schema for retrieval"}
	unsupportedPacking          = code{71, "Unsupported record packing"}
	unsupportedSort             = code{80, "Sort not supported"}
	noStylesheets               = code{110, "Stylesheets not supported"}
)

func (d diagnosticError) Error() string {
	return fmt.Sprintf("%d: %s: %s", d.code.Number, d.code.Message, d.details)
}
