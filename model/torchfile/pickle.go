package torchfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
)

// Limits of all pickles of a file.
const (
	maxPickle = 32 << 20 // bytes
	maxValues = 1 << 20  // operations that yield a value, and elements of their memo
	maxGlobal = 200      // bytes of the name of a module, class or function
)

// The values of a pickle are nil, bool, int64, float64, string, opaque, []any (a tuple), *list,
// *dict, *global, *storage and *view (a tensor).
type (
	list   struct{ items []any }
	dict   struct{ keys, values []any }
	opaque struct{} // ignored
)

// get returns the value of a key, or nil.
func (d *dict) get(key string) any {
	for i, k := range d.keys {
		if k == any(key) {
			return d.values[i]
		}
	}
	return nil
}

// machine runs pickles one after another. After an error its methods return zeros.
type machine struct {
	r        *bufio.Reader
	left     int64 // bytes of the section of the pickles
	limit    int64 // value of left at which the pickles are too long
	file     io.ReaderAt
	stack    []any
	marks    []int // lengths of the stack
	memo     map[uint64]any
	values   int
	storages map[string]*storage // by key
	err      error
}

// newMachine returns a machine for the pickles in s, a section of file.
func newMachine(file io.ReaderAt, s *io.SectionReader) *machine {
	return &machine{r: bufio.NewReaderSize(s, 1<<16), left: s.Size(), limit: s.Size() - maxPickle, file: file, storages: map[string]*storage{}}
}

// run runs the next pickle and returns its value.
func (m *machine) run() (any, error) {
	m.stack, m.marks, m.memo = nil, nil, map[uint64]any{}
	for m.err == nil {
		if op := m.byte(); op == '.' {
			v := m.pop()
			return v, m.err
		} else if m.err == nil {
			m.step(op)
		}
	}
	return nil, m.err
}

// step runs an operation. Its letter or number is that of Lib/pickletools.py, the names of the
// operations are in comments.
func (m *machine) step(op byte) {
	switch op {
	case 0x80: // PROTO
		if version := m.byte(); version != 2 {
			m.fail("found protocol %d, expected 2, the default of torch.save", version)
		}

	case 'N': // NONE
		m.push(nil)
	case 0x88: // NEWTRUE
		m.push(true)
	case 0x89: // NEWFALSE
		m.push(false)
	case 'K': // BININT1
		m.push(int64(m.number(1)))
	case 'M': // BININT2
		m.push(int64(m.number(2)))
	case 'J': // BININT
		m.push(int64(int32(m.number(4))))
	case 0x8a: // LONG1
		m.long(m.number(1))
	case 'G': // BINFLOAT, big-endian
		m.push(math.Float64frombits(bits.ReverseBytes64(m.number(8))))

	case 'X': // BINUNICODE
		m.push(string(m.next(m.number(4))))

	case ')': // EMPTY_TUPLE
		m.push([]any(nil))
	case 0x85, 0x86, 0x87: // TUPLE1, TUPLE2, TUPLE3
		m.push(m.popN(int(op - 0x84)))
	case '(': // MARK
		if m.count(1); m.err == nil {
			m.marks = append(m.marks, len(m.stack))
		}
	case 't': // TUPLE
		m.push(m.popMark())
	case ']': // EMPTY_LIST
		m.push(&list{})
	case 'a': // APPEND
		m.append(m.popN(1))
	case 'e': // APPENDS
		m.append(m.popMark())
	case '}': // EMPTY_DICT
		m.push(&dict{})
	case 's': // SETITEM
		m.setItems(m.popN(2))
	case 'u': // SETITEMS
		m.setItems(m.popMark())

	case 'q': // BINPUT
		m.put(m.number(1))
	case 'r': // LONG_BINPUT
		m.put(m.number(4))
	case 'h': // BINGET
		m.get(m.number(1))
	case 'j': // LONG_BINGET
		m.get(m.number(4))

	case 'c': // GLOBAL
		m.global(m.line(), m.line())
	case 'Q': // BINPERSID
		id := m.pop()
		m.push(m.storage(id))
	case 'R': // REDUCE
		m.reduce()
	case 'b': // BUILD, which sets attributes
		m.pop()
		if _, ok := m.top().(*dict); !ok {
			m.fail("found attributes of a value that is no dict")
		}
	default:
		m.fail("found the operation %#02x, expected only those that tensors need", op)
	}
}

// fail sets m.err, unless there is an earlier error.
func (m *machine) fail(format string, args ...any) {
	if m.err == nil {
		m.err = fmt.Errorf(format, args...)
	}
}

// byte returns the next byte.
func (m *machine) byte() byte {
	if m.err != nil {
		return 0
	}
	if m.left--; m.left < m.limit {
		m.fail("found more than %d bytes, expected fewer", maxPickle)
		return 0
	}
	b, err := m.r.ReadByte()
	if err != nil {
		m.failRead(err)
	}
	return b
}

// next returns the next n bytes.
func (m *machine) next(n uint64) []byte {
	if m.err != nil {
		return nil
	}
	if m.left < 0 || n > uint64(m.left) {
		m.fail("found a length of %d bytes, expected at most the %d that are left", n, max(m.left, 0))
		return nil
	}
	if m.left -= int64(n); m.left < m.limit {
		m.fail("found more than %d bytes, expected fewer", maxPickle)
		return nil
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(m.r, b); err != nil {
		m.failRead(err)
		return nil
	}
	return b
}

func (m *machine) failRead(err error) {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		m.fail("found the end of the file, expected more of the pickle")
	}
	m.fail("%w", err)
}

// number returns the next number of size bytes.
func (m *machine) number(size int) (n uint64) {
	for i, b := range m.next(uint64(size)) {
		n |= uint64(b) << (8 * i)
	}
	return n
}

// long pushes an integer of n bytes. One of more than 8 is not of a tensor.
func (m *machine) long(n uint64) {
	b := m.next(n)
	if n > 8 {
		m.push(opaque{})
		return
	}
	x := int64(0)
	for i := range b {
		x |= int64(b[i]) << (8 * i)
	}
	if unused := 64 - 8*len(b); len(b) > 0 {
		x = x << unused >> unused // extends the sign
	}
	m.push(x)
}

// line returns the text before the next newline.
func (m *machine) line() string {
	var text []byte
	for m.err == nil {
		b := m.byte()
		if b == '\n' {
			break
		}
		if text = append(text, b); len(text) > maxGlobal {
			m.fail("found the name %.40q…, expected at most %d bytes", text, maxGlobal)
		}
	}
	return string(text)
}

// count counts n values.
func (m *machine) count(n int) {
	if m.values += n; m.values > maxValues {
		m.fail("found more than %d values, expected fewer", maxValues)
	}
}

func (m *machine) push(v any) {
	if m.count(1); m.err == nil {
		m.stack = append(m.stack, v)
	}
}

// popN removes the last n values of the stack, above the last mark, and returns a copy.
func (m *machine) popN(n int) []any {
	begin := len(m.stack) - n
	if m.err == nil && (begin < 0 || len(m.marks) > 0 && begin < m.marks[len(m.marks)-1]) {
		m.fail("found too few values, expected %d", n)
	}
	if m.err != nil {
		return nil
	}
	values := append([]any(nil), m.stack[begin:]...)
	m.stack = m.stack[:begin]
	return values
}

// pop removes the last value.
func (m *machine) pop() any {
	if v := m.popN(1); m.err == nil {
		return v[0]
	}
	return nil
}

// top returns the last value.
func (m *machine) top() any {
	v := m.pop()
	if m.err == nil {
		m.stack = append(m.stack, v)
	}
	return v
}

// popMark removes the values after the last mark, and the mark.
func (m *machine) popMark() []any {
	if len(m.marks) == 0 {
		m.fail("found the end of a tuple, list or dict, expected its begin before")
		return nil
	}
	values := m.popN(len(m.stack) - m.marks[len(m.marks)-1])
	m.marks = m.marks[:len(m.marks)-1]
	return values
}

// append appends to the list on the stack.
func (m *machine) append(items []any) {
	l, ok := m.top().(*list)
	if !ok {
		m.fail("found items of a value that is no list")
		return
	}
	l.items = append(l.items, items...)
}

// setItems adds keys and values to the dict on the stack.
func (m *machine) setItems(items []any) {
	d, ok := m.top().(*dict)
	if !ok || len(items)%2 != 0 {
		m.fail("found keys and values of a value that is no dict")
		return
	}
	for i := 0; i < len(items); i += 2 {
		d.keys, d.values = append(d.keys, items[i]), append(d.values, items[i+1])
	}
}

// put copies the last value to the memo.
func (m *machine) put(i uint64) {
	v := m.top()
	if m.count(1); m.err == nil {
		m.memo[i] = v
	}
}

// get pushes a value of the memo.
func (m *machine) get(i uint64) {
	v, ok := m.memo[i]
	if !ok {
		m.fail("found element %d of the memo, expected one that was set", i)
	}
	m.push(v)
}
