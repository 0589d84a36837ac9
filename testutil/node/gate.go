package node

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
)

// Gate is a proxy between a node and one of its peers, which can be shut: then their connections break, and new ones are
// refused.
type Gate struct {
	listener net.Listener
	to       string

	mutex sync.Mutex
	shut  bool
	open  map[net.Conn]bool
}

// NewGate starts a proxy to an address.
func NewGate(to string) (*Gate, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	g := &Gate{listener: listener, to: to, open: map[net.Conn]bool{}}
	go g.serve()
	return g, nil
}

// Address at which the proxy listens.
func (g *Gate) Address() string { return g.listener.Addr().String() }

// Set shuts the gate, or opens it.
func (g *Gate) Set(shut bool) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.shut = shut
	for c := range g.open {
		if shut {
			_ = c.Close()
		}
	}
}

// Close ends the proxy.
func (g *Gate) Close() {
	_ = g.listener.Close()
	g.Set(true)
}

func (g *Gate) serve() {
	for {
		in, err := g.listener.Accept()
		if err != nil {
			return
		}
		go g.pass(in)
	}
}

// pass connects the two until one of them or the gate ends it.
func (g *Gate) pass(in net.Conn) {
	defer in.Close()
	out, err := net.Dial("tcp", g.to)
	if err != nil {
		return
	}
	defer out.Close()
	if !g.enter(in, out) {
		return
	}
	defer g.leave(in, out)
	go func() {
		_, _ = io.Copy(out, in)
		_, _ = in.Close(), out.Close()
	}()
	_, _ = io.Copy(in, out)
}

func (g *Gate) enter(conns ...net.Conn) bool {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	for _, c := range conns {
		g.open[c] = true
	}
	return !g.shut
}

func (g *Gate) leave(conns ...net.Conn) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	for _, c := range conns {
		delete(g.open, c)
	}
}

// Gates places gates between a node and its peers, before they start: the node dials through the gates, and no one dials
// the node.
func (n *Network) Gates(node *Node) (gates []*Gate, err error) {
	for _, other := range n.Nodes {
		err := other.edit("config.toml", "p2p", "persistent_peers", func(value string) (string, error) {
			var kept []string
			for _, peer := range strings.Split(strings.Trim(value, `"`), ",") {
				id, address, _ := strings.Cut(peer, "@")
				if address == node.P2P {
					continue
				}
				if other == node {
					gate, err := NewGate(address)
					if err != nil {
						return "", err
					}
					gates, peer = append(gates, gate), id+"@"+gate.Address()
				}
				kept = append(kept, peer)
			}
			return fmt.Sprintf("%q", strings.Join(kept, ",")), nil
		})
		if err != nil {
			return gates, err
		}
	}
	return gates, nil
}
