package postgres

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// closedByPeer reports whether the peer has closed the connection, even if data is still unread.
func closedByPeer(conn syscall.RawConn) bool {
	closed := false
	err := conn.Control(func(fd uintptr) {
		polled := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		n, err := unix.Poll(polled, 0)
		closed = err == nil && n > 0
	})
	return closed || err != nil
}
