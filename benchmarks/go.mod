module github.com/bigpile/bigpile/benchmarks

go 1.26.0

replace github.com/bigpile/bigpile => ../

require (
	github.com/HdrHistogram/hdrhistogram-go v1.4.0
	github.com/VictoriaMetrics/fastcache v1.13.2
	github.com/allegro/bigcache/v3 v3.1.0
	github.com/bigpile/bigpile v0.0.0-00010101000000-000000000000
	github.com/coocood/freecache v1.2.7
	github.com/fxamacker/cbor/v2 v2.10.0
	github.com/tinylib/msgp v1.6.5
	github.com/vmihailenco/msgpack/v5 v5.4.1
	golang.org/x/sys v0.50.0
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/edsrzf/mmap-go v1.2.0 // indirect
	github.com/golang/snappy v1.0.0 // indirect
	github.com/philhofer/fwd v1.2.0 // indirect
	github.com/vmihailenco/tagparser/v2 v2.0.0 // indirect
	github.com/x448/float16 v0.8.4 // indirect
)
