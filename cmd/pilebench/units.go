package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// unit is a suffix and what it stands for.
type unit struct {
	suffix string
	factor int64
}

// parseCount reads a whole number, with k, M or G behind it and _ or , between
// its digits when the writer likes.
func parseCount(s string) (int64, error) {
	return parseUnits(s, []unit{{"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}})
}

// parseSize reads a number of bytes. K, KB and KiB are powers of two, as in the
// names of memory sizes; there is no other reading worth the confusion.
func parseSize(s string) (int64, error) {
	return parseUnits(s, []unit{
		{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30},
		{"KB", 1 << 10}, {"MB", 1 << 20}, {"GB", 1 << 30},
		{"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {"B", 1},
	})
}

func parseUnits(s string, units []unit) (int64, error) {
	digits, factor := strings.NewReplacer("_", "", ",", "").Replace(s), int64(1)
	for _, u := range units {
		if rest, found := strings.CutSuffix(digits, u.suffix); found {
			digits, factor = strings.TrimSpace(rest), u.factor
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, err
	}
	if n > math.MaxInt64/factor || n < math.MinInt64/factor {
		return 0, strconv.ErrRange
	}
	return n * factor, nil
}

// formatSize prints bytes as people say them: 256 MiB, 7.5 GiB.
func formatSize(n int64) string {
	switch {
	case n >= 1<<30:
		return trimZero(float64(n)/(1<<30)) + " GiB"
	case n >= 1<<20:
		return trimZero(float64(n)/(1<<20)) + " MiB"
	case n >= 1<<10:
		return trimZero(float64(n)/(1<<10)) + " KiB"
	}
	return strconv.FormatInt(n, 10) + " B"
}

func trimZero(x float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
}

// formatCount prints 200000000 as 200,000,000.
func formatCount(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// formatRate prints operations a second with three or four digits.
func formatRate(perSecond float64) string {
	switch {
	case perSecond >= 1e9:
		return fmt.Sprintf("%.2f G", perSecond/1e9)
	case perSecond >= 1e8:
		return fmt.Sprintf("%.0f M", perSecond/1e6)
	case perSecond >= 1e7:
		return fmt.Sprintf("%.1f M", perSecond/1e6)
	case perSecond >= 1e6:
		return fmt.Sprintf("%.2f M", perSecond/1e6)
	case perSecond >= 1e3:
		return fmt.Sprintf("%.1f k", perSecond/1e3)
	}
	return fmt.Sprintf("%.0f", perSecond)
}

// formatMillis prints a duration in milliseconds, finely when it is short.
func formatMillis(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	if ms >= 10 {
		return fmt.Sprintf("%.1f ms", ms)
	}
	return fmt.Sprintf("%.2f ms", ms)
}
