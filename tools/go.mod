module tfm/tools

go 1.25

require tfm v0.0.0

replace tfm => ../
