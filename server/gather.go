package server

import (
	"context"
	"net"
	"sync"
)

const (
	// largeWrite is how many bytes make a part of an answer large.
	largeWrite = 8 << 10
	// maxHeld is how many bytes of it are held: net/http sends no more from a buffer.
	maxHeld = 4 << 10
)

// A part of an answer that is larger than net/http's buffer goes out in two: what
// fills the buffer, with the headers, and the rest. The client is woken by the
// first, reads it and waits once more. Here the first is held until the rest comes,
// and both are one call of the system (writev).

type connectionKey struct{}

func withConnection(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, conn)
}

var heldBuffers = sync.Pool{New: func() any { return new([maxHeld]byte) }}

// whole has write send a large part of the answer to a request with that context.
func whole(ctx context.Context, write func() (int, error)) (int, error) {
	c, ok := ctx.Value(connectionKey{}).(*connection)
	if !ok {
		return write()
	}
	buffer := heldBuffers.Get().(*[maxHeld]byte)
	c.held = buffer[:0]
	defer func() {
		c.held = nil
		heldBuffers.Put(buffer)
	}()
	n, err := write()
	if held := c.held; err == nil && len(held) > 0 {
		c.held = nil
		_, err = c.Write(held)
	}
	return n, err
}

// send writes p after what is held.
func (c *connection) send(p []byte) (int, error) {
	held := c.held
	if len(held) == 0 {
		return c.deadlines.Write(p)
	}
	c.held = held[:0]
	n, err := c.writeAll(net.Buffers{held, p})
	return max(0, n-len(held)), err
}
