package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/cosmos-timers/timers/dashboard/store"
)

// hub passes what happens to those who follow live. One that is too slow misses blocks and does not hold up the others.
type hub struct {
	mu        sync.Mutex
	followers map[chan []byte]bool
}

func newHub() *hub { return &hub{followers: map[chan []byte]bool{}} }

// streamedEvents bounds what is sent of one block.
const streamedEvents = 100

func (h *hub) publish(block *store.Block, events []store.Event) {
	// A block without events has an empty list, not null.
	shown := append([]store.Event{}, events[:min(len(events), streamedEvents)]...)
	message, err := json.Marshal(map[string]any{"block": block, "events": shown})
	if err != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for follower := range h.followers {
		select {
		case follower <- message:
		default:
		}
	}
}

func (h *hub) join() (chan []byte, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.followers) >= streamsAtOnce {
		return nil, false
	}
	follower := make(chan []byte, 64)
	h.followers[follower] = true
	return follower, true
}

func (h *hub) leave(follower chan []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.followers, follower)
}

// stream sends each block as a server-sent event.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	follower, room := s.hub.join()
	if !room {
		http.Error(w, "too many follow already", http.StatusTooManyRequests)
		return
	}
	defer s.hub.leave(follower)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	out := http.NewResponseController(w)
	// A comment now and then finds visitors that are gone.
	alive := time.NewTicker(20 * time.Second)
	defer alive.Stop()
	text := []byte(": hello\n\n")
	for {
		if err := out.SetWriteDeadline(time.Now().Add(timeout)); err != nil {
			return
		}
		if _, err := w.Write(text); err != nil || out.Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case message := <-follower:
			text = fmt.Appendf(nil, "data: %s\n\n", message)
		case <-alive.C:
			text = []byte(": still here\n\n")
		}
	}
}
