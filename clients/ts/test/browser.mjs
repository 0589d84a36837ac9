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
  const { pathname } = new URL(request.url, "http://page");
  if (pathname === "/rpc") {
    const node = http.request(RPC, { method: request.method, headers: { "content-type": "application/json" } }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    node.on("error", () => response.writeHead(502).end());
    request.pipe(node);
    return;
  }
  const file = files[pathname];
  if (!file) return response.writeHead(404).end();
  response.writeHead(200, { "content-type": file[1] }).end(fs.readFileSync(path.join("build/example", file[0])));
});
let browser;
/** patience is how long to wait for what the page is to show, in ms: PATIENCE, or 300,000. */
const patience = Number(process.env.PATIENCE ?? 300_000);
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
  page.setDefaultTimeout(patience);
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  if (wallet) {
    await page.addInitScript(`window.walletOf = ${JSON.stringify(wallet)}`);
    await page.addInitScript({ path: "build/example/fake-wallet.js" });
  }
  await page.goto(`http://127.0.0.1:${server.address().port}/?rpc=/rpc`);
  await page.click("#connect");
  const shows = async (where, text) => {
    try {
      await page.locator(where, { hasText: text }).waitFor({ timeout: patience });
    } catch (error) {
      throw new Error(`${where} does not show ${text}, but the page is:\n${await page.innerText("body")}`, { cause: error });
    }
  };
  return { page, errors, shows };
}

test("a link that names another node is refused", async () => {
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${server.address().port}/?rpc=${encodeURIComponent(RPC)}`);
  await page.click("#connect");
  await page.locator("#problem", { hasText: "names another node" }).waitFor({ timeout: patience });
  await page.close();
});

test("a browser without a wallet is said to have none", async () => {
  const { page, shows } = await open();
  await shows("#problem", "This browser has no wallet");
  await page.close();
});

/** later is a date and a time some days from now, as an input of the browser takes it. */
const later = (days) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 16);
const hostile = "<img src=x onerror=window.hurt=1>";

for (const [mode, name] of [["direct", "keplr"], ["amino", "leap"]]) {
  test(`a wallet that signs ${mode} schedules, follows and changes`, { timeout: 900_000 }, async () => {
    const { page, errors, shows } = await open({ mnemonic, prefix, name, ledger: mode === "amino" });
    await shows("#account", prefix + "1");
    const account = await page.textContent("#account");
    const row = (label) => page.locator("#timers > li", { hasText: label });
    const field = (label, name, text) => row(label).locator(`[data-field=${name}]`, { hasText: text }).waitFor({ timeout: patience });
    const review = page.locator("#review[open]");
    const fill = async (values) => {
      for (const [field, value] of Object.entries(values)) {
        const input = page.locator(`[name=${field}]`);
        await (field === "kind" ? input.selectOption(value) : input.fill(value));
      }
    };
    const enter = async (values) => {
      await fill(values);
      await page.click("#submit");
    };
    /** sign agrees to what the dialog shows, which it returns, and waits until that is done. */
    const sign = async (done) => {
      await review.waitFor({ timeout: patience });
      const said = await review.innerText();
      await review.getByText("Sign in the wallet").click();
      await shows("#progress", done);
      return said;
    };

    // A repetition by blocks fires soon; its name is shown as what it is, and no part of it becomes an element.
    const soon = `${hostile} ${mode}`;
    await enter({ kind: "blocks", recipient: account, amount: "1", blocks: "3", count: "2", name: soon });
    const said = await sign("Scheduled.");
    assert.ok(said.includes(`Schedule "${soon}": send 1utmr to ${account}, every 3 blocks, 2 left`), said);
    assert.match(said, /transaction: \d+utmr, whatever becomes of it\s+each fire: at most \d+utmr at today's prices/);
    assert.match(said, /The timer is due next\s+height \d+, about /);
    await shows("#events", `${soon}: it succeeded`);
    assert.equal(await page.locator("#timers img, #events img, #review img").count(), 0);
    assert.equal(await page.evaluate(() => window.hurt), undefined);

    // By the clock of a zone: what the review says is what the list says then.
    const daily = `daily ${mode}`;
    await enter({ kind: "day", hour: "09:00", zone: "Europe/Berlin", count: "5", until: later(30), maxCharge: "9000000", name: daily });
    const planned = await sign("Scheduled.");
    assert.match(planned, /never more than 9000000utmr/);
    assert.match(planned, /It ends after /);
    await row(daily).waitFor({ timeout: patience });
    const next = await row(daily).locator("[data-field=next]").innerText();
    for (const line of next.split("\n")) assert.ok(planned.includes(line), `${planned} has ${line}`);
    await field(daily, "status", "pending");
    await field(daily, "cost", "never more than 9000000utmr");

    // By the keyboard alone: the focus stays on the button when the list is read again, and Escape goes back.
    const skip = row(daily).getByRole("button", { name: `Skip next: ${daily}` });
    await skip.focus();
    await page.keyboard.press("Enter");
    await review.waitFor({ timeout: patience });
    assert.equal(await page.evaluate(() => document.activeElement.value), "back");
    await page.keyboard.press("Escape");
    await review.waitFor({ state: "hidden" });
    await page.waitForFunction(() => !document.body.hasAttribute("aria-busy"));
    await page.waitForTimeout(6_000); // longer than from one reading to the next
    assert.equal(await page.evaluate(() => document.activeElement.value), "skip");
    await page.keyboard.press("Enter");
    await review.waitFor({ timeout: patience });
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await shows("#progress", "Skipped.");
    const [, second] = next.split("\n");
    await page.waitForFunction(([label, text]) => [...document.querySelectorAll("#timers > li")]
      .some((line) => line.innerText.includes(label) && line.querySelector("[data-field=next]").innerText.startsWith(text)), [daily, second]);

    const press = async (label, action, done) => {
      await row(label).getByRole("button", { name: `${action}: ${label}` }).click();
      return sign(done);
    };
    await press(daily, "Pause", "Paused.");
    await field(daily, "status", "on hold: paused");
    await field(daily, "waits", "its owner, who paused it and resumes it");
    assert.equal(await row(daily).locator("[value=run]").getAttribute("aria-disabled"), "true");
    await press(daily, "Resume", "Resumed.");
    await field(daily, "status", "pending");
    await press(daily, "Run now", "It is due in the next block.");
    await field(daily, "last", ": ok, ");
    assert.match(await press(daily, "Cancel", "Cancelled."), /never/);
    await row(daily).waitFor({ state: "detached", timeout: patience });

    // The fields that a way to repeat does not need keep their place.
    const height = async () => (await page.locator("#job").boundingBox()).height;
    const before = await height();
    for (const kind of ["once", "day", "month", "blocks"]) {
      await fill({ kind });
      assert.equal(await height(), before);
    }

    // What is refused is said in the module's own words, and what is rejected in the wallet's.
    await fill({ kind: "once" });
    await enter({ until: "", maxCharge: "", date: "2999-01-01T09:00" });
    await shows("#problem", "time to live too long");
    assert.match(await page.textContent("#problem"), /^the chain refused the transaction: (?!.*\.go:)/);
    await enter({ recipient: "timer1none" });
    await shows("#problem", 'Recipient "timer1none" is no address');
    await page.evaluate(() => { window.wallet.rejects = true; });
    await enter({ recipient: account, date: later(2) });
    await shows("#review", "It costs");
    await review.getByText("Sign in the wallet").click();
    await shows("#problem", "Request rejected");
    assert.deepEqual(await page.evaluate(() => window.wallet.signed), Array(7).fill(mode));
    assert.deepEqual(errors, []);
    await page.close();
  });
}

test("the page is dark where the browser is, every field has a label, and each text stands out", async () => {
  const page = await browser.newPage({ colorScheme: "dark" });
  await page.goto(`http://127.0.0.1:${server.address().port}/?rpc=/rpc`);
  const colors = () => page.evaluate(() => ["body", "#problem", "dt"].map((selector) => {
    const probe = document.querySelector(selector) ?? document.querySelector("#row").content.querySelector(selector);
    const shown = probe.isConnected ? probe : document.body.appendChild(document.importNode(probe, true));
    return [getComputedStyle(shown).color, getComputedStyle(document.body).backgroundColor];
  }));
  const light = (color) => {
    const [r, g, b] = color.match(/\d+/g).map((n) => { const c = n / 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  for (const colorScheme of ["dark", "light"]) {
    await page.emulateMedia({ colorScheme });
    for (const [text, back] of await colors()) {
      const [a, b] = [light(text), light(back)];
      assert.equal(b < 0.1, colorScheme === "dark");
      assert.ok((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) >= 4.5, `${text} on ${back}`);
    }
  }
  assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll("input, select")]
    .filter((input) => input.labels.length === 0).map((input) => input.name)), []);
  await page.close();
});
