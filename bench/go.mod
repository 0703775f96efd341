module library-catalogue/bench

go 1.26.0

replace library-catalogue => ../

require (
	github.com/lib/pq v1.12.3
	github.com/prometheus/procfs v0.22.0
	golang.org/x/sync v0.25.0
	library-catalogue v0.0.0
)

require (
	github.com/google/go-cmp v0.7.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
)
