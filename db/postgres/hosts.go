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
	probed
}

// probed is what the last probe of a host found.
type probed struct {
	writable bool
	cluster  string // system identifier; "" if it is unknown or the host is not writable
	timeline string // eight hexadecimal digits, which every promotion increases
}

// watcher has the results of all probes.
type watcher struct {
	*Connector
	dropped func(address string)

	mu    sync.Mutex
	order []*host
}

// Watch probes each host of the URL until ctx ends. While another host accepts writes, a host is dropped
//   - after two failed probes in a row, because a server that hangs does not close its connections;
//   - if it accepts writes on an older timeline, because a former primary may do so until it learns of the
//     new one.
//
// Watch then closes the connections to it, moves it to the end of the order of hosts, and calls dropped.
// Later probes do not move it back. Watch returns at once if the URL has one host.
func (c *Connector) Watch(ctx context.Context, dropped func(address string)) {
	if c.hosts == 1 {
		return
	}
	w := &watcher{Connector: c, dropped: dropped}
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
	address, found, err := h.probe(ctx)
	if ctx.Err() != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	h.address, h.probed = address, found
	h.failures++
	if err == nil {
		h.failures = 0
	}
	w.drop()
}

// lineageSQL reads the system identifier and the timeline of a primary.
const lineageSQL = `SELECT CAST(system_identifier AS text), left(pg_walfile_name(pg_current_wal_lsn()), 8)
FROM pg_control_system()`

// probe opens a connection to the host and asks whether it accepts writes, and on which timeline. The error
// means that it does not answer.
func (h *host) probe(ctx context.Context) (address string, found probed, err error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	o := &opening{perHost: probeTimeout}
	opened, err := login(ctx, h.probes, o)
	if _, answered := errors.AsType[*pq.Error](err); answered {
		return o.address, found, nil
	}
	if err != nil {
		return o.address, found, err
	}
	defer opened.Close()
	// A pooler may have no server for a statement, so its failure is not one of the host.
	readOnly := answer(ctx, opened, "SHOW transaction_read_only", 1)
	if found.writable = readOnly[0] == "off"; found.writable {
		at := answer(ctx, opened, lineageSQL, 2)
		found.cluster, found.timeline = at[0], at[1]
	}
	return o.address, found, nil
}

// answer returns the columns of the first row of a query, or empty texts if it fails.
func answer(ctx context.Context, opened driver.Conn, query string, columns int) []string {
	texts, row := make([]string, columns), make([]driver.Value, columns)
	rows, err := opened.(driver.QueryerContext).QueryContext(context.WithoutCancel(ctx), query, nil)
	if err != nil {
		return texts
	}
	defer rows.Close()
	if rows.Next(row) == nil {
		for i, value := range row {
			texts[i] = fmt.Sprintf("%s", value)
		}
	}
	return texts
}

// drop drops the hosts that do not answer or were primaries, while another one accepts writes.
func (w *watcher) drop() {
	for _, h := range slices.Clone(w.order) {
		replaced := func(other *host) bool { return other.writable && h.failures >= 2 || other.replaces(h) }
		if !slices.ContainsFunc(w.order, replaced) {
			continue
		}
		w.order = append(slices.DeleteFunc(w.order, func(other *host) bool { return other == h }), h)
		w.pq.Store(newPQ(reaching(w.config, w.order), w.dial))
		if w.dial.hangUp(h.address) {
			w.dropped(h.address)
		}
	}
}

// replaces reports whether p was promoted later than the other server, which does not know of it.
func (p probed) replaces(other *host) bool {
	return p.writable && other.writable && p.cluster != "" && p.cluster == other.cluster && p.timeline > other.timeline
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
