package types

import "cosmossdk.io/errors"

// Errors of the module, most specific first wherever several would fit. Codes are part of the protocol: receipts and
// scenario files name them, so they are never renumbered.
var (
	// ErrUnauthorized: the signer of an authority's message is not the authority.
	ErrUnauthorized = errors.Register(ModuleName, 2, "not the authority")
	// ErrTimerNotFound: the actor has no such timer (never had, or it is gone).
	ErrTimerNotFound = errors.Register(ModuleName, 3, "timer not found")
	// ErrInvalidTimerID: not an id, or not a prefix of one, in hexadecimal.
	ErrInvalidTimerID = errors.Register(ModuleName, 4, "invalid timer id")
	// ErrAmbiguousTimerID: several timers of the actor begin with the prefix.
	ErrAmbiguousTimerID = errors.Register(ModuleName, 5, "ambiguous timer id")
	// ErrTimerExpired: the timer waits for its clean-up; it can be cancelled, not revived.
	ErrTimerExpired = errors.Register(ModuleName, 6, "timer expired")
	// ErrUnsupportedTimerType: a kind of trigger that does not exist, or not yet.
	ErrUnsupportedTimerType = errors.Register(ModuleName, 8, "unsupported timer type")
	// ErrHeightNotInFuture: the due height is not above the current one.
	ErrHeightNotInFuture = errors.Register(ModuleName, 9, "height not in the future")
	// ErrTTLTooLong: the timer would outlive MAX_TTL_BLOCKS.
	ErrTTLTooLong = errors.Register(ModuleName, 10, "time to live too long")
	// ErrExpiresTooSoon: the timer would expire before it could ever fire.
	ErrExpiresTooSoon = errors.Register(ModuleName, 11, "expires too soon")
	// ErrGasLimitOutOfBounds: below MIN_GAS_LIMIT or above what the policy in force can run.
	ErrGasLimitOutOfBounds = errors.Register(ModuleName, 12, "gas limit out of bounds")
	// ErrPayloadTooLong: longer than MAX_PAYLOAD_BYTES.
	ErrPayloadTooLong = errors.Register(ModuleName, 13, "payload too long")
	// ErrHandlerTooLong: the handler's name is longer than 256 bytes.
	ErrHandlerTooLong = errors.Register(ModuleName, 14, "handler name too long")
	// ErrInvalidHandler: the handler's name is not UTF-8, or unknown to the runtime that serves the actor.
	ErrInvalidHandler = errors.Register(ModuleName, 15, "invalid handler")
	// ErrHandlerConflict: a handler is stated beside a payload that names one.
	ErrHandlerConflict = errors.Register(ModuleName, 16, "handler stated twice")
	// ErrInvalidPayload: the runtime that serves the actor can't make sense of the payload.
	ErrInvalidPayload = errors.Register(ModuleName, 17, "invalid payload")
	// ErrMessageNotAllowed: ALLOWED_MESSAGES and DENIED_MESSAGES keep a message from running in a timer.
	ErrMessageNotAllowed = errors.Register(ModuleName, 18, "message not allowed in a timer")
	// ErrForeignSigner: a message in the payload wants the signature of another than the actor.
	ErrForeignSigner = errors.Register(ModuleName, 19, "message signer is not the actor")
	// ErrUnknownActor: no runtime serves the actor: there is no such account or module.
	ErrUnknownActor = errors.Register(ModuleName, 20, "unknown actor")
	// ErrInvalidFeePayer: the payer has not consented, or may never pay.
	ErrInvalidFeePayer = errors.Register(ModuleName, 21, "invalid fee payer")
	// ErrTooManyTimers: the actor has MAX_TIMERS_PER_ACTOR live timers.
	ErrTooManyTimers = errors.Register(ModuleName, 22, "too many timers")
	// ErrInvalidBid: prices that are negative, absurd, or stated in more than one way.
	ErrInvalidBid = errors.Register(ModuleName, 24, "invalid bid")
	// ErrNothingToUpdate: an update that changes nothing.
	ErrNothingToUpdate = errors.Register(ModuleName, 26, "nothing to update")
	// ErrNotQuarantined: only a quarantined timer can be released.
	ErrNotQuarantined = errors.Register(ModuleName, 27, "timer is not quarantined")
	// ErrInvalidConfig: a parameter is out of its bounds or contradicts another.
	ErrInvalidConfig = errors.Register(ModuleName, 28, "invalid timer config")
	// ErrInvalidGenesis: the genesis state contradicts itself.
	ErrInvalidGenesis = errors.Register(ModuleName, 29, "invalid genesis state")
	// ErrRejectedBelowBasefee: the stated max fee is less than the lane's fee now.
	ErrRejectedBelowBasefee = errors.Register(ModuleName, 30, "max fee below the lane basefee")
	// ErrArgDeprecated: the withdrawn integer bid is no longer accepted.
	ErrArgDeprecated = errors.Register(ModuleName, 31, "argument withdrawn")
	// ErrInvalidAgent: nothing that can be a bidding agent has this address.
	ErrInvalidAgent = errors.Register(ModuleName, 32, "invalid bidding agent")
	// ErrInvalidQuote: a bidding agent's answer is not what an answer must be.
	ErrInvalidQuote = errors.Register(ModuleName, 33, "invalid answer of a bidding agent")
	// ErrAgentWrote: a bidding agent tried to change state, which it may only read.
	ErrAgentWrote = errors.Register(ModuleName, 34, "bidding agents can't write")

	// ErrPanicked: a handler panicked, and its fire failed; or the module did, and the timer is quarantined.
	ErrPanicked = errors.Register(ModuleName, 40, "panicked")
	// ErrOutOfCycles: the handler used up its gas limit; its fire failed.
	ErrOutOfCycles = errors.Register(ModuleName, 41, "out of cycles")
	// ErrOutOfCells: the handler wrote more than its cell limit; its fire failed.
	ErrOutOfCells = errors.Register(ModuleName, 42, "out of cells")
	// ErrActorGone: the actor was there when the timer was scheduled and is no more; its fire failed.
	ErrActorGone = errors.Register(ModuleName, 43, "actor is gone")
	// ErrReentered: a handler tried to run timers.
	ErrReentered = errors.Register(ModuleName, 44, "timers can't run timers")

	// ErrInsufficientFunds: the payer can't cover the pre-charge. The timer leaves; no one sees this error.
	ErrInsufficientFunds = errors.Register(ModuleName, 50, "insufficient funds")
	// ErrInternal: the module itself failed; the timer concerned is quarantined.
	ErrInternal = errors.Register(ModuleName, 51, "internal error")

	// ErrInvalidInterval: a repetition that could never come, or without end in one block.
	ErrInvalidInterval = errors.Register(ModuleName, 52, "invalid interval")
	// ErrInvalidRetry: more retries than MAX_RETRIES, none at all, or at no distance.
	ErrInvalidRetry = errors.Register(ModuleName, 53, "invalid retry")
	// ErrInvalidOnUnfunded: neither destroy nor suspend.
	ErrInvalidOnUnfunded = errors.Register(ModuleName, 54, "invalid on_unfunded")
	// ErrAlreadyOnHold: the next occurrence of a timer that is on hold can't be run: it is resumed.
	ErrAlreadyOnHold = errors.Register(ModuleName, 55, "timer is on hold already")
	// ErrNotOnHold: a timer that is in the queue can't be resumed.
	ErrNotOnHold = errors.Register(ModuleName, 56, "timer is not on hold")
	// ErrQuarantined: only the authority releases a quarantined timer.
	ErrQuarantined = errors.Register(ModuleName, 57, "timer is quarantined")
	// ErrUnrunnable: the timer comes back by itself when the config can run it; an update of its gas limit may help.
	ErrUnrunnable = errors.Register(ModuleName, 58, "timer is unrunnable")
	// ErrInvalidCalendar: a rule that no calendar has, or without an occurrence within the life of a timer.
	ErrInvalidCalendar = errors.Register(ModuleName, 64, "invalid calendar")
	// ErrInvalidTime: a time that is no whole second, or not after the time of the block.
	ErrInvalidTime = errors.Register(ModuleName, 65, "invalid time")
	// ErrAlreadyDue: a timer that is due is not run before its time.
	ErrAlreadyDue = errors.Register(ModuleName, 66, "timer is due already")
	// ErrInvalidSkip: a number of occurrences to skip that is out of bounds.
	ErrInvalidSkip = errors.Register(ModuleName, 67, "invalid number of occurrences to skip")
	// ErrInvalidOnlyIf: too many conditions, or one that says nothing of a key's value.
	ErrInvalidOnlyIf = errors.Register(ModuleName, 68, "invalid only_if")
	// ErrNotWatchable: the chain's wiring does not make the store watchable, or not keys of this form.
	ErrNotWatchable = errors.Register(ModuleName, 60, "not watchable")
	// ErrInvalidWatch: no keys, too many, one twice, or one that can't be a key.
	ErrInvalidWatch = errors.Register(ModuleName, 61, "invalid watch")
	// ErrBidNotCovered: the actor can't lock what it bids.
	ErrBidNotCovered = errors.Register(ModuleName, 62, "bid not covered")
	// ErrCellLimitOutOfBounds: a cell limit above what the config allows.
	ErrCellLimitOutOfBounds = errors.Register(ModuleName, 63, "cell limit out of bounds")
	// ErrInvalidRepeat: what is stated of repetitions does not go with the trigger, or is out of bounds.
	ErrInvalidRepeat = errors.Register(ModuleName, 69, "invalid repeat")
	// ErrInvalidFields: an update names a field that no spec has, or one twice, or states one that it does not name.
	ErrInvalidFields = errors.Register(ModuleName, 72, "invalid fields")
	// ErrChanged: another change of the timer came between.
	ErrChanged = errors.Register(ModuleName, 73, "the timer has changed")
	// ErrInvalidName: a name that is too long, is not printable ASCII, or could be the beginning of an id.
	ErrInvalidName = errors.Register(ModuleName, 70, "invalid name")
	// ErrInvalidEnd: an end in another clock than the trigger's, or two ends.
	ErrInvalidEnd = errors.Register(ModuleName, 77, "invalid end")
	// ErrNameTaken: another live timer of the actor, by the same scheduler, has the name.
	ErrNameTaken = errors.Register(ModuleName, 74, "name is taken")
	// ErrAmbiguousCall: messages are stated together with a payload or a handler.
	ErrAmbiguousCall = errors.Register(ModuleName, 71, "ambiguous call")
	// ErrNotAdmin: a timer is stated for an actor whose admin the sender is not.
	ErrNotAdmin = errors.Register(ModuleName, 75, "not the actor's admin")
	// ErrNotScheduler: only who scheduled a timer changes it.
	ErrNotScheduler = errors.Register(ModuleName, 76, "not the timer's scheduler")
	// ErrInvalidBasefee: the chain's fee market answered what is no price, or tried to write.
	ErrInvalidBasefee = errors.Register(ModuleName, 80, "invalid basefee")
	// ErrConfigChanged: a change of the config was made from another one than it would change now.
	ErrConfigChanged = errors.Register(ModuleName, 81, "the config has changed")
)
