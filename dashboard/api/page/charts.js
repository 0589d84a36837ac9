// Charts of the page. Each is drawn as wide as it is shown, so that its text keeps its size on a phone.
import { bodyOf, clock, count, draw, note, span, whole } from './parts.js';

const widthOf = (place, most = 640) => Math.max(280, Math.min(most, place.clientWidth || 640));

// use draws how much of the lane was used, and its basefee.
export function use(place, points, lane) {
  if (points.length === 0) { place.replaceChildren(note('no block yet')); return; }
  const [w, h, left, right, top, bottom] = [widthOf(place), 220, 44, 60, 8, 22];
  const capacity = Math.max(Number(lane.lane_timer_cycles) || 0, ...points.map((p) => p.peak_size), 1);
  const dearest = Math.max(...points.map((p) => p.basefee), 1e-9) * 1.1;
  const [first, last] = [points[0], points[points.length - 1]];
  const x = (height) => left + (w - left - right) * (last.height === first.height ? 0 : (height - first.height) / (last.height - first.height));
  const y = (share) => top + (h - top - bottom) * (1 - share);
  const svg = draw('svg', { viewBox: `0 0 ${w} ${h}`, role: 'img' });
  svg.append(draw('title', {}, `lane use and basefee from height ${first.height} to ${last.height}`));
  for (const share of [0, 0.5, 1]) {
    svg.append(draw('line', { class: 'grid', x1: left, x2: w - right, y1: y(share), y2: y(share) }));
    svg.append(draw('text', { x: left - 6, y: y(share) + 4, 'text-anchor': 'end', class: 'usetext' }, Math.round(share * 100) + ' %'));
    svg.append(draw('text', { x: w - right + 6, y: y(share) + 4, class: 'feetext' }, (dearest * share).toPrecision(2)));
  }
  const width = Math.max(1, (w - left - right) / points.length - 0.5);
  for (const p of points) {
    const share = p.used_size / capacity;
    const bar = draw('rect', { class: p.storm ? 'use over' : 'use', x: x(p.height) - width / 2, y: y(share), width, height: Math.max(0, y(0) - y(share)) });
    bar.append(draw('title', {}, `block ${whole(p.height)}, ${clock(p.time)}: ${(share * 100).toFixed(1)} % used, ${p.fired} fired, ${p.failed} of them failed, ${p.deferred} left ready${p.storm ? ', overload' : ''}`));
    svg.append(bar);
  }
  svg.append(draw('polyline', { class: 'fee', points: points.map((p) => `${x(p.height)},${y(p.basefee / dearest)}`).join(' ') }));
  ends(svg, [left, w - right, h - 6], first, last);
  place.replaceChildren(svg, note(`bars: share of the ${Number(lane.lane_timer_cycles) ? 'lane' : 'busiest block'} used; line: lane basefee, right axis`));
  if (points.some((p) => p.storm)) place.append(note('Red bars: overload. More timers were ready than compete at once (candidate_window).'));
}

// ends writes where a chart begins and ends: a height, and its time where there is room.
function ends(svg, [left, right, y], first, last) {
  const text = (p) => (right - left > 300 && p.time ? `${whole(p.height)}, ${clock(p.time)}` : whole(p.height));
  svg.append(draw('text', { x: left, y }, text(first)));
  if (last.height !== first.height) svg.append(draw('text', { x: right, y, 'text-anchor': 'end' }, text(last)));
}

// calendar draws how many timers become due in spans of blocks, and returns how many these are.
export function calendar(place, found, pace) {
  const columns = widthOf(place) < 400 ? 12 : 24; const size = 26;
  const svg = draw('svg', { viewBox: `0 0 ${columns * size} ${Math.ceil(found.cells.length / columns) * size}`, role: 'img' });
  svg.append(draw('title', {}, 'timers that become due, by height'));
  let total = 0;
  found.cells.forEach((cell, i) => {
    const share = cell.gas / (Number(found.lane) * found.span); total += cell.timers;
    const level = cell.timers === 0 ? '' : share > 1 ? ' h4' : share > 0.5 ? ' h3' : share > 0.1 ? ' h2' : ' h1';
    const box = draw('rect', { class: 'cell' + level, x: (i % columns) * size + 1, y: Math.floor(i / columns) * size + 1, width: size - 2, height: size - 2, rx: 3 });
    const away = pace ? `, in ${span(Math.max(1, Math.round((cell.from - found.height) * pace)))}` : '';
    box.append(draw('title', {}, `heights ${whole(cell.from)} to ${whole(cell.from + found.span - 1)}${away}: ${count(cell.timers, 'timer')}, ${(share * 100).toFixed(0)} % of the lane reserved`));
    svg.append(box);
    if (cell.timers > 0) svg.append(draw('text', { x: (i % columns) * size + size / 2, y: Math.floor(i / columns) * size + size / 2 + 4, 'text-anchor': 'middle' }, cell.timers > 999 ? Math.floor(cell.timers / 1000) + 'k' : cell.timers));
  });
  place.replaceChildren(svg);
  return total;
}

// estimate draws what a fire would be charged, by its gas limit and the tier of its bid. It reports whether all tiers cost the same.
export function estimate(place, shown) {
  const [w, h, left, bottom, top, right] = [widthOf(place), 220, 60, 22, 10, 94];
  const most = Math.max(...shown.map((p) => Number(p.pre_charge))) * 1.05 || 1;
  const gas = [...new Set(shown.map((p) => p.gas))];
  const x = (g) => left + (w - left - right) * (gas.length < 2 ? 0 : (g - gas[0]) / (gas[gas.length - 1] - gas[0]));
  const y = (v) => top + (h - top - bottom) * (1 - v / most);
  const svg = draw('svg', { viewBox: `0 0 ${w} ${h}`, role: 'img' });
  svg.append(draw('title', {}, 'pre-charge by gas limit'));
  for (const share of [0, 0.5, 1]) {
    svg.append(draw('line', { class: 'grid', x1: left, x2: w - right, y1: y(most * share), y2: y(most * share) }));
    svg.append(draw('text', { x: left - 6, y: y(most * share) + 4, 'text-anchor': 'end' }, whole(Math.round(most * share))));
  }
  // Tiers that cost the same are one line, before their names.
  const lines = new Map();
  [...new Set(shown.map((p) => p.tier))].forEach((tier, i) => {
    const points = shown.filter((p) => p.tier === tier).map((p) => `${x(p.gas)},${y(Number(p.pre_charge))}`).join(' ');
    lines.set(points, [...(lines.get(points) || []), [tier, i]]);
  });
  let row = 0;
  for (const [points, tiers] of lines) {
    const kind = 'tier t' + (tiers[0][1] % 4); const height = top + 12 + row * 18;
    svg.append(draw('polyline', { class: kind, points }), draw('line', { class: kind, x1: w - right + 8, x2: w - right + 26, y1: height, y2: height }));
    const names = lines.size === 1 && tiers.length > 1 ? [['all tiers']] : tiers;
    for (const [tier] of names) svg.append(draw('text', { x: w - right + 31, y: top + 16 + row++ * 18 }, tier));
  }
  svg.append(draw('text', { x: left, y: h - 6 }, whole(gas[0]) + ' gas'), draw('text', { x: w - right, y: h - 6, 'text-anchor': 'end' }, whole(gas[gas.length - 1])));
  place.replaceChildren(svg);
  return lines.size === 1;
}

// life draws what each fire of a timer cost, and how many blocks late it was, oldest first.
export function life(place, events) {
  const fires = events.filter((e) => ['fired', 'failed', 'guarded'].includes(e.kind)).map((e) => ({ ...e, cost: Number(e.paid || 0), late: Number(bodyOf(e).late || 0) })).reverse();
  if (fires.length === 0) { place.replaceChildren(note('it has not fired')); return; }
  const [w, panel, gap, left, right, bottom] = [widthOf(place, 1200), 110, 26, 64, 12, 22];
  const [first, last] = [fires[0], fires[fires.length - 1]];
  const h = 2 * panel + gap + bottom;
  const x = (i) => left + (w - left - right) * ((i + 0.5) / fires.length);
  const width = Math.max(1, Math.min(24, (w - left - right) / fires.length - 1));
  const svg = draw('svg', { viewBox: `0 0 ${w} ${h}`, role: 'img' });
  svg.append(draw('title', {}, `cost and lateness of ${count(fires.length, 'fire')}`));
  for (const [row, name, value, kind] of [[0, 'paid', (e) => e.cost, 'use'], [1, 'blocks late', (e) => e.late, 'wait']]) {
    const top = row * (panel + gap) + 14; const low = row * (panel + gap) + panel;
    const most = Math.max(...fires.map(value), 1);
    svg.append(draw('text', { x: left, y: top - 4 }, name));
    for (const share of [0, 1]) {
      const y = low - (low - top) * share;
      svg.append(draw('line', { class: 'grid', x1: left, x2: w - right, y1: y, y2: y }));
      svg.append(draw('text', { x: left - 6, y: y + 4, 'text-anchor': 'end' }, whole(most * share)));
    }
    fires.forEach((e, i) => {
      const y = low - (low - top) * (value(e) / most);
      const bar = draw('rect', { class: e.kind === 'failed' ? 'over' : kind, x: x(i) - width / 2, y: Math.min(y, low - 1), width, height: Math.max(1, low - y) });
      bar.append(draw('title', {}, `block ${whole(e.height)}, ${clock(e.time)}: ${e.kind}, ${whole(e.cost)} paid, ${count(e.late, 'block')} late`));
      svg.append(bar);
    });
  }
  ends(svg, [left, w - right, h - 6], first, last);
  place.replaceChildren(svg, note('one bar a fire, oldest first; red: it failed'));
}
