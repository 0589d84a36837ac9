package scenario

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cosmos-timers/timers/x/timers/market"
)

// constants of the module that configs held once. Old files state some of them.
var constants = map[string]uint64{
	"calendar_cycles": market.CalendarCycles, "lapse_cycles": market.LapseCycles, "fire_base_cycles": market.FireBaseCycles,
	"payload_cycles_per_byte": market.PayloadCyclesPerByte, "message_cycles_per_byte": market.MessageCyclesPerByte,
	"max_messages_bytes": market.MaxMessagesBytes, "max_payer_record_bytes": market.MaxPayerRecordBytes,
	"max_retries": uint64(market.MaxRetries), "max_watch_keys": uint64(market.MaxWatchKeys), "max_matched_keys": uint64(market.MaxMatchedKeys),
}

// constant reads a member of a config that names a constant of the module. One that states its value changes nothing, and is
// noted. Another value is refused: the module would not follow it.
func (v value) constant(want uint64) {
	if stated, err := strconv.ParseUint(strings.Trim(string(v.raw), `"`), 10, 64); err != nil || stated != want {
		v.r.fail(v.path, "it is no parameter any more, but a constant, %d: leave it out", want)
		return
	}
	v.r.notes = append(v.r.notes, fmt.Sprintf("%s: it is no parameter any more, but a constant, and may be left out", v.path))
}
