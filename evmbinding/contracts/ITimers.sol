// SPDX-License-Identifier: Apache-2.0
pragma solidity >=0.8.20;

// Address of the precompile. It is of digits alone, since x/vm compares active_static_precompiles as text.
address constant TIMERS = 0x0000000000000000000000000000000000001215;

// When a timer is due. Exactly one of height, afterBlocks, every, time, calendar and watch is stated; every may come
// with height, its first due height.
struct Trigger {
    uint64 height; // at a height above the present one
    uint64 afterBlocks; // so many blocks after this one
    uint64 every; // an interval of blocks
    uint64 time; // in the first block at or after a second since 1970
    Calendar calendar; // by block time, again and again
    Watch[] watch; // when watched state changes
    uint64 count; // fires of what repeats and of a watch; 0: until it expires
    uint64 cooldown; // of a watch: blocks between fires
    Repeat repeat; // of what repeats: zero is the default of each
}

// A rule for seconds: either everySeconds, or the local minutes of a cron rule, as sets of bits.
struct Calendar {
    uint64 everySeconds; // 60 or more
    uint64 anchor; // an occurrence of everySeconds; 0: now
    uint64 minuteSet; // bits 0 to 59
    uint32 hourSet; // bits 0 to 23
    uint32 daySet; // bits 1 to 31
    bool lastDay;
    uint32 monthSet; // bits 1 to 12
    uint32 weekdaySet; // bits 0 for Sunday to 6
    int32 offsetMinutes; // local time less UTC, before the first of transitions; at most 1,080 either way
    Transition[] transitions; // changes of the offset, in order of time, at most 16: a client compiles a time zone to them
    bool offsetFinal; // the last offset holds for ever; else a timer that renews its life ends with it
}

struct Transition {
    uint64 from; // the first second with the offset: a whole minute
    int32 offsetMinutes;
}

// What a repetition that fails or comes late means.
struct Repeat {
    uint8 onFailure; // 0, 1: go on; 2: stop; 3: suspend after maxFailures in a row
    uint32 maxFailures;
    bool fromSchedule; // an interval's next height counts from its schedule, not from the fire
    bool each; // of several that have come all fire, not the latest alone
    uint64 window; // how late one may fire, in blocks or seconds
    uint64 jitter; // by how much one may be due later
}

enum Source {
    Slot, // a storage slot of target
    Balance, // the native balance of target, in wei
    Coin, // target's balance of the bank's denom name, in the denom's smallest unit
    Raw // key of the store name, of those that the chain makes watchable
}

// How a condition compares. Any: every change counts, for triggers alone.
enum Op {
    Any,
    Exists,
    Absent,
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual
}

// State that is watched, or compared. Slots compare as unsigned numbers, what Raw names as the chain reads it. What a
// source does not use is zero or empty.
struct Watch {
    Source source;
    address target;
    bytes32 slot;
    Op op;
    uint256 value;
    string name;
    bytes key;
}

// What a timer bids, and how it behaves. Zero is the default of each.
struct Options {
    uint64 gasLimit; // cycles of one fire: EVM gas, and what a fire counts before it
    uint64 byteLimit; // bytes that one fire may write
    uint64 expiresAt; // the last height
    uint64 expiresTime; // the last second
    bool renew; // each fire gives the life again
    uint256 maxCharge; // wei; the most that one fire may cost
    uint256 maxFeePerGas; // wei, with
    uint256 maxPriorityFeePerGas; // a static bid
    uint8 tier; // 1 economy, 2 standard, 3 fast, 4 urgent
    address feePayer; // who granted the sender an allowance; 0: the sender
    uint32 retries;
    uint64 retryAfter; // blocks
    uint8 onUnfunded; // 0, 1: remove; 2: suspend; 3: skip
    string name;
    Watch[] onlyIf; // conditions that must hold at the fire, at most two
}

struct Info {
    bytes32 id;
    address owner;
    uint8 status; // timers.v1.TimerPhase: 1 pending, 2 ready, 3 expired, 4 on hold, 40 watching
    uint8 holdReason; // timers.v1.HoldReason; 0: it is not
    uint64 due; // height
    uint64 dueTime; // second; 0: due by height
    uint64 expiresAt;
    uint64 expiresTime;
    uint64 fires;
    uint64 gasLimit;
    uint64 byteLimit;
    uint256 maxCharge; // wei; 0: no bound
    bool lastSuccess;
    uint256 lastPaid; // wei
    string handler;
    string name;
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

    // ---- callbacks: the sender's onTimer(delivery, payload)
    function schedule(Trigger calldata trigger, bytes calldata payload, Options calldata options)
        external returns (bytes32 id);
    function scheduleAt(uint64 height, uint64 gasLimit, bytes calldata payload) external returns (bytes32 id);
    function scheduleAfter(uint64 blocks, uint64 gasLimit, bytes calldata payload) external returns (bytes32 id);
    function scheduleAtTime(uint64 second, uint64 gasLimit, bytes calldata payload) external returns (bytes32 id);
    function scheduleEvery(uint64 every, uint64 count, uint64 gasLimit, bytes calldata payload)
        external returns (bytes32 id);
    function scheduleCalendar(Calendar calldata rule, uint64 count, uint64 gasLimit, bytes calldata payload)
        external returns (bytes32 id);

    // ---- several callbacks in one call, all or none: x/vm allows 20 calls in a transaction. Each takes the gas of one
    // that is scheduled alone, less what any call takes; that bounds their number. A refusal names the first member, from
    // 0, that is refused.
    function scheduleAtHeights(uint64[] calldata heights, uint64 gasLimit, bytes calldata payload)
        external returns (bytes32[] memory ids);
    function scheduleAtTimes(uint64[] calldata times, uint64 gasLimit, bytes calldata payload)
        external returns (bytes32[] memory ids);
    // Each trigger has the payload at its place; options are those of all, so of more than one they state
    // no name.
    function scheduleBatch(Trigger[] calldata triggers, bytes[] calldata payloads, Options calldata options)
        external returns (bytes32[] memory ids);

    // ---- calls that the chain makes as the sender: msg.sender and tx.origin are the sender
    function scheduleCallTo(
        Trigger calldata trigger, address to, uint256 value, bytes calldata data, Options calldata options
    ) external returns (bytes32 id);

    // ---- the sender's timers
    // update replaces the payload, unless that is empty, and those of gasLimit, byteLimit, maxCharge and the bid that
    // are not zero.
    function update(bytes32 id, bytes calldata payload, Options calldata options) external returns (bool);
    function retrigger(bytes32 id, Trigger calldata trigger) external returns (uint64 due, uint64 dueTime);
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

    // ---- who pays for whom
    // sponsor lets spender state the sender as feePayer, up to limit wei in all, until a second; 0: without end. It takes
    // the place of no allowance that is there: unsponsor first.
    function sponsor(address spender, uint256 limit, uint64 expiresTime) external returns (bool);
    function unsponsor(address spender) external returns (bool);

    // ---- questions
    function timer(address owner, bytes32 id) external view returns (Info memory);
    function timersOf(address owner, uint32 offset, uint32 limit)
        external view returns (Info[] memory timers, uint32 total);
    function estimate(uint64 gasLimit, uint64 byteLimit, uint256 maxFeePerGas, uint256 maxPriorityFeePerGas, uint8 tier)
        external view returns (Quote memory);
    function lane() external view returns (Lane memory);
    // Room for calls of IHRC1215 in a second: the largest gas limit that scheduleCall accepts from the sender as things
    // are, and what is accepted in all. free is 0 where a call of that size is refused for another reason, as when the
    // sender can't pay for its place. Timers of this interface need no room. A chain that doesn't speak IHRC1215 refuses.
    function capacity(uint256 second) external view returns (uint64 free, uint64 total);
    // The next occurrences of a trigger if it is scheduled now, or of a timer: seconds if byTime, else heights, at most
    // limit of them, and at most 100. more: there are others after them.
    function occurrences(Trigger calldata trigger, uint32 limit)
        external view returns (uint64[] memory due, bool byTime, bool more);
    function occurrencesOf(address owner, bytes32 id, uint32 limit)
        external view returns (uint64[] memory due, bool byTime, bool more);
}
