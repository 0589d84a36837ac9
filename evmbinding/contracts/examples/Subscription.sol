// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import "../TimerReceiver.sol";

// What the subscription needs of an ERC-20 token.
interface IToken {
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

/// @title Subscription
/// @notice Pays a merchant from the allowances of subscribers, once each period. Each subscription is a timer of
/// this contract, which pays for the fires from its own balance: fund it. A subscriber ends a subscription by
/// unsubscribe, or by taking the allowance back, which ends it at the next payment.
contract Subscription is TimerReceiver {
    event Subscribed(address indexed subscriber, bytes32 timer);
    event Paid(address indexed subscriber, uint64 period);
    event Ended(address indexed subscriber);

    error AlreadySubscribed();
    error NotSubscribed();
    error FirstPaymentFailed();

    IToken public immutable token;
    address public immutable merchant;
    uint256 public immutable price; // of a period, in the token's smallest unit
    uint64 public immutable period; // in seconds, at least 60

    /// @notice The timer of a subscriber, 0 for none.
    mapping(address => bytes32) public timerOf;

    // Of one fire, in cycles. What is left over is paid back.
    uint64 private constant GAS_LIMIT = 250_000;

    constructor(IToken token_, address merchant_, uint256 price_, uint64 period_) payable {
        (token, merchant, price, period) = (token_, merchant_, price_, period_);
    }

    receive() external payable {}

    /// @notice Pays for the first period, and schedules the payments of the following.
    function subscribe() external returns (bytes32 timer) {
        if (timerOf[msg.sender] != 0) revert AlreadySubscribed();
        TimerSpec memory spec;
        spec.trigger.calendar.every.period = period;
        spec.trigger.calendar.every.anchor = uint64(block.timestamp) + period;
        spec.repeat.renew = true; // each payment gives the timer its life again
        spec.call.payload = abi.encode(msg.sender);
        spec.gasLimit = GAS_LIMIT;
        spec.onUnfunded = OnUnfunded.Suspend; // if this contract can't pay for a fire, suspend instead of removing
        timer = timers.schedule(spec);
        timerOf[msg.sender] = timer;
        emit Subscribed(msg.sender, timer);
        if (!pull(msg.sender)) revert FirstPaymentFailed();
        emit Paid(msg.sender, 0);
    }

    function unsubscribe() external {
        end(msg.sender);
    }

    function _onTimer(Delivery calldata delivery, bytes calldata payload) internal override {
        address subscriber = abi.decode(payload, (address));
        // A failed payment ends the subscription, instead of reverting: a revert would leave the timer as it is.
        if (pull(subscriber)) emit Paid(subscriber, uint64(delivery.index));
        else end(subscriber);
    }

    function end(address subscriber) private {
        bytes32 timer = timerOf[subscriber];
        if (timer == 0) revert NotSubscribed();
        delete timerOf[subscriber];
        timers.cancel(timer);
        emit Ended(subscriber);
    }

    // Some tokens revert and others return false: both are a payment that failed.
    function pull(address subscriber) private returns (bool paid) {
        try token.transferFrom(subscriber, merchant, price) returns (bool ok) {
            return ok;
        } catch {
            return false;
        }
    }
}
