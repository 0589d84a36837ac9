// Parts of the page: elements, numbers and times for people, links and tables. What comes from the chain becomes text nodes,
// never markup.

const SVG = 'http://www.w3.org/2000/svg';

// make builds an element; children are elements or texts.
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.map((c) => (c instanceof Node ? c : clean(c))));
  return element;
}

export function draw(tag, attributes = {}, text) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = clean(text);
  return element;
}

// clean shows control characters and those that turn the direction of text as what they are: a name must not look like
// something else.
export function clean(text) {
  return String(text).replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g,
    (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
}

export const note = (text, bad) => make('p', { class: bad ? 'note bad' : 'note' }, text);
export const whole = (n) => Number(n).toLocaleString('en');
export const count = (n, thing) => whole(n) + ' ' + thing + (Number(n) === 1 ? '' : 's');
export const short = (text, n = 10) => (text.length > n + 1 ? text.slice(0, n) + '…' : text);
export const percent = (share) => (share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0) + ' %';

// trim shortens a price to six digits.
export const trim = (decimal) => (decimal ? String(Number(Number(decimal).toPrecision(6))) : '0');

// chain is what times and names are told by: the latest block that is known, the seconds between blocks, whether no more come, and
// the names of keys.
export const chain = { height: 0, time: 0, pace: 0, halted: false, names: {} };

// clock is a time of day, with its date unless that is today's.
export function clock(seconds) {
  if (!seconds) return '';
  const at = new Date(seconds * 1000);
  const time = at.toLocaleTimeString('en-GB');
  return at.toDateString() === new Date().toDateString() ? time : at.toLocaleDateString('en-CA') + ' ' + time;
}

// span is a duration in one or two units.
export function span(seconds) {
  const units = [['d', 86400], ['h', 3600], ['min', 60], ['s', 1]];
  const at = units.findIndex(([, size]) => seconds >= size);
  if (at < 0) return '0 s';
  const [name, size] = units[at];
  const rest = units[at + 1] ? Math.floor((seconds % size) / units[at + 1][1]) : 0;
  return Math.floor(seconds / size) + ' ' + name + (rest > 0 ? ' ' + rest + ' ' + units[at + 1][0] : '');
}

// soon says when a height will be, by the pace of the last blocks; nothing of a chain that has halted.
export function soon(height) {
  if (!chain.height || !chain.pace || chain.halted) return '';
  const seconds = (height - chain.height) * chain.pace;
  if (seconds <= 0) return 'now';
  // Heights that are far away are no date that anyone can tell.
  if (seconds > 10 * 365 * 86400) return '';
  return 'in ' + span(Math.max(1, Math.round(seconds)));
}

// ahead says when a time will be, from now on.
const ahead = (seconds) => (seconds * 1000 > Date.now() ? 'in ' + span(Math.max(1, Math.round(seconds - Date.now() / 1000))) : 'now');

// moment is a height with a time below it.
export const moment = (height, time) => make('span', { class: 'moment' }, whole(height), ' ', make('small', {}, time));

// brief is an address by its human-readable part and its ends: the former alone is the same for all.
const brief = (a) => { const data = a.lastIndexOf('1') + 1; return a.length < data + 12 ? a : a.slice(0, data + 4) + '…' + a.slice(-5); };

export function actorLink(a) {
  if (!a) return '';
  const name = Object.hasOwn(chain.names, a) ? chain.names[a] : '';
  return make('a', { href: '#actor/' + encodeURIComponent(a), class: name ? '' : 'mono', title: a }, name || brief(a));
}

// timerLink names a timer by its name where it has one, and always by its id.
export function timerLink(actor, id, name) {
  if (!id) return '';
  const link = make('a', { href: '#timer/' + encodeURIComponent(actor) + '/' + encodeURIComponent(id), title: id });
  if (name) link.append(clean(short(name, 40)), ' ');
  link.append(make('span', { class: name ? 'mono soft' : 'mono' }, short(id, 8)));
  return link;
}

export function table(columns, rows, empty) {
  if (rows.length === 0) return note(empty);
  const kind = (c) => (c.number ? 'n' : c.text ? 'text' : c.head ? 'head' : '');
  const head = make('tr', {}, ...columns.map((c) => make('th', c.number ? { class: 'n' } : {}, c.title)));
  return make('table', {}, make('thead', {}, head), make('tbody', {}, ...rows.map((row) => make('tr', {},
    ...columns.map((c) => make('td', { 'data-title': c.title, class: kind(c) }, c.of(row)))))));
}

// kindText is what happened, in the words of the page.
const kindText = (kind) => kind.replace(/^on hold/, 'on hold');

export function kindOf(e) {
  const bad = ['failed', 'unfunded', 'expired', 'lane failed', 'agent failed', 'waits for funds', 'basefee source failed'].includes(e.kind) || e.kind.startsWith('on hold');
  return make('span', { class: bad ? 'bad' : e.kind === 'fired' ? 'good' : '' }, kindText(e.kind));
}

export function bodyOf(e) {
  try { return JSON.parse(e.body); } catch { return {}; }
}

// unsaid are what the columns show already, and numbers that stand for something else.
const unsaid = ['id', 'actor', 'deliver_id', 'success', 'paid', 'seq', 'payer', 'fee_payer', 'name', 'codespace', 'code', 'opcode', 'reason', 'tier', 'agent', 'scheduler'];
// ofTimes are seconds since 1970, and what is a height instead where there is one.
const ofTimes = { due_time: 'due', next_time: 'next due', expires_time: 'expires after', previous_expires_time: 'not after' };
// inPlaceOf are heights that say nothing where there is a time.
const inPlaceOf = { due: 'due_time', next_due: 'next_time' };
// firstSeconds is a time that no height comes to: an occurrence is a height or seconds since 1970.
const firstSeconds = 1_000_000_000;
const ofHeights = ['due', 'next_due', 'expires_at', 'previous_expires_at', 'refused_from', 'height'];

// facts are what an event says beyond what the columns show.
function facts(e) {
  const body = bodyOf(e);
  const said = Object.entries(body).filter(([k, v]) => !unsaid.includes(k) && !body[inPlaceOf[k]] && v !== '' && v !== 0 && v !== '0' && v !== false && typeof v !== 'object').map(([k, v]) => {
    const name = k.replaceAll('_', ' ');
    if (ofTimes[k]) return ofTimes[k] + ' ' + clock(Number(v));
    if (['occurrence', 'first', 'last'].includes(k) && Number(v) >= firstSeconds) return name + ' ' + clock(Number(v));
    if (k === 'late') return count(v, 'block') + ' late';
    if (k === 'fire_seq') return 'fire ' + whole(v + 1);
    if (k === 'expires_at') return 'expires after ' + whole(v);
    if (ofHeights.includes(k)) return name + ' ' + whole(v);
    if (['cycles', 'cells'].includes(k)) return whole(v) + ' ' + name;
    if (v === true) return name;
    return name + ' ' + (/^\d+$/.test(v) ? whole(v) : v);
  });
  return [e.why, ...said].filter(Boolean).join(', ');
}

export const eventColumns = (withTimer, withActor) => [
  { title: 'What', head: true, of: kindOf },
  ...(withTimer ? [{ title: 'Timer', of: (e) => timerLink(e.actor, e.timer, e.name) }] : []),
  ...(withActor ? [{ title: 'Owner', of: (e) => actorLink(e.actor) }] : []),
  { title: 'Block', number: true, of: (e) => moment(e.height, clock(e.time)) },
  { title: 'Paid', number: true, of: (e) => (e.paid ? whole(e.paid) : '') }, { title: 'More', text: true, of: facts },
];

export const timerColumns = (withActor) => [
  { title: 'Timer', head: true, of: (t) => timerLink(t.actor, t.id, t.name) },
  ...(withActor ? [{ title: 'Owner', of: (t) => actorLink(t.actor) }] : []),
  { title: 'Does', text: true, of: (t) => short(t.does, 80) },
  { title: 'When', text: true, of: (t) => t.when },
  { title: 'Due', number: true, of: (t) => (t.due_time ? make('span', { class: 'moment' }, clock(t.due_time), ' ', make('small', {}, ahead(t.due_time))) : t.status === 'pending' || t.status === 'ready' ? moment(t.due, soon(t.due)) : '') },
  { title: 'Bid', of: (t) => t.bid },
  { title: 'Status', of: (t) => make('span', { class: t.status.startsWith('on hold') ? 'bad' : '' }, t.status) },
];
