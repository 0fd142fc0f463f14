module github.com/machsym/machsym/bindings/go

go 1.17
