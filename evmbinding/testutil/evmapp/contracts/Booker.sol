// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import "IHRC1215.sol";
import "ITimers.sol";

// A contract as one for Hedera is written.
contract Booker {
    IHRC1215 internal constant service = IHRC1215(SCHEDULE_SERVICE);

    uint256 public pings;
    address public caller;
    int64 public code;
    address public schedule;
    bool public promised;
    uint256 public broken; // promises

    receive() external payable {}

    function ping() external {
        pings++;
        caller = msg.sender;
    }

    // Is paid, sends half of that on, and books: the price of the place comes off a balance that the EVM has changed.
    function bookPaid(address payable to, uint256 second, uint256 gasLimit) external payable {
        (bool ok, ) = to.call{value: msg.value / 2}("");
        require(ok);
        book(second, gasLimit);
        (ok, ) = to.call{value: 1}("");
        require(ok);
    }

    // Asks, and schedules.
    function book(uint256 second, uint256 gasLimit) public {
        promised = service.hasScheduleCapacity(second, gasLimit);
        (code, schedule) = service.scheduleCall(address(this), second, gasLimit, 0, abi.encodeCall(this.ping, ()));
        if (promised != (code == 22)) broken++;
        if ((code == 22) != (schedule != address(0))) broken++;
    }

    // Asks how much room there is, and takes it all.
    function bookFree(uint256 second) external {
        (uint64 free, uint64 total) = ITimers(TIMERS).capacity(second);
        if (free > total) broken++;
        if (service.hasScheduleCapacity(second, free + 1)) broken++;
        if (service.hasScheduleCapacity(second, free) != (free > 0)) broken++;
        if (free == 0) {
            if (service.hasScheduleCapacity(second, 40_000)) broken++;
            code = 0;
            return;
        }
        (code, schedule) = service.scheduleCall(address(this), second, free, 0, abi.encodeCall(this.ping, ()));
        if (code != 22) broken++;
    }

    function bookCall(address to, uint256 second, uint256 gasLimit, uint64 value, bytes calldata data) external {
        (code, schedule) = service.scheduleCall(to, second, gasLimit, value, data);
    }

    function bookWithPayer(address payer, uint256 second, uint256 gasLimit, bool now_) external {
        bytes memory data = abi.encodeCall(this.ping, ());
        if (now_) (code, schedule) = service.executeCallOnPayerSignature(address(this), payer, second, gasLimit, 0, data);
        else (code, schedule) = service.scheduleCallWithPayer(address(this), payer, second, gasLimit, 0, data);
    }

    function remove(address which) external {
        code = service.deleteSchedule(which);
    }

    function removeAt(address which) external {
        code = IHRC1215ScheduleFacade(which).deleteSchedule();
    }

    function removeStatically(address which) external {
        (promised, ) = which.staticcall(abi.encodeCall(IHRC1215ScheduleFacade.deleteSchedule, ()));
    }

    function removeByDelegate(address which) external {
        (promised, ) = which.delegatecall(abi.encodeCall(IHRC1215ScheduleFacade.deleteSchedule, ()));
    }

    // Books in a call that reverts.
    function bookAndRevert(uint256 second, uint256 gasLimit) public {
        this.book(second, gasLimit);
        revert();
    }

    function bookInACallThatReverts(uint256 second, uint256 gasLimit) external {
        try this.bookAndRevert(second, gasLimit) {} catch {}
    }

    function bookStatically(uint256 second, uint256 gasLimit) external {
        (bool ok, ) = SCHEDULE_SERVICE.staticcall(
            abi.encodeCall(service.scheduleCall, (address(this), second, gasLimit, 0, ""))
        );
        promised = ok;
    }
}
