// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import "./timers/TimerReceiver.sol";

contract Reminder is TimerReceiver {
    event Reminded(uint256 indexed number, string text, uint256 height);

    uint256 public count;

    constructor() payable {}

    function remind(uint64 blocks, string calldata text) external returns (bytes32) {
        return timers.scheduleAfter(blocks, 300_000, bytes(text));
    }

    function _onTimer(Delivery calldata, bytes calldata payload) internal override {
        require(payload.length > 0, "nothing to say");
        emit Reminded(++count, string(payload), block.number);
    }
}
