// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import "../TimerReceiver.sol";

// What contracts for Chainlink's automation have: they run unchanged.
interface IUpkeepTarget {
    function checkUpkeep(bytes calldata checkData) external returns (bool upkeepNeeded, bytes memory performData);
    function performUpkeep(bytes calldata performData) external;
}

/// @title Upkeep
/// @notice Asks a contract again and again whether there is something to do, and has it done in the same call. It pays
/// from its own balance. A target sees it as the sender, and TIMERS as tx.origin: one whose checkUpkeep only runs in
/// simulations, where tx.origin is 0, reverts here.
contract Upkeep is TimerReceiver {
    event Performed(uint64 indexed number, bytes performData);

    error OnlyOwner();
    error TransferFailed();

    address public immutable owner;
    IUpkeepTarget public immutable target;
    bytes32 public immutable timer;
    bytes public checkData;

    /// @param every Blocks between two questions.
    /// @param gasLimit Cycles of one of them, with what it leads to.
    constructor(IUpkeepTarget target_, bytes memory checkData_, uint64 every, uint64 gasLimit) payable {
        (owner, target, checkData) = (msg.sender, target_, checkData_);
        TimerSpec memory spec;
        spec.trigger.interval.every = every;
        spec.repeat.renew = true; // it lives as long as it fires
        spec.gasLimit = gasLimit;
        spec.onUnfunded = OnUnfunded.Suspend;
        timer = timers.schedule(spec);
    }

    receive() external payable {}

    // If the target reverts, the fire has failed, and the next question is asked at its height.
    function _onTimer(Delivery calldata delivery, bytes calldata) internal override {
        (bool needed, bytes memory performData) = target.checkUpkeep(checkData);
        if (!needed) return;
        target.performUpkeep(performData);
        emit Performed(delivery.fireSeq, performData);
    }

    /// @notice Goes on after the coins were used up and more have come.
    function resume() external {
        timers.resume(timer);
    }

    /// @notice Asks no more, and returns what is left.
    function stop() external {
        if (msg.sender != owner) revert OnlyOwner();
        try timers.cancel(timer) {} catch {}
        (bool ok, ) = owner.call{value: address(this).balance}("");
        if (!ok) revert TransferFailed();
    }
}
