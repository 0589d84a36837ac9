// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

// A contract for an automation that calls checkUpkeep and performUpkeep. It knows nothing of timers.
contract Ripening {
    uint256 public ripeAt;
    uint256 public harvests;
    bytes public last;
    address public harvester;

    error Unripe(uint256 ripeAt);

    function plant(uint256 second) external {
        ripeAt = second;
    }

    function checkUpkeep(bytes calldata checkData) external view returns (bool upkeepNeeded, bytes memory performData) {
        return (ripeAt != 0 && block.timestamp >= ripeAt, abi.encode(ripeAt, checkData));
    }

    // Anyone may call it, so that it checks again.
    function performUpkeep(bytes calldata performData) external {
        if (ripeAt == 0 || block.timestamp < ripeAt) revert Unripe(ripeAt);
        (ripeAt, last, harvester) = (0, performData, msg.sender);
        harvests++;
    }
}
