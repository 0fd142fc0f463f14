// What is tested is a build against Debian's golang packages, without modules: make server. These are their versions. A build
// with modules is not verified.
module machsym.invalid/server

go 1.19

require (
	github.com/lib/pq v1.10.7
	github.com/mattn/go-sqlite3 v1.14.16
	github.com/minio/minio-go/v7 v7.0.46
	github.com/minio/sha256-simd v1.0.0
	github.com/prometheus/client_golang v1.14.0
)
