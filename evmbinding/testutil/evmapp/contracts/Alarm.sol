// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import "TimerReceiver.sol";

// What tests do with timers. The first byte of a payload says what the callback does.
contract Alarm is TimerReceiver {
    event Rang(bytes32 indexed id, uint64 fireSeq, address sender, address origin, uint256 balance, bytes payload);

    error Refused(uint256 rings);

    uint256 public rings;
    uint256 public slot; // storage slot 1, for watches
    bytes32 public last;
    bool public caught;
    string public reason;
    uint64 public index;
    uint64 public occurrence;
    string public trigger;
    uint256 public changes;
    address public changedTarget;
    bytes32 public changedSlot;
    mapping(uint256 => uint256) private filled;

    receive() external payable {}

    // ---- in a transaction

    function start(uint64 blocks, uint64 gasLimit, bytes calldata payload) external payable returns (bytes32) {
        return last = timers.scheduleAfter(blocks, gasLimit, payload);
    }

    function every(uint64 blocks, uint64 count, uint64 gasLimit, bytes calldata payload) external payable {
        last = timers.scheduleEvery(blocks, count, gasLimit, payload);
    }

    function schedule(TimerSpec calldata spec) external payable {
        last = timers.schedule(spec);
    }

    function update(TimerSpec calldata spec, string[] calldata fields, uint64 ifSeq) external {
        timers.update(last, spec, fields, ifSeq);
    }

    function extend(uint64 height, uint64 second) external {
        timers.extend(last, height, second);
    }

    function pause() external {
        timers.pause(last);
    }

    function resume() external {
        timers.resume(last);
    }

    function skip(uint32 count) external {
        timers.skip(last, count);
    }

    function run() external {
        timers.run(last);
    }

    function cancel(bytes32 id) external {
        timers.cancel(id);
    }

    bytes32[] public ids;

    function startEach(uint64[] calldata heights, uint64 gasLimit, bytes calldata payload) external {
        ids = timers.scheduleAtHeights(heights, gasLimit, payload);
    }

    function startTimes(uint64[] calldata times, uint64 gasLimit, bytes calldata payload) external {
        ids = timers.scheduleAtTimes(times, gasLimit, payload);
    }

    function cancelIds() external {
        timers.cancelEach(ids);
    }

    function sponsor(address spender, uint256 limit, uint64 expiresTime) external {
        timers.sponsor(spender, limit, expiresTime);
    }

    function unsponsor(address spender) external {
        timers.unsponsor(spender);
    }

    function set(uint256 value) external {
        slot = value;
    }

    // Schedules in a call that reverts, and goes on.
    function scheduleInACallThatReverts(uint64 blocks, uint64 gasLimit) external {
        try this.startAndRevert(blocks, gasLimit) {} catch {
            caught = true;
        }
        rings += 100;
    }

    function startAndRevert(uint64 blocks, uint64 gasLimit) external {
        last = timers.scheduleAfter(blocks, gasLimit, "");
        revert Refused(rings);
    }

    // Cancels in a call that reverts, and goes on.
    function cancelInACallThatReverts() external {
        try this.cancelAndRevert() {} catch {
            caught = true;
        }
    }

    function cancelAndRevert() external {
        timers.cancel(last);
        revert Refused(rings);
    }

    // Calls the precompile in ways that it refuses, and keeps what came back.
    function callIn(uint8 way, bytes calldata data) external payable {
        bytes memory answer;
        bool ok;
        if (way == 0) (ok, answer) = TIMERS.staticcall(data);
        else if (way == 1) (ok, answer) = TIMERS.delegatecall(data);
        else if (way == 2) (ok, answer) = TIMERS.call{value: 1}(data);
        else if (way == 3) (ok, answer) = address(this).staticcall(abi.encodeCall(this.forward, (data)));
        else (ok, answer) = TIMERS.call(data);
        caught = !ok;
        reason = "";
        if (!ok && answer.length > 68) {
            assembly {
                answer := add(answer, 4)
            }
            reason = abi.decode(answer, (string));
        }
    }

    function forward(bytes calldata data) external returns (bytes memory) {
        (bool ok, bytes memory answer) = TIMERS.call(data);
        if (!ok)
            assembly {
                revert(add(answer, 32), mload(answer))
            }
        return answer;
    }

    // Asks so many questions in one transaction.
    function ask(uint256 times) external returns (uint32 total) {
        for (uint256 i = 0; i < times; i++) (, total) = timers.timersOf(address(this), 0, 1);
    }

    function destroy(address payable heir) external {
        selfdestruct(heir);
    }

    // ---- in a fire

    function _onTimer(Delivery calldata d, bytes calldata payload) internal override {
        rings++;
        (index, occurrence, trigger) = (d.index, d.occurrence, d.trigger);
        changes += d.changed.length;
        if (d.changed.length > 0) (changedTarget, changedSlot) = (d.changed[0].target, d.changed[0].slot);
        emit Rang(d.timerId, d.fireSeq, msg.sender, tx.origin, address(this).balance, payload);
        if (payload.length == 0) return;
        bytes1 what = payload[0];
        if (what == "r") revert Refused(rings);
        if (what == "l") while (true) {}
        if (what == "n") last = timers.scheduleAfter(1, 400_000, payload); // the next one
        if (what == "c") timers.cancel(d.timerId); // itself
        if (what == "s") filled[0] = 0; // a slot that is zero and stays zero
        if (what == "u") slot = 0; // a slot that may be set: refunds gas
        if (what == "w") for (uint256 i = 1; i <= 10; i++) filled[i + 10 * rings] = rings; // writes
        if (what == "v") {
            // Sends value to an address, and lets the fire fail if that is refused.
            address to = address(bytes20(payload[1:21]));
            (bool ok, ) = to.call{value: 1}("");
            require(ok, "not sent");
        }
        if (what == "x") {
            // Schedules in a call that reverts, in a fire.
            try this.startAndRevert(5, 200_000) {} catch {
                caught = true;
            }
        }
        if (what == "e") this.enter(d, payload); // re-enters itself, and by that the precompile, twice
    }

    function enter(Delivery calldata d, bytes calldata payload) external {
        // Not from the timers: the callback's door is closed.
        try this.onTimer(d, payload) {
            revert("entered");
        } catch (bytes memory why) {
            require(bytes4(why) == OnlyTimers.selector, "other error");
        }
        bytes32 first = timers.scheduleAfter(3, 200_000, "");
        bytes32 second = timers.scheduleAfter(3, 200_000, "");
        require(first != second, "same id");
        timers.cancel(first);
        last = second;
        (, uint32 total) = timers.timersOf(address(this), 0, 10);
        rings = 1000 + total;
    }
}

// Schedules in its constructor.
contract Born is TimerReceiver {
    uint256 public rings;

    constructor() payable {
        timers.scheduleAfter(2, 200_000, "");
    }

    function _onTimer(Delivery calldata, bytes calldata) internal override {
        rings++;
    }
}

// Schedules, and is destroyed, both in the transaction that makes it.
contract Mortal {
    function schedule() external {
        ITimers(TIMERS).scheduleAfter(2, 200_000, "");
    }

    function destroy() external {
        selfdestruct(payable(msg.sender));
    }
}

contract Maker {
    address public made;

    function make() external {
        Mortal mortal = new Mortal();
        made = address(mortal);
        mortal.schedule();
        mortal.destroy();
    }
}
