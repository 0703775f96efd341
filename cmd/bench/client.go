package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"time"
)

// client speaks HTTP/1.1 over one connection, a request at a time. It does not
// use net/http because the load shares the processor with what it measures.
type client struct {
	conn net.Conn
	in   *bufio.Reader // small, so that a long body goes past it to its place
	body []byte        // of the last answer
}

// answer is what came back.
type answer struct {
	status    int
	body      []byte // until the next request
	firstByte time.Duration
}

// dial connects, until that time or the end of ctx.
func dial(ctx context.Context, address string, until time.Time) (*client, error) {
	return dialFrom(ctx, nil, address, until)
}

// dialFrom is dial from an address of this machine.
func dialFrom(ctx context.Context, from net.Addr, address string, until time.Time) (*client, error) {
	conn, err := (&net.Dialer{LocalAddr: from}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	if err := conn.SetDeadline(until); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	context.AfterFunc(ctx, func() { conn.Close() }) // a read knows of no context
	return &client{conn: conn, in: bufio.NewReader(conn)}, nil
}

// do sends a request and reads the whole answer.
func (c *client) do(request []byte) (a answer, err error) {
	start := time.Now()
	if _, err := c.conn.Write(request); err != nil {
		return a, err
	}
	if _, err := c.in.Peek(1); err != nil {
		return a, err
	}
	a.firstByte = time.Since(start)
	a.status, c.body, err = readAnswer(c.in, c.body[:0])
	a.body = c.body
	return a, err
}

// readAnswer reads one answer and appends its body to body.
func readAnswer(in *bufio.Reader, body []byte) (status int, _ []byte, err error) {
	line, err := readLine(in)
	if err != nil {
		return 0, body, err
	}
	version, rest, _ := bytes.Cut(line, []byte(" "))
	code, _, _ := bytes.Cut(rest, []byte(" "))
	if status, err = strconv.Atoi(string(code)); err != nil || string(version) != "HTTP/1.1" {
		return 0, body, fmt.Errorf("not an HTTP/1.1 answer: %q", line)
	}
	length, chunked := -1, false
	for {
		line, err := readLine(in)
		if err != nil {
			return status, body, err
		}
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(value)); err != nil {
				return status, body, err
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			chunked = bytes.EqualFold(value, []byte("chunked"))
		}
	}
	switch {
	case chunked:
		body, err = readChunks(in, body)
	case length >= 0:
		body, err = readBytes(in, body, length)
	default:
		err = fmt.Errorf("an answer with status %d does not say how long it is", status)
	}
	return status, body, err
}

// readChunks reads a body that comes in chunks (RFC 9112, section 7.1).
func readChunks(in *bufio.Reader, body []byte) ([]byte, error) {
	for {
		line, err := readLine(in)
		if err != nil {
			return body, err
		}
		digits, _, _ := bytes.Cut(line, []byte(";"))
		size, err := strconv.ParseUint(string(bytes.TrimSpace(digits)), 16, 31)
		if err != nil {
			return body, err
		}
		if body, err = readBytes(in, body, int(size)); err != nil {
			return body, err
		}
		// An empty line ends a chunk; after the last, trailers may come before it.
		for {
			line, err := readLine(in)
			if err != nil {
				return body, err
			}
			if len(line) == 0 {
				break
			}
			if size > 0 {
				return body, fmt.Errorf("a chunk is longer than its %d bytes", size)
			}
		}
		if size == 0 {
			return body, nil
		}
	}
}

func readBytes(in *bufio.Reader, body []byte, n int) ([]byte, error) {
	have := len(body)
	body = slices.Grow(body, n)[:have+n]
	_, err := io.ReadFull(in, body[have:])
	return body, err
}

// readLine reads a line without its end; it is good until the next read.
func readLine(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return bytes.TrimRight(line, "\r\n"), err
}
