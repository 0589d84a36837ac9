package prove

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/client/flags"
	"github.com/cosmos/cosmos-sdk/types/query"

	"github.com/cosmos-timers/timers/x/timers/client/job"
	"github.com/cosmos-timers/timers/x/timers/client/plain"
	"github.com/cosmos-timers/timers/x/timers/client/proof"
	"github.com/cosmos-timers/timers/x/timers/types"
)

const (
	flagOccurrence   = "occurrence"
	flagAbsent       = "absent"
	flagTimeout      = "timeout"
	flagHeader       = "header"
	flagAppHash      = "app-hash"
	flagHeaderHeight = "header-height"

	// defaultTimeout is how long a proof may take, most of it the wait for the next block.
	defaultTimeout = time.Minute
)

// Commands are proof and verify.
func Commands() []*cobra.Command { return []*cobra.Command{newProofCmd(), newVerifyCmd()} }

func newProofCmd() *cobra.Command {
	cmd := job.QueryCommand(&cobra.Command{
		Use:   "proof [actor/id-prefix]",
		Short: "Prove that a timer was delivered, or that it was not at a height",
		Long: "Prove that a timer was delivered: its last delivery whose receipt is kept or, with --height or --occurrence, another. With --absent, prove that it was not delivered at --height. " +
			"The proof is a file that anyone can verify with a header of the chain, and without a node: see verify. " +
			"It can be made as long as the chain keeps the receipt, and holds for ever. The receipts of a block are under the header of the next one: where that does not exist yet, it is waited for. " +
			"A timer that is gone is named by its id, a live one by its name too.",
		Example: fmt.Sprintf(`%[1]s query timers proof alice/rent --output-document rent.json
%[1]s query timers proof alice/3fa9 --occurrence 2 > second.json
%[1]s query timers proof alice/3fa9 --absent --height 1234`, plain.App()),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			clientCtx, err := client.GetClientQueryContext(cmd)
			if err != nil {
				return err
			}
			// The height is that of the delivery. What is asked is the latest state.
			return prove(job.New(cmd, clientCtx.WithHeight(0)), args[0], uint64(max(0, clientCtx.Height)))
		},
	})
	f := cmd.Flags()
	f.Lookup(flags.FlagHeight).Usage = "height at which the timer was delivered or, with --" + flagAbsent + ", was not (default: that of its last delivery)"
	f.Uint64(flagOccurrence, 0, "number of the delivered occurrence, from 1 on (default: the last)")
	f.Bool(flagAbsent, false, "prove that the timer was not delivered at --"+flags.FlagHeight)
	f.Duration(flagTimeout, defaultTimeout, "how long to wait for the next block")
	f.String(flags.FlagOutputDocument, "", "file to write the proof to (default: standard output)")
	f.Lookup(flags.FlagOutput).Hidden = true // A proof has one form.
	return cmd
}

func prove(j *job.Job, text string, height uint64) error {
	occurrence, err := j.Flags.GetUint64(flagOccurrence)
	if err != nil {
		return err
	}
	absent, err := j.Flags.GetBool(flagAbsent)
	if err != nil {
		return err
	}
	timeout, err := j.Flags.GetDuration(flagTimeout)
	if err != nil {
		return err
	}
	if absent && (height == 0 || occurrence > 0) {
		return fmt.Errorf("--%s takes --%s, the height at which the timer was not delivered, and no --%s: over many heights nothing is proved",
			flagAbsent, flags.FlagHeight, flagOccurrence)
	}
	s, err := newSearch(j, text)
	if err != nil {
		return err
	}
	node, err := j.GetNode()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(j.Ctx, timeout)
	defer cancel()
	write := Delivery
	if absent {
		write = Absence
	}
	id := s.id
	switch {
	case height == 0 || occurrence > 0:
		id, height, err = s.delivery(height, occurrence)
	case id == "":
		id, _, err = s.delivery(0, 0)
	}
	if err != nil {
		return err
	}
	raw, err := hex.DecodeString(id)
	if err != nil {
		return err
	}
	file, err := write(ctx, node, raw, height)
	if err != nil {
		return fmt.Errorf("timer %s/%s: %s", j.Name(s.actor), id, plain.ServerSays(err))
	}
	if path, ok := j.Stated(flags.FlagOutputDocument); ok {
		if err := os.WriteFile(path, file, 0o600); err != nil {
			return err
		}
	} else if _, err := j.Output.Write(file); err != nil {
		return err
	}
	parsed, err := proof.Parse(file)
	if err != nil {
		return err
	}
	j.Notef("timer %s/%s %s at height %d: %d bytes, which the header of height %d proves", j.Name(s.actor), id, happened(absent), height, len(file), parsed.HeaderHeight)
	return nil
}

// happened says what a proof shows.
func happened(absent bool) string {
	if absent {
		return "was not delivered"
	}
	return "was delivered"
}

// search looks for a timer among an actor's live timers, and among the deliveries whose receipts are kept.
type search struct {
	j *job.Job
	// actor and text name the timer; id is the whole id, empty if only deliveries can tell it from its prefix.
	actor, text, id, prefix string
}

func newSearch(j *job.Job, text string) (*search, error) {
	n, err := job.ParseName(text)
	if err != nil {
		return nil, err
	}
	if n.Actor == "" {
		return nil, fmt.Errorf("timer %.200q names no actor: want ACTOR/ID-PREFIX or ACTOR/NAME", text)
	}
	actor, err := j.LookupAccount(n.Actor)
	if err != nil {
		return nil, fmt.Errorf("timer %.200q: %w", text, err)
	}
	s := &search{j: j, actor: actor.Text, text: text}
	if n.Whole() {
		s.id, s.prefix = n.ID(), n.ID()
		return s, nil
	}
	timer, err := j.Find(actor.Text, n.Text)
	if err == nil {
		s.id, s.prefix = timer.Id, timer.Id
		return s, nil
	}
	prefix, notID := types.ParseIDPrefix(n.Text)
	if !errors.Is(err, job.ErrNoTimer) || notID != nil {
		return nil, err
	}
	s.prefix = prefix
	return s, nil
}

// delivery returns the id of the timer, and the height of its last delivery with what is stated, 0 for anything. Where only
// the beginning of the id is known, all deliveries are looked at, so that no other timer is meant.
func (s *search) delivery(height, occurrence uint64) (id string, at uint64, err error) {
	client := types.NewQueryClient(s.j.Context)
	var keptFrom uint64
	var key []byte
	id = s.id
	for {
		page, err := client.Deliveries(s.j.Ctx, &types.QueryDeliveriesRequest{Actor: s.actor, Id: s.prefix, Pagination: &query.PageRequest{Key: key}})
		if err != nil {
			return "", 0, errors.New(plain.ServerSays(err))
		}
		keptFrom = page.KeptFrom
		for i := range page.Deliveries {
			d := &page.Deliveries[i]
			if id == "" {
				id = d.Receipt.TimerId
			}
			if id != d.Receipt.TimerId {
				return "", 0, fmt.Errorf("timer %.200q is ambiguous: %s and %s were delivered", s.text, id, d.Receipt.TimerId)
			}
			if at == 0 && (height == 0 || height == d.Height) && (occurrence == 0 || occurrence == d.Receipt.Index) {
				at = d.Height
			}
		}
		if key = page.GetPagination().GetNextKey(); len(key) == 0 || at > 0 && s.id != "" {
			break
		}
	}
	if at > 0 {
		return id, at, nil
	}
	what := "timer " + s.text
	if occurrence > 0 {
		what = fmt.Sprintf("occurrence %d of %s", occurrence, what)
	}
	if height > 0 {
		what += fmt.Sprintf(" at height %d", height)
	}
	return "", 0, fmt.Errorf("no delivery of %s is kept: receipts are kept of heights from %d on", what, keptFrom)
}

func newVerifyCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify [file]",
		Short: "Verify a proof of a delivery, with a header and without a node",
		Long: "Verify a proof that a timer was delivered, or was not at a height: the file that proof wrote, - for the standard input. It needs a header of the chain that you trust, of the height that the proof names, and no node: " +
			"the file of one as a node answers it to /header, /commit or /block, or its application hash, its height and the chain. Take it from a light client, or from a node of your own: whoever gives you the header decides what the proof is worth.",
		Example: fmt.Sprintf(`%[1]s query timers verify rent.json --header header.json
%[1]s query timers verify rent.json --app-hash 9F86D081... --header-height 1236 --chain-id timers-1`, plain.App()),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			clientCtx, err := client.GetClientQueryContext(cmd)
			if err != nil {
				return err
			}
			return verify(job.New(cmd, clientCtx.WithSkipConfirmation(true)), args[0])
		},
	}
	cmd.SilenceUsage = true
	f := cmd.Flags()
	f.String(flagHeader, "", "file of the trusted header")
	f.String(flagAppHash, "", "application hash of the trusted header, in hexadecimal")
	f.Uint64(flagHeaderHeight, 0, "height of the trusted header, with --"+flagAppHash)
	f.String(flags.FlagChainID, "", "chain of the trusted header, with --"+flagAppHash)
	f.StringP(flags.FlagOutput, "o", flags.OutputFormatText, "form of the output (text|json)")
	return cmd
}

func verify(j *job.Job, path string) error {
	header, err := readHeader(j)
	if err != nil {
		return err
	}
	text, err := j.ReadFile(path)
	if err != nil {
		return err
	}
	fact, err := proof.Verify(header, text)
	if err != nil {
		return fmt.Errorf("%s proves nothing: %w", path, err)
	}
	out := struct {
		ChainID      string          `json:"chain_id"`
		HeaderHeight proof.Number    `json:"header_height"`
		TimerID      proof.Hex       `json:"timer_id"`
		Height       proof.Number    `json:"height"`
		Delivered    bool            `json:"delivered"`
		Position     *proof.Number   `json:"position,omitempty"`
		Receipt      json.RawMessage `json:"receipt,omitempty"`
	}{ChainID: fact.ChainID, HeaderHeight: proof.Number(fact.HeaderHeight), TimerID: fact.TimerID, Height: proof.Number(fact.Height), Delivered: !fact.Absent}
	if !fact.Absent {
		at := proof.Number(fact.Position)
		out.Position = &at
		if out.Receipt, err = receiptJSON(j, fact.Receipt); err != nil {
			return err
		}
	}
	shown, err := json.Marshal(out)
	if err != nil {
		return err
	}
	if err := j.PrintRaw(shown); err != nil {
		return err
	}
	j.Notef("proved: timer %x %s at height %d of %s", fact.TimerID, happened(fact.Absent), fact.Height, fact.ChainID)
	return nil
}

// readHeader reads the trusted header from the flags.
func readHeader(j *job.Job) (proof.Header, error) {
	flag, value, err := j.OneOf("the trusted header", true, flagHeader, flagAppHash)
	if err != nil {
		return proof.Header{}, err
	}
	if flag == flagHeader {
		text, err := j.ReadFile(value)
		if err != nil {
			return proof.Header{}, err
		}
		header, err := proof.ParseHeader(text)
		if err != nil {
			return proof.Header{}, fmt.Errorf("--%s %s: %w", flagHeader, value, err)
		}
		return header, nil
	}
	hash, err := hex.DecodeString(value)
	if err != nil {
		return proof.Header{}, fmt.Errorf("--%s %.80q is not hexadecimal", flagAppHash, value)
	}
	height, err := j.Flags.GetUint64(flagHeaderHeight)
	if err != nil {
		return proof.Header{}, err
	}
	if height == 0 || j.ChainID == "" {
		return proof.Header{}, fmt.Errorf("--%s takes --%s and --%s, those of the header", flagAppHash, flagHeaderHeight, flags.FlagChainID)
	}
	return proof.Header{ChainID: j.ChainID, Height: height, AppHash: hash}, nil
}

// receiptJSON is a stored receipt in the form in which queries answer it.
func receiptJSON(j *job.Job, raw []byte) (json.RawMessage, error) {
	var r types.Receipt
	if err := r.Unmarshal(raw); err != nil {
		return nil, fmt.Errorf("the receipt is proved, and this program can't read it: %w", err)
	}
	actor, err := j.AccountOf(r.Actor)
	if err != nil {
		return nil, err
	}
	return j.Codec.MarshalJSON(&types.ReceiptInfo{
		TimerId: hex.EncodeToString(r.TimerId), DeliverId: hex.EncodeToString(r.DeliverId), Actor: actor.Text, FireSeq: r.FireSeq,
		Success: r.Success, Codespace: r.Codespace, Code: r.Code, Cycles: r.Cycles, Cells: r.Cells, Paid: r.Paid.String(), Tip: r.Tip.String(),
		Bid: r.Bid, BidPaid: r.BidPaid, Matched: r.Matched, MatchedOmitted: r.MatchedOmitted, ScoreBid: r.ScoreBidText(), Late: r.Late,
		Occurrence: r.Occurrence, Index: r.Index, Guarded: r.Guarded,
	})
}
