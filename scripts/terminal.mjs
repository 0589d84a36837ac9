// Draws what a program wrote to a terminal, as a terminal shows it: node scripts/terminal.mjs RECORDING PICTURE COLUMNS ROWS
//
// RECORDING is the output with its escape sequences, as script(1) keeps it. It needs Chromium, named by CHROMIUM if it is not
// /usr/bin/chromium, and playwright-core and @xterm/xterm, found by NODE_PATH or in a node_modules above the working directory:
// npm install --no-save playwright-core@1 @xterm/xterm@6
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(path.join(process.cwd(), 'x.js'));
const { chromium } = require('playwright-core');
const [recording, picture, columns, rows] = process.argv.slice(2);
if (!(Number(columns) > 0 && Number(rows) > 0)) throw new Error('want a recording, a picture, columns and rows');

// A view ends by bringing back the screen that was there before, and script(1) adds a line: what it showed comes before these.
const leave = '\x1b[?1049l';
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
const page = await browser.newPage({ viewport: { width: 1600, height: 1200 } });
await page.setContent('<body style="margin:0;background:#16181b"><div id="terminal" style="display:inline-block;padding:12px;background:#16181b"></div>');
await page.addStyleTag({ path: require.resolve('@xterm/xterm/css/xterm.css') });
await page.addScriptTag({ path: require.resolve('@xterm/xterm/lib/xterm.js') });
await page.evaluate(([text, cols, rows]) => new Promise((done) => {
  const terminal = new Terminal({
    cols, rows, fontFamily: 'DejaVu Sans Mono, monospace', fontSize: 14, cursorInactiveStyle: 'none', scrollback: 0,
    theme: { background: '#16181b', foreground: '#e8eaec' },
  });
  terminal.open(document.getElementById('terminal'));
  terminal.write(text, () => requestAnimationFrame(() => requestAnimationFrame(done)));
}), [readFileSync(recording, 'utf8').split(leave)[0].split('\nScript done')[0], Number(columns), Number(rows)]);
await page.locator('#terminal').screenshot({ path: picture });
await browser.close();
