package main

import (
	"os"
	"time"

	"github.com/prometheus/procfs"
)

// usage is what has been used so far. Where there is no /proc, as on macOS, it is
// zero.
type usage struct {
	server, postgres, self time.Duration // processor time
	machine                time.Duration // of all processors, by whomever
}

// measureUsage looks at two processes with their descendants, at this one and at
// the machine.
func measureUsage(server, postgres int) (u usage) {
	stats := map[int]procfs.ProcStat{}
	processes, _ := procfs.AllProcs() // not on every system
	for _, p := range processes {
		if stat, err := p.Stat(); err == nil { // else it has ended
			stats[p.PID] = stat
		}
	}
	for _, pid := range descendants(stats, server) {
		u.server += processorTime(stats[pid])
	}
	for _, pid := range descendants(stats, postgres) {
		u.postgres += processorTime(stats[pid])
	}
	u.self = processorTime(stats[os.Getpid()])
	if fs, err := procfs.NewDefaultFS(); err == nil {
		stat, _ := fs.Stat()
		c := stat.CPUTotal
		u.machine = seconds(c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ + c.Steal)
	}
	return u
}

// processorTime returns the time of a process and of the children that it waited
// for.
func processorTime(s procfs.ProcStat) time.Duration {
	const tick = time.Second / 100 // the unit in /proc, USER_HZ
	return tick * time.Duration(int(s.UTime+s.STime)+s.CUTime+s.CSTime)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// descendants returns a process and all that it started, none where it is unknown.
func descendants(stats map[int]procfs.ProcStat, root int) []int {
	if _, ok := stats[root]; !ok {
		return nil
	}
	all := []int{root}
	for i := 0; i < len(all); i++ {
		for pid, s := range stats {
			if s.PPID == all[i] {
				all = append(all, pid)
			}
		}
	}
	return all
}
