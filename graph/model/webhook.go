package model

// Webhook is an endpoint that gets changes by HTTP.
type Webhook struct {
	ID          ID
	URL         string
	Types       []CatalogueType // nil means all
	Description string
	Secrets     []string // that sign, the current one first; nil in a list
	Position    string   // of the last change delivered
	Failures    int      // failed attempts of the next change
	Error       string   // of the last attempt; empty after a success
	DueAt       Timestamp
	Disabled    string     // the reason; empty if it is enabled
	DeliveredAt *Timestamp // nil before the first delivery
	CreatedAt   Timestamp
}
