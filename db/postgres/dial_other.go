//go:build !linux

package postgres

import "syscall"

// closedByPeer cannot detect this without waiting; the next read does.
func closedByPeer(syscall.RawConn) bool { return false }
