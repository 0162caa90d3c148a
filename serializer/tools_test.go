package serializer

// Keeps the generator that go:generate runs in go.mod.
import _ "github.com/tinylib/msgp/msgp"
import _ "pgregory.net/rapid"
