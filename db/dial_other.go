//go:build !linux

package db

import "syscall"

// hungUp cannot tell without waiting; the next read does.
func hungUp(syscall.RawConn) bool { return false }
