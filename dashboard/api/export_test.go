package api

// What tests look at.
var InWords = inWords

// Endpoints are the ends of the paths of what answers in JSON.
func (s *Server) Endpoints() (names []string) {
	for name := range s.endpoints() {
		names = append(names, name)
	}
	return names
}
