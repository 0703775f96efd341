package model

// Check is the result of looking at one thing that must hold for requests to be
// answered. Its words are those of the Internet-Draft "Health Check Response
// Format for HTTP APIs" (draft-inadarei-api-health-check-06).
type Check struct {
	Name   string
	Status CheckStatus
	Output string // what is wrong and what to do, for anybody; empty where nothing is
	Err    error  // the cause, for the log alone
}

// CheckStatus is how a check ended.
type CheckStatus string

// The results. After a warning requests are answered, though not all, or not for
// much longer.
const (
	Pass CheckStatus = "pass"
	Warn CheckStatus = "warn"
	Fail CheckStatus = "fail"
)
