// Looks at the built site in Chromium: every page and every link, search, dark mode, versions, a phone's width, and the
// simulator, whose tables have to be those that were recorded. Pictures go to build/pictures/site.
//
// CHROMIUM names the browser (/usr/bin/chromium), SITE_VERSION the version that was built (main). SITE_TABLES names the
// tables that are made, or is all.
import assert from 'node:assert/strict';
import { createReadStream, existsSync, mkdirSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const root = fileURLToPath(new URL('../..', import.meta.url));
const site = path.join(root, 'build/site');
const pictures = path.join(root, 'build/pictures/site');
const version = process.env.SITE_VERSION ?? 'main';
const quick = ['policies', 'response'];
const types = {
  html: 'text/html', js: 'text/javascript', css: 'text/css', json: 'application/json', wasm: 'application/wasm',
  svg: 'image/svg+xml', png: 'image/png', txt: 'text/plain', md: 'text/markdown', woff2: 'font/woff2',
};
let server, browser, url;

before(async () => {
  assert.ok(existsSync(path.join(site, version, 'index.html')), `there is no build/site/${version}: run make site`);
  mkdirSync(pictures, { recursive: true });
  // It serves files as any server does: what is not there is not found.
  server = createServer((request, response) => {
    let file = path.join(site, path.normalize(decodeURIComponent(new URL(request.url, 'http://x').pathname)));
    if (existsSync(file) && statSync(file).isDirectory()) file = path.join(file, 'index.html');
    if (!existsSync(file)) {
      response.writeHead(404).end('not found');
      return;
    }
    const type = types[path.extname(file).slice(1)] ?? 'application/octet-stream';
    response.writeHead(200, { 'content-type': type, 'content-length': statSync(file).size });
    createReadStream(file).pipe(response);
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${server.address().port}/${version}/`;
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'],
  });
});

after(async () => {
  await browser?.close();
  server?.close();
});

// open opens a page of the site. What goes wrong on it fails the test.
async function open(t, name, { width = 1280, height = 900, dark = false } = {}) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: dark ? 'dark' : 'light' });
  const problems = [];
  page.on('pageerror', (error) => problems.push(`${name}: ${error}`));
  page.on('response', (response) => {
    if (response.status() >= 400) problems.push(`${name}: ${response.url()} is ${response.status()}`);
  });
  t.after(() => page.close());
  await page.goto(url + name, { waitUntil: 'networkidle' });
  return { page, problems };
}

// pages are those that were built, without the one for what is not found.
const pages = () => readdirSync(path.join(site, version), { recursive: true })
  .filter((name) => name.endsWith('.html') && name !== '404.html').map((name) => name.replaceAll('\\', '/'));

test('every link of every page leads to a page and an anchor', async (t) => {
  const { page, problems } = await open(t, '');
  const anchors = new Map(), links = [];
  for (const name of pages()) {
    const html = readFileSync(path.join(site, version, name), 'utf8');
    const found = await page.evaluate((html) => {
      const parsed = new DOMParser().parseFromString(html, 'text/html');
      return {
        ids: [...parsed.querySelectorAll('[id]')].map((e) => e.id),
        links: [...parsed.querySelectorAll('a[href]')].map((e) => e.getAttribute('href')),
        images: [...parsed.querySelectorAll('img[src]')].map((e) => e.getAttribute('src')),
      };
    }, html);
    anchors.set(name, new Set(found.ids));
    links.push(...[...found.links, ...found.images].map((href) => [name, href]));
  }
  let checked = 0;
  const wrong = [];
  for (const [from, href] of links) {
    const to = new URL(href, url + from);
    if (to.origin !== new URL(url).origin) continue;
    checked++;
    let name = decodeURIComponent(to.pathname.slice(new URL(url).pathname.length));
    if (name === '' || name.endsWith('/')) name += 'index.html';
    const anchor = decodeURIComponent(to.hash.slice(1));
    if (!existsSync(path.join(site, version, name))) wrong.push(`${from}: ${href} is not there`);
    else if (anchor && name.endsWith('.html') && !anchors.get(name)?.has(anchor)) wrong.push(`${from}: no ${href}`);
  }
  assert.deepEqual(wrong, []);
  assert.ok(checked > 2_000, `${checked} links`);
  assert.deepEqual(problems, []);
});

test('each page is there as Markdown, and llms.txt lists it', () => {
  const built = (name) => readFileSync(path.join(site, version, name), 'utf8');
  const listed = new Set([...built('llms.txt').matchAll(/\]\(([^)]+\.md)\)/g)].map(([, name]) => name));
  for (const name of pages()) {
    const text = name.replace(/\.html$/, '.md');
    assert.ok(listed.has(text), `llms.txt lacks ${text}`);
    const source = built(text);
    assert.match(source, /^# /);
    // What a generator writes for a value that it lacks.
    const count = (content) => content.match(/undefined|\[object|NaN/g)?.length ?? 0;
    const [shown] = built(name).match(/<main class="main"[\s\S]*?<\/main>/);
    assert.equal(count(shown), count(source), `${name} shows a value that is not there`);
    listed.delete(text);
  }
  assert.deepEqual([...listed], [], 'llms.txt lists what there is not');
});

test('search finds a page', async (t) => {
  const { page, problems } = await open(t, '');
  await page.click('.DocSearch-Button, .VPNavBarSearch button');
  await page.fill('.VPLocalSearchBox input', 'priced_out');
  const result = page.locator('.VPLocalSearchBox .result', { hasText: 'above what a timer may cost' }).first();
  await result.waitFor({ timeout: 20_000 });
  await result.click();
  await page.waitForURL(/symptoms\/priced-out\.html/);
  await page.locator('h1', { hasText: 'The price is above what a timer may cost' }).waitFor();
  assert.deepEqual(problems, []);
});

test('search for an error finds its page first', async (t) => {
  const { page } = await open(t, '');
  await page.click('.VPNavBarSearch button');
  await page.fill('.VPLocalSearchBox input', 'insufficient funds');
  const first = page.locator('.VPLocalSearchBox .result').first();
  await first.waitFor({ timeout: 20_000 });
  assert.match(await first.innerText(), /no_funds/);
});

test('search takes a word for itself, and a typing error in a long one', async (t) => {
  const { page } = await open(t, '');
  await page.click('.VPNavBarSearch button');
  const marks = page.locator('.VPLocalSearchBox .result mark');
  await page.fill('.VPLocalSearchBox input', 'gas limit');
  await marks.first().waitFor({ timeout: 20_000 });
  for (const mark of await marks.allInnerTexts()) assert.match(mark, /^(gas|limit)/i);
  await page.fill('.VPLocalSearchBox input', 'quarentine');
  await marks.filter({ hasText: /^quarantine/i }).first().waitFor({ timeout: 20_000 });
});

test('dark mode can be chosen, and stays', async (t) => {
  const { page } = await open(t, 'tutorials/first-timer.html');
  const dark = () => page.evaluate(() => document.documentElement.classList.contains('dark'));
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(await dark(), false);
  const light = await background();
  await page.locator('.VPSwitchAppearance:visible').first().click();
  assert.equal(await dark(), true);
  assert.notEqual(await background(), light);
  await page.reload();
  assert.equal(await dark(), true);
});

test('the selector lists the versions that were built', async (t) => {
  const { page } = await open(t, 'symptoms/capped.html');
  const built = JSON.parse(readFileSync(path.join(site, 'versions.json'), 'utf8'));
  const options = await page.locator('.in-bar option').allInnerTexts();
  assert.deepEqual(options, built);
  // One that has not this page leads to its beginning: there is no other version to try here, so the list is another.
  await page.route('**/versions.json', (route) => route.fulfill({ json: ['v9.9.9', version] }));
  await page.reload({ waitUntil: 'networkidle' });
  await page.locator('.in-bar select').selectOption('v9.9.9');
  await page.waitForURL(/\/v9\.9\.9\/$/);
});

const views = { light: [1280, false], dark: [1280, true], phone: [390, false], 'phone-dark': [390, true] };
const looked = [
  'index', 'symptoms/index', 'symptoms/no-room', 'tutorials/first-timer', 'operate/economics', 'reference/parameters',
  'simulator', 'start/choose',
];
for (const [name, [width, dark]] of Object.entries(views)) {
  test(`pages are usable: ${name}`, async (t) => {
    for (const one of looked) {
      const { page, problems } = await open(t, `${one}.html`, { width, height: 900, dark });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${one} is ${wide} pixels too wide`);
      assert.ok(await page.locator('h1').first().isVisible());
      await page.screenshot({ path: path.join(pictures, `${one.replaceAll('/', '-')}-${name}.png`) });
      assert.deepEqual(problems, []);
      await page.close();
    }
  });
}

test('on a phone the menu leads to a page', async (t) => {
  const { page } = await open(t, 'index.html', { width: 390, height: 800 });
  await page.click('.VPLocalNav .menu');
  await page.locator('.VPSidebar.open a', { hasText: 'Your first timer' }).click();
  await page.waitForURL(/first-timer/);
  // The address changes before the page does.
  await page.locator('h1', { hasText: 'Your first timer' }).waitFor();
});

// simulated runs what the page of the simulator shows, and returns its table.
async function simulated(page, limit) {
  await page.locator('#sim-table, #sim-error').first().waitFor({ timeout: limit });
  assert.deepEqual(await page.locator('#sim-error').allInnerTexts(), []);
  return page.locator('#sim-table').evaluate((table) =>
    [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent)));
}

// tablesOf lab/testdata/sims, by the names of their files.
function tablesOf() {
  const text = readFileSync(path.join(root, 'lab/testdata/sims/tables.txt'), 'utf8');
  const found = text.matchAll(/`timerd lab run lab\/testdata\/sims\/(\w+)\.json`[\s\S]*?\n\n((?:\|.*\n)+)/g);
  const cells = (line) => line.trim().replace(/^\||\|$/g, '').split('|').map((cell) => cell.trim());
  const rows = (table) => table.trim().split('\n').filter((line) => !line.startsWith('|---')).map(cells);
  return new Map([...found].map(([, name, table]) => [name, rows(table)]));
}

test('the simulator makes the recorded tables', async (t) => {
  const tables = tablesOf();
  assert.equal(tables.size, 17);
  const wanted = process.env.SITE_TABLES === 'all' ? [...tables.keys()] : process.env.SITE_TABLES?.split(',') ?? quick;
  for (const name of wanted) {
    await t.test(name, async (t) => {
      const { page, problems } = await open(t, 'simulator.html');
      await page.selectOption('#sim-source', name);
      await page.waitForFunction(() => document.querySelector('#sim-file').value.includes('"variants"'));
      const began = Date.now();
      await page.click('#sim-run');
      await page.locator('#sim-progress').waitFor({ timeout: 1_000 });
      assert.deepEqual(await simulated(page, 3_600_000), tables.get(name));
      t.diagnostic(`${((Date.now() - began) / 1000).toFixed(1)} s`);
      assert.ok(await page.locator('.chart canvas').count() > 1);
      assert.deepEqual(problems, []);
    });
  }
});

test('a link to a table runs it, and Stop ends a run', async (t) => {
  const { page } = await open(t, 'simulator.html?table=peers');
  await page.click('#sim-stop');
  await page.locator('#sim-progress').waitFor({ state: 'detached' });
  assert.equal(await page.locator('#sim-table').count(), 0);
});

test('own numbers change the result, and bad ones get a clear error', async (t) => {
  const { page, problems } = await open(t, 'simulator.html');
  await page.fill('#sim-seeds', '3');
  await page.fill('#sim-blocks', '60');
  const use = async () => {
    await page.click('#sim-run');
    const [head, ...rows] = await simulated(page, 300_000);
    const [, ...values] = rows.find(([figure]) => figure === 'use');
    return Object.fromEntries(values.map((value, i) => [head[i + 1], parseFloat(value)]));
  };
  const first = await use();
  assert.deepEqual(Object.keys(first), ['eip1559', 'tip', 'fifo']);
  await page.fill('#sim-target', '0.9');
  const second = await use();
  assert.ok(second.eip1559 > first.eip1559 + 0.1, `${first.eip1559}, ${second.eip1559}`);
  assert.equal(second.fifo, first.fifo);
  await page.screenshot({ path: path.join(pictures, 'simulator-answer.png'), fullPage: true });

  for (const [field, value, says] of [
    ['#sim-target', '1.5', 'config.target: want a decimal from 0.01 to 0.99 in quotes, not "1.5"'],
    ['#sim-target', 'half', 'config.target: want a decimal from 0.01 to 0.99'],
    ['#sim-lane', '100', 'config: lane_timer_cycles must be at least max_cycles_per_fire, 550000'],
    ['#sim-blocks', '', 'blocks: want a whole number of 0 or more'],
    ['#sim-blocks', '1e9', 'blocks: want 2 to 1e+06'],
    ['#sim-seeds', '5000', 'want at most 1000 in a browser'],
  ]) {
    const before = await page.inputValue(field);
    await page.fill(field, value);
    await page.click('#sim-run');
    await page.locator('#sim-error').waitFor({ timeout: 30_000 });
    const said = await page.locator('#sim-error').innerText();
    assert.ok(said.includes(says), said);
    await page.fill(field, before);
  }
  await page.locator('summary', { hasText: 'The file' }).click();
  await page.fill('#sim-file', '{"title": 7');
  await page.click('#sim-run');
  await page.locator('#sim-error', { hasText: 'not JSON' }).waitFor();
  assert.deepEqual(problems, []);
});
