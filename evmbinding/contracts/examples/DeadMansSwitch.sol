// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import "../TimerReceiver.sol";

/// @title DeadMansSwitch
/// @notice Holds coins for its owner, who says now and then that all is well. If that fails to come for a period,
/// the heir gets them. The price of the fire is taken from the same coins.
contract DeadMansSwitch is TimerReceiver {
    event Alive(uint64 until);
    event Inherited(uint256 amount);

    error OnlyOwner();
    error TransferFailed();

    address public immutable owner;
    address payable public immutable heir;
    uint64 public immutable period; // seconds
    bytes32 public timer; // 0 once the coins are gone

    modifier onlyOwner() {
        if (msg.sender != owner) revert OnlyOwner();
        _;
    }

    constructor(address payable heir_, uint64 period_) payable {
        (owner, heir, period) = (msg.sender, heir_, period_);
        TimerSpec memory spec;
        spec.trigger.time = uint64(block.timestamp) + period_;
        spec.gasLimit = 200_000;
        spec.retry.max = 3; // if the heir's contract refuses the coins
        spec.retry.delay = 100; // seconds
        spec.onUnfunded = OnUnfunded.Suspend;
        timer = timers.schedule(spec);
        emit Alive(spec.trigger.time);
    }

    receive() external payable {}

    /// @notice Puts the end off: a period from now.
    function alive() external onlyOwner {
        TimerSpec memory spec;
        spec.trigger.time = uint64(block.timestamp) + period;
        string[] memory fields = new string[](1);
        fields[0] = "trigger"; // and nothing else
        timers.update(timer, spec, fields, 0);
        emit Alive(spec.trigger.time);
    }

    /// @notice Returns the coins to the owner, and ends the switch, unless it has ended.
    function withdraw() external onlyOwner {
        if (timer != 0) {
            bytes32 id = timer;
            timer = 0;
            try timers.cancel(id) {} catch {}
        }
        pay(payable(owner));
    }

    function _onTimer(Delivery calldata, bytes calldata) internal override {
        timer = 0;
        emit Inherited(address(this).balance);
        pay(heir);
    }

    function pay(address payable to) private {
        (bool ok, ) = to.call{value: address(this).balance}("");
        if (!ok) revert TransferFailed();
    }
}
