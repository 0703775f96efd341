package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// process is a server that runs beside this program.
type process struct {
	address string // HOST:PORT
	pid     int
}

// start runs a server that is to listen at the address which its command is made
// for, and waits until it does. It is ended with the run. Its output goes to a file.
func (b *bench) start(ctx context.Context, name string, command func(address string) *exec.Cmd) (*process, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	cmd := command(address)
	path := filepath.Join(b.folder, name+".log")
	log, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for this program, which ends the others
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(exited)
	}()
	b.atEnd(func() error {
		_ = cmd.Process.Kill() // it may have ended, and has nothing to keep
		<-exited
		return nil
	})
	if err := listening(ctx, address, exited); err != nil {
		said, _ := os.ReadFile(path)
		return nil, fmt.Errorf("%s: %w\n%s", name, err, said[max(0, len(said)-2000):])
	}
	return &process{address: address, pid: cmd.Process.Pid}, nil
}

// listening waits until somebody listens at address.
func listening(ctx context.Context, address string, exited <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-exited:
			return errors.New("it ended before it listened")
		case <-ctx.Done():
			return fmt.Errorf("it does not listen: %w", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// freeAddress returns an address of the loopback at which nobody listens.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// runCommand runs a command; what it complained of is in the error.
func runCommand(cmd *exec.Cmd) error {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, stderr.Bytes())
	}
	return nil
}
