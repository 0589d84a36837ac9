// SPDX-License-Identifier: Apache-2.0
pragma solidity >=0.8.20;

// Where HIP-1215's functions are, as on Hedera.
address constant SCHEDULE_SERVICE = 0x000000000000000000000000000000000000016B;

// HIP-1215 as far as it makes sense here, so that contracts written for Hedera run. The caller owns what it schedules,
// and the chain makes the call as the caller: msg.sender is the caller. Values are in wei. Nothing reverts but for static
// and delegate calls, and for want of gas; the code is 22 for a success.
interface IHRC1215 {
    function scheduleCall(address to, uint256 expirySecond, uint256 gasLimit, uint64 value, bytes memory callData)
        external returns (int64 responseCode, address scheduleAddress);

    // The payer has granted the caller a fee allowance that names MsgScheduleTimer; else the code is 203.
    function scheduleCallWithPayer(
        address to, address payer, uint256 expirySecond, uint256 gasLimit, uint64 value, bytes memory callData
    ) external returns (int64 responseCode, address scheduleAddress);

    // The allowance is the signature: with it, the call is due in the next second.
    function executeCallOnPayerSignature(
        address to, address payer, uint256 expirySecond, uint256 gasLimit, uint64 value, bytes memory callData
    ) external returns (int64 responseCode, address scheduleAddress);

    function deleteSchedule(address scheduleAddress) external returns (int64 responseCode);

    // Whether the caller could schedule a call without data now.
    function hasScheduleCapacity(uint256 expirySecond, uint256 gasLimit) external view returns (bool hasCapacity);
}

// What answers at the address of a schedule: the sender's schedule there is deleted as deleteSchedule of IHRC1215 does.
// There is no code at the address: solc before 0.8.10 lets such a call revert.
interface IHRC1215ScheduleFacade {
    function deleteSchedule() external returns (int64 responseCode);
}
