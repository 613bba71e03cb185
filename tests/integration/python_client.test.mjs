// SPDX-License-Identifier: Apache-2.0
// python_client.test.mjs - client/python/ringbench.py: its requests are those of openapi.json, and it
// does what it says with a real server
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { long, quick, startCluster, startServer } from './lib/cluster.mjs';
import { Program, buildDir, makeCertificate, patience, root, tempDir } from './lib/fixture.mjs';

const folder = path.join(root, 'client/python');
const found = spawnSync('python3', ['-c', 'import sys; assert sys.version_info >= (3, 6)']).status === 0;
const limit = { timeout: 120000 * patience, skip: !found && 'no python3' };

// Run lines of Python with `client`, a client of the server; prints become lines.
function python(t, server, text, { env = {}, make = 'ringbench.Client()' } = {}) {
  const script = `import json, sys\nimport ringbench\nclient = ${make}\n${text}`;
  return new Program(t, 'python3', ['-u', '-c', script], {
    env: {
      ...process.env,
      PYTHONPATH: folder,
      PYTHONDONTWRITEBYTECODE: '1',
      RINGBENCH_SERVER: server.url,
      ...env,
    },
  });
}

// The same to its end; the JSON of each line that it printed.
async function answers(t, server, text, options) {
  const program = python(t, server, text, options);
  const { code } = await program.ended(60000);
  assert.equal(code, 0, program.describe());
  return program.lines.map((line) => JSON.parse(line));
}

const pairsOf = (value) => `json.loads(${JSON.stringify(JSON.stringify(value))})`;

describe('the Python client', { concurrency: 3 }, () => {
  test('each of its requests is an operation of openapi.json with these parameters', limit, () => {
    const { stdout } = spawnSync(
      'python3',
      ['-c', 'import json, ringbench; print(json.dumps(ringbench.OPERATIONS))'],
      {
        encoding: 'utf8',
        env: { ...process.env, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' },
      },
    );
    const { paths } = JSON.parse(fs.readFileSync(path.join(buildDir, 'server/api/openapi.json'), 'utf8'));
    const operations = Object.entries(JSON.parse(stdout));
    assert.ok(operations.length > 10);
    for (const [name, [method, target, parameters]] of operations) {
      const operation = paths[target]?.[method.toLowerCase()];
      assert.ok(operation, `${name}: ${method} ${target}`);
      const known = (operation.parameters ?? []).filter((one) => one.in === 'query').map((one) => one.name);
      for (const parameter of parameters) assert.ok(known.includes(parameter), `${name}: ${parameter}`);
    }
    assert.ok(fs.readFileSync(path.join(folder, 'ringbench.py'), 'utf8').split('\n').length <= 300);
  });

  test('a run is started, followed, judged, compared and listed', limit, async (t) => {
    const { server } = await startCluster(t, 2);
    const spec = {
      ...quick,
      name: 'first',
      labels: { rack: 'b7' },
      thresholds: { fast: { figure: 'time_us', max: 1e9 } },
    };
    const [run, rows, stored, ended, gate, again, listed, compared, nodes, plan] = await answers(
      t,
      server,
      `
spec = ${pairsOf(spec)}
run = client.submit(spec, key="k1")
print(json.dumps(run))
print(json.dumps(list(client.rows(run["id"]))))
print(json.dumps(list(client.results(run["id"], limit=1))))
print(json.dumps(client.wait(run["id"])))
print(json.dumps(client.gate(run["id"])))
print(json.dumps(client.submit(spec, key="k1")))
others = [client.submit(dict(spec, labels={"rack": "b8"})) for i in range(2)]
for other in others: client.wait(other["id"])
print(json.dumps([[one["id"] for one in client.list(limit=1)], [one["id"] for one in client.list(label="rack=b7")],
                  [one["id"] for one in others]]))
print(json.dumps(client.compare(run["id"], others[0]["id"])))
print(json.dumps(client.nodes()))
print(json.dumps(client.validate(spec)))
client.delete(run["id"])
`,
    );
    assert.equal(rows.length, 4);
    assert.deepEqual(
      stored.map((row) => [row.size, row.in_place]),
      rows.map((row) => [row.size, row.in_place]),
    );
    assert.equal(ended.state, 'completed');
    assert.equal(gate.verdict.answer, 'pass');
    assert.equal(again.id, run.id);
    const [all, labelled, others] = listed;
    assert.deepEqual(all.sort(), [run.id, ...others].sort());
    assert.deepEqual(labelled, [run.id]);
    assert.equal(typeof compared.verdict.answer, 'string');
    assert.deepEqual(
      nodes.map((node) => node.name),
      ['node-1', 'node-2'],
    );
    assert.equal(plan.placement.outcome, 'ready');
    assert.equal((await server.request('GET', `/api/v1/runs/${run.id}`)).status, 404);
  });

  test('errors name the field, and parameters that do not exist are refused', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const [refused, unknown, parameter, running] = await answers(
      t,
      server,
      `
try: client.submit({"iters": 0})
except ringbench.Error as error: print(json.dumps([error.status, error.errors]))
try: client.get("000000000000")
except ringbench.Error as error: print(json.dumps([error.status, error.errors]))
try: list(client.list(stat="failed"))
except TypeError as error: print(json.dumps(str(error)))
run = client.submit(${pairsOf(long)})
try: client.wait(run["id"], timeout_s=1)
except TimeoutError: print(json.dumps(client.cancel(run["id"])["id"] == run["id"]))
`,
    );
    assert.equal(refused[0], 422);
    assert.equal(refused[1][0].pointer, '/iters');
    assert.deepEqual(unknown, [404, []]);
    assert.match(parameter, /\bstat\b.*\bstate\b/);
    assert.equal(running, true);
  });

  test('a stream after the last event ends, and a timeout may be a fraction', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const run = await server.runToEnd(quick);
    const [events, rest, gate] = await answers(
      t,
      server,
      `
events = list(client.events("${run.id}"))
print(len(events))
print(json.dumps(list(client.events("${run.id}", after=events[-1]["id"]))))
print(json.dumps(ringbench.Client(timeout_s=5.5).gate("${run.id}", timeout_s=20)["state"]))
`,
    );
    assert.ok(events > 5);
    assert.deepEqual([rest, gate], [[], 'completed']);
  });

  test('a stream outlives a restart of the server, with each event once', limit, async (t) => {
    const { server } = await startCluster(t, 2);
    const program = python(
      t,
      server,
      `
run = client.submit(${pairsOf({ sizes: { min: 4096, max: 4096 * 100, step: 4096 }, iters: 20 })})
for event in client.events(run["id"]): print(event["id"], event["type"], event.get("state"))
`,
    );
    await program.line(/ result /, 30000);
    await server.killHard();
    await server.startAgain();
    assert.equal((await program.ended(90000)).code, 0, program.describe());
    const events = program.lines.map((line) => line.split(' '));
    assert.deepEqual(
      events.map(([id]) => Number(id)),
      events.map((_, i) => i + 1),
    );
    assert.match(events.at(-1)[2], /^(completed|failed)$/);
  });

  test('token and certificate are used, and a server that is away is said', limit, async (t) => {
    const dir = tempDir(t);
    const { key, cert } = makeCertificate(dir);
    fs.writeFileSync(path.join(dir, 'tokens'), 'operator 0123456789abcdef0123\n', { mode: 0o600 });
    fs.writeFileSync(path.join(dir, 'token'), '0123456789abcdef0123\n', { mode: 0o600 });
    const server = await startServer(t, {
      args: ['--tls-cert', cert, '--tls-key', key, '--token-file', path.join(dir, 'tokens')],
    });
    const env = { RINGBENCH_CA_FILE: cert, RINGBENCH_TOKEN_FILE: path.join(dir, 'token') };
    assert.deepEqual(await answers(t, server, 'print(json.dumps(client.nodes()))', { env }), [[]]);
    const denied = `
try: client.nodes()
except ringbench.Error as error: print(error.status)`;
    const withoutToken = { ...env, RINGBENCH_TOKEN_FILE: '' };
    assert.deepEqual(await answers(t, server, denied, { env: withoutToken }), [401]);
    const untrusted = `
for call in (client.nodes, lambda: next(client.events("1"))):
    try: call()
    except ringbench.Unreachable: print(1)`;
    const withoutCa = { ...env, RINGBENCH_CA_FILE: '' };
    assert.deepEqual(await answers(t, server, untrusted, { env: withoutCa }), [1, 1]);
    await server.killHard();
    const make = 'ringbench.Client(retry_s=0)';
    assert.deepEqual(await answers(t, server, untrusted, { env, make }), [1, 1]);
  });
});
