package serializer

// Strings are copied out of src. Each copy is an allocation, and most strings are short, so a short one is cut from a copy of the
// bytes around it, which the short strings after it then share.

const (
	// windowSize is the most bytes copied at once; a string that is kept keeps as many alive.
	windowSize = 512
	// maxShort is the longest string that is cut from a window.
	maxShort = 128
)

// text reads the n bytes of a string to q.
func (d *decoder) text(pos int, n uint64, q pointer) int {
	if n > uint64(len(d.src)-pos) {
		return d.short()
	}
	end := pos + int(n)
	if end <= d.windowEnd && pos >= d.windowStart {
		store(q, d.window[pos-d.windowStart:end-d.windowStart])
		return end
	}
	store(q, d.cut(pos, end))
	return end
}

// cut returns src[pos:end] as a string.
func (d *decoder) cut(pos, end int) string {
	switch {
	case pos == end:
		return ""
	case end-pos > maxShort:
		return string(d.src[pos:end])
	case end > d.windowEnd || pos < d.windowStart:
		d.windowStart, d.windowEnd = pos, min(pos+windowSize, len(d.src))
		d.window = string(d.src[pos:d.windowEnd])
	}
	return d.window[pos-d.windowStart : end-d.windowStart]
}

// str reads a string with its length.
func (d *decoder) str(pos int) (string, int) {
	n, pos := d.uvarint(pos)
	if pos < 0 {
		return "", pos
	}
	if n > uint64(len(d.src)-pos) {
		return "", d.short()
	}
	end := pos + int(n)
	return d.cut(pos, end), end
}
