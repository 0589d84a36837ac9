// The page: it reads JSON and draws. What comes from the chain becomes text nodes, never markup.

const $ = (id) => document.getElementById(id);
const SVG = 'http://www.w3.org/2000/svg';

// make builds an element; children are elements or texts.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.map((c) => (c instanceof Node ? c : clean(c))));
  return element;
}

function draw(tag, attributes = {}, text) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = clean(text);
  return element;
}

// clean shows control characters and those that turn the direction of text as what they are: a label must not look like
// something else.
function clean(text) {
  return String(text).replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g,
    (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
}

const whole = (n) => Number(n).toLocaleString('en');
const count = (n, thing) => whole(n) + ' ' + thing + (Number(n) === 1 ? '' : 's');
const short = (text, n = 10) => (text.length > n + 1 ? text.slice(0, n) + '…' : text);

async function get(path) {
  const response = await fetch('/api/' + path);
  const text = await response.text();
  let answer;
  try { answer = JSON.parse(text); } catch { throw new Error(short(text, 200)); }
  if (!response.ok) throw new Error(answer.error || response.statusText);
  return answer;
}

// show runs a view, and says in its place why it can't.
async function show(place, view) {
  try {
    await view(place);
  } catch (e) {
    place.replaceChildren(make('p', { class: 'note bad' }, e.message));
  }
}

function table(columns, rows, empty) {
  if (rows.length === 0) return make('p', { class: 'note' }, empty);
  const head = make('tr', {}, ...columns.map((c) => make('th', c.number ? { class: 'n' } : {}, c.title)));
  return make('table', {}, make('thead', {}, head), make('tbody', {}, ...rows.map((row) => make('tr', {},
    ...columns.map((c) => make('td', { 'data-title': c.title, class: c.number ? 'n' : c.text ? 'text' : '' }, c.of(row)))))));
}

// brief is an address by its human-readable part and its ends: the former alone is the same for all.
const brief = (a) => { const data = a.lastIndexOf('1') + 1; return a.length < data + 12 ? a : a.slice(0, data + 4) + '…' + a.slice(-5); };
const actorLink = (a) => (a ? make('a', { href: '#actor/' + encodeURIComponent(a), class: 'mono', title: a }, brief(a)) : '');
const timerLink = (actor, id) => (id ? make('a', { href: '#timer/' + encodeURIComponent(actor) + '/' + encodeURIComponent(id), class: 'mono', title: id }, short(id, 8)) : '');

function kindOf(e) {
  const bad = ['failed', 'unfunded', 'expired', 'lane failed', 'agent failed'].includes(e.kind) || e.kind.startsWith('set aside');
  return make('span', { class: bad ? 'bad' : e.kind === 'fired' ? 'good' : '' }, e.kind);
}

// facts are what an event says beyond what the columns show.
function facts(e) {
  if (e.why) return e.why;
  let body;
  try { body = JSON.parse(e.body); } catch { return ''; }
  const known = ['id', 'actor', 'deliver_id', 'success', 'paid', 'seq', 'payer', 'fee_payer'];
  return Object.entries(body).filter(([k, v]) => !known.includes(k) && v !== '' && v !== 0 && typeof v !== 'object')
    .map(([k, v]) => k.replaceAll('_', ' ') + ' ' + v).join(', ');
}

const eventColumns = (withActor) => [
  { title: 'Height', number: true, of: (e) => whole(e.height) }, { title: 'What', of: kindOf },
  { title: 'Timer', of: (e) => timerLink(e.actor, e.timer) },
  ...(withActor ? [{ title: 'Actor', of: (e) => actorLink(e.actor) }] : []),
  { title: 'Paid', number: true, of: (e) => (e.paid ? whole(e.paid) : '') }, { title: 'More', text: true, of: facts },
];

const timerColumns = [
  { title: 'Timer', of: (t) => timerLink(t.actor, t.id) }, { title: 'Actor', of: (t) => actorLink(t.actor) },
  { title: 'Due', number: true, of: (t) => whole(t.due) }, { title: 'Bid', of: (t) => t.bid },
  { title: 'Gas limit', number: true, of: (t) => whole(t.gas_limit) },
  { title: 'Status', of: (t) => t.status.replace('TIMER_STATUS_', '').toLowerCase().replaceAll('_', ' ') },
  { title: 'Label or handler', text: true, of: (t) => t.label || t.handler },
];

let lane = {}; let overload = false;

async function tiles(place) {
  lane = await get('lane');
  const use = Number(lane.lane_timer_cycles) ? Number(lane.used_size) / Number(lane.lane_timer_cycles) : 0;
  const tile = (name, value, more = '') => make('div', { class: 'tile' }, make('span', {}, name), make('b', {}, value), make('span', {}, more));
  place.replaceChildren(
    tile('Height', whole(lane.height)),
    tile('Policy', lane.policy.replace('POLICY_', '').toLowerCase(), lane.paused ? 'paused' : overload ? 'overload' : ''),
    tile('Lane use', (use * 100).toFixed(1) + ' %', whole(lane.used_size) + ' of ' + whole(lane.lane_timer_cycles)),
    tile('Lane basefee', trim(lane.lane_basefee), 'next ' + trim(lane.next_lane_basefee)),
    tile('Usual tip', trim(lane.p50), lane.fee_denom + ' a unit'),
    tile('Burned', whole(lane.burned), lane.fee_denom), tile('Tips', whole(lane.tips), lane.fee_denom));
}

// widthOf is how wide a chart is drawn: as it is shown, so that its text keeps its size on a phone.
const widthOf = (place) => Math.max(280, Math.min(640, place.clientWidth || 640));

// trim shortens a price to six digits.
const trim = (decimal) => (decimal ? String(Number(Number(decimal).toPrecision(6))) : '0');

async function use(place) {
  const points = await get('series?blocks=' + $('blocks').value);
  if (points.length === 0) { place.replaceChildren(make('p', { class: 'note' }, 'no block yet')); return; }
  const [w, h, left, right, top, bottom] = [widthOf(place), 220, 44, 60, 8, 22];
  const capacity = Math.max(Number(lane.lane_timer_cycles) || 0, ...points.map((p) => p.peak_size), 1);
  const dearest = Math.max(...points.map((p) => p.basefee), 1e-9) * 1.1;
  const first = points[0].height; const last = points[points.length - 1].height;
  const x = (height) => left + (w - left - right) * (last === first ? 0 : (height - first) / (last - first));
  const y = (share) => top + (h - top - bottom) * (1 - share);
  const svg = draw('svg', { viewBox: `0 0 ${w} ${h}`, role: 'img' });
  svg.append(draw('title', {}, `lane use and basefee from height ${first} to ${last}`));
  for (const share of [0, 0.5, 1]) {
    svg.append(draw('line', { class: 'grid', x1: left, x2: w - right, y1: y(share), y2: y(share) }));
    svg.append(draw('text', { x: left - 6, y: y(share) + 4, 'text-anchor': 'end', class: 'usetext' }, Math.round(share * 100) + ' %'));
    svg.append(draw('text', { x: w - right + 6, y: y(share) + 4, class: 'feetext' }, (dearest * share).toPrecision(2)));
  }
  const width = Math.max(1, (w - left - right) / points.length - 0.5);
  for (const p of points) {
    const share = p.used_size / capacity;
    const bar = draw('rect', { class: p.storm ? 'use over' : 'use', x: x(p.height) - width / 2, y: y(share), width, height: Math.max(0, y(0) - y(share)) });
    bar.append(draw('title', {}, `height ${p.height}: ${(share * 100).toFixed(1)} % used, ${p.fired} fired, ${p.failed} failed, ${p.deferred} left ready${p.storm ? ', overload' : ''}`));
    svg.append(bar);
  }
  svg.append(draw('polyline', { class: 'fee', points: points.map((p) => `${x(p.height)},${y(p.basefee / dearest)}`).join(' ') }));
  svg.append(draw('text', { x: left, y: h - 6 }, whole(first)), draw('text', { x: w - right, y: h - 6, 'text-anchor': 'end' }, whole(last)));
  place.replaceChildren(svg, make('p', { class: 'note' }, 'bars: share of the lane used; line: lane basefee, right axis'));
  if (points.some((p) => p.storm)) place.append(make('p', { class: 'note' }, 'Red bars: overload. More timers were ready than compete at once (candidate_window).'));
}

async function calendar(place) {
  const found = await get('calendar?span=' + $('span').value);
  const columns = widthOf(place) < 400 ? 12 : 24; const size = 26;
  const svg = draw('svg', { viewBox: `0 0 ${columns * size} ${Math.ceil(found.cells.length / columns) * size}`, role: 'img' });
  svg.append(draw('title', {}, 'timers that become due, by height'));
  const roomOfSpan = Number(found.lane) * found.span;
  let total = 0;
  found.cells.forEach((cell, i) => {
    const share = cell.gas / roomOfSpan; total += cell.timers;
    const level = cell.timers === 0 ? '' : share > 1 ? ' h4' : share > 0.5 ? ' h3' : share > 0.1 ? ' h2' : ' h1';
    const box = draw('rect', { class: 'cell' + level, x: (i % columns) * size + 1, y: Math.floor(i / columns) * size + 1, width: size - 2, height: size - 2, rx: 3 });
    box.append(draw('title', {}, `heights ${cell.from} to ${cell.from + found.span - 1}: ${cell.timers} timers, ${(share * 100).toFixed(0)} % of the lane reserved`));
    svg.append(box);
    if (cell.timers > 0) svg.append(draw('text', { x: (i % columns) * size + size / 2, y: Math.floor(i / columns) * size + size / 2 + 4, 'text-anchor': 'middle' }, cell.timers));
  });
  place.replaceChildren(svg);
  $('calendar-note').textContent = `${whole(total)} timers within ${whole(found.span * found.cells.length)} blocks, ${whole(found.ready)} ready` +
    (found.more ? '; there are more than are counted here' : '') + '. Red: more gas is reserved than the lane holds.';
}

async function ready(place) {
  const found = await get('ready');
  place.replaceChildren(table(timerColumns, found.timers, 'nothing is ready'));
  if (found.more) place.append(make('p', { class: 'note' }, 'there are more'));
}

let live = [];
async function liveEvents(place) {
  live = await get('events');
  place.replaceChildren(table(eventColumns(true), live, 'nothing has happened yet'));
}

async function estimate(place) {
  const prices = await get('estimate?gas=' + $('gas').value);
  const shown = prices.filter((p) => !p.why);
  if (shown.length === 0) { place.replaceChildren(make('p', { class: 'note' }, prices[0] ? prices[0].why : 'no answer')); return; }
  const [w, h, left, bottom, top, right] = [widthOf(place), 220, 60, 22, 10, 94];
  const most = Math.max(...shown.map((p) => Number(p.pre_charge))) * 1.05 || 1;
  const gas = [...new Set(shown.map((p) => p.gas))];
  const x = (g) => left + (w - left - right) * (gas.length < 2 ? 0 : (g - gas[0]) / (gas[gas.length - 1] - gas[0]));
  const y = (v) => top + (h - top - bottom) * (1 - v / most);
  const svg = draw('svg', { viewBox: `0 0 ${w} ${h}`, role: 'img' });
  for (const share of [0, 0.5, 1]) {
    svg.append(draw('line', { class: 'grid', x1: left, x2: w - right, y1: y(most * share), y2: y(most * share) }));
    svg.append(draw('text', { x: left - 6, y: y(most * share) + 4, 'text-anchor': 'end' }, whole(Math.round(most * share))));
  }
  const names = [...new Set(shown.map((p) => p.tier))];
  names.forEach((tier, i) => {
    const line = shown.filter((p) => p.tier === tier);
    svg.append(draw('polyline', { class: 'tier t' + (i % 4), points: line.map((p) => `${x(p.gas)},${y(Number(p.pre_charge))}`).join(' ') }));
    svg.append(draw('line', { class: 'tier t' + (i % 4), x1: w - right + 8, x2: w - right + 26, y1: top + 12 + i * 18, y2: top + 12 + i * 18 }));
    svg.append(draw('text', { x: w - right + 31, y: top + 16 + i * 18 }, tier));
  });
  svg.append(draw('text', { x: left, y: h - 6 }, whole(gas[0]) + ' gas'), draw('text', { x: w - right, y: h - 6, 'text-anchor': 'end' }, whole(gas[gas.length - 1])));
  const longest = Math.max(...shown.map((p) => Number(p.wait_blocks)));
  place.replaceChildren(svg, make('p', { class: 'note' }, `pre-charge in ${shown[0].denom} by gas limit; what a fire does not use is refunded. Longest wait: ${whole(longest)} blocks.`));
  const refused = prices.find((p) => p.why);
  if (refused) place.append(make('p', { class: 'note' }, `Not for ${whole(refused.gas)} gas or more: ${refused.why}`));
}

async function params(place) {
  const found = await get('params');
  const rows = [];
  const walk = (value, name) => {
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
      for (const [k, v] of Object.entries(value)) walk(v, name ? name + '.' + k : k);
    } else rows.push({ name, value: Array.isArray(value) ? value.map((v) => (typeof v === 'object' ? JSON.stringify(v) : v)).join(', ') : value });
  };
  walk(found.config, '');
  place.replaceChildren(table([{ title: 'Parameter', of: (r) => r.name }, { title: 'Value', text: true, of: (r) => r.value }], rows, 'none'));
}

async function timerDetail(place, actor, id) {
  const found = await get('timer?actor=' + encodeURIComponent(actor) + '&id=' + encodeURIComponent(id));
  const fires = found.events.filter((e) => e.kind === 'fired' || e.kind === 'failed');
  const paid = found.events.reduce((sum, e) => sum + BigInt(/^\d+$/.test(e.paid || '') ? e.paid : 0), 0n);
  place.replaceChildren(
    make('section', { class: 'wide' }, make('h2', {}, 'Timer ', make('a', { href: '#' }, 'back')), make('p', { class: 'mono' }, id),
      make('p', {}, 'of ', actorLink(found.actor), ` · ${count(fires.length, 'fire')}, ${whole(fires.filter((e) => e.kind === 'failed').length)} failed, ${whole(paid)} paid`),
      make('div', { class: 'scroll' }, table(eventColumns(false), found.events, 'nothing is known of it')),
      found.more ? make('p', { class: 'note' }, 'there is more, older') : ''),
    make('section', { class: 'wide' }, make('h2', {}, 'Now'), found.now ? make('pre', {}, new Text(JSON.stringify(found.now, null, 2).split('\n').map(clean).join('\n'))) : make('p', { class: 'note' }, 'it is gone')));
}

async function actorDetail(place, actor) {
  const found = await get('actor?actor=' + encodeURIComponent(actor));
  const t = found.totals;
  place.replaceChildren(
    make('section', { class: 'wide' }, make('h2', {}, 'Actor ', make('a', { href: '#' }, 'back')), make('p', { class: 'mono' }, actor),
      make('p', {}, `${count(t.fired, 'fire')}, ${whole(t.failed)} failed, ${whole(t.expired)} expired, ${whole(t.unfunded)} unfunded; ${whole(t.paid)} paid`)),
    make('section', { class: 'wide' }, make('h2', {}, count(found.timers.length, 'live timer')), make('div', { class: 'scroll' }, table(timerColumns, found.timers, 'none'))),
    make('section', { class: 'wide' }, make('h2', {}, 'What happened'), make('div', { class: 'scroll' }, table(eventColumns(false), found.events, 'nothing yet'))));
}

// route shows the overview, a timer or an actor, by the address.
function route() {
  const [kind, ...rest] = location.hash.slice(1).split('/').map(decodeURIComponent);
  $('overview').hidden = kind !== ''; $('detail').hidden = kind === '';
  if (kind === 'timer') show($('detail'), (p) => timerDetail(p, rest[0], rest[1]));
  else if (kind === 'actor') show($('detail'), (p) => actorDetail(p, rest[0]));
  else refresh();
}

async function refresh() {
  await show($('tiles'), tiles);
  await Promise.all([show($('use'), use), show($('calendar'), calendar), show($('ready'), ready)]);
}

function follow() {
  const stream = new EventSource('/api/stream');
  let due = false;
  stream.onmessage = (message) => {
    const { block, events } = JSON.parse(message.data);
    overload = block.storm;
    $('status').textContent = `block ${whole(block.height)} · ${block.fired} fired, ${block.failed} failed, ${block.deferred} left ready` + (block.storm ? ' · overload' : '');
    if (events.length > 0) {
      live = [...events.slice().reverse(), ...live].slice(0, 100);
      if (!$('overview').hidden) $('live').replaceChildren(table(eventColumns(true), live, ''));
    }
    // At most one look a second, however fast blocks come.
    if (!due && !$('overview').hidden) { due = true; setTimeout(() => { due = false; refresh(); }, 1000); }
  };
  stream.onerror = () => { $('status').textContent = 'no news from the dashboard, it is asked again'; };
}

$('search').addEventListener('submit', (e) => {
  e.preventDefault();
  const text = $('query').value.trim().toLowerCase();
  if (text) location.hash = /^[0-9a-f]{64}$/.test(text) ? '#timer//' + text : '#actor/' + encodeURIComponent(text);
});
$('blocks').addEventListener('change', () => show($('use'), use));
$('span').addEventListener('change', () => show($('calendar'), calendar));
$('gas').addEventListener('change', () => show($('estimate'), estimate));
addEventListener('hashchange', route);

const status = await get('status').catch(() => ({}));
$('status').textContent = status.height ? `${clean(status.chain_id)}, block ${whole(status.height)}` : 'no block yet';
route();
show($('live'), liveEvents);
show($('params'), params);
show($('estimate'), estimate);
follow();
