// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import "./ITimers.sol";

// A base for contracts that are called back.
abstract contract TimerReceiver is ITimerReceiver {
    ITimers internal constant timers = ITimers(TIMERS);

    error OnlyTimers();

    function onTimer(Delivery calldata delivery, bytes calldata payload) external {
        if (msg.sender != TIMERS) revert OnlyTimers();
        _onTimer(delivery, payload);
    }

    function _onTimer(Delivery calldata delivery, bytes calldata payload) internal virtual;
}
