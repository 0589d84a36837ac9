// What the form of the simulator stands for: demands, and the file of a simulation.

const lognormal = (median) => ({ kind: 'lognormal', median, sigma: 0.7 });
const job = { cycles: 90000, median: 0.004, patience: 40 };
const people = { ...job, name: 'people', agents: 50, cells: 500, bids: 'estimator' };
const whale = { ...job, name: 'whale', agents: 1, cells: 0, bids: 'truthful' };

// demands by name. A rate is the number of timers a block of the whole group; the default lane holds some 20 of them.
export const demands = {
  quiet: { title: 'quiet: a quarter of the lane', groups: [{ ...people, rate: 5, pattern: 'steady' }] },
  usual: { title: 'usual: half of the lane', groups: [{ ...people, rate: 10, pattern: 'steady' }] },
  busy: {
    title: 'busy: three quarters, a third of it by one owner',
    groups: [{ ...people, rate: 10, pattern: 'steady' }, { ...whale, rate: 5, pattern: 'steady' }],
  },
  overload: {
    title: 'overload: more than the lane holds',
    groups: [{ ...people, rate: 16, pattern: 'steady' }, { ...whale, rate: 12, pattern: 'steady' }],
  },
  burst: {
    title: 'burst: one owner has five times as much for 30 blocks',
    groups: [{ ...people, rate: 9, pattern: 'steady' }, { ...whale, rate: 6, pattern: 'burst' }],
  },
  waves: { title: 'waves: the demand rises and falls', groups: [{ ...people, rate: 14, pattern: 'waves' }] },
  crash: {
    title: 'crash: liquidations after a fall of a price',
    groups: [
      { ...people, rate: 7, pattern: 'steady' },
      { ...whale, name: 'liquidators', agents: 10, rate: 1, patience: 12, pattern: 'crash' },
    ],
  },
};

// patterns by name, for a run of so many blocks.
const patterns = {
  steady: () => ({ kind: 'steady' }),
  burst: (blocks) => ({ kind: 'burst', from: Math.floor(blocks / 2), to: Math.floor(blocks / 2) + 29, factor: 5 }),
  waves: () => ({ kind: 'diurnal', period: 50, depth: 1 }),
  crash: (blocks) => ({ kind: 'crash', from: Math.floor(blocks / 2), factor: 30, worth: 20, period: 8 }),
};
export const patternNames = Object.keys(patterns);

// bids by their names in the file, as the form explains them.
export const bids = {
  estimator: 'the default bid, up to the worth',
  truthful: 'up to the worth, with a tip',
  minimal: 'up to the worth, no tip',
  overbid: 'ten times the worth',
};

export const policies = ['fifo', 'eip1559', 'auction', 'score', 'tip'];

// fileOf is the file that a form stands for. Numbers go as they were typed: the simulator says what is wrong with them.
export function fileOf(form) {
  const number = (text) => (String(text).trim() === '' || Number.isNaN(Number(text)) ? text : Number(text));
  const groups = form.groups.map((g) => ({
    name: g.name, agents: number(g.agents), rate: number(g.rate), cycles: number(g.cycles), cells: number(g.cells),
    value: lognormal(number(g.median)), patience: number(g.patience),
    pattern: patterns[g.pattern](Number(form.blocks) || 0),
    strategy: g.bids === 'truthful' ? { kind: g.bids, shade: 0.7 } : { kind: g.bids },
  }));
  const figures = ['use', 'fires', 'welfare', 'basefee', 'basefee_top', 'tips'];
  const ofGroup = ['wait', 'wait_p99', 'unserved', 'price'];
  for (const g of groups) figures.push(...ofGroup.map((figure) => `${g.name}.${figure}`));
  return {
    title: 'Own simulation', blocks: number(form.blocks), seeds: number(form.seeds),
    config: { lane_timer_cycles: String(form.lane), target: String(form.target), max_change: String(form.change) },
    agents: groups,
    variants: form.policies.map((policy) => ({ name: policy, config: { policy } })),
    show: figures,
  };
}

// tables are the simulations of the pages on economics: the names of their files, and what they are about.
export const tables = {
  policies: 'Waiting time of the poor',
  window: 'Length of the fairness window',
  fragmentation: 'Splitting into actors',
  response: 'Clip or linear',
  tiers: 'Tiers and their cap',
  subsidy: 'A subsidised lane',
  lambda: 'Lambda and the reserve price',
  vcg: 'vcg or first price',
  revenue: 'vcg or first price: revenue',
  equilibrium: 'vcg or first price: equilibrium',
  cells: 'Size or cycles alone',
  storm: 'Window of candidates',
  keepout: 'What it costs to keep others out',
  proposer: 'A proposer who tips itself',
  unfunded: 'Bids without funds',
  crash: 'After a price crash',
  peers: 'Rules of other chains',
};

// slow are those that take a browser many minutes.
export const slow = ['window', 'equilibrium'];
