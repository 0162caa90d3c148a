// Package samples has the values that pilebench measures typed values with. Each is made of a number and knows it again.
package samples

import "time"

// born returns the date of birth of person i; false for every seventh, who has none.
func born(i int64) (time.Time, bool) {
	if i%7 == 0 {
		return time.Time{}, false
	}
	return time.Unix(birthDay(i)*secondsPerDay, 0).UTC(), true
}

const secondsPerDay = 24 * 60 * 60

// birthDay is in days since 1970, from 1915 to 1997.
func birthDay(i int64) int64 { return i*37%30_000 - 20_000 }

// balance is what person i has, in cents.
func balance(i int64) int64 { return 213_100 + i%1000 }

const balanceScale = 2

// appendName appends prefix and i, with leading zeros up to so many digits.
func appendName(dst []byte, prefix string, i int64, digits int) []byte {
	dst = append(dst, prefix...)
	var text [20]byte
	at := len(text)
	for ; i > 0 || len(text)-at < digits; i /= 10 {
		at--
		text[at] = byte('0' + i%10)
	}
	return append(dst, text[at:]...)
}

func appendFirst(dst []byte, i int64) []byte { return appendName(dst, "Gavial-", i, 4) }
func appendLast(dst []byte, i int64) []byte  { return appendName(dst, "Buxarinovich-", i, 5) }
