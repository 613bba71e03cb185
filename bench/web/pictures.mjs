/* SPDX-License-Identifier: Apache-2.0 */
/* pictures.mjs - takes screenshots of all views
 *
 * usage: pictures.mjs DIR [PART...]. Takes each view at 400 and 1600 px, light and dark. The views show a
 * healthy run, a noisy run, failed runs, comparisons with and without a difference, trends with a change, a
 * search for the slow node, 500 nodes and 10,000 runs. Servers and agents are real, but the measurements are
 * simulated. Files are named NAME-WIDTH-SCHEME.png. With PARTs, only files whose names begin with a PART are
 * written. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { faulty, startAgents, startServer } from '../../tests/integration/lib/cluster.mjs';
import { binDir, Program } from '../../tests/integration/lib/fixture.mjs';
import { openBrowser } from '../../tests/web/lib/browser.mjs';

const WIDTHS = [400, 1600];
const SCHEMES = ['light', 'dark'];
const FLEET = 500;
const MANY = 10000;
const [dir, ...parts] = process.argv.slice(2);
if (!dir) {
  console.error('usage: pictures.mjs DIR [PART...]');
  process.exit(2);
}
const wanted = (name) => parts.length === 0 || parts.some((part) => name.startsWith(part));

const undo = [];
const t = { after: (one) => undo.push(one) };
const sim = (name, more = {}, env = {}) => ({
  name,
  backend: 'sim',
  nodes: { count: 4 },
  sizes: { min: 8, max: '256M' },
  ...more,
  env: { SIM_SLEEP_FRACTION: '0', SIM_SEED: '7', ...env },
});

async function startFleet(server, nodes, args) {
  const fleet = new Program(t, path.join(binDir, 'ringbench-sim'), [
    '--server',
    server.url,
    '--nodes',
    String(nodes),
    ...args,
  ]);
  await fleet.line(/registered/);
  return fleet;
}

/* Returns [name, address] of each view. */
async function smallCluster() {
  const server = await startServer(t, faulty.server);
  await startAgents(t, server, 4, faulty.agent);
  const ended = async (spec) => (await server.runEnds((await server.run(spec)).id)).id;
  const healthy = await ended(sim('healthy', { repeats: 5 }));
  const noisy = await ended(sim('noisy', { repeats: 5 }, { SIM_NOISE: '0.4' }));
  const wrong = await ended(
    sim('wrong data', { backend: 'host', fault: { kind: 'wrong', rank: 2, row: 4 } }),
  );
  const hang = await ended(sim('hang', { stall_s: 5, fault: { kind: 'hang', rank: 2, row: 4 } }));
  const slower = await ended(sim('slower links', { repeats: 5 }, { SIM_RING_GBS: '40', SIM_SEED: '8' }));
  const again = await ended(sim('healthy again', { repeats: 5 }, { SIM_SEED: '9' }));
  /* The nightly runs have equal specs, but node sim-1 becomes slower. */
  for (const fault of ['sim-1:0.99', 'sim-1:0.88']) {
    const fleet = await startFleet(server, 4, ['--slow', fault]);
    for (let i = 0; i < 10; i += 1) {
      await ended({
        ...sim('nightly', { repeats: 3, labels: { job: 'nightly' } }),
        nodes: { names: ['sim-1', 'sim-2', 'sim-3', 'sim-4'] },
        env: { SIM_SLEEP_FRACTION: '0' },
      });
    }
    fleet.signal('SIGTERM');
    await fleet.ended();
  }
  const views = [
    ...['table', 'ranks', 'cases', 'logs', 'spec'].map((tab) => [
      `healthy-${tab}`,
      `/runs/${healthy}?tab=${tab}`,
    ]),
    ['noisy', `/runs/${noisy}`],
    ['wrong', `/runs/${wrong}`],
    ['hang', `/runs/${hang}`],
    ['compare-slower', `/compare?base=${healthy}&head=${slower}`],
    ['compare-alike', `/compare?base=${healthy}&head=${again}`],
    ['overlay', `/runs/${healthy}?with=${slower}`],
    ['trends', '/trends'],
    ['new', '/new'],
    ['nodes-few', '/nodes'],
  ];
  return views.map(([name, to]) => [name, server.url + to]);
}

async function bigFleet() {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'ringbench-pictures-'));
  const made = spawnSync(path.join(binDir, 'make_trends'), [dataDir, String(MANY), '250']);
  const server = await startServer(t, { dataDir });
  await startFleet(server, FLEET, ['--racks', '16', '--slow', 'sim-6:0.5']);
  const search = async (name, count, pattern) => {
    const { id } = await server.run(sim(name, { nodes: { count }, sizes: ['64M'], pattern }));
    await server.runEnds(id);
    return [`fleet-${pattern}-${count}`, `/runs/${id}`];
  };
  const views = [
    await search('which node is slow?', 16, 'pairs'),
    await search('which rack?', 96, 'pairs'),
    await search('which of 500?', FLEET, 'pairs'),
    await search('how does it scale?', 64, 'scaling'),
    ['fleet-nodes', '/nodes'],
    ['fleet-node', '/nodes/sim-6'],
    ['fleet-new', '/new'],
    [made.status === 0 ? 'fleet-runs' : 'fleet-runs-few', '/'],
  ];
  return views.map(([name, to]) => [name, server.url + to]);
}

async function take(page, name, url) {
  for (const scheme of SCHEMES) {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      await page.goto(url);
      /* The page is drawn only after its last part has arrived. */
      await page.waitForLoadState('load');
      await page.waitForTimeout(1500);
      const height = await page.evaluate(() => document.documentElement.scrollHeight);
      await page.screenshot({
        path: path.join(dir, `${name}-${width}-${scheme}.png`),
        fullPage: true,
        clip: { x: 0, y: 0, width, height: Math.min(height, 3000) },
      });
      console.log(`${name} ${width} ${scheme}: ${height} px high`);
    }
  }
}

mkdirSync(dir, { recursive: true });
const browser = await openBrowser();
const page = await browser.context.newPage();
try {
  for (const { prefix, make } of [
    { prefix: '', make: smallCluster },
    { prefix: 'fleet', make: bigFleet },
  ]) {
    const needed =
      parts.length === 0 || parts.some((part) => part.startsWith('fleet') === (prefix === 'fleet'));
    for (const [name, url] of needed ? await make() : []) {
      if (wanted(name)) {
        await take(page, name, url);
      }
    }
  }
} finally {
  await browser.close();
  for (const one of undo.reverse()) {
    await one();
  }
}
