package serve

import "time"

// SetTimes sets short time limits of connections, for tests.
func (s *Server) SetTimes(header, transfer time.Duration) {
	s.times.header, s.times.transfer, s.times.grace = header, transfer, 10*time.Millisecond
}
