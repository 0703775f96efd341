package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lib/pq"

	"library-catalogue/task"
)

const (
	probeInterval = time.Second
	probeTimeout  = 1500 * time.Millisecond
)

// host is one of several hosts of a URL.
type host struct {
	pq.ConfigMultihost
	probes   *pq.Connector
	address  string // as the dialer knows it
	failures int    // failed probes since the last successful one
	writable bool   // according to the last probe
}

// watcher has the results of all probes.
type watcher struct {
	*Connector
	hungUp func(address string)

	mu    sync.Mutex
	order []*host
}

// Watch probes each host of the URL until ctx ends. If two probes of a host in a row fail while another
// host accepts writes, Watch closes the connections to it, moves it to the end of the order of hosts,
// and calls hungUp. A server that hangs does not close them itself. Later probes do not move it back,
// because a former primary may accept writes until it learns of the new one. Watch returns at once if
// the URL has one host.
func (c *Connector) Watch(ctx context.Context, hungUp func(address string)) {
	if c.hosts == 1 {
		return
	}
	w := &watcher{Connector: c, hungUp: hungUp}
	first := pq.ConfigMultihost{Host: c.config.Host, Hostaddr: c.config.Hostaddr, Port: c.config.Port}
	for _, at := range append([]pq.ConfigMultihost{first}, c.config.Multi...) {
		h := &host{ConfigMultihost: at}
		config := reaching(c.config, []*host{h})
		config.TargetSessionAttrs = pq.TargetSessionAttrsAny
		h.probes = newPQ(config, &dialer{}) // with the Connector's dialer, a probe would be a pending query
		w.order = append(w.order, h)
	}
	var watching []<-chan error
	for _, h := range slices.Clone(w.order) {
		watching = append(watching, task.Go(ctx, func() error { return w.watch(ctx, h) }))
	}
	for _, done := range watching {
		<-done
	}
}

// watch probes a host until ctx ends. After a panic it goes on.
func (w *watcher) watch(ctx context.Context, h *host) error {
	next := time.NewTicker(probeInterval)
	defer next.Stop()
	for {
		_ = task.Run(ctx, func() error { w.look(ctx, h); return nil }) // it is reported
		select {
		case <-next.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// look probes a host once.
func (w *watcher) look(ctx context.Context, h *host) {
	address, writable, err := h.probe(ctx)
	if ctx.Err() != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	h.address, h.writable = address, writable
	h.failures++
	if err == nil {
		h.failures = 0
	}
	w.hangUp()
}

// probe opens a connection to the host and asks whether it accepts writes. The error means that it
// does not answer.
func (h *host) probe(ctx context.Context) (address string, writable bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	o := &opening{perHost: probeTimeout}
	opened, err := login(ctx, h.probes, o)
	if _, answered := errors.AsType[*pq.Error](err); answered {
		return o.address, false, nil
	}
	if err != nil {
		return o.address, false, err
	}
	defer opened.Close()
	// A pooler may have no server for this statement, so its failure is not one of the host.
	rows, err := opened.(driver.QueryerContext).QueryContext(context.WithoutCancel(ctx), "SHOW transaction_read_only", nil)
	if err != nil {
		return o.address, false, nil
	}
	defer rows.Close()
	row := make([]driver.Value, 1)
	return o.address, rows.Next(row) == nil && fmt.Sprintf("%s", row[0]) == "off", nil
}

// hangUp closes the connections to hosts that do not answer while another one accepts writes.
func (w *watcher) hangUp() {
	for _, h := range slices.Clone(w.order) {
		if h.failures < 2 || !slices.ContainsFunc(w.order, func(other *host) bool { return other.writable }) {
			continue
		}
		w.order = append(slices.DeleteFunc(w.order, func(other *host) bool { return other == h }), h)
		w.pq.Store(newPQ(reaching(w.config, w.order), w.dial))
		if w.dial.hangUp(h.address) {
			w.hungUp(h.address)
		}
	}
}

// reaching returns the configuration for hosts in their order.
func reaching(config pq.Config, hosts []*host) pq.Config {
	config = config.Clone()
	config.LoadBalanceHosts = pq.LoadBalanceHostsDisable
	config.Host, config.Hostaddr, config.Port, config.Multi = hosts[0].Host, hosts[0].Hostaddr, hosts[0].Port, nil
	for _, h := range hosts[1:] {
		config.Multi = append(config.Multi, h.ConfigMultihost)
	}
	return config
}
