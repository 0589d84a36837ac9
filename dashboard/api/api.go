// Package api serves the dashboard: one page and the JSON that it shows. It only reads. Every answer is bounded, and so is
// the number of requests at once. What comes from the chain is data in JSON and text in the page, never markup.
package api

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/cosmos/gogoproto/proto"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cosmos-timers/timers/dashboard/store"
	"github.com/cosmos-timers/timers/x/timers/types"
)

//go:embed page
var page embed.FS

const (
	// requestsAtOnce and streamsAtOnce bound the work that visitors cause.
	requestsAtOnce = 16
	streamsAtOnce  = 64
	// timeout bounds one answer, the questions to the node included.
	timeout = 10 * time.Second
	// maxEvents, maxTimers, maxPoints and maxBlocks bound one answer.
	maxEvents = 500
	maxTimers = 2_000
	maxPoints = 400
	maxBlocks = 1_000_000
)

// security lets the page load its own files and nothing else, and be shown in no frame.
const security = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Server answers requests.
type Server struct {
	Store *store.Store
	// Query asks the node.
	Query types.QueryClient
	// JSON writes a message as the REST API does.
	JSON func(proto.Message) ([]byte, error)
	// Hosts are the names under which the page may be asked for, in addition to loopback ones: a page of another site must
	// not read it through a name that it makes point here.
	Hosts []string

	hub   *hub
	slots chan struct{}
}

// Handler returns what serves the page and its API.
func (s *Server) Handler() http.Handler {
	s.slots, s.hub = make(chan struct{}, requestsAtOnce), newHub()
	files, err := fs.Sub(page, "page")
	if err != nil {
		panic(fmt.Errorf("the page is not embedded: %w", err))
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(files))
	mux.HandleFunc("GET /api/stream", s.stream)
	for path, answer := range map[string]func(*http.Request) (any, error){
		"status": s.status, "lane": s.lane, "params": s.params, "series": s.series, "calendar": s.calendar, "ready": s.ready,
		"events": s.events, "timer": s.timer, "actor": s.actor, "estimate": s.estimate,
	} {
		mux.HandleFunc("GET /api/"+path, s.answer(answer))
	}
	return s.guard(mux)
}

// Publish sends events to all who follow live.
func (s *Server) Publish(block *store.Block, events []store.Event) { s.hub.publish(block, events) }

// guard sets the headers that hold for every answer, and refuses foreign names.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", security)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		if !s.knows(r.Host) {
			http.Error(w, "this name is not one of the dashboard's: start it with --host to allow it", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) knows(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if host == "localhost" || slices.Contains(s.Hosts, host) {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// problem is a mistake of the one who asks.
type problem struct{ text string }

func (p problem) Error() string { return p.text }

func (s *Server) answer(fn func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case s.slots <- struct{}{}:
			defer func() { <-s.slots }()
		default:
			http.Error(w, "too many requests at once: try again", http.StatusTooManyRequests)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), timeout)
		defer cancel()
		found, err := fn(r.WithContext(ctx))
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		if err != nil {
			// What the node calls a mistake of the asker's is one, an address that is none for example.
			of := http.StatusBadGateway
			if mistake := (problem{}); errors.As(err, &mistake) || status.Code(err) == codes.InvalidArgument {
				of = http.StatusBadRequest
			}
			w.WriteHeader(of)
			found = map[string]string{"error": fmt.Sprintf("%.300s", err)}
		}
		// The encoder escapes <, > and &. A visitor that has gone is no error of ours.
		_ = json.NewEncoder(w).Encode(found)
	}
}

// number reads a parameter within bounds.
func number(r *http.Request, name string, byDefault, least, most int64) (int64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return byDefault, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most {
		return 0, problem{fmt.Sprintf("%s: want a whole number from %d to %d", name, least, most)}
	}
	return n, nil
}

// word reads a parameter that consists of letters and digits, as addresses and ids do.
func word(r *http.Request, name string) (string, error) {
	text := r.URL.Query().Get(name)
	for _, c := range text {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return "", problem{name + ": want lower-case letters and digits"}
		}
	}
	if len(text) > 128 {
		return "", problem{name + ": too long"}
	}
	return text, nil
}

// raw is a message as the REST API writes it.
func (s *Server) raw(m proto.Message, err error) (json.RawMessage, error) {
	if err != nil {
		return nil, err
	}
	return s.JSON(m)
}
