// SPDX-License-Identifier: Apache-2.0
// launch.test.mjs - launched runs of a real Slurm at a server with TLS, whose certificate a private CA signed
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { binDir, patience, tempDir, waitFor } from '../integration/lib/fixture.mjs';
import { Slurm } from './cluster.mjs';

const limit = { timeout: 120000 * patience };
const root = fileURLToPath(new URL('../..', import.meta.url));
// Those of a folder that was installed or unpacked, such as a bundle, else the sources'.
const installed = path.join(binDir, '../share/ringbench/launchers.d');
const shipped = fs.existsSync(installed) ? installed : path.join(root, 'deploy/launchers.d');
const token = { agent: 'a'.repeat(32), operator: 'o'.repeat(32) };

const endings = [];
const all = { after: (action) => endings.push(action) };
let slurm, server, dir;

// ca.pem, and the server's key and certificate, which the CA signed for 127.0.0.1.
function makeChain() {
  const at = (name) => path.join(dir, name);
  const openssl = (...args) => execFileSync('openssl', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    'req',
    '-x509',
    ...key,
    '-days',
    '2',
    '-subj',
    '/CN=private',
    '-keyout',
    at('ca.key'),
    '-out',
    at('ca.pem'),
  );
  openssl('req', ...key, '-subj', '/CN=head', '-keyout', at('key.pem'), '-out', at('request.pem'));
  fs.writeFileSync(at('names'), 'subjectAltName=IP:127.0.0.1\n');
  const signed = ['-in', at('request.pem'), '-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial'];
  openssl('x509', '-req', ...signed, '-days', '2', '-extfile', at('names'), '-out', at('cert.pem'));
  fs.chmodSync(at('key.pem'), 0o600);
}

const curl = async (target, ...args) =>
  (
    await promisify(execFile)('curl', [
      '-sSN',
      '--cacert',
      path.join(dir, 'ca.pem'),
      '-H',
      `Authorization: Bearer ${token.operator}`,
      `${server.url}/api/v1/${target}`,
      ...args,
    ])
  ).stdout;
const get = async (target) => JSON.parse(await curl(target));
const run = async (spec) => {
  const text = await curl(
    'runs',
    '-H',
    'Accept: text/plain',
    '-d',
    JSON.stringify({ sizes: ['8', '64K'], ...spec }),
  );
  return { text, id: text.match(/^# run (\w+)/)[1] };
};

before(
  async () => {
    slurm = await Slurm.start(all);
    dir = tempDir(all);
    makeChain();
    const launchers = path.join(dir, 'launchers');
    const isSlurm = (file) => !/(pbs|kube|local)[^/]*$/.test(file);
    fs.cpSync(shipped, launchers, {
      recursive: true,
      dereference: true,
      filter: isSlurm,
    });
    // The same job without the certificate of its server.
    const blind = JSON.parse(fs.readFileSync(path.join(launchers, 'slurm.json'), 'utf8'));
    delete blind.env.RINGBENCH_CA_FILE;
    fs.writeFileSync(path.join(launchers, 'blind.json'), JSON.stringify(blind));
    const tokens = path.join(dir, 'tokens');
    fs.writeFileSync(tokens, `agent ${token.agent}\noperator ${token.operator}\n`, { mode: 0o600 });
    const at = (name) => path.join(dir, name);
    const args = ['--tls-cert', at('cert.pem'), '--tls-key', at('key.pem'), '--token-file', tokens];
    server = await slurm.startServer(all, ['--launchers', launchers, ...args]);
  },
  { timeout: 120000 * patience },
);

after(async () => {
  for (const ending of endings.reverse()) await ending();
});

test(
  'a launched run completes: its agents trust the certificate that the server passes on',
  limit,
  async (t) => {
    const { text, id } = await run({ nodes: { count: 2, wait_s: 60 }, launch: { name: 'slurm' } });
    assert.match(text, /^completed: 4 rows/m, text);
    if (process.env.RINGBENCH_TRANSCRIPT) fs.writeFileSync(process.env.RINGBENCH_TRANSCRIPT, text);
    const events = (await curl(`runs/${id}/events?format=ndjson&follow=0`))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const placed = events.find(({ type }) => type === 'placed');
    const { nodes } = await get('nodes');
    const registered = Math.max(...nodes.map((node) => Date.parse(node.registered)));
    t.diagnostic(`from the last registration to the start: ${Date.parse(placed.time) - registered} ms`);
  },
);

test('the job script alone: its nodes register, measure, and are gone with the job', limit, async () => {
  const secret = path.join(dir, 'agent.token');
  fs.writeFileSync(secret, token.agent, { mode: 0o600 });
  const env = {
    RINGBENCH_SERVER: server.url,
    RINGBENCH_TOKEN_FILE: secret,
    RINGBENCH_CA_FILE: path.join(dir, 'ca.pem'),
  };
  const job = slurm.submit(env, '--nodes=2', path.join(shipped, 'agents.sbatch'), '--once');
  const { text } = await run({ nodes: { count: 2, group: `slurm-${job}`, wait_s: 60 } });
  assert.match(text, /^completed: 4 rows/m, text);
  await waitFor(
    () => slurm.call('squeue', '--noheader', `--jobs=${job}`) === '',
    () => slurm.call('squeue'),
    60000,
  );
});

test('a job that fails says why in the reason of its run', limit, async () => {
  const { text } = await run({ nodes: { count: 1, wait_s: 60 }, launch: { name: 'blind' } });
  assert.match(
    text,
    /^failed: job \d+ of blind has ended: FAILED .*does not trust .*SSL certificate problem/m,
    text,
  );
  if (process.env.RINGBENCH_TRANSCRIPT) fs.appendFileSync(process.env.RINGBENCH_TRANSCRIPT, text);
});

test('a job that Slurm will never start is called that, and launch.wait_s ends its run', limit, async () => {
  const { text } = await run({ nodes: { count: 9 }, launch: { name: 'slurm', wait_s: 6 } });
  assert.match(
    text,
    /^# launching: job \d+ of slurm is pending: PENDING Partition\w+: it cannot start/m,
    text,
  );
  assert.match(text, /^failed: launching: .*\(the limit launch\.wait_s of 6 s has passed\)/m, text);
  if (process.env.RINGBENCH_TRANSCRIPT) fs.appendFileSync(process.env.RINGBENCH_TRANSCRIPT, text);
});

test('a job that shares its node has the GPUs that it asked for', limit, async () => {
  const args = { exclusive: 'no', nodelist: 'n1', gres: 'gpu:1' };
  const { text, id } = await run({ nodes: { count: 1, wait_s: 60 }, launch: { name: 'slurm', args } });
  assert.match(text, /^# placed: .* on n1$/m, text);
  const { job } = (await get('jobs')).jobs.find((one) => one.run === id);
  const shown = slurm.call('scontrol', 'show', 'job', '--details', job);
  assert.match(shown, / OverSubscribe=YES /);
  assert.match(shown, /^ *JOB_GRES=gpu:1$/m);
});
