// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import "TimerReceiver.sol";

// Makes the calls that a payload, a transaction, or the receipt of value asks it for.
contract Puppet is TimerReceiver {
    struct Step {
        address to;
        uint256 value;
        uint256 gasLimit; // 0: all that is left, but a 64th
        uint256 own; // where in data the id of the timer that fires takes 32 bytes; 0: nowhere
        bool must; // the call must succeed, or all reverts
        bytes data;
    }

    event Did(uint256 index, bool ok, bytes answer);

    uint256 public fires;
    bytes private prepared;

    constructor() payable {}

    // What the contract does when it is sent value without data.
    function prepare(Step[] calldata steps) external payable {
        prepared = abi.encode(steps);
    }

    function run(Step[] calldata steps) external payable {
        perform(steps, 0);
    }

    function _onTimer(Delivery calldata d, bytes calldata payload) internal override {
        fires++;
        if (payload.length > 0) perform(abi.decode(payload, (Step[])), d.timerId);
    }

    receive() external payable {
        if (prepared.length > 0) perform(abi.decode(prepared, (Step[])), 0);
    }

    function perform(Step[] memory steps, bytes32 id) private {
        for (uint256 i = 0; i < steps.length; i++) {
            Step memory s = steps[i];
            bytes memory data = s.data;
            uint256 at = s.own;
            if (at != 0)
                assembly {
                    mstore(add(add(data, 32), at), id)
                }
            (bool ok, bytes memory answer) = s.to.call{value: s.value, gas: s.gasLimit == 0 ? gasleft() : s.gasLimit}(data);
            require(ok || !s.must, "a step failed");
            if (answer.length > 256)
                assembly {
                    mstore(answer, 256)
                }
            emit Did(i, ok, answer);
        }
    }
}

// Costs its caller what it can.
contract Bomb {
    uint256 private spent;

    function eatAll() external {
        while (true) spent++;
    }

    function invalid() external pure {
        assembly {
            invalid()
        }
    }

    function returnMuch(uint256 size) external pure {
        assembly {
            return(0, size)
        }
    }

    function revertMuch(uint256 size) external pure {
        assembly {
            revert(0, size)
        }
    }

    function logMuch(uint256 count, uint256 size) external {
        assembly {
            for { let i := 0 } lt(i, count) { i := add(i, 1) } { log0(0, size) }
        }
    }

    // A log in the form of the precompile's, and one in that of the events of a fire.
    function forge(bytes32 id, address owner, uint64 due) external {
        emit ITimers.TimerScheduled(id, owner, due, 0, 100_000);
        emit ITimers.TimerCancelled(id, owner);
    }
}

// Is made at an address of its own, again and again: what it does when it is called back is stated where it is made.
contract Phoenix is TimerReceiver {
    uint256 public fires;
    bool public immutable angry;

    constructor() {
        angry = Nest(payable(msg.sender)).angry();
    }

    function schedule(uint64 blocks) external {
        timers.scheduleAfter(blocks, 200_000, "");
    }

    function destroy() external {
        selfdestruct(payable(msg.sender));
    }

    function _onTimer(Delivery calldata, bytes calldata) internal override {
        require(!angry, "angry");
        fires++;
    }
}

contract Nest {
    bool public angry;
    address public last;

    receive() external payable {}

    function makeScheduleDestroy(uint64 blocks) external payable {
        Phoenix phoenix = new Phoenix{salt: 0}();
        last = address(phoenix);
        phoenix.schedule(blocks);
        phoenix.destroy();
    }

    function makeAgain(bool angry_) external {
        angry = angry_;
        last = address(new Phoenix{salt: 0}());
    }
}

// Does a bit of all that changes state, in the same way whoever calls: for comparisons.
contract Ledger {
    event Noted(uint256 indexed key, uint256 value, bytes data);

    error Denied(uint256 key);

    mapping(uint256 => uint256) public entries;
    uint256 public total;
    bytes public text;
    Child[] public children;

    receive() external payable {
        total += msg.value;
    }

    function set(uint256 key, uint256 value) external payable {
        total = total + value - entries[key];
        entries[key] = value;
    }

    function clear(uint256 from, uint256 to) external {
        for (uint256 i = from; i < to; i++) delete entries[i];
    }

    function note(uint256 key, bytes calldata data) external {
        emit Noted(key, entries[key], data);
    }

    function store(bytes calldata data) external {
        text = data;
    }

    function send(address payable to, uint256 value) external payable {
        (bool ok, ) = to.call{value: value}("");
        require(ok, "not sent");
    }

    function deny(uint256 key) external {
        entries[key]++;
        revert Denied(key);
    }

    // What a call that reverts did is undone, what came before it stays.
    function tryToDeny(uint256 key) external {
        entries[key] += 2;
        try this.deny(key) {} catch (bytes memory why) {
            emit Noted(key, entries[key], why);
        }
    }

    function spend(uint256 rounds) external {
        for (uint256 i = 0; i < rounds; i++) total = uint256(keccak256(abi.encode(total, i)));
    }

    function create(uint256 seed) external payable {
        children.push(new Child{value: msg.value}(seed));
    }

    function tell() external {
        emit Noted(uint160(msg.sender), uint160(tx.origin), abi.encode(gasleft(), address(this).balance, block.chainid, msg.data.length));
    }
}

contract Child {
    uint256 public seed;

    constructor(uint256 seed_) payable {
        seed = seed_;
    }
}

// A token that calls others while it moves: before the balances change, and after. Each hook is called so many times.
contract HookedToken {
    struct Hook {
        address to;
        uint256 times;
        bytes data;
    }

    event Hooked(bool ok, bytes answer);

    string public constant name = "Hooked token";
    string public constant symbol = "HOOK";
    uint8 public constant decimals = 6;

    mapping(address => uint256) public balanceOf;
    Hook[2] private hooks;

    function mint(address to, uint256 amount) external {
        balanceOf[to] += amount;
    }

    function hook(Hook calldata before, Hook calldata afterwards) external {
        hooks[0] = before;
        hooks[1] = afterwards;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        call(hooks[0]);
        balanceOf[msg.sender] -= amount;
        balanceOf[to] += amount;
        call(hooks[1]);
        return true;
    }

    function call(Hook storage h) private {
        if (h.times == 0) return;
        h.times--;
        (bool ok, bytes memory answer) = h.to.call(h.data);
        emit Hooked(ok, answer);
    }
}
