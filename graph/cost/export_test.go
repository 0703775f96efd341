package cost

import "maps"
import "slices"

// Priced returns the coordinates of the fields that have a price in the table.
func Priced() []string { return slices.Collect(maps.Keys(prices)) }
