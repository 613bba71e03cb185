// SPDX-License-Identifier: Apache-2.0
// torch_standing.test.mjs - real PyTorch at the standing rendezvous: torchrun's c10d
// backend, and TCPStore clients beside those of another protocol version. Skipped where
// there is no PyTorch.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { startServer } from './lib/cluster.mjs';
import { patience, Program, root, tempDir, waitFor } from './lib/fixture.mjs';
import { TcpStoreClient } from './lib/tcpstore_client.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));

// The distribution's python has its packages.
const env = {
  ...process.env,
  PATH: `/usr/bin:${process.env.PATH}`,
  CUDA_VISIBLE_DEVICES: '',
  OMP_NUM_THREADS: '1',
  GLOO_SOCKET_IFNAME: 'lo',
  PYTHONPATH: here,
  PYTHONDONTWRITEBYTECODE: '1',
};
const torchrun = path.join(here, 'torch_client.py');

function whyNot() {
  const python = spawnSync('python3', ['-c', 'import torch.distributed as d; assert d.is_gloo_available()'], {
    env,
    encoding: 'utf8',
  });
  if (python.error) return `no python3: ${python.error.message}`;
  return python.status === 0 ? false : `no PyTorch: ${python.stderr.trim().split('\n').at(-1)}`;
}

const options = { timeout: 300000 * patience, skip: whyNot() };

const example = path.join(root, 'examples/torchrun');

// The program of the example, after what the installed PyTorch has to be told.
const worker = `
import runpy
import torch_client

runpy.run_path("${path.join(example, 'all_reduce.py')}", run_name="__main__")
`;

// What talks to the store by hand: lines "OP KEY [VALUE]" of its standard input.
const storeClient = `
import datetime, sys
import torch_client
from torch.distributed import TCPStore

store = TCPStore("127.0.0.1", int(sys.argv[1]), is_master=False,
                 timeout=datetime.timedelta(seconds=60))
print("connected", flush=True)
for line in sys.stdin:
    op, key, *value = line.split()
    if op == "set":
        store.set(key, value[0])
        print("done", store.num_keys(), flush=True)
    elif op == "add":
        print("done", store.add(key, int(value[0])), flush=True)
    else:
        print("done", store.get(key).decode(), flush=True)
`;

async function startStanding(t, args = []) {
  const server = await startServer(t, { args: ['--rendezvous-listen', '127.0.0.1:0', ...args] });
  const look = async () => (await server.get('/api/v1/rendezvous')).stores[0];
  return { server, look, port: (await look()).port };
}

// A launcher by the example's script; torchrun is the one of torch_client.py.
function startLauncher(t, dir, port, id) {
  const args = [`127.0.0.1:${port}`, id, '2', '2', path.join(dir, 'worker.py')];
  return new Program(t, path.join(example, 'launch.sh'), args, {
    env: { ...env, PATH: `${dir}:${env.PATH}`, TMPDIR: dir },
  });
}

// Two launchers of two workers each; what they said, and how they ended.
async function runJob(t, port, id) {
  const dir = tempDir(t);
  fs.writeFileSync(path.join(dir, 'worker.py'), worker);
  fs.writeFileSync(path.join(dir, 'torchrun'), `#!/bin/sh\nexec python3 '${torchrun}' "$@"\n`, {
    mode: 0o755,
  });
  const launchers = [0, 1].map(() => startLauncher(t, dir, port, id));
  const codes = [];
  for (const launcher of launchers) codes.push((await launcher.ended(150000)).code);
  const lines = launchers.flatMap((launcher) => [...launcher.lines, ...launcher.errors]);
  return { codes, lines, text: launchers.map((launcher) => launcher.describe()).join('\n') };
}

function assertDone({ codes, lines, text }) {
  assert.deepEqual(codes, [0, 0], text);
  const sums = lines.map((line) => line.match(/rank (\d) of 4: sum 10$/)?.[1]).filter(Boolean);
  assert.deepEqual(sums.sort(), ['0', '1', '2', '3'], text);
}

describe("PyTorch at the server's store", { concurrency: 2 }, () => {
  // PyTorch closes a rendezvous for good when its job ends: the identifier is used up, on its
  // own servers for as long as they live. Here it is free again when its keys have expired.
  test('two launchers meet, job after job', options, async (t) => {
    const { port, look } = await startStanding(t, ['--rendezvous-ttl-s', '30']);
    assertDone(await runJob(t, port, 'job'));
    const { key_count: keys, connections } = await look();
    assert.ok(keys > 4, 'the job has left keys');
    assert.equal(connections, 0);
    const ended = Date.now();
    const again = await runJob(t, port, 'job');
    // Launchers that took longer than keys live would have found it free already.
    if (again.codes.some((code) => code !== 0)) assert.match(again.text, /RendezvousClosedError/);
    else assert.ok(Date.now() - ended > 30000, again.text);
    assertDone(await runJob(t, port, 'other'));
    await waitFor(async () => (await look()).key_count === 0, 'keys do not expire', 60000);
    assertDone(await runJob(t, port, 'job'));
  });

  test('clients of both protocol versions share the store', options, async (t) => {
    const { port, look } = await startStanding(t);
    const python = new Program(t, 'python3', ['-c', storeClient, String(port)], {
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    await python.line(/^connected$/, 60000);
    const own = await TcpStoreClient.connect(t, port);
    const answer = async (request) => {
      const before = python.lines.length;
      python.child.stdin.write(`${request}\n`);
      await waitFor(
        () => python.lines.length > before,
        () => python.describe(),
        20000,
      );
      return python.lines[before];
    };
    own.beginWait(['from-python']);
    assert.equal(await answer('set from-python hello'), 'done 1');
    await own.waited();
    assert.equal(await own.get('from-python'), 'hello');
    assert.equal(await own.add('count', 5), 5);
    assert.equal(await answer('add count -7'), 'done -2');
    // Python waits for what the other sets.
    python.child.stdin.write('get from-own\n');
    await waitFor(async () => (await look()).waits.length === 1, 'python does not wait');
    await own.set('from-own', 'there');
    await python.line(/^done there$/);
    const { clients } = await look();
    const [version] = spawnSync('python3', ['-c', 'import torch; print(torch.__version__)'], {
      env,
      encoding: 'utf8',
    }).stdout.split('+');
    const isOld = version.startsWith('1.');
    // The second connection of an old client never says anything.
    assert.deepEqual(
      clients.map(({ protocol }) => protocol),
      isOld ? [1, null, 2] : [2, 2],
    );
    python.child.stdin.end();
    assert.equal((await python.ended()).code, 0, python.describe());
  });
});
