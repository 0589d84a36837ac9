package node

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Send signs messages as one transaction of a key, with so much gas, sends it, and waits until it is in a block. The
// messages are in protobuf's JSON, each with its "@type". A transaction that fails is no error; see Tx.
func (n *Node) Send(ctx context.Context, from string, gas uint64, messages ...any) (TxResult, error) {
	if err := n.waitTaking(ctx); err != nil {
		return TxResult{}, err
	}
	dir, err := os.MkdirTemp(n.Home, "send-")
	if err != nil {
		return TxResult{}, err
	}
	defer os.RemoveAll(dir)
	unsigned, err := json.Marshal(map[string]any{
		"body": map[string]any{"messages": messages},
		"auth_info": map[string]any{"fee": map[string]any{
			"gas_limit": fmt.Sprint(gas), "amount": []any{map[string]string{"denom": "utmr", "amount": fmt.Sprint(gas / gasPerCoin)}},
		}},
	})
	if err != nil {
		return TxResult{}, err
	}
	file, signed := filepath.Join(dir, "tx.json"), filepath.Join(dir, "signed.json")
	if err := os.WriteFile(file, unsigned, 0o600); err != nil {
		return TxResult{}, err
	}
	if _, err := n.CLI(ctx, "tx", "sign", file, "--from", from, "--output-document", signed); err != nil {
		return TxResult{}, err
	}
	out, err := n.CLI(ctx, "tx", "broadcast", signed, "--output", "json")
	if err != nil {
		return TxResult{}, err
	}
	return n.sent(ctx, out)
}
