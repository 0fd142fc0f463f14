module machsym

go 1.19
