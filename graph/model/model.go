// Package model holds the domain by hand: the types of the schema, inputs with
// their validation, pages and cursors, errors, and who is asking. It is the
// bottom layer: it knows neither SQL nor HTTP, and imports no other package of
// this module.
package model
