package draft

import "github.com/cosmos/cosmos-sdk/client/flags"

// The flags by which scheduling and updating say what a timer does.
const (
	flagMsgs        = "msgs"
	flagFile        = "file"
	flagPayload     = "payload"
	flagPayloadFile = "payload-file"
	flagHandler     = "handler"
	flagName        = "name"
)

// The flags by which scheduling says when a timer is due and when it expires.
const (
	flagAt    = "at"
	flagIn    = "in"
	flagAfter = "after"
	// flagAfterBlocks counts from the block that includes the transaction, which no one knows beforehand.
	flagAfterBlocks = "after-blocks"
	flagWatch       = "watch"
	flagWhen        = "when"
	// FlagCooldown is from which block after a fire changes count.
	FlagCooldown  = "cooldown"
	flagLevel     = "level"
	FlagActor     = "actor"
	flagExpiresAt = "expires-at"
	// flagExpiresTime is for a grant, which ends in both clocks.
	flagExpiresTime = "expires-time"
	flagExpiresIn   = "expires-in"
	// FlagZone is the time zone in which dates, times of day and rules are meant.
	FlagZone = "zone"
	// FlagPayer is the SDK's flag, taken over: here it says who pays for the timer. --fee-granter still says who pays for
	// the transaction.
	FlagPayer = flags.FlagFeePayer
)

// The flags by which scheduling says that a timer lives on after a fire.
const (
	flagEvery       = "every"
	flagFirst       = "first"
	flagCount       = "count"
	FlagOnFailure   = "on-failure"
	flagRetries     = "retries"
	flagRetryAfter  = "retry-after"
	FlagOnUnfunded  = "on-unfunded"
	flagMaxFailures = "max-failures"
	flagBackoff     = "retry-backoff"
	flagRetryOn     = "retry-on"
	flagRenew       = "renew"
	flagOnlyIf      = "only-if"
	// FlagEveryFrom is not called from: that flag names who signs.
	FlagEveryFrom = "every-from"
	FlagMissed    = "missed"
	flagWindow    = "window"
	flagJitter    = "jitter"
)

// The flags of changes.
const (
	flagUntil      = "until"
	flagBy         = "by"
	flagShorten    = "shorten"
	flagDefaultBid = "default-bid"
	flagClear      = "clear"
)

// The flags of grants.
const (
	// FlagFor says what a grant is for, and for how long a timer lives.
	FlagFor      = "for"
	flagAllow    = "allow"
	flagMaxFires = "max-fires"
	flagUses     = "uses"
)
