module machsym.invalid/bindings/go

go 1.17
