// A node that is none: it answers the RPC with blocks of its own, and can be made to fail in each way that a network
// has.
import http from "node:http";
import type { AddressInfo } from "node:net";

/**
 * Fault is how a request ends that is not answered: the line is cut, before or within the answer, or there is another
 * one.
 */
export type Fault = "cut" | "torn" | "hang" | "502" | "html" | "unready";

export class FakeNode {
  latest = 0;
  earliest = 1;
  network = "fake-1";
  /** asked are the methods of all requests, with the height of those for a block. */
  asked: string[] = [];
  /** fault decides how a request fails; undefined lets it be answered. */
  fault: (method: string, height: number, nth: number) => Fault | undefined = () => undefined;
  private server?: http.Server;
  private port = 0;

  get endpoint(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** start listens, on the same port each time. */
  async start(): Promise<void> {
    this.server = http.createServer((request, response) => void this.answer(request, response));
    await new Promise<void>((resolve) => this.server!.listen(this.port, "127.0.0.1", resolve));
    this.port = (this.server.address() as AddressInfo).port;
  }

  /** stop refuses connections from now on, and cuts those that there are. */
  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.server!.close(resolve));
    this.server!.closeAllConnections();
    await closed;
  }

  private async answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const { id, method, params } = JSON.parse(await new Response(request as any).text());
    const height = Number(params?.height ?? 0);
    this.asked.push(height ? `${method} ${height}` : method);
    const known = height <= this.latest && height >= this.earliest;
    const text = JSON.stringify(
      method === "status"
        ? { jsonrpc: "2.0", id, result: this.status() }
        : known
        ? { jsonrpc: "2.0", id, result: resultsOf(height) }
        : { jsonrpc: "2.0", id,
          error: { code: -32603, message: "Internal error", data: `could not find results for height #${height}` } },
    );
    switch (this.fault(method, height, this.asked.length)) {
      case "cut":
        request.socket.destroy();
        return;
      case "torn":
        response.writeHead(200, { "content-type": "application/json", "content-length": String(text.length) });
        response.write(text.slice(0, text.length / 2), () => request.socket.destroy());
        return;
      case "hang":
        return;
      case "502":
        response.writeHead(502).end("bad gateway");
        return;
      case "html":
        response.writeHead(200, { "content-type": "text/html" }).end("<h1>Please log in</h1>");
        return;
      case "unready":
        response.end(
          JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32603, message: "Internal error", data: "not ready" } }),
        );
        return;
      default:
        response.writeHead(200, { "content-type": "application/json" }).end(text);
    }
  }

  private status(): object {
    const hash = "AB".repeat(32);
    return {
      node_info: {
        protocol_version: { p2p: "8", block: "11", app: "0" },
        id: "ab".repeat(20),
        listen_addr: "tcp://0.0.0.0:26656",
        network: this.network,
        version: "0.38.26",
        channels: "40",
        moniker: "fake",
        other: { tx_index: "on", rpc_address: "tcp://127.0.0.1:26657" },
      },
      sync_info: {
        latest_block_hash: hash,
        latest_app_hash: hash,
        latest_block_height: String(this.latest),
        latest_block_time: "2030-01-01T00:00:00Z",
        earliest_block_hash: hash,
        earliest_app_hash: hash,
        earliest_block_height: String(this.earliest),
        earliest_block_time: "2030-01-01T00:00:00Z",
        catching_up: false,
      },
      validator_info: {
        address: "AB".repeat(20),
        pub_key: { type: "tendermint/PubKeyEd25519", value: Buffer.alloc(32, 1).toString("base64") },
        voting_power: "1",
      },
    };
  }
}

/**
 * resultsOf are those of a block in which a timer of alice's fires twice, one of bob's once, and a transaction fails.
 */
function resultsOf(height: number): object {
  const fired = (actor: string, id: string): object => ({
    type: "timers.v1.TimerFired",
    attributes: [["actor", JSON.stringify(actor)], ["id", JSON.stringify(id)], ["success", "true"]].map((
      [key, value],
    ) => ({ key, value, index: true })),
  });
  const tx = (code: number, events: object[]): object => ({ code, data: "", log: "", gas_wanted: "1", gas_used: "1",
    events });
  return {
    height: String(height),
    txs_results: [tx(0, [fired("alice", `tx${height}`)]), tx(5, [fired("alice", `failed${height}`)])],
    finalize_block_events: [fired("bob", `other${height}`), fired("alice", `end${height}`)],
    validator_updates: [],
    consensus_param_updates: null,
  };
}
