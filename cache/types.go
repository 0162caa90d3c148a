package cache

import "time"

// PutResult says what a put did.
type PutResult int

// The results. Collision comes with ErrNotStored.
const (
	Collision   PutResult = iota // not stored
	Inserted                     // the key is new
	Replaced                     // the key had another value
	Overwritten                  // stored over another key
	Existing                     // GetOrPut found it
)

// String returns the name of the result.
func (r PutResult) String() string {
	return nameOf(int(r), "PutResult", "Collision", "Inserted", "Replaced", "Overwritten", "Existing")
}

// Cause says why an entry left a table.
type Cause int

// The causes.
const (
	CauseRemoved     Cause = iota + 1 // Remove, Take, or Compute with Delete
	CauseReplaced                     // another value was put under the key
	CauseExpired                      // its time was over
	CauseEvicted                      // a limit was reached
	CauseOverwritten                  // another key needed the place
	CausePurged                       // Purge, PurgeAll or Drop
)

// String returns the name of the cause.
func (c Cause) String() string {
	return nameOf(int(c), "Cause", "none", "Removed", "Replaced", "Expired", "Evicted", "Overwritten", "Purged")
}

// Removal is what OnRemove is told. Key and value are copies.
type Removal[K comparable, V any] struct {
	Key       K         // a copy
	Value     V         // a copy
	Cause     Cause     // why it left
	Priority  int8      // as it was put
	ExpiresAt time.Time // when it would have expired, or did; zero if never
}

// Entry is an entry with what is known about it.
type Entry[K comparable, V any] struct {
	Key       K             // a copy
	Value     V             // a copy
	Age       time.Duration // since it was put, or rejuvenated
	MaxAge    time.Duration // Never if it has none
	ExpiresAt time.Time     // when it expires, by age or deadline; zero if never
	Priority  int8          // as it was put
}

// Op says what Compute is to do with the result of its function.
type Op int

// The operations of Compute.
const (
	Keep   Op = iota // leave the table as it is
	Write            // store the value
	Delete           // remove the key
)

// String returns the name of the operation.
func (o Op) String() string { return nameOf(int(o), "Op", "Keep", "Write", "Delete") }
