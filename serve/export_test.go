package serve

import "time"

// SetTimes sets the time limit of headers and bodies, before Serve.
func (s *Server) SetTimes(limit time.Duration) {
	s.times.header, s.times.transfer, s.times.grace = limit, limit, 2*time.Second
}
