// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

// What the examples need of others, as far as tests do.
contract Token {
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    function mint(address to, uint256 amount) external {
        balanceOf[to] += amount;
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        allowance[msg.sender][spender] = amount;
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        allowance[from][msg.sender] -= amount;
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
        return true;
    }
}

// A pool of a token and coins, whose product stays.
contract Pool is Token {
    uint256 public coins;
    uint256 public tokens;

    constructor(uint256 tokens_) payable {
        (coins, tokens) = (msg.value, tokens_);
    }

    // Somebody trades: the price is another.
    function trade(uint256 coins_, uint256 tokens_) external {
        (coins, tokens) = (coins_, tokens_);
    }

    function buy(address receiver, uint256 leastBought) external payable returns (uint256 bought) {
        bought = tokens - (coins * tokens) / (coins + msg.value);
        require(bought >= leastBought, "price");
        (coins, tokens) = (coins + msg.value, tokens - bought);
        balanceOf[receiver] += bought;
    }
}
