package node

import (
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAGateBreaksConnectionsWhenItIsShut(t *testing.T) {
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer echo.Close()
	go func() {
		for {
			c, err := echo.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c) }()
		}
	}()
	gate, err := NewGate(echo.Addr().String())
	require.NoError(t, err)
	defer gate.Close()
	says := func(c net.Conn) error {
		if _, err := c.Write([]byte("hello")); err != nil {
			return err
		}
		_, err := io.ReadFull(c, make([]byte, 5))
		return err
	}
	dial := func() net.Conn {
		c, err := net.Dial("tcp", gate.Address())
		require.NoError(t, err)
		return c
	}
	before := dial()
	require.NoError(t, says(before))
	gate.Set(true)
	require.Error(t, says(before), "the connection breaks")
	require.Error(t, says(dial()), "no other comes through")
	gate.Set(false)
	require.NoError(t, says(dial()))
}
