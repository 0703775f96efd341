module library-catalogue/soak

go 1.26.0

replace library-catalogue => ../

require library-catalogue v0.0.0

require (
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/lib/pq v1.12.3 // indirect
)
