package admission

import "time"

const (
	// minRate is how many bytes a second a client has to send or to take, on average
	// over the time that the server waits for it: an ISDN line's.
	minRate = 8 << 10
	// bodyGrace and answerGrace are the time that a request has beyond that, for a
	// connection that is lost for a while. A body holds memory; an answer holds less.
	bodyGrace, answerGrace = 15 * time.Second, 30 * time.Second
	// paceStep is how many bytes are sent before the deadline is moved: at minRate they
	// take 16 seconds, half of the grace. A page of 100 books is 97 kB: in four steps it
	// took 40 µs more.
	paceStep = 128 << 10
)

// pace is how fast a client has sent, or taken, what belongs to one request.
type pace struct {
	bytes  int
	waited time.Duration
}

// deadline returns until when more has to come.
func (p *pace) deadline(now time.Time, grace time.Duration) time.Time {
	return now.Add(grace + time.Duration(p.bytes/minRate)*time.Second - p.waited)
}

func (p *pace) add(bytes int, waited time.Duration) {
	p.bytes += bytes
	p.waited += waited
}
