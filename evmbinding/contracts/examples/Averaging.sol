// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import "../TimerReceiver.sol";

// What the plan needs of a pool.
interface IPool {
    /// @return bought At least leastBought tokens, sent to the receiver; else it reverts.
    function buy(address receiver, uint256 leastBought) external payable returns (uint256 bought);
}

/// @title Averaging
/// @notice Buys a token for the same amount again and again (dollar cost averaging), as long as the coins of this
/// contract last. A purchase at too bad a price is left out, and the next one tried at its time. After failures in
/// a row the plan is suspended, until the owner resumes it.
contract Averaging is TimerReceiver {
    event Bought(uint64 indexed number, uint256 spent, uint256 bought);

    error OnlyOwner();
    error TransferFailed();

    address public immutable owner;
    IPool public immutable pool;
    uint256 public immutable amount; // wei for each purchase
    uint256 public immutable leastBought; // tokens for each purchase, in the smallest unit
    bytes32 public immutable timer;

    modifier onlyOwner() {
        if (msg.sender != owner) revert OnlyOwner();
        _;
    }

    /// @param every Blocks between two purchases.
    /// @param count Purchases in all.
    constructor(IPool pool_, uint256 amount_, uint256 leastBought_, uint64 every, uint64 count) payable {
        (owner, pool, amount, leastBought) = (msg.sender, pool_, amount_, leastBought_);
        TimerSpec memory spec;
        spec.trigger.interval.every = every;
        spec.repeat.remaining = count;
        spec.repeat.onFailure = OnFailure.Suspend;
        spec.repeat.maxFailures = 3;
        spec.gasLimit = 300_000;
        spec.onUnfunded = OnUnfunded.Suspend;
        timer = timers.schedule(spec);
    }

    receive() external payable {}

    // A purchase that reverts is a failure that the timer counts: nothing is spent but the fire.
    function _onTimer(Delivery calldata delivery, bytes calldata) internal override {
        uint256 bought = pool.buy{value: amount}(owner, leastBought);
        emit Bought(delivery.fireSeq, amount, bought);
    }

    /// @notice Goes on after the plan was suspended.
    function resume() external onlyOwner {
        timers.resume(timer);
    }

    /// @notice Ends the plan, unless it has ended, and returns what is left.
    function stop() external onlyOwner {
        try timers.cancel(timer) {} catch {}
        (bool ok, ) = owner.call{value: address(this).balance}("");
        if (!ok) revert TransferFailed();
    }
}
