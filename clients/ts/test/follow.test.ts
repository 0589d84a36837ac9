// Following through outages, on a node that fails in each way that a network has.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Happening, NodeAway, TimersClient } from "../src/index.js";
import { blocks } from "../src/follow.js";
import { type Fault, FakeNode } from "./fake-node.js";

const limit = { timeout: 60_000 };

/** during runs a test with a node, and a client of it. */
async function during(run: (node: FakeNode, client: TimersClient) => Promise<void>): Promise<void> {
  const node = new FakeNode();
  await node.start();
  try {
    await run(node, await TimersClient.connect(node.endpoint));
  } finally {
    await node.stop().catch(() => undefined);
  }
}

const idsOf = (from: number, to: number): string[] => {
  const ids: string[] = [];
  for (let height = from; height <= to; height++) ids.push(`tx${height}`, `end${height}`);
  return ids;
};

/** take reads so many events. */
async function take(follow: AsyncGenerator<Happening>, count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const { value, done } = await follow.next();
    assert.ok(!done, `it ended after ${ids.join()}`);
    assert.equal(value.actor, "alice");
    ids.push(value.id);
  }
  return ids;
}

for (const fault of ["cut", "torn", "hang", "502", "html", "unready"] as Fault[]) {
  test(`each event comes once and in order, whatever requests end with: ${fault}`, limit, () =>
    during(async (node, client) => {
      node.latest = 30;
      let failed = 0;
      // Two of three requests fail, and no two times the same ones. Of a block that it should have a node is not
      // believed at once.
      node.fault = (method, _, nth) => {
        if (nth % 3 === 0 || (fault === "unready" && method !== "status" && nth % 3 === 1))
          return undefined;
        failed++;
        return fault;
      };
      const said: string[] = [];
      const follow = client.follow("alice", {
        from: 1,
        pollMs: 1,
        maxPauseMs: 4,
        requestMs: 50,
        onAway: (error) => {
          said.push(error.message);
        },
      });
      assert.deepEqual(await take(follow, 60), idsOf(1, 30));
      assert.ok(failed > 15, `${failed} requests failed`);
      assert.ok(said.length > 15, `${said.length} failures were reported`);
      assert.match(said[0], /^(status|block results): ./);
      await follow.return(undefined);
    }));
}

test("a node that is stopped and started again is read from where it was left", limit,
  () =>
    during(async (node, client) => {
      node.latest = 3;
      const follow = client.follow("alice", { from: 1, pollMs: 5, maxPauseMs: 20 });
      assert.deepEqual(await take(follow, 6), idsOf(1, 3));
      for (let height = 3; height < 60; height += 19) {
        await node.stop();
        const next = take(follow, 38);
        await new Promise((resolve) => setTimeout(resolve, 100));
        node.latest = height + 19;
        await node.start();
        assert.deepEqual(await next, idsOf(height + 1, height + 19));
      }
      await follow.return(undefined);
    }));

test("pauses double up to their bound", limit, () =>
  during(async (node, client) => {
    await node.stop();
    const at: number[] = [];
    const follow = client.follow("alice", { pollMs: 20, maxPauseMs: 160, timeoutMs: 1_000, onAway: () => {
      at.push(Date.now());
    } });
    await assert.rejects(follow.next(), NodeAway);
    const gaps = at.slice(1).map((time, i) => time - at[i]);
    [20, 40, 80, 160, 160, 160].forEach((gap, i) =>
      assert.ok(gaps[i] >= gap - 2 && gaps[i] < gap + 150, `pause ${i} of ${gaps.join()}`)
    );
    assert.ok(at.length < 12, `${at.length} tries in a second`);
    await node.start();
  }));

test("it gives up when a stated limit is over, and says what was wrong and how to go on", limit,
  () =>
    during(async (node, client) => {
      node.latest = 2;
      const follow = client.follow("alice", { from: 1, pollMs: 5, maxPauseMs: 50, timeoutMs: 300 });
      assert.deepEqual(await take(follow, 4), idsOf(1, 2));
      await node.stop();
      const error = await follow.next().then(() => assert.fail("it goes on"), (thrown) => thrown);
      assert.ok(error instanceof NodeAway, String(error));
      assert.ok(error.forMs >= 300 && error.forMs < 2_000, String(error.forMs));
      const [what, why, how] = error.message.split(/: (?=status)|(?<=\))\. /);
      assert.match(what, /^the node is away for \d\.\d s, and block 3 was not read$/);
      assert.match(why, /^status: .*ECONNREFUSED/);
      assert.equal(how, "To go on without a gap, follow with { from: 3 }");
      assert.deepEqual(await follow.next(), { value: undefined, done: true });
      node.latest = 4;
      await node.start();
      const again = client.follow("alice", { from: error.from, pollMs: 5 });
      assert.deepEqual(await take(again, 4), idsOf(3, 4));
      await again.return(undefined);
    }));

test("the limit is of one outage, and not of all", limit, () =>
  during(async (node, client) => {
    node.latest = 30;
    let since = Date.now();
    // Each block takes 60 ms to be had.
    node.fault = (method, height) => {
      if (method === "status" || Date.now() - since > 60) {
        since = Date.now();
        return undefined;
      }
      return "cut";
    };
    const follow = client.follow("alice", { from: 1, pollMs: 5, maxPauseMs: 10, timeoutMs: 1_000 });
    assert.deepEqual(await take(follow, 60), idsOf(1, 30));
    await follow.return(undefined);
  }));

for (const fault of ["cut", "hang"] as Fault[]) {
  test(`it ends when the caller aborts, while requests end with: ${fault}`, limit, () =>
    during(async (node, client) => {
      node.fault = () =>
        fault;
      const abort = new AbortController();
      const follow = client.follow("alice", { signal: abort.signal, pollMs: 60_000 });
      const next = follow.next();
      await new Promise((resolve) => setTimeout(resolve, 100));
      const begin = Date.now();
      abort.abort();
      assert.deepEqual(await next, { value: undefined, done: true });
      assert.ok(Date.now() - begin < 1_000);
    }));
}

test("a signal that has aborted asks nothing", limit, () =>
  during(async (node, client) => {
    const follow = client.follow("alice", { signal: AbortSignal.abort() });
    assert.deepEqual(await follow.next(), { value: undefined, done: true });
    assert.deepEqual(node.asked, []);
  }));

test("a node that keeps a block no more is named at once", limit, () =>
  during(async (node, client) => {
    node.latest = 50;
    node.earliest = 20;
    await assert.rejects(client.follow("alice", { from: 7 }).next(),
      /^Error: the node keeps blocks from 20 on, and block 7 was not read: ask one that keeps more$/);
    // One that has a block and no results of it.
    node.fault = (method) => (method === "block_results" ? "unready" : undefined);
    await assert.rejects(client.follow("alice", { from: 30, pollMs: 1 }).next(),
      /^Error: the node has no results of block 30: not ready$/);
  }));

test("a node that comes back with fewer blocks is waited for", limit, () =>
  during(async (node, client) => {
    node.latest = 10;
    const follow = client.follow("alice", { from: 1, pollMs: 5, maxPauseMs: 20 });
    assert.deepEqual(await take(follow, 2), idsOf(1, 1));
    node.latest = 1;
    const next = take(follow, 18);
    await new Promise((resolve) => setTimeout(resolve, 200));
    node.latest = 10;
    assert.deepEqual(await next, idsOf(2, 10));
    await follow.return(undefined);
  }));

test("a node that comes back as one of another chain is refused", limit, () =>
  during(async (node, client) => {
    node.latest = 1;
    const follow = client.follow("alice", { from: 1, pollMs: 5 });
    assert.deepEqual(await take(follow, 2), idsOf(1, 1));
    node.network = "fake-2";
    await assert.rejects(follow.next(),
      /^Error: the node at http:\/\/127\.0\.0\.1:\d+ was of chain fake-1, and is of chain fake-2 now$/);
  }));

test("the endpoint of a websocket is read over HTTP", limit, () =>
  during(async (node) => {
    node.latest = 1;
    const { value } = await blocks(node.endpoint.replace(/^http/, "ws"), { from: 1 }).next();
    assert.equal(value?.height, 1);
  }));
