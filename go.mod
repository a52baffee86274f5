module tfm

go 1.25

require golang.org/x/sys v0.30.0
