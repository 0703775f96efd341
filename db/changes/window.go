package changes

import "library-catalogue/graph/model"

// window is the part of the log to read next: the changes after begin, up to end.
type window struct {
	begin, end model.Position
	before     int64 // PostgreSQL: the tick before the first batch
	more       bool  // further ticks follow end
}

func (w window) empty() bool { return w.begin == w.end }
