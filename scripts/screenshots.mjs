// Takes pictures of a running dashboard, light, dark and in a phone's width: node scripts/screenshots.mjs URL DIRECTORY [HASH [TEXT...]]
//
// HASH is the view, "" for the overview. A timer and an actor are searched for, and in the overview each choice is made once. It
// fails if a page has an error, runs markup of the chain, is too wide, cuts a table's
// columns, or does not show each TEXT within half a minute.
//
// It needs Chromium, named by CHROMIUM if it is not /usr/bin/chromium, and playwright-core, found by NODE_PATH or in a
// node_modules above the working directory: npm install --no-save playwright-core@1
import { createRequire } from 'node:module';
import path from 'node:path';

const { chromium } = createRequire(path.join(process.cwd(), 'x.js'))('playwright-core');
const [url, directory, hash = '', ...texts] = process.argv.slice(2);
if (!url || !directory) throw new Error('want a URL and a directory');

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
let problems = 0;

// choices are what each select of the overview offers, and what its chart says then. Where the policy allows no fire of so much
// gas, it says that.
const choices = {
  span: [['1', 'within 120 blocks'], ['100', 'within 12,000 blocks'], ['5000', 'within 600,000 blocks'], ['10', 'within 1,200 blocks']],
  gas: [['100000', '100,000'], ['550000', '550,000 gas|Not for [0-9,]+ gas or more'], ['250000', '250,000']],
  blocks: [['1000'], ['20000'], ['500000'], ['200']],
};
const charts = { span: 'calendar-note', gas: 'estimate', blocks: 'use' };

async function choose(page, name) {
  for (const [select, values] of Object.entries(choices)) {
    for (const [value, says = ''] of values) {
      await page.evaluate((id) => document.getElementById(id).replaceChildren(), charts[select]);
      await page.selectOption('#' + select, value);
      const drawn = ([id, says]) => { const e = document.getElementById(id); return e.childNodes.length > 0 && new RegExp(says).test(e.textContent); };
      await page.waitForFunction(drawn, [charts[select], says], { timeout: 30_000 })
        .catch(() => { problems++; console.error(`${name}: ${select} ${value} is not shown`); });
    }
  }
}

for (const [name, width, height, colorScheme] of [['light', 1280, 1150, 'light'], ['dark', 1280, 1150, 'dark'], ['phone', 390, 1800, 'light']]) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme });
  page.on('pageerror', (e) => { problems++; console.error(`${name}: ${e}`); });
  page.on('console', (m) => { if (m.type() === 'error') { problems++; console.error(`${name}: ${m.text()}`); } });
  page.on('dialog', () => { problems++; console.error(`${name}: markup of the chain was run`); });
  await page.goto(url);
  if (hash) {
    await page.fill('#query', hash.split('/').pop());
    await page.click('#search button');
    await page.waitForSelector('#detail section');
  } else for (const part of ['use svg', 'calendar svg', 'ready *', 'estimate svg', 'params table']) await page.waitForSelector(`#${part}`, { state: 'attached' });
  if (!hash) await choose(page, name);
  for (const text of texts) {
    const shown = (text) => document.body.innerText.includes(text);
    await page.waitForFunction(shown, text, { timeout: 30_000 }).catch(() => { problems++; console.error(`${name}: does not show ${text}`); });
  }
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (wide > 0) { problems++; console.error(`${name}: ${wide} pixels too wide`); }
  const cut = await page.evaluate(() => [...document.querySelectorAll('.scroll')].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.id || e.textContent.slice(0, 60)));
  if (cut.length > 0) { problems++; console.error(`${name}: columns are cut of ${cut.join(', ')}`); }
  await page.screenshot({ path: path.join(directory, `${name}.png`) });
  await page.close();
}
await browser.close();
process.exit(problems > 0 ? 1 : 0);
