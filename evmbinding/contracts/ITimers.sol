// SPDX-License-Identifier: Apache-2.0
pragma solidity >=0.8.20;

// Address of the precompile. It is of digits alone, since x/vm compares active_static_precompiles as text.
address constant TIMERS = 0x0000000000000000000000000000000000001215;

// What an owner states of a timer: the rows are those of the message timers.v1.TimerSpec. What is left zero or empty has
// its default, so that most state a trigger, a payload and a gas limit.
struct TimerSpec {
    string name; // at most 64 printable characters, one of them no hexadecimal digit; of one live timer of an owner
    Trigger trigger;
    Repeat repeat; // of a trigger that repeats alone
    TimerCall call;
    WatchKey[] onlyIf; // conditions that must hold at the fire, at most two
    uint64 gasLimit; // cycles of one fire: EVM gas, and what a fire counts before it
    uint64 byteLimit; // bytes that one fire may write
    Bid bid;
    uint256 maxCharge; // wei; the most that one fire may cost
    address feePayer; // who granted the sender an allowance; 0: the sender
    uint64 expiresAt; // the end: the last height, of heights, intervals and watches
    uint64 expiresTime; // or the last second, of times, calendars and watches
    Retry retry;
    OnUnfunded onUnfunded;
}

// When a timer is due. Exactly one of these is stated.
struct Trigger {
    uint64 height; // at a height above the present one
    IntervalTrigger interval; // every so many blocks
    WatchTrigger watch; // when watched state changes
    uint64 time; // in the first block at or after a second since 1970
    uint64 afterBlocks; // so many blocks after this one
    CalendarTrigger calendar; // by block time, again and again
}

struct IntervalTrigger {
    uint64 every; // blocks
    uint64 first; // the first due height; 0: so many blocks after this one
    IntervalFrom from; // what the distance counts from
}

enum IntervalFrom {
    Default,
    Fire, // the default: a late fire delays the next
    Schedule // due at first + k * every
}

struct WatchTrigger {
    WatchKey[] keys;
    uint64 cooldown; // blocks between fires
    bool level; // due while a condition holds, and not only when it becomes true
}

// State that is watched, or compared. What a source does not use is zero or empty.
struct WatchKey {
    Source source;
    address target;
    bytes32 slot;
    string name;
    bytes key;
    WatchCondition when;
}

enum Source {
    Slot, // a storage slot of target
    Balance, // the native balance of target, in wei
    Coin, // target's balance of the bank's denom name, in the denom's smallest unit
    Raw // what begins with key in the store name, of those that the chain makes watchable
}

// Slots compare as unsigned numbers, what Raw names as the chain reads it.
struct WatchCondition {
    ConditionOp op;
    uint256 value;
}

// How a condition compares. Any: every change counts, for triggers alone.
enum ConditionOp {
    Any,
    Exists,
    Absent,
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual
}

// One of the two rules is stated.
struct CalendarTrigger {
    EveryRule every;
    CronRule cron;
    int32 offsetMinutes; // local time less UTC, before the first of transitions; at most 1,080 either way
    OffsetTransition[] transitions; // changes of the offset, in order of time, at most 16: a client makes them of a time zone
    bool offsetFinal; // the last offset holds for ever; else a timer that renews its life ends with it
}

struct EveryRule {
    uint64 period; // seconds, 60 or more
    uint64 anchor; // an occurrence, in seconds since 1970; 0: now
}

// The local minutes that match, as sets of bits.
struct CronRule {
    uint64 minuteSet; // bits 0 to 59
    uint32 hourSet; // bits 0 to 23
    uint32 daySet; // bits 1 to 31
    bool lastDay;
    uint32 monthSet; // bits 1 to 12
    uint32 weekdaySet; // bits 0 for Sunday to 6
    uint32 nthSet; // of a month's weekdays: bits 1 to 5 the first to the fifth, 6 to 10 from the last on; 0: all
}

struct OffsetTransition {
    uint64 from; // the first second with the offset: a whole minute
    int32 offsetMinutes;
}

struct Repeat {
    uint64 remaining; // deliveries, from this statement on; 0: until its end
    Missed missed; // which fire of several that have come
    uint64 window; // how late one may fire, in blocks or seconds
    uint64 jitter; // by how much one may be due later
    OnFailure onFailure;
    uint32 maxFailures; // in a row, before Suspend suspends
    bool renew; // each fire gives the life again
}

enum Missed {
    Default,
    Latest, // the default
    Each
}

enum OnFailure {
    Default,
    Roll, // the default: go on
    Stop,
    Suspend
}

struct TimerCall {
    Handler handler;
    address to; // of a Call
    uint256 value; // of a Call, in wei
    bytes payload; // what onTimer is given; of a Call its data
}

enum Handler {
    Callback, // the owner's onTimer(delivery, payload)
    Call, // the chain calls to as the owner: msg.sender and tx.origin are the owner
    Other // of specOf alone: messages of the SDK, or a call of IHRC1215, whose payload is as the chain keeps it
}

// One of these is stated, or none: then the chain's estimator bids.
struct Bid {
    StaticBid staticBid;
    PriorityTier tier;
    address agent; // who is asked for the prices
    uint256 price; // wei for a fire, where the chain's policy takes such bids
}

struct StaticBid {
    uint256 maxFeePerGas; // wei
    uint256 maxPriorityFeePerGas; // wei
}

enum PriorityTier {
    None,
    Economy,
    Standard,
    Fast,
    Urgent
}

// Failed fires are tried again.
struct Retry {
    uint32 max; // how often, at most
    uint64 delay; // to the first of them: seconds for times and calendars, else blocks
    uint32 backoff; // each further delay is so many times the one before; 0: the same
    ErrorCode[] on; // after these errors, at most 8; none: after all
}

struct ErrorCode {
    string codespace;
    uint32 code; // 0: any of the codespace
}

enum OnUnfunded {
    Default,
    Destroy, // the default: it is removed
    Suspend,
    Skip // what is due passes
}

// What became of a timer, and what follows from its spec, which specOf says.
struct Info {
    bytes32 id;
    address owner;
    string name;
    uint8 status; // timers.v1.TimerPhase: 1 pending, 2 ready, 3 expired, 4 on hold, 40 watching
    uint8 holdReason; // timers.v1.HoldReason; 0: it is not
    uint64 due; // height
    uint64 dueTime; // second; 0: due by height
    uint64 expiresAt;
    uint64 expiresTime;
    uint64 gasLimit; // those in force
    uint64 byteLimit;
    uint64 seq; // another with each change: what update's ifSeq is compared with
    uint64 fires;
    uint64 deliveries; // of occurrences, each once
    uint64 left; // deliveries; 0: not counted
    bool lastSuccess;
    uint256 lastPaid; // wei
}

struct Quote {
    uint256 gasPrice; // wei per cycle: the chain's price, and that of the lane with the tip
    uint256 bytePrice; // wei per written byte
    uint256 maxCost; // wei; taken before the fire, the unused part refunded
    uint64 gasLimit; // what the quote is for
    uint64 byteLimit;
    uint64 intrinsicGas; // of it, counted before the handler runs
    uint64 waitBlocks; // at the present order of the queue
    bool pricedOut;
}

// The lane in which timers fire. Prices are those of the next block, in wei, before tips.
struct Lane {
    uint256 gasPrice; // per cycle: the chain's price
    uint256 bytePrice; // per written byte
    uint256 laneFee; // per cycle, and for bytes as the lane's sizes count them; above 0 where timers queue
    uint256 usualTip; // per cycle
    uint64 usedGas; // cycles of the last block's fires
    uint64 blockGas; // cycles that a block has for fires
    uint64 maxGas; // the largest gas limit that can run
    bool paused;
}

// What a contract is called with. msg.sender and tx.origin are TIMERS.
struct Delivery {
    bytes32 timerId;
    bytes32 deliverId; // no two deliveries have the same
    uint64 fireSeq;
    uint64 due; // the fire is late if block.number is above
    uint64 occurrence; // of a time or calendar its second, of an interval from its schedule its height; else 0
    uint64 index; // of the occurrence, from 1
    string trigger; // height, after, interval, time, calendar or watch
    Changed[] changed; // of a watch: the first of MAX_MATCHED_KEYS, each paid as data of the call
}

// What changed, named as a Watch names it.
struct Changed {
    Source source;
    address target;
    bytes32 slot;
    string name;
    bytes key;
}

interface ITimerReceiver {
    function onTimer(Delivery calldata delivery, bytes calldata payload) external;
}

// Every function that changes something is refused in static and delegate calls, and takes no value. A refusal reverts
// with Error(string), the reason that the module gives.
interface ITimers {
    event TimerScheduled(bytes32 indexed id, address indexed owner, uint64 due, uint64 dueTime, uint64 gasLimit);
    event TimerChanged(bytes32 indexed id, address indexed owner, string what);
    event TimerCancelled(bytes32 indexed id, address indexed owner);

    // ---- the sender's new timers
    function schedule(TimerSpec calldata spec) external returns (bytes32 id);
    // Short forms of callbacks, which state no more than this. count: deliveries; 0: until its end.
    function scheduleAt(uint64 height, uint64 gasLimit, bytes calldata payload) external returns (bytes32 id);
    function scheduleAfter(uint64 blocks, uint64 gasLimit, bytes calldata payload) external returns (bytes32 id);
    function scheduleAtTime(uint64 second, uint64 gasLimit, bytes calldata payload) external returns (bytes32 id);
    function scheduleEvery(uint64 every, uint64 count, uint64 gasLimit, bytes calldata payload)
        external returns (bytes32 id);
    function scheduleCalendar(CalendarTrigger calldata rule, uint64 count, uint64 gasLimit, bytes calldata payload)
        external returns (bytes32 id);

    // ---- several in one call, all or none: x/vm allows 20 calls in a transaction. Each takes the gas of one that is
    // scheduled alone, less what any call takes; that bounds their number. A refusal names the first member, from 0, that
    // is refused.
    function scheduleBatch(TimerSpec[] calldata specs) external returns (bytes32[] memory ids);
    // Callbacks that differ in when they are due alone.
    function scheduleAtHeights(uint64[] calldata heights, uint64 gasLimit, bytes calldata payload)
        external returns (bytes32[] memory ids);
    function scheduleAtTimes(uint64[] calldata times, uint64 gasLimit, bytes calldata payload)
        external returns (bytes32[] memory ids);

    // ---- the sender's timers
    // update replaces the rows of the spec that fields name, and nothing else: name, trigger, call, only_if, gas_limit,
    // cell_limit (byteLimit here), bid, max_charge, fee_payer, expires_at, expires_time, retry, on_unfunded, and those
    // of repeat, as repeat.remaining or repeat.on_failure. One that is named and left empty takes its default; one that
    // is stated and not named is refused. ifSeq is the seq that the timer must have; 0: any.
    function update(bytes32 id, TimerSpec calldata spec, string[] calldata fields, uint64 ifSeq)
        external returns (uint64 seq, uint64 due, uint64 dueTime);
    function extend(bytes32 id, uint64 expiresAt, uint64 expiresTime)
        external returns (uint64 newExpiresAt, uint64 newExpiresTime);
    function pause(bytes32 id) external returns (bool);
    function resume(bytes32 id) external returns (uint64 due, uint64 dueTime);
    function skip(bytes32 id, uint32 count) external returns (uint64 due, uint64 dueTime);
    function run(bytes32 id) external returns (uint64 due);
    function cancel(bytes32 id) external returns (bool);
    function cancelEach(bytes32[] calldata ids) external returns (bool); // all or none
    // cancelAll cancels timers of any kind, in the order of timersOf, until none is left or most are cancelled. Each takes
    // the gas of cancel: without gas for most, none is cancelled.
    function cancelAll(uint32 most) external returns (uint32 cancelled);

    // ---- the same of the timer to which the sender has given a name. A name is not an id: these find no timer by one.
    function updateNamed(string calldata name, TimerSpec calldata spec, string[] calldata fields, uint64 ifSeq)
        external returns (uint64 seq, uint64 due, uint64 dueTime);
    function extendNamed(string calldata name, uint64 expiresAt, uint64 expiresTime)
        external returns (uint64 newExpiresAt, uint64 newExpiresTime);
    function pauseNamed(string calldata name) external returns (bool);
    function resumeNamed(string calldata name) external returns (uint64 due, uint64 dueTime);
    function skipNamed(string calldata name, uint32 count) external returns (uint64 due, uint64 dueTime);
    function runNamed(string calldata name) external returns (uint64 due);
    function cancelNamed(string calldata name) external returns (bool);

    // ---- who pays for whom
    // sponsor lets spender state the sender as feePayer, up to limit wei in all, until a second; 0: without end. It takes
    // the place of no allowance that is there: unsponsor first.
    function sponsor(address spender, uint256 limit, uint64 expiresTime) external returns (bool);
    function unsponsor(address spender) external returns (bool);

    // ---- questions
    function timer(address owner, bytes32 id) external view returns (Info memory);
    // What the owner stated, as it stands: schedule takes it again, but for a handler Other.
    function specOf(address owner, bytes32 id) external view returns (TimerSpec memory);
    // The id of the live timer to which its owner has given a name; 0: there is none.
    function idOf(address owner, string calldata name) external view returns (bytes32 id);
    function timersOf(address owner, uint32 offset, uint32 limit)
        external view returns (Info[] memory timers, uint32 total);
    function estimate(uint64 gasLimit, uint64 byteLimit, uint256 maxFeePerGas, uint256 maxPriorityFeePerGas, uint8 tier)
        external view returns (Quote memory);
    function lane() external view returns (Lane memory);
    // Room for calls of IHRC1215 in a second: the largest gas limit that scheduleCall accepts from the sender as things
    // are, and what is accepted in all. free is 0 where a call of that size is refused for another reason, as when the
    // sender can't pay for its place. Timers of this interface need no room. A chain that doesn't speak IHRC1215 refuses.
    function capacity(uint256 second) external view returns (uint64 free, uint64 total);
    // The next occurrences of a spec if it is scheduled now, of which trigger, repeat and the end count, or of a timer:
    // seconds if byTime, else heights, at most limit of them, and at most 100. more: there are others after them.
    function occurrences(TimerSpec calldata spec, uint32 limit)
        external view returns (uint64[] memory due, bool byTime, bool more);
    function occurrencesOf(address owner, bytes32 id, uint32 limit)
        external view returns (uint64[] memory due, bool byTime, bool more);
}
