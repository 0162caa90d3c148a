module github.com/bigpile/bigpile

go 1.26
