module strategic

go 1.26.0
