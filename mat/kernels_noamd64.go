//go:build !amd64 || purego || noasm

package mat

// The kernels of amd64, which this build lacks.
var (
	stripAVX512, stripFewAVX512, smallColumns, stripAVX2 func(*strip)
	columnsAVX512, columnsAVX2                           func(*columnsArgs)
	rowAVX2                                              func(*rowArgs)
)
