// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import "TimerReceiver.sol";

// Keeps timers of many users, under names of theirs: who takes a name first has it, whatever it is, and alone changes what
// has it. It has timers without names too.
contract Hub is TimerReceiver {
    error NotYours(address user);

    mapping(string => address) public userOf;
    uint256 public rings;

    modifier mine(string calldata name) {
        if (userOf[name] != msg.sender) revert NotYours(userOf[name]);
        _;
    }

    receive() external payable {}

    // A name without a timer.
    function take(string calldata name) public {
        if (userOf[name] == address(0)) userOf[name] = msg.sender;
        else if (userOf[name] != msg.sender) revert NotYours(userOf[name]);
    }

    function every(string calldata name, uint64 blocks) external returns (bytes32) {
        if (bytes(name).length > 0) take(name);
        TimerSpec memory spec;
        spec.name = name;
        spec.trigger.interval.every = blocks;
        spec.gasLimit = 200_000;
        return timers.schedule(spec);
    }

    function update(string calldata name, TimerSpec calldata spec, string[] calldata fields) external mine(name) {
        timers.updateNamed(name, spec, fields, 0);
    }

    function extend(string calldata name, uint64 expiresAt) external mine(name) {
        timers.extendNamed(name, expiresAt, 0);
    }

    function pause(string calldata name) external mine(name) {
        timers.pauseNamed(name);
    }

    function resume(string calldata name) external mine(name) {
        timers.resumeNamed(name);
    }

    function skip(string calldata name, uint32 count) external mine(name) {
        timers.skipNamed(name, count);
    }

    function run(string calldata name) external mine(name) {
        timers.runNamed(name);
    }

    function cancel(string calldata name) external mine(name) {
        timers.cancelNamed(name);
    }

    function _onTimer(Delivery calldata, bytes calldata) internal override {
        rings++;
    }
}
