package cli

import "reflect"

// Holder is a flag value that several variables hold.
type Holder interface {
	// Hold returns a function that gives the variables the values that they have now.
	Hold() (restore func())
}

// Hold returns a function that gives the flags of these names the values that they have now. A flag
// declared by Func has no value.
func (f *Flags) Hold(names ...string) (restore func()) {
	var all []func()
	for _, name := range names {
		all = append(all, hold(f.Lookup(name).target))
	}
	return func() {
		for _, restore := range all {
			restore()
		}
	}
}

// hold is Hold of one flag.
func hold(target any) (restore func()) {
	if h, ok := target.(Holder); ok {
		return h.Hold()
	}
	p := reflect.ValueOf(target).Elem()
	now := reflect.ValueOf(p.Interface())
	return func() { p.Set(now) }
}
