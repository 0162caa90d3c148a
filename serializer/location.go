package serializer

import (
	"sync"
	"time"
)

// locationCache remembers the time zones met in stored values: loading one reads a file.
type locationCache struct {
	mu    sync.RWMutex
	named map[string]*time.Location // nil for names that cannot be loaded
}

// maxLocations bounds the cache. There are some 600 names; more are made up.
const maxLocations = 2048

// find returns the location called name in which t is offset seconds east of UTC: the one of the time zone database when it is
// there and agrees, else a fixed zone.
func (c *locationCache) find(name string, offset int, t time.Time) *time.Location {
	c.mu.RLock()
	loc, ok := c.named[name]
	c.mu.RUnlock()
	if !ok {
		loc = c.load(name)
	}
	if loc != nil {
		if _, have := t.In(loc).Zone(); have == offset {
			return loc
		}
	}
	return time.FixedZone(name, offset)
}

// load looks the name up in the time zone database.
func (c *locationCache) load(name string) *time.Location {
	var loc *time.Location
	if name != "" && name != "UTC" && name != "Local" && len(name) < 64 {
		loc, _ = time.LoadLocation(name)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.named == nil {
		c.named = map[string]*time.Location{}
	}
	if len(c.named) < maxLocations {
		c.named[name] = loc
	}
	return loc
}
