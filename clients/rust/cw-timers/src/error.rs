use core::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The codespace of the module's errors.
pub const CODESPACE: &str = "timers";

macro_rules! errors {
    ($( $(#[$doc:meta])* $code:literal $name:ident = $text:literal, )*) => {
        /// The module's errors. A receipt has the code of one if its codespace is [`CODESPACE`], and so has the text with
        /// which a submessage fails.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        #[non_exhaustive]
        pub enum TimersError {
            $( $(#[$doc])* $name, )*
        }

        impl TimersError {
            /// All of them.
            pub const ALL: &'static [TimersError] = &[$( TimersError::$name, )*];

            /// The code.
            pub const fn code(self) -> u32 {
                match self {
                    $( TimersError::$name => $code, )*
                }
            }

            /// The error with a code.
            pub const fn from_code(code: u32) -> Option<Self> {
                match code {
                    $( $code => Some(TimersError::$name), )*
                    _ => None,
                }
            }

            /// The chain's short description.
            pub const fn description(self) -> &'static str {
                match self {
                    $( TimersError::$name => $text, )*
                }
            }
        }
    };
}

errors! {
    /// The signer of an authority's message is not the authority.
    2 Unauthorized = "not the authority",
    /// The actor has no such timer (never had, or it is gone).
    3 TimerNotFound = "timer not found",
    /// Not an id, or not a prefix of one, in hexadecimal.
    4 InvalidTimerID = "invalid timer id",
    /// Several timers of the actor begin with the prefix.
    5 AmbiguousTimerID = "ambiguous timer id",
    /// The timer waits for its clean-up; it can be cancelled, not revived.
    6 TimerExpired = "timer expired",
    /// A kind of trigger that does not exist, or not yet.
    8 UnsupportedTimerType = "unsupported timer type",
    /// The due height is not above the current one.
    9 HeightNotInFuture = "height not in the future",
    /// The timer would outlive MAX_TTL_BLOCKS.
    10 TTLTooLong = "time to live too long",
    /// The timer would expire before it could ever fire.
    11 ExpiresTooSoon = "expires too soon",
    /// Below MIN_GAS_LIMIT or above what the policy in force can run.
    12 GasLimitOutOfBounds = "gas limit out of bounds",
    /// Longer than MAX_PAYLOAD_BYTES.
    13 PayloadTooLong = "payload too long",
    /// The handler's name is longer than 256 bytes.
    14 HandlerTooLong = "handler name too long",
    /// The handler's name is not UTF-8, or unknown to the runtime that serves the actor.
    15 InvalidHandler = "invalid handler",
    /// A handler is stated beside a payload that names one.
    16 HandlerConflict = "handler stated twice",
    /// The runtime that serves the actor can't make sense of the payload.
    17 InvalidPayload = "invalid payload",
    /// ALLOWED_MESSAGES and DENIED_MESSAGES keep a message from running in a timer.
    18 MessageNotAllowed = "message not allowed in a timer",
    /// A message in the payload wants the signature of another than the actor.
    19 ForeignSigner = "message signer is not the actor",
    /// No runtime serves the actor: there is no such account or module.
    20 UnknownActor = "unknown actor",
    /// The payer has not consented, or may never pay.
    21 InvalidFeePayer = "invalid fee payer",
    /// The actor has MAX_TIMERS_PER_ACTOR live timers.
    22 TooManyTimers = "too many timers",
    /// Prices that are negative, absurd, or stated in more than one way.
    24 InvalidBid = "invalid bid",
    /// An update that changes nothing.
    26 NothingToUpdate = "nothing to update",
    /// Only a quarantined timer can be released.
    27 NotQuarantined = "timer is not quarantined",
    /// A parameter is out of its bounds or contradicts another.
    28 InvalidConfig = "invalid timer config",
    /// The genesis state contradicts itself.
    29 InvalidGenesis = "invalid genesis state",
    /// The stated max fee is less than the lane's fee now.
    30 RejectedBelowBasefee = "max fee below the lane basefee",
    /// The withdrawn integer bid is no longer accepted.
    31 ArgDeprecated = "argument withdrawn",
    /// Nothing that can be a bidding agent has this address.
    32 InvalidAgent = "invalid bidding agent",
    /// A bidding agent's answer is not what an answer must be.
    33 InvalidQuote = "invalid answer of a bidding agent",
    /// A bidding agent tried to change state, which it may only read.
    34 AgentWrote = "bidding agents can't write",
    /// A handler panicked, and its fire failed; or the module did, and the timer is quarantined.
    40 Panicked = "panicked",
    /// The handler used up its gas limit; its fire failed.
    41 OutOfCycles = "out of cycles",
    /// The handler wrote more than its cell limit; its fire failed.
    42 OutOfCells = "out of cells",
    /// The actor was there when the timer was scheduled and is no more; its fire failed.
    43 ActorGone = "actor is gone",
    /// A handler tried to run timers.
    44 Reentered = "timers can't run timers",
    /// The payer can't cover the pre-charge. The timer leaves; nobody sees this error.
    50 InsufficientFunds = "insufficient funds",
    /// The module itself failed; the timer concerned is quarantined.
    51 Internal = "internal error",
    /// A repetition that could never come, or without end in one block.
    52 InvalidInterval = "invalid interval",
    /// More retries than MAX_RETRIES, none at all, or at no distance.
    53 InvalidRetry = "invalid retry",
    /// Neither destroy nor suspend.
    54 InvalidOnUnfunded = "invalid on_unfunded",
    /// A timer that is not in the queue can't be paused.
    55 AlreadyOnHold = "timer is on hold already",
    /// A timer that is in the queue can't be resumed.
    56 NotOnHold = "timer is not on hold",
    /// Only the authority releases a quarantined timer.
    57 Quarantined = "timer is quarantined",
    /// The timer comes back by itself when the config can run it; an update of its gas limit may help.
    58 Unrunnable = "timer is unrunnable",
    /// The chain's wiring does not make the store watchable, or not keys of this form.
    60 NotWatchable = "not watchable",
    /// No keys, too many, one twice, or one that can't be a key.
    61 InvalidWatch = "invalid watch",
    /// The actor can't lock what it bids.
    62 BidNotCovered = "bid not covered",
    /// A cell limit above what the config allows.
    63 CellLimitOutOfBounds = "cell limit out of bounds",
    /// A rule that no calendar has, or without an occurrence within the life of a timer.
    64 InvalidCalendar = "invalid calendar",
    /// A time that is no whole second, or not after the time of the block.
    65 InvalidTime = "invalid time",
    /// A timer that is due is not run before its time.
    66 AlreadyDue = "timer is due already",
    /// A number of occurrences to skip that is out of bounds.
    67 InvalidSkip = "invalid number of occurrences to skip",
    /// Too many conditions, or one that says nothing of a key's value.
    68 InvalidOnlyIf = "invalid only_if",
    /// What is stated of repetitions does not go with the trigger, or is out of bounds.
    69 InvalidRepeat = "invalid repeat",
    /// A name that is too long, is not printable ASCII, or could be the beginning of an id.
    70 InvalidName = "invalid name",
    /// Messages are stated together with a payload or a handler.
    71 AmbiguousCall = "ambiguous call",
    /// An update names a field that no spec has, or one twice, or states one that it does not name.
    72 InvalidFields = "invalid fields",
    /// Another change of the timer came between.
    73 Changed = "the timer has changed",
    /// Another live timer of the actor, by the same scheduler, has the name.
    74 NameTaken = "name is taken",
    /// A timer is stated for an actor whose admin the sender is not.
    75 NotAdmin = "not the actor's admin",
    /// Only who scheduled a timer changes it.
    76 NotScheduler = "not the timer's scheduler",
    /// An end in another clock than the trigger's, or two ends.
    77 InvalidEnd = "invalid end",
    /// The chain's fee market answered what is no price, or tried to write.
    80 InvalidBasefee = "invalid basefee",
    /// A change of the config was made from another one than it would change now.
    81 ConfigChanged = "the config has changed",
}

impl TimersError {
    /// The error in the text with which a submessage failed: `codespace: timers, code: 9`.
    ///
    /// ```
    /// # use cw_timers::TimersError;
    /// assert_eq!(TimersError::parse("codespace: timers, code: 3"), Some(TimersError::TimerNotFound));
    /// assert_eq!(TimersError::parse("codespace: sdk, code: 5"), None);
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let (_, rest) = text.split_once("codespace: timers, code: ")?;
        let digits = rest.find(|c: char| !c.is_ascii_digit()).map_or(rest, |end| &rest[..end]);
        TimersError::from_code(digits.parse().ok()?)
    }
}

/// As a contract is told: `codespace: timers, code: 9`, with the description behind it.
impl fmt::Display for TimersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "codespace: {CODESPACE}, code: {}: {}", self.code(), self.description())
    }
}

impl std::error::Error for TimersError {}
