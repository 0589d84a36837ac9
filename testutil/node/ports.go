package node

import (
	"fmt"
	"net"
	"os"
)

const (
	// portsPerNode is the distance between nodes' ports that `timerd testnet init-files` keeps. A node uses the first six.
	portsPerNode = 10
	// guardPort is the one of a node's ports that is listened on here, and by no node.
	guardPort = portsPerNode - 1
	// firstPort and endPort bound the ports: below those that the system hands out by itself.
	firstPort, endPort = 20_000, 32_000
)

// ports is a run of free ports on loopback. Other processes that look for ports leave it alone until it is released, as one
// port of each node is listened on: nodes begin to listen seconds later, and not while they are restarted.
type ports struct {
	base   int
	guards []net.Listener
}

// claimPorts finds ports for so many nodes.
func claimPorts(nodes int) (*ports, error) {
	slots := (endPort-firstPort)/portsPerNode - nodes + 1
	for i := range slots {
		slot := (os.Getpid() + i) % slots
		if p := claimAt(firstPort+slot*portsPerNode, nodes); p != nil {
			return p, nil
		}
	}
	return nil, fmt.Errorf("no run of %d free ports from %d to %d", nodes*portsPerNode, firstPort, endPort)
}

// claimAt claims a run of ports, or returns nil if one of them is in use. The guards come first: who has them is alone in
// asking for the rest.
func claimAt(base, nodes int) *ports {
	p := &ports{base: base}
	for i := range nodes {
		guard, err := listen(base + i*portsPerNode + guardPort)
		if err != nil {
			p.release()
			return nil
		}
		p.guards = append(p.guards, guard)
	}
	for port := base; port < base+nodes*portsPerNode; port++ {
		if (port-base)%portsPerNode == guardPort {
			continue
		}
		listener, err := listen(port)
		if err != nil {
			p.release()
			return nil
		}
		_ = listener.Close()
	}
	return p
}

func listen(port int) (net.Listener, error) {
	return net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
}

// release gives the ports back.
func (p *ports) release() {
	for _, guard := range p.guards {
		_ = guard.Close()
	}
	p.guards = nil
}
