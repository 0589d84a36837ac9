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
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/cosmos/gogoproto/proto"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"cosmossdk.io/core/address"

	"github.com/cosmos/cosmos-sdk/codec"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"

	"github.com/cosmos-timers/timers/dashboard/follow"
	"github.com/cosmos-timers/timers/dashboard/store"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
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
	// shownAddress is how many characters of an address are shown where it is short.
	shownAddress = 16
)

// security lets the page load its own files and nothing else, and be shown in no frame.
const security = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Server answers requests.
type Server struct {
	Store *store.Store
	// Query asks the node.
	Query types.QueryClient
	// Bank asks the node what accounts can spend; nil does not.
	Bank banktypes.QueryClient
	// Codec reads what timers hold, and writes messages as the REST API does.
	Codec codec.Codec
	// Names are the names of keys, by their addresses.
	Names map[string]string
	// Node says how the node was when it was looked at last.
	Node func() follow.Health
	// Now is the time of day.
	Now func() time.Time
	// Note tells who runs the dashboard what visitors are not told; nil tells no one.
	Note func(format string, args ...any)
	// Wallet is the URL of a page in which owners change timers, to which the page links; empty for none.
	Wallet string
	// Hosts are the names under which the page may be asked for, in addition to loopback ones: a page of another site must
	// not read it through a name that it makes point here.
	Hosts []string

	hub    *hub
	slots  chan struct{}
	seen   scene
	lately lately
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
	for path, answer := range s.endpoints() {
		mux.HandleFunc("GET /api/"+path, s.answer(answer))
	}
	return s.guard(mux)
}

// endpoints are what answers in JSON, by the ends of their paths.
func (s *Server) endpoints() map[string]func(*http.Request) (any, error) {
	return map[string]func(*http.Request) (any, error){
		"status": s.status, "lane": s.lane, "params": s.params, "series": s.series, "calendar": s.calendar, "ready": s.ready,
		"events": s.events, "timer": s.timer, "actor": s.actor, "estimate": s.estimate, "overview": s.overview, "search": s.search,
	}
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
			if errors.Is(err, store.ErrDatabase) && s.Note != nil && r.Context().Err() == nil {
				s.Note("%s: %v", r.URL.Path, err)
			}
			w.WriteHeader(codeOf(err))
			found = map[string]string{"error": inWords(err)}
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

// codeOf is the code of HTTP for an error. What the node calls a mistake of the asker's is one, an address that is none for example.
func codeOf(err error) int {
	mistake := problem{}
	switch {
	case errors.As(err, &mistake), status.Code(err) == codes.InvalidArgument:
		return http.StatusBadRequest
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusGatewayTimeout
	case errors.Is(err, store.ErrDatabase):
		return http.StatusServiceUnavailable
	default:
		return http.StatusBadGateway
	}
}

// inWords is an error for people: what a server answered is told without what the transport wraps around it. Why a node does
// not answer is told once, with the troubles. What a database says is for who runs it.
func inWords(err error) string {
	switch database := errors.Is(err, store.ErrDatabase); {
	case database && errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("the history takes longer than %s to answer: ask for less of it", timeout)
	case database:
		return "the history can't be read: the dashboard's database does not answer, or refuses; what it says is in the dashboard's output"
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("the node takes longer than %s to answer", timeout)
	}
	if away := (*url.Error)(nil); errors.As(err, &away) {
		return "the node does not answer"
	}
	if _, answered := status.FromError(err); answered {
		return plain.ServerSays(err)
	}
	return fmt.Sprintf("%.300s", err)
}

// account reads a parameter that is an address of this chain.
func (s *Server) account(r *http.Request, name string) (string, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return "", nil
	}
	if !s.isAccount(text) {
		return "", problem{fmt.Sprintf("%s %.80q is no address of this chain", name, text)}
	}
	return text, nil
}

func (s *Server) isAccount(text string) bool {
	_, err := s.accounts().StringToBytes(text)
	return err == nil
}

func (s *Server) accounts() address.Codec {
	return s.Codec.InterfaceRegistry().SigningContext().AddressCodec()
}

// who is an address as people know it: the name of its key, or its ends.
func (s *Server) who(address string) string {
	if name := s.Names[address]; name != "" {
		return name
	}
	return plain.Elide(address, shownAddress)
}

// raw is a message as the REST API writes it.
func (s *Server) raw(m proto.Message, err error) (json.RawMessage, error) {
	if err != nil {
		return nil, err
	}
	return s.Codec.MarshalJSON(m)
}
