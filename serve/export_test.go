package serve

import "time"

var ReadKeys = readKeys

// SetTimes sets the time limit of headers and bodies, and the time for which a server that ends
// accepts connections, before Serve.
func (s *Server) SetTimes(limit, grace time.Duration) {
	s.times.header, s.times.transfer, s.times.grace = limit, limit, grace
}
