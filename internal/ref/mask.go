package ref

// Mask reports whether a query may attend to a key. A nil Mask allows all.
type Mask func(query, key int) bool

// LookAhead is the mask of keys after the query's position (section 3.2.3).
func LookAhead(query, key int) bool { return key <= query }

// Padding masks the keys whose id is pad.
func Padding(keyIDs []int32, pad int32) Mask {
	return func(_, key int) bool { return keyIDs[key] != pad }
}

// And returns the mask that allows a key where a and b do.
func And(a, b Mask) Mask {
	return func(query, key int) bool { return (a == nil || a(query, key)) && (b == nil || b(query, key)) }
}
