/* SPDX-License-Identifier: Apache-2.0 */
/* sample.mjs - made-up runs with their event logs, as docs/reference/api.md has them */

import { readFileSync } from 'node:fs';
import { applyEvents, newRunState } from '../../../web/js/events.mjs';
import { applySummary, seriesOf } from '../../../web/js/summary.mjs';
import { summaryOf } from './summary_of.mjs';
import { busFactor } from '../../../web/js/stats.mjs';

const { served } = JSON.parse(
  readFileSync(new URL('../../vectors/collectives.json', import.meta.url), 'utf8'),
);
const factsOf = (collective) => served.collectives.find(({ name }) => name === collective);

export const iso = (ms) => new Date(ms).toISOString();

/* Events of a run from its first state to its end, with ids 1.. and times from `t0`. */
export class EventLog {
  constructor(t0 = Date.parse('2026-01-05T10:00:00.000Z')) {
    this.t0 = t0;
    this.events = [];
  }

  add(type, keys, after = 0.01) {
    this.t0 += after * 1000;
    const event = { id: this.events.length + 1, time: iso(this.t0), type, ...keys };
    this.events.push(event);
    return event;
  }
}

/* A row with times of a simple model: a fixed cost, and a rate. */
export function sampleRow(options) {
  const {
    row,
    series,
    size,
    collective = 'all_reduce',
    dtype = 'float32',
    inPlace = false,
    world = 4,
    slow = 1,
  } = options;
  const time = (18 + (size / 9000) * (collective === 'broadcast' ? 0.8 : 1)) * slow * (inPlace ? 0.96 : 1);
  const algbw = size / time / 1e3;
  const times = Array.from({ length: world }, (_, r) => time * (0.96 + (0.08 * r) / world));
  return {
    row,
    series,
    collective,
    dtype,
    redop: collective === 'broadcast' ? 'none' : 'sum',
    root: collective === 'broadcast' ? 0 : -1,
    in_place: inPlace,
    size,
    count: size / 4,
    iters: 800,
    time_us: time,
    time_min_us: times[0],
    time_max_us: times[world - 1],
    algbw_gbs: algbw,
    busbw_gbs: algbw * busFactor(factsOf(collective), world),
    first_us: time * 3,
    times_us: times,
    wrong: 0,
    errors: [],
    blocks: 40,
    time_low_us: time * 0.985,
    time_high_us: time * 1.025,
    time_p5_us: time * 0.97,
    time_p95_us: time * 1.1,
    ...(size < 16 ? { noisy: true } : {}),
  };
}

const nodesOf = (count, ranks) => Array.from({ length: count }, (_, i) => ({ name: `node-${i + 1}`, ranks }));
const NODES = nodesOf(2, 2);

/* The rows of one case in the order of measuring. */
export function sampleRows({ collectives = ['all_reduce'], sizes, slow = 1, world = 4 }) {
  const rows = [];
  collectives.forEach((collective, c) => {
    sizes.forEach((size) => {
      [false, true].forEach((inPlace) =>
        rows.push(
          sampleRow({
            row: rows.length,
            series: 2 * c + (inPlace ? 1 : 0),
            size,
            collective,
            inPlace,
            slow,
            world,
          }),
        ),
      );
    });
  });
  return rows;
}

export const sizesUpTo = (min, max) => {
  const sizes = [];
  for (let size = min; size <= max; size *= 2) {
    sizes.push(size);
  }
  return sizes;
};

/* A whole run. `options`: id, name, labels, collectives, sizes, repeats, state, reason,
 * mutate(row): changes rows before they are logged; groups: the ranks of each; nodes,
 * ranks: how many, and how many on each. */
export function sampleRun(options = {}) {
  const {
    id = '06cw1x2k3m4n',
    name = '',
    labels = {},
    collectives = ['all_reduce'],
    sizes = sizesUpTo(8, 128 << 20),
    repeats = 1,
    state = 'completed',
    reason = null,
    mutate = (row) => row,
    groups = undefined,
    nodes = 2,
    ranks = 2,
  } = options;
  const log = new EventLog(options.t0);
  const created = iso(log.t0);
  const rowsEach = collectives.length * sizes.length * 2;
  log.add('state', { state: 'queued', reason: null }, 0);
  log.add('state', { state: 'waiting_for_nodes', reason: null });
  log.add('placed', {
    backend: 'host',
    world_size: nodes * ranks,
    nodes: nodesOf(nodes, ranks),
    rows_total: rowsEach * repeats,
    groups,
  });
  log.add('state', { state: 'rendezvous', reason: null });
  for (let repeat = 0; repeat < repeats; repeat += 1) {
    sampleCase(log, repeat, { collectives, sizes, mutate, nodes, ranks, failed: state === 'failed' });
  }
  log.add('state', { state, reason });
  const spec = {
    name,
    labels,
    backend: 'auto',
    collectives,
    sizes,
    dtypes: ['float32'],
    redops: ['sum'],
    root: 0,
    in_place: 'both',
    iters: 'auto',
    block_ms: 2,
    samples: { min: 8, max: 100, rel: 0.02, max_s: 0.1 },
    warmup: 5,
    agg_iters: 1,
    check: 1,
    timing: 'throughput',
    repeats,
    nodes: { count: 2, wait_s: 60 },
    ranks_per_node: 'all',
    env: { NCCL_DEBUG: 'INFO' },
    timeout_s: 600,
    stall_s: 30,
  };
  return { id, name, labels, created, spec, events: log.events };
}

function sampleCase(log, repeat, { collectives, sizes, mutate, nodes, ranks, failed }) {
  const world = nodes * ranks;
  const at = { case: repeat, attempt: 1 };
  const everyNode = (state, after) => {
    for (let node = 0; node < nodes; node++) {
      log.add(
        'ranks',
        {
          ...at,
          node: `node-${node + 1}`,
          state,
          ranks: Array.from({ length: ranks }, (_, i) => node * ranks + i),
          transport: state === 'connected' ? 'shm' : undefined,
        },
        after,
      );
    }
  };
  log.add('case', { ...at, repeat, state: 'rendezvous', reason: null });
  everyNode('spawned', 0.004);
  everyNode('joined', 0.011);
  everyNode('connected', 0.02);
  log.add('case', { ...at, repeat, state: 'running', reason: null });
  if (repeat === 0) {
    log.add('state', { state: 'running', reason: null }, 0);
  }
  everyNode('running', 0.001);
  for (const row of sampleRows({ collectives, sizes, world, slow: 1 + repeat * 0.05 })) {
    log.add('result', { ...at, ...mutate(row) }, ((row.time_us ?? 0) * 25) / 1e6);
  }
  if (failed) {
    log.add('rank', { ...at, rank: 2, node: 'node-2', state: 'failed', reason: 'killed by signal 9' });
    log.add('message', {
      level: 'error',
      text: 'rank 2 on node-2 was killed by signal 9',
      ...at,
      rank: 2,
      node: 'node-2',
    });
    log.add('case', {
      ...at,
      repeat,
      state: 'failed',
      reason: 'rank 2 on node-2 was killed by signal 9',
    });
    return;
  }
  everyNode('done', 0.001);
  log.add('case', { ...at, repeat, state: 'completed', reason: null });
}

const where = { pci: '0000:18:00.0', numa: 0, cpus: '0-31' };

/* With what may be wrong: lanes and a link missing, a GPU that is hot, a port down. */
const sampleDevices = {
  gpus: [0, 1].map((i) => ({
    ...where,
    pcie: { gts: 16, gts_max: 32, width: i ? 8 : 16, width_max: 16 },
    acs: i ? ['0000:17:01.0'] : [],
    name: 'NVIDIA H100 80GB HBM3',
    persistence: true,
    ecc: true,
    mig: false,
    nvlink: { active: 18 - i, inactive: i ? [3] : [], to: { switch: 18 - i } },
    now: { sm_mhz: 1980, slowed_by: i ? ['heat'] : [] },
  })),
  rdma: ['active', 'down'].map((state, i) => ({
    name: `mlx5_${i}`,
    port: 1,
    state,
    rate_gbps: 400,
    link_layer: i ? 'ethernet' : 'infiniband',
    netdev: `ib${i}`,
    firmware: '28.39.1002',
    gids: [{ index: 3, type: 'RoCE v2', address: '192.168.100.11' }],
    gids_left_out: 240,
    ...where,
    pcie: { gts: 32, gts_max: 32, width: 16, width_max: 16 },
  })),
  net: [
    {
      name: 'eth0',
      kind: 'ethernet',
      state: 'up',
      speed_mbps: 25000,
      mtu: 9000,
      driver: 'mlx5_core',
      addresses: ['10.0.0.7', '2001:db8:1234:5678:9abc:def0:1234:5678'],
      ...where,
    },
  ],
  left_out: { net: 468 },
  governor: 'performance',
  iommu: 'identity',
  nccl_conf: ['NCCL_IB_HCA=mlx5'],
  limits: { memlock_bytes: 'unlimited', shm_bytes: 64 * 1024 ** 2, open_files: 1048576 },
  modules: { nvidia: '550.90.07', nvidia_uvm: '' },
};

export function sampleNode(name, state = 'idle', extra = {}) {
  return {
    name,
    state,
    group: 'slurm-8123',
    labels: { rack: '7' },
    ranks: 2,
    address: '10.0.0.7',
    registered: iso(Date.now() - 3.6e6),
    last_seen: iso(Date.now()),
    version: '0.1.0',
    hardware: 'AMD EPYC 9354, 2 sockets, 64 cores; 8 x NVIDIA H100 80GB HBM3',
    versions: { ringbench: '0.1.0', nccl: '2.27.3', cuda_driver: '13.0' },
    run: null,
    inventory: {
      host: name,
      kernel: '6.1.0-28-amd64',
      os: 'Debian GNU/Linux 12',
      cpu: { model: 'AMD EPYC 9354', sockets: 2, cores: 64, threads: 128 },
      numa_nodes: 2,
      memory_bytes: 405 * 1024 ** 3,
      addresses: [
        { interface: 'eth0', address: '10.0.0.7' },
        { interface: 'ib0', address: '10.1.0.7' },
      ],
      hostid: 'b7c9e0d2',
      ...sampleDevices,
      backends: {
        host: {
          backend: 'host',
          version: '0.1.0',
          available: true,
          reason: null,
          devices: [{ index: 0, name: 'CPU', kind: 'cpu', memory_bytes: 405 * 1024 ** 3 }],
        },
        nccl: {
          backend: 'nccl',
          available: false,
          reason: 'libnccl.so.2 was not found',
          devices: [],
        },
      },
    },
    ...extra,
  };
}

/* The state of a page that has read all of it. */
export function replay(events) {
  const run = newRunState();
  applyEvents(run, events);
  applySummary(run, summaryOf(events));
  run.summary.cases = seriesOf(summaryOf(events, 'case'));
  return run;
}

/* A run's state that has these rows, as far as books look at it. */
export function stateWith(rows) {
  return replay(rows.map((row, i) => ({ case: 0, ...row, id: i + 1, type: 'result' })));
}

/* A run of a program that prints two figures at each step, in two environments. */
export function sampleProgram(id = 'prog') {
  const log = new EventLog();
  log.add('state', { state: 'running', reason: null }, 0);
  log.add('placed', { backend: 'program', world_size: 2, nodes: NODES, rows_total: 0 });
  [0, 1, 2, 3].forEach((number) => {
    const at = { case: number, attempt: 1 };
    const env = { NCCL_P2P_DISABLE: String(number % 2) };
    log.add('case', { ...at, state: 'running', reason: null, repeat: number >> 1, env });
    for (let step = 1; step <= 12; step += 1) {
      const figure = { ...at, rank: 0, labels: { step }, higher_is_better: true };
      log.add('result', { ...figure, metric: 'speed', unit: 'samples/s', value: step + number });
      log.add('result', { ...figure, metric: 'loss', unit: '', value: 9 / (step + number) });
    }
    log.add('case', { ...at, state: 'completed', reason: null, repeat: number >> 1 });
  });
  log.add('state', { state: 'completed', reason: null });
  const spec = { program: { name: 'train', args: {} }, repeats: 2 };
  return { id, name: 'train', labels: {}, created: iso(log.t0), spec, events: log.events };
}

const DAY_MS = 24 * 3.6e6;

/* A time that a watch measured its nodes, so many nights ago: `night` is {answer} and what differs of the
 * verdict's evidence. */
function sampleSweep({ answer, ...evidence }, ago) {
  const begun = Date.parse('2026-01-30T12:00:00Z') - ago * DAY_MS;
  return {
    due: iso(begun),
    begun: iso(begun),
    ended: iso(begun + 6e4),
    verdict: {
      kind: 'watch',
      answer,
      sentence: `night ${ago}: ${answer}`,
      nodes: evidence.named?.flatMap(({ nodes }) => nodes) ?? [],
      evidence: {
        of: 64,
        measured: 64,
        missed: [],
        n_missed: 0,
        skipped: 0,
        runs: [`run-${ago}`],
        named: [],
        ...evidence,
      },
    },
  };
}

/** A watch of these nights, the newest first.
 * @returns {any} */
export function sampleWatch(nights, extra = {}) {
  const sweeps = nights.map(sampleSweep);
  return {
    id: '1ngc13d9jrqf',
    name: 'nightly',
    by: null,
    state: 'waiting',
    mode: 'observe',
    spec: {},
    created: '2025-12-01T00:00:00.000Z',
    next: '2026-01-31T02:00:00.000Z',
    run: null,
    sweep: null,
    last: sweeps[0]?.verdict ?? null,
    sweeps,
    coverage: {
      measured: 58,
      nodes: 64,
      stale: extra.stale?.length ?? 0,
      hours: 24,
      sentence: '58 of 64 nodes measured in the last 24 h',
    },
    counts: {},
    nodes: [],
    stale: [],
    actions: [],
    ...extra,
  };
}

/* The level of a node, of a run that measured it so many hours ago. */
export const sampleLevel = (name, level, hoursAgo, extra = {}) => ({
  name,
  measured: iso(Date.now() - hoursAgo * 3.6e6),
  stale: false,
  run: 'run-0',
  answer: 'pass',
  figure: 'busbw_gbs',
  level,
  low: 43.9,
  high: 46.2,
  level_run: 'run-0',
  level_measured: iso(Date.now() - hoursAgo * 3.6e6),
  ...extra,
});
