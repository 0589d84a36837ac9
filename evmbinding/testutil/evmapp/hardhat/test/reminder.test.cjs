const assert = require("node:assert/strict");
const { ethers } = require("hardhat");

const TIMERS = "0x0000000000000000000000000000000000001215";

describe("a contract on a node with timers", () => {
  let reminder, timers;

  before(async () => {
    reminder = await ethers.deployContract("Reminder", { value: ethers.parseEther("1") });
    await reminder.waitForDeployment();
    timers = await ethers.getContractAt("ITimers", TIMERS);
  });

  const remind = async (blocks, text) => {
    const receipt = await (await reminder.remind(blocks, text)).wait();
    assert.equal(receipt.status, 1);
    const logs = receipt.logs.filter((log) => log.address === TIMERS).map((log) => timers.interface.parseLog(log));
    assert.deepEqual(logs.map((log) => log.name), ["TimerScheduled"]);
    return { receipt, id: logs[0].args.id };
  };

  it("is called back, and hears of it by once()", async () => {
    const heard = new Promise((done) => reminder.once("Reminded", (...args) => done(args)));
    const { receipt } = await remind(3, "tea");
    const [number, text, height, event] = await heard;
    assert.equal(number, 1n);
    assert.equal(text, "tea");
    assert.equal(height, BigInt(receipt.blockNumber + 3));
    const fire = await event.log.getTransactionReceipt();
    assert.equal(fire.status, 1);
    assert.equal(fire.from, TIMERS);
    assert.equal(fire.to, await reminder.getAddress());
    assert.equal(fire.blockNumber, receipt.blockNumber + 3);
    assert.equal(await reminder.count(), 1n);
    const found = await reminder.queryFilter("Reminded", receipt.blockNumber);
    assert.deepEqual(found.map((log) => log.transactionHash), [fire.hash]);
  });

  it("sees a callback that reverts as a transaction that failed", async () => {
    const { receipt, id } = await remind(2, "");
    assert.equal((await timers.timersOf(await reminder.getAddress(), 0, 10)).total, 1n);
    const due = receipt.blockNumber + 2;
    while ((await ethers.provider.getBlockNumber()) < due) await new Promise((done) => setTimeout(done, 200));
    const { transactions } = await ethers.provider.getBlock(due);
    assert.equal(transactions.length, 1);
    assert.equal((await ethers.provider.getTransactionReceipt(transactions[0])).status, 0);
    assert.equal(await reminder.count(), 1n);
    await assert.rejects(timers.timer(await reminder.getAddress(), id), /timer not found/);
  });
});
