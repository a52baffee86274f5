package marian

import (
	"testing"
)

// NumPy sorts the keys of a header; other writers do not.
func TestNpyHeaderKeysInAnyOrder(t *testing.T) {
	for _, header := range []string{
		"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }      \n",
		"{'shape': (2, 3), 'fortran_order': False, 'descr': '<f4'}\n",
		" { 'fortran_order':False,'shape':(2,3,) , 'descr':'<f4' , }",
	} {
		var a npyArray
		if err := a.parse(header); err != nil || a.descr != "<f4" || len(a.shape) != 2 || a.shape[0] != 2 || a.shape[1] != 3 {
			t.Errorf("parse(%q) = %+v, error %v", header, a, err)
		}
	}
	for _, header := range []string{
		"", "{}", "{'descr': '<f4', 'fortran_order': False}",
		"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': True}",
		"{'descr': '<f4' 'fortran_order': False, 'shape': (2,)}",
		"{'descr': '<f4', 'fortran_order': True, 'shape': (2,)}",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)",
		"{'descr': False, 'fortran_order': False, 'shape': (2,)}",
		"{'descr': '<f4', 'fortran_order': False, 'shape': '2'}",
	} {
		if err := new(npyArray).parse(header); err == nil {
			t.Errorf("parse(%q) succeeded, want an error", header)
		}
	}
}
