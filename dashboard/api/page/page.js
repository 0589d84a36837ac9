// The page: it reads JSON and shows it.
import { actorLink, chain, clock, clean, count, eventColumns, make, moment, note, percent, short, span, table, timerColumns, timerLink, trim, whole } from './parts.js';
import * as charts from './charts.js';

const $ = (id) => document.getElementById(id);

async function get(path) {
  const response = await fetch('/api/' + path).catch(() => { throw new Error('the dashboard does not answer: has it ended?'); });
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
    place.replaceChildren(note(e.message, true));
  }
}

let lane = {}; let overload = false; let seen = {};

// opened are the kinds of trouble that someone opened or closed: they stay so when the page is renewed.
const opened = new Map();

const affectedColumns = [
  { title: 'Timer', head: true, of: (t) => timerLink(t.actor, t.id, t.name) }, { title: 'Owner', of: (t) => actorLink(t.actor) },
  { title: 'Why', text: true, of: (t) => t.why }, { title: 'Does', text: true, of: (t) => short(t.does || '', 80) },
  { title: 'Last', number: true, of: (t) => (t.height ? moment(t.height, clock(t.time)) : '') },
];

function trouble(t) {
  const head = [make('b', { class: t.grave ? 'badge bad' : 'badge warn' }, t.kind), ' ', t.says];
  if (!t.timers) return make('p', { class: 'trouble' }, ...head);
  const details = make('details', { class: 'trouble' }, make('summary', {}, ...head), make('div', { class: 'scroll' }, table(affectedColumns, t.timers, '')));
  if (t.more) details.append(note(`and ${whole(t.more)} more`));
  details.open = opened.get(t.kind) ?? (t.grave && t.timers.length <= 5);
  details.addEventListener('toggle', () => opened.set(t.kind, details.open));
  return details;
}

// troubles are what is wrong, before anything else; then how much waits.
async function troubles(place) {
  seen = await get('overview');
  chain.height = seen.height;
  chain.halted = seen.troubles.some((t) => t.kind === 'chain halted');
  const all = seen.troubles.map(trouble);
  place.className = 'wide' + (seen.troubles.some((t) => t.grave) ? ' grave' : '');
  const calm = seen.height ? 'Nothing is wrong: the node answers, no timer is failing, unfunded, on hold or late, and the lane has room.' : 'No block yet.';
  place.replaceChildren(make('h2', {}, all.length === 0 ? 'All is well' : 'What is wrong'), ...(all.length === 0 ? [make('p', { class: 'trouble' }, calm)] : all));
  users($('users'));
  $('next').replaceChildren(seen.next ? table(timerColumns(true).filter((c) => c.title !== 'Status'), seen.next, 'nothing is pending') : note('unknown while the node does not answer', true));
}

function users(place) {
  const all = seen.sums.cycles;
  place.replaceChildren(table([
    { title: 'Owner', head: true, of: (u) => actorLink(u.actor) },
    { title: 'Share', number: true, of: (u) => percent(all ? u.cycles / all : 0) },
    { title: 'Cycles', number: true, of: (u) => whole(u.cycles) }, { title: 'Fires', number: true, of: (u) => whole(u.fired) },
    { title: 'Failed', number: true, of: (u) => make('span', { class: u.failed ? 'bad' : '' }, u.failed ? `${whole(u.failed)}, ${percent(u.failed / u.fired)}` : '0') },
  ], seen.users, 'nobody has used it yet'), note(`by the fires of the last ${count(seen.sums.blocks, 'block')}`));
}

async function tiles(place) {
  // While the node is away the history goes on telling what it knows.
  const found = await get('lane').catch((e) => ({ why: e.message }));
  lane = found.why ? {} : found;
  const use = Number(lane.lane_timer_cycles) ? Number(lane.used_size) / Number(lane.lane_timer_cycles) : 0;
  const tile = (name, value, more = '') => make('div', { class: 'tile' }, make('span', {}, name), make('b', {}, value), make('span', {}, more));
  const { counts, sums } = seen;
  const least = counts && counts.more ? 'at least ' : '';
  place.replaceChildren(
    tile('Block', whole(lane.height || chain.height), clock(seen.node && seen.node.time)),
    ...(counts ? [
      tile('Pending', least + whole(counts.pending), counts.watching ? whole(counts.watching) + ' more wait for changes' : 'due at later heights'),
      tile('Ready', least + whole(counts.ready), 'due, and not fired yet'), tile('On hold', least + whole(counts.held), 'fire when released'),
    ] : []),
    ...(sums ? [tile('Failed', sums.fired ? percent(sums.failed / sums.fired) : '–', `${whole(sums.failed)} of ${count(sums.fired, 'fire')} in ${count(sums.blocks, 'block')}`)] : []),
    ...(found.why ? [note('Of the lane: ' + found.why, true)] : [tile('Lane use', percent(use), whole(lane.used_size) + ' of ' + whole(lane.lane_timer_cycles)),
    tile('Lane basefee', trim(lane.lane_basefee), 'next ' + trim(lane.next_lane_basefee)),
    tile('Usual tip', trim(lane.p50), lane.fee_denom + ' a unit'),
    tile('Policy', words(lane.policy), lane.paused ? 'paused' : overload ? 'overload' : ''),
    tile('Burned', whole(lane.burned), lane.fee_denom + ' since genesis'), tile('Tips', whole(lane.tips), lane.fee_denom + ' since genesis')]));
}

const use = async (place) => charts.use(place, await get('series?blocks=' + $('blocks').value), lane);

async function calendar(place) {
  const found = await get('calendar?span=' + $('span').value);
  const total = charts.calendar(place, found, chain.pace);
  const blocks = found.span * found.cells.length;
  const time = chain.pace ? `, about ${span(Math.round(blocks * chain.pace))}` : '';
  $('calendar-note').textContent = `${count(total, 'timer')} within ${whole(blocks)} blocks${time}; ${whole(found.ready)} ready` +
    (found.more ? '; there are more than are counted here' : '') + '. Red: more gas is reserved than the lane holds.';
}

async function ready(place) {
  const found = await get('ready');
  place.replaceChildren(table(timerColumns(true), found.timers, 'nothing is ready'));
  if (found.more) place.append(note('there are more'));
}

let live = [];
const liveTable = () => table(eventColumns(true, true), live, 'nothing has happened yet');
async function liveEvents(place) {
  live = await get('events');
  place.replaceChildren(liveTable());
}

async function estimate(place) {
  const prices = await get('estimate?gas=' + $('gas').value);
  const shown = prices.filter((p) => !p.why);
  if (shown.length === 0) { place.replaceChildren(note(prices[0] ? prices[0].why : 'no answer')); return; }
  const same = charts.estimate(place, shown);
  place.append(note(`pre-charge in ${shown[0].denom} by gas limit; what a fire does not use is refunded.`));
  if (same) place.append(note('All tiers cost the same now: no tip is usual.'));
  // What the largest of each tier would meet, once where it is the same.
  const met = new Map();
  for (const p of new Map(shown.map((p) => [p.tier, p])).values()) met.set(p.says, [...(met.get(p.says) || []), p.tier]);
  for (const [says, tiers] of met) place.append(note((met.size > 1 ? tiers.join(', ') + ': ' : '') + says + '.'));
  const refused = prices.find((p) => p.why);
  if (refused) place.append(note(`Not for ${whole(refused.gas)} gas or more: ${refused.why}`));
}

// words is a choice of the parameters as people write it: POLICY_EIP1559 is eip1559.
const words = (value) => String(value).replace(/^(POLICY|BASEFEE_RESPONSE|FAIRNESS_UNIT|PAYMENT_RULE)_([A-Z0-9_]+)$/,
  (_, kind, name) => name.toLowerCase().replaceAll('_', ' '));

async function params(place) {
  const found = await get('params');
  const rows = [];
  const walk = (value, name) => {
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
      for (const [k, v] of Object.entries(value)) walk(v, name ? name + '.' + k : k);
    } else rows.push({ name, value: Array.isArray(value) ? value.map((v) => (typeof v === 'object' ? JSON.stringify(v) : words(v))).join(', ') : value === null ? '' : /^\d{4,}$/.test(value) ? whole(value) : words(value) });
  };
  walk(found.config, '');
  place.replaceChildren(table([{ title: 'Parameter', head: true, of: (r) => r.name }, { title: 'Value', text: true, of: (r) => r.value }], rows, 'none'));
}

const back = () => make('a', { href: '#' }, 'back to all');
const section = (title, ...children) => make('section', { class: 'wide' }, make('h2', {}, title, back()), ...children);
const part = (title, ...children) => make('section', { class: 'wide' }, make('h2', {}, title), ...children);

// history is a list of events that grows by older ones, page by page, until it has all; grown is called with all that are shown.
function history(first, older, columns, more, empty, grown = () => {}) {
  const events = [...first];
  const place = make('div');
  const draw = (hasMore) => {
    place.replaceChildren(make('div', { class: 'scroll tall' }, table(columns, events, empty)));
    grown(events);
    if (!hasMore) return;
    const button = make('button', {}, 'Older');
    button.addEventListener('click', () => show(place, async () => {
      const last = events[events.length - 1];
      const found = await get(older + '&before=' + last.height + '/' + last.position);
      events.push(...found.events);
      draw(found.older ?? found.more);
    }));
    place.append(make('p', {}, button));
  };
  draw(more);
  return place;
}

async function timerDetail(place, actor, id) {
  const path = 'timer?actor=' + encodeURIComponent(actor) + '&id=' + encodeURIComponent(id);
  const found = await get(path);
  const { fired, failed, paid } = found.sums;
  const plot = make('div', { class: 'chart' });
  const last = found.events[0];
  const ends = { cancelled: 'it was cancelled', expired: 'it expired', unfunded: 'its payer lacked funds', fired: 'it fired for the last time', failed: 'its last fire failed', guarded: 'its last fire was guarded' };
  const gone = 'it is gone' + (last && ends[last.kind] ? `: ${ends[last.kind]} at block ${whole(last.height)}, ${clock(last.time)}` : '');
  const now = found.now ? make('dl', {}, ...found.facts.flatMap((f) => [make('dt', {}, f.name), make('dd', {}, f.value)]))
    : note(found.unknown ? 'The node does not tell what it is now: ' + found.unknown : gone, Boolean(found.unknown));
  const due = found.now && (found.now.status === 'pending' || found.now.status === 'ready') ? [' · due ', timerColumns(false).find((c) => c.title === 'Due').of(found.now)] : [];
  place.replaceChildren(
    section('Timer', make('p', { class: 'name' }, found.name || 'without a name'), make('p', { class: 'mono soft' }, id),
      make('p', {}, 'of ', actorLink(found.actor), ` · ${count(fired, 'fire')}, ${whole(failed)} failed, ${whole(paid)} paid`, ...due)),
    part('Now', now),
    part('Cost and lateness', plot),
    part('What happened', history(found.events, path, eventColumns(false, false), found.more, 'the history knows nothing of it', (events) => charts.life(plot, events))));
  charts.life(plot, found.events);
}

async function actorDetail(place, actor) {
  const path = 'actor?actor=' + encodeURIComponent(actor);
  const found = await get(path);
  const t = found.totals;
  place.replaceChildren(
    section('Owner of timers', make('p', { class: 'name' }, actorLink(actor)), make('p', { class: 'mono soft' }, actor),
      make('p', {}, `${count(t.fired, 'fire')}, ${whole(t.failed)} failed${t.fired ? ` (${percent(t.failed / t.fired)})` : ''}, ${whole(t.expired)} expired, ${whole(t.unfunded)} unfunded; ${whole(t.paid)} paid`)),
    part(found.unknown ? 'Live timers' : count(found.live ?? found.timers.length, 'live timer'), found.unknown ? note('The node does not tell of them: ' + found.unknown, true)
      : make('div', { class: 'scroll' }, table(timerColumns(false), found.timers, 'none')), found.more ? note('there are more than are listed here') : ''),
    part('What happened', history(found.events, path, eventColumns(true, false), found.older, 'nothing yet')));
}

// search goes to what was found if that is one thing, and lists it otherwise.
async function search(place, text) {
  place.replaceChildren(section('Search', note('looking for ' + text)));
  let found;
  try {
    found = await get('search?q=' + encodeURIComponent(text));
  } catch (e) {
    place.replaceChildren(section('Search', note(e.message, true)));
    return;
  }
  const [actor] = found.actors; const [timer] = found.timers;
  if (found.actors.length + found.timers.length === 1) {
    location.replace(actor ? '#actor/' + encodeURIComponent(actor) : '#timer/' + encodeURIComponent(timer.actor) + '/' + timer.id);
    return;
  }
  place.replaceChildren(section(`Found for “${text}”`,
    ...(actor ? [make('p', {}, 'owners: ', ...found.actors.flatMap((a, i) => [i ? ', ' : '', actorLink(a)]))] : []),
    make('div', { class: 'scroll tall' }, table([
      { title: 'Timer', head: true, of: (t) => timerLink(t.actor, t.id, t.name) }, { title: 'Owner', of: (t) => actorLink(t.actor) },
      { title: 'Status', text: true, of: (t) => t.status }, { title: 'Block', number: true, of: (t) => (t.height ? moment(t.height, clock(t.time)) : '') },
    ], found.timers, 'no timers')), found.more ? note('there may be more than are listed here: look for more of the name or the error, or more digits') : ''));
}

// route shows the overview, a timer, an actor or a search, by the address.
function route() {
  const [kind, ...rest] = location.hash.slice(1).split('/').map(decodeURIComponent);
  $('overview').hidden = kind !== ''; $('detail').hidden = kind === '';
  if (kind === '') { refresh(); return; }
  $('detail').replaceChildren();
  scrollTo(0, 0);
  if (kind === 'timer') show($('detail'), (p) => timerDetail(p, rest[0], rest[1]));
  else if (kind === 'actor') show($('detail'), (p) => actorDetail(p, rest[0]));
  else show($('detail'), (p) => search(p, kind === 'search' ? rest.join('/') : kind));
}

async function refresh() {
  await show($('troubles'), troubles);
  await show($('tiles'), tiles);
  await Promise.all([show($('use'), use), show($('calendar'), calendar), show($('ready'), ready)]);
}

// renew looks at most once a second, however fast blocks come.
let due = false;
function renew() {
  if (due || $('overview').hidden) return;
  due = true;
  setTimeout(() => { due = false; refresh(); }, 1000);
}

function follow() {
  const stream = new EventSource('/api/stream');
  stream.onmessage = (message) => {
    const { block, events } = JSON.parse(message.data);
    overload = block.storm;
    chain.height = block.height;
    $('status').textContent = `block ${whole(block.height)}, ${clock(block.time)} · ${block.fired} fired, ${block.failed} failed, ${block.deferred} left ready` + (block.storm ? ' · overload' : '');
    if (events.length > 0) {
      live = [...events.slice().reverse(), ...live].slice(0, 100);
      if (!$('overview').hidden) $('live').replaceChildren(liveTable());
    }
    renew();
  };
  stream.onerror = () => { $('status').textContent = 'no news from the dashboard, it is asked again'; };
  // A chain that has halted makes no block that would renew the page.
  setInterval(renew, 5_000);
}

async function begin() {
  const status = await get('status').catch(() => ({}));
  Object.assign(chain, { height: status.height || 0, pace: status.pace || 0, names: status.names || {} });
  $('status').textContent = status.height ? `${clean(status.chain_id)}, block ${whole(status.height)}` : 'no block yet';
  if (status.wallet) {
    $('wallet').replaceChildren(make('a', { href: status.wallet }, 'Change timers with a wallet'));
    $('wallet').hidden = false;
  }
  if (status.chain_id) {
    document.title = 'Timers of ' + status.chain_id;
    $('about').textContent = $('about').textContent.replace("a chain's timers", 'the timers of chain ' + clean(status.chain_id));
  }
}

$('search').addEventListener('submit', (e) => {
  e.preventDefault();
  const text = $('query').value.trim();
  if (!text) return;
  const hash = '#search/' + encodeURIComponent(text);
  if (location.hash === hash) route();
  else location.hash = hash;
});
$('blocks').addEventListener('change', () => show($('use'), use));
$('span').addEventListener('change', () => show($('calendar'), calendar));
$('gas').addEventListener('change', () => show($('estimate'), estimate));
addEventListener('hashchange', route);

await begin();
// The pace of blocks changes, and so does what a first look did not know.
setInterval(() => get('status').then((s) => Object.assign(chain, { pace: s.pace, names: s.names || {} })).catch(() => {}), 30_000);
route();
show($('live'), liveEvents);
show($('params'), params);
show($('estimate'), estimate);
follow();
