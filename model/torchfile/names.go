package torchfile

import (
	"fmt"
	"strings"
)

// global is a class or function that a pickle may name.
type global struct {
	storage, dtype *elementType // of a class of storages, of a dtype
	// reduce returns the value that a call stands for. It is nil for storages and dtypes.
	reduce func(m *machine, args []any) (any, error)
}

// elementType is a type of elements: its name in safetensors and its bytes.
type elementType struct {
	dtype string
	size  int64
}

// untyped is the type of a storage of bytes.
var untyped = elementType{"", 1}

// globals are the names that a pickle may use. Python's collections, torch._utils and torch define
// them.
var globals = map[string]*global{
	"collections.OrderedDict":                    {reduce: orderedDict},
	"torch._utils._rebuild_tensor":               {reduce: rebuildTensor},
	"torch._utils._rebuild_tensor_v2":            {reduce: rebuildTensor},
	"torch._utils._rebuild_tensor_v3":            {reduce: rebuildTensor},
	"torch._utils._rebuild_parameter":            {reduce: rebuildParameter},
	"torch._utils._rebuild_parameter_with_state": {reduce: rebuildParameter},
	"torch.Size":                    {reduce: size},
	"torch.storage.UntypedStorage":  {storage: &untyped},
	"torch.storage._UntypedStorage": {storage: &untyped}, // PyTorch 1.11 to 1.13
}

func init() {
	for _, t := range []struct {
		dtype, storage string // names in torch
		elementType
	}{
		{"float64", "Double", elementType{"F64", 8}}, {"float32", "Float", elementType{"F32", 4}},
		{"float16", "Half", elementType{"F16", 2}}, {"bfloat16", "BFloat16", elementType{"BF16", 2}},
		{"int64", "Long", elementType{"I64", 8}}, {"int32", "Int", elementType{"I32", 4}},
		{"int16", "Short", elementType{"I16", 2}}, {"int8", "Char", elementType{"I8", 1}},
		{"uint8", "Byte", elementType{"U8", 1}}, {"bool", "Bool", elementType{"BOOL", 1}},
		{"uint64", "", elementType{"U64", 8}}, {"uint32", "", elementType{"U32", 4}}, {"uint16", "", elementType{"U16", 2}},
		{"float8_e4m3fn", "", elementType{"F8_E4M3", 1}}, {"float8_e5m2", "", elementType{"F8_E5M2", 1}},
	} {
		globals["torch."+t.dtype] = &global{dtype: &t.elementType}
		if t.storage != "" {
			globals["torch."+t.storage+"Storage"] = &global{storage: &t.elementType}
		}
	}
}

// global pushes a known name.
func (m *machine) global(module, name string) {
	full := module + "." + name
	g := globals[full]
	if g == nil {
		m.fail("found the name %.120q, expected only names of tensors; nothing that a pickle names is called", full)
	}
	m.push(g)
}

// reduce replaces a known function or class and a tuple of arguments by the value that a call of it
// stands for.
func (m *machine) reduce() {
	call := m.popN(2)
	if m.err != nil {
		return
	}
	g, _ := call[0].(*global)
	args, ok := call[1].([]any)
	if g == nil || g.reduce == nil || !ok {
		m.fail("found a call of a value that is no function of tensors")
		return
	}
	v, err := g.reduce(m, args)
	if err != nil {
		m.fail("%w", err)
	}
	m.push(v)
}

// orderedDict is OrderedDict().
func orderedDict(_ *machine, args []any) (any, error) {
	if len(args) > 0 {
		return nil, fmt.Errorf("found arguments of OrderedDict, expected none: of Python 2")
	}
	return &dict{}, nil
}

// size is torch.Size(tuple).
func size(_ *machine, args []any) (any, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("found %d arguments of torch.Size, expected 1", len(args))
	}
	return args[0], nil
}

// rebuildParameter is _rebuild_parameter(tensor, requires_grad, hooks) and
// _rebuild_parameter_with_state, which has attributes in addition.
func rebuildParameter(_ *machine, args []any) (any, error) {
	if len(args) > 0 {
		if v, ok := args[0].(*view); ok {
			return v, nil
		}
	}
	return nil, fmt.Errorf("found a parameter without its tensor")
}

// rebuildTensor is _rebuild_tensor(storage, offset, size, stride), _rebuild_tensor_v2 with
// requires_grad, hooks and metadata in addition, and _rebuild_tensor_v3 with the dtype before the
// metadata, whose storage has no type.
func rebuildTensor(m *machine, args []any) (any, error) {
	if len(args) < 4 {
		return nil, fmt.Errorf("found %d arguments of a tensor, expected at least 4", len(args))
	}
	s, isStorage := args[0].(*storage)
	offset, isOffset := args[1].(int64)
	shape, isShape := m.ints(args[2])
	strides, isStrides := m.ints(args[3])
	if !isStorage || !isOffset || !isShape || !isStrides {
		return nil, fmt.Errorf("found arguments of a tensor, expected a storage, an offset, sizes and strides of at most %d dimensions", maxDims)
	}
	elem := s.elem
	if elem == untyped {
		if len(args) < 7 {
			return nil, fmt.Errorf("found a tensor of a storage without a type, expected its dtype")
		}
		g, _ := args[6].(*global)
		if g == nil || g.dtype == nil {
			return nil, fmt.Errorf("found a tensor of an unknown dtype")
		}
		elem = *g.dtype
	}
	return newView(s, elem, offset, shape, strides)
}

// ints returns the elements of a tuple of integers, one for each dimension of a tensor.
func (m *machine) ints(v any) ([]int, bool) {
	tuple, ok := v.([]any)
	if m.count(len(tuple)); m.err != nil || !ok || len(tuple) > maxDims {
		return nil, false
	}
	x := make([]int, len(tuple))
	for i, item := range tuple {
		n, ok := item.(int64)
		if !ok || n < 0 || n != int64(int(n)) {
			return nil, false
		}
		x[i] = int(n)
	}
	return x, true
}

// storage returns the storage of a persistent id, ("storage", type, key, location, elements), and
// in the legacy layout None after these.
func (m *machine) storage(id any) *storage {
	fields, _ := id.([]any)
	if len(fields) == 6 && fields[5] == nil {
		fields = fields[:5]
	}
	if len(fields) != 5 || fields[0] != any("storage") {
		what := any("another value")
		if len(fields) > 0 {
			if kind, ok := fields[0].(string); ok {
				what = fmt.Sprintf("%.40q", kind)
			}
		}
		m.fail("found a reference to %v outside the pickle, expected a storage", what)
		return nil
	}
	g, _ := fields[1].(*global)
	key, isKey := fields[2].(string)
	n, isCount := fields[4].(int64)
	if g == nil || g.storage == nil || !isKey || key == "" || strings.Contains(key, "/") || !isCount || n < 0 || n > maxElements {
		m.fail("found a storage %.40q, expected a known type, a key and a number of elements", key)
		return nil
	}
	s := storage{file: m.file, elem: *g.storage, n: n}
	if known := m.storages[key]; known == nil {
		m.storages[key] = &s
	} else if *known != s {
		m.fail("storage %.40q: found %d elements of type %.8q, expected %d of %.8q as before", key, n, s.elem.dtype, known.n, known.elem.dtype)
	}
	return m.storages[key]
}
