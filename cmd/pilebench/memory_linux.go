package main

import (
	"bufio"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
)

// availableMemory returns what the kernel thinks can be had without swapping.
func availableMemory() (int64, bool) { return fieldOf("/proc/meminfo", "MemAvailable:") }

// residentMemory returns the memory of this process that is in RAM.
func residentMemory() (int64, bool) { return fieldOf("/proc/self/status", "VmRSS:") }

// hugeMemory returns how much of it is made of huge pages.
func hugeMemory() (int64, bool) { return fieldOf("/proc/self/smaps_rollup", "AnonHugePages:") }

// fieldOf reads a "Name:  123 kB" line of a file under /proc.
func fieldOf(file, name string) (int64, bool) {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(data)) {
		rest, found := strings.CutPrefix(line, name)
		if !found {
			continue
		}
		kilobytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
		return kilobytes << 10, err == nil
	}
	return 0, false
}

// leftInContainer returns the least that any control group around this process
// leaves, of either version.
func leftInContainer() (int64, bool) {
	file, err := os.Open("/proc/self/cgroup")
	if err != nil {
		return 0, false
	}
	defer file.Close()
	left := int64(math.MaxInt64)
	for lines := bufio.NewScanner(file); lines.Scan(); {
		// hierarchy:controllers:path, the controllers empty in version 2
		parts := strings.SplitN(lines.Text(), ":", 3)
		if len(parts) != 3 {
			continue
		}
		switch {
		case parts[1] == "":
			left = min(left, leastLeft("/sys/fs/cgroup", parts[2], version2))
		case strings.Contains(","+parts[1]+",", ",memory,"):
			left = min(left, leastLeft("/sys/fs/cgroup/memory", parts[2], version1))
		}
	}
	return left, left < math.MaxInt64
}

// groupFiles names the files of a control group.
type groupFiles struct {
	limit, usage, cached string
}

// The two versions of control groups. Read-only.
var (
	version1 = groupFiles{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}
	version2 = groupFiles{"memory.max", "memory.current", "inactive_file"}
)

// leastLeft walks from a group up to the root. Inside a container the path of
// the group is often not visible; then its limits are at the root.
func leastLeft(root, group string, files groupFiles) int64 {
	least := int64(math.MaxInt64)
	for at := path.Clean("/" + group); ; at = path.Dir(at) {
		dir := path.Join(root, at)
		limit, err := readNumber(path.Join(dir, files.limit))
		if err == nil {
			usage, _ := readNumber(path.Join(dir, files.usage)) // unreadable: as if unused
			cached := statOf(path.Join(dir, "memory.stat"), files.cached)
			least = min(least, limitLeft(limit, usage, cached))
		}
		if at == "/" {
			return least
		}
	}
}

// readNumber reads a file that holds one number, or "max" for none.
func readNumber(file string) (int64, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	text := strings.TrimSpace(string(data))
	if text == "max" {
		return math.MaxInt64, nil
	}
	return strconv.ParseInt(text, 10, 64)
}

// statOf reads a "name 123" line.
func statOf(file, name string) int64 {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if rest, found := strings.CutPrefix(line, name+" "); found {
			n, _ := strconv.ParseInt(strings.TrimSpace(rest), 10, 64)
			return n
		}
	}
	return 0
}

// processorName returns what the processor calls itself.
func processorName() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		if name, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
