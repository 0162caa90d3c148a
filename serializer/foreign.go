package serializer

import "fmt"

// The user's own marshal code gets the caller's buffer to append to and may return any slice. What it returns is only believed as
// far as it is checked here.

// grown checks that out is dst and more, and returns it in a buffer that is certainly not the codec's own.
func grown(dst, out []byte, by any) ([]byte, error) {
	n := len(dst)
	if len(out) < n {
		return dst, fmt.Errorf("%w: %T returned %d bytes, fewer than the %d it was given", ErrCodec, by, len(out), n)
	}
	if cap(dst) > 0 && cap(out) > 0 && &dst[:1][0] == &out[:1][0] {
		return out, nil
	}
	if string(out[:n]) != string(dst) {
		return dst, fmt.Errorf("%w: %T returned other bytes than it was given", ErrCodec, by)
	}
	return append(dst, out[n:]...), nil
}

// appendMsgp appends v's msgp encoding; nothing for nil.
func appendMsgp(dst []byte, v msgpValue) ([]byte, error) {
	if v == nil {
		return dst, nil
	}
	dst = roomFor(dst, v.Msgsize())
	out, err := v.MarshalMsg(dst)
	if err != nil {
		return dst, fmt.Errorf("serializer: %T: %w", v, err)
	}
	return grown(dst, out, v)
}

// maxForeignRoom is the most room that a size asked for by foreign code is believed for at once.
const maxForeignRoom = 1 << 26

// roomFor returns dst with room for n more bytes.
func roomFor(dst []byte, n int) []byte {
	if n <= cap(dst)-len(dst) || n > maxForeignRoom {
		return dst
	}
	return append(make([]byte, 0, len(dst)+n), dst...)
}

// decodeMsgp sets v from exactly src.
func decodeMsgp(src []byte, v msgpValue) error {
	rest, err := v.UnmarshalMsg(src[:len(src):len(src)])
	if err != nil {
		return fmt.Errorf("%w: %T: %w", ErrCorrupt, v, err)
	}
	if len(rest) != 0 {
		return fmt.Errorf("%w: %T left %d bytes unread", ErrCorrupt, v, len(rest))
	}
	return nil
}

// appendCustom appends v's encoding by its codec.
func appendCustom(dst []byte, c Codec, v any) ([]byte, error) {
	out, err := c.Append(dst, v)
	if err != nil {
		return dst, fmt.Errorf("serializer: %T: %w", c, err)
	}
	return grown(dst, out, c)
}

// decodeCustom sets v from src by its codec.
func decodeCustom(src []byte, c Codec, v any) error {
	if err := c.Decode(src[:len(src):len(src)], v); err != nil {
		return fmt.Errorf("%w: %T: %w", ErrCorrupt, c, err)
	}
	return nil
}
