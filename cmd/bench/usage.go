package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// usage is what has been used so far. Where there is no /proc, as on macOS, it
// is zero but for self.
type usage struct {
	server, database, self time.Duration // processor time
	machine                time.Duration // of all processors, by whomever
	peak                   int64         // most bytes of memory that the server held
}

// tick is the unit of times in /proc.
const tick = time.Second / 100

// measureUsage looks at two processes, each with all its descendants.
func measureUsage(server, database int) (u usage) {
	processes := readProcesses()
	for _, p := range descendants(processes, server) {
		u.server += processes[p].used
		u.peak += peakOf(p)
	}
	for _, p := range descendants(processes, database) {
		u.database += processes[p].used
	}
	var self syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &self) == nil {
		u.self = time.Duration(self.Utime.Nano() + self.Stime.Nano())
	}
	u.machine = machineUsed()
	return u
}

func (u usage) since(before usage) usage {
	return usage{
		server:   u.server - before.server,
		database: u.database - before.database,
		self:     u.self - before.self,
		machine:  u.machine - before.machine,
		peak:     u.peak,
	}
}

// procStat is what /proc/PID/stat tells of a process.
type procStat struct {
	parent int
	used   time.Duration // by it, and by children that it waited for
}

func readProcesses() map[int]procStat {
	out := map[int]procStat{}
	entries, _ := os.ReadDir("/proc") // not on every system
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue // it has ended
		}
		out[pid] = parseStat(line)
	}
	return out
}

// parseStat reads a line of /proc/PID/stat (proc_pid_stat(5)). The name of the
// program, in parentheses, may hold anything.
func parseStat(line []byte) (p procStat) {
	fields := strings.Fields(string(line[bytes.LastIndexByte(line, ')')+1:]))
	if len(fields) < 15 {
		return p
	}
	p.parent, _ = strconv.Atoi(fields[1])
	for _, ticks := range fields[11:15] { // utime, stime, cutime, cstime
		n, _ := strconv.ParseInt(ticks, 10, 64)
		p.used += time.Duration(n) * tick
	}
	return p
}

// descendants gives a process and all that it started, none for 0.
func descendants(processes map[int]procStat, root int) []int {
	if _, ok := processes[root]; !ok {
		return nil
	}
	all := []int{root}
	for i := 0; i < len(all); i++ {
		for pid, p := range processes {
			if p.parent == all[i] {
				all = append(all, pid)
			}
		}
	}
	return all
}

// peakOf gives the most memory that a process held since forgetPeak.
func peakOf(pid int) int64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(status), "\nVmHWM:")
	line, _, _ := strings.Cut(rest, " kB")
	kilobytes, _ := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	return kilobytes << 10
}

// forgetPeak lets the peak of a process begin again at what it holds now (5 in
// proc_pid_clear_refs(5)). Where that fails, the peak is that of its whole life.
func forgetPeak(pid int) {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
}

// machineUsed gives the time that all processors were busy.
func machineUsed() (used time.Duration) {
	stat, _ := os.ReadFile("/proc/stat")
	line, _, _ := strings.Cut(string(stat), "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 {
		return 0
	}
	// user, nice, system, irq, softirq, steal; idle and iowait are between them.
	for _, i := range []int{1, 2, 3, 6, 7, 8} {
		n, _ := strconv.ParseInt(fields[i], 10, 64)
		used += time.Duration(n) * tick
	}
	return used
}
