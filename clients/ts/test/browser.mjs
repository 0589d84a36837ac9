// Uses the example page in Chromium, with a wallet of its own, on a node: RPC, MNEMONIC and PREFIX as for node.test.ts.
// Chromium is named by CHROMIUM if it is not /usr/bin/chromium; playwright-core is found by NODE_PATH or in node_modules.
import assert from "node:assert/strict";
import fs from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import path from "node:path";
import { after, before, test } from "node:test";

const { chromium } = createRequire(path.join(process.cwd(), "x.js"))("playwright-core");
const { RPC, MNEMONIC: mnemonic, PREFIX: prefix } = process.env;
const files = { "/": ["index.html", "text/html"], "/wallet.js": ["wallet.js", "text/javascript"] };
const server = http.createServer((request, response) => {
  const file = files[new URL(request.url, "http://page").pathname];
  if (!file) return response.writeHead(404).end();
  response.writeHead(200, { "content-type": file[1] }).end(fs.readFileSync(path.join("build/example", file[0])));
});
let browser;
before(async () => {
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
});
after(async () => {
  await browser?.close();
  server.close();
});

/** open shows the page, and fails for an error that the page does not show itself. */
async function open(wallet) {
  const page = await browser.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  if (wallet) {
    await page.addInitScript(`window.walletOf = ${JSON.stringify(wallet)}`);
    await page.addInitScript({ path: "build/example/fake-wallet.js" });
  }
  await page.goto(`http://127.0.0.1:${server.address().port}/?rpc=${encodeURIComponent(RPC)}`);
  await page.click("#connect");
  const shows = async (where, text) => {
    try {
      await page.locator(where, { hasText: text }).waitFor({ timeout: 300_000 });
    } catch (error) {
      throw new Error(`${where} does not show ${text}, but the page is:\n${await page.innerText("body")}`, { cause: error });
    }
  };
  return { page, errors, shows };
}

test("a browser without a wallet is told", async () => {
  const { page, shows } = await open();
  await shows("#problem", "This browser has no wallet");
  await page.close();
});

for (const mode of ["direct", "amino"]) {
  test(`a wallet that signs ${mode} schedules, follows and cancels`, { timeout: 900_000 }, async () => {
    const { page, errors, shows } = await open({ mnemonic, prefix, ledger: mode === "amino" });
    await shows("#account", prefix + "1");
    const account = await page.textContent("#account");
    const schedule = async (values) => {
      for (const [name, value] of Object.entries(values)) await page.fill(`[name=${name}]`, value);
      await page.click("#job button");
    };

    await schedule({ recipient: account, amount: "1", minutes: "0.03", label: `<b>soon, ${mode}</b>` });
    await shows("#events", `<b>soon, ${mode}</b>: it succeeded`);

    await schedule({ minutes: "600", label: `later, ${mode}` });
    await shows("#timers", `later, ${mode}, due at height`);
    await page.locator("#timers li", { hasText: `later, ${mode}` }).getByText("Cancel").click();
    await shows("#events", "TimerCancelled");
    await page.waitForFunction((text) => !document.querySelector("#timers").innerText.includes(text), `later, ${mode}`);

    await schedule({ minutes: "1000000000" });
    await shows("#problem", "the longest that a timer lives");
    assert.match(await page.textContent("#problem"), /^the chain refused the transaction: (?!.*\.go:)/);
    await page.evaluate(() => { window.wallet.rejects = true; });
    await schedule({ minutes: "600" });
    await shows("#problem", "Request rejected");
    assert.deepEqual(await page.evaluate(() => window.wallet.signed), [mode, mode, mode]);
    assert.deepEqual(errors, []);
    await page.close();
  });
}
