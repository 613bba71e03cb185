// SPDX-License-Identifier: Apache-2.0
// launch_rights.test.mjs - which launchers a server takes, and who may use one for what
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { long, quick, request, startServer } from './lib/cluster.mjs';
import { binDir, patience, tempDir, waitFor } from './lib/fixture.mjs';
import { engine, jobIs, makeLaunchers, shipped, start } from './lib/launching.mjs';

const limit = { timeout: 180000 * patience };
const admin = 'admin-0123456789abcdef';

describe('rights of launchers', { concurrency: 6 }, () => {
  test('a job has a token of its own, for its group and its time', limit, async (t) => {
    const tokens = path.join(tempDir(t), 'tokens');
    fs.writeFileSync(tokens, `${admin}\n`, { mode: 0o600 });
    const { server, left } = await start(t, ['--token-file', tokens]);
    const headers = { Authorization: `Bearer ${admin}` };
    const ask = (method, target, body) =>
      request(server.url, method, target, {
        headers: { ...headers, 'Content-Type': 'application/json' },
        body: body && JSON.stringify(body),
      });
    const posted = await ask('POST', '/api/v1/runs', {
      ...long,
      backend: 'host',
      nodes: { count: 1, wait_s: 60 },
      launch: { name: 'local' },
    });
    assert.equal(posted.status, 201, posted.text);
    /** @type {any} */
    let run;
    await waitFor(
      async () => {
        run = (await ask('GET', `/api/v1/runs/${posted.json.id}`)).json;
        return run.state === 'running';
      },
      () => JSON.stringify(run),
      60000,
    );

    const dir = path.join(server.options.dataDir, 'jobs');
    const file = path.join(
      dir,
      fs.readdirSync(dir).find((name) => name.endsWith('.token')),
    );
    assert.equal(fs.statSync(file).mode & 0o777, 0o600);
    const token = fs.readFileSync(file, 'utf8').trim();
    const register = (group, bearer = token) =>
      request(server.url, 'POST', '/api/v1/agents', {
        headers: {
          Authorization: `Bearer ${bearer}`,
          'Ringbench-Agent-Key': 'k'.repeat(40),
          'Content-Type': 'application/json',
        },
        body: JSON.stringify({
          name: 'stranger',
          boot_id: '00000000-0000-4000-8000-000000000000',
          protocol: 1,
          ranks: 1,
          group,
        }),
      });
    assert.equal((await register('other')).status, 422);
    assert.equal((await register(run.spec.nodes.group)).status, 201);
    assert.equal(
      (
        await request(server.url, 'POST', '/api/v1/runs', {
          headers: { Authorization: `Bearer ${token}` },
          body: '{}',
        })
      ).status,
      401,
    );

    await server.killHard();
    await server.startAgain();
    assert.equal((await register(run.spec.nodes.group)).status, 201, 'it is known to the next server');
    const [job] = (await ask('GET', '/api/v1/jobs')).json.jobs;
    assert.ok(!JSON.stringify(job).includes(token));
    assert.equal((await ask('DELETE', `/api/v1/jobs/${job.id}`)).status, 202);
    await waitFor(
      async () => (await ask('GET', `/api/v1/jobs/${job.id}`)).json.state === 'ended',
      () => 'not ended',
      20000,
    );
    assert.equal((await register(run.spec.nodes.group)).status, 401);
    assert.ok(!fs.existsSync(file));
    await waitFor(
      () => left().length === 0,
      () => `left: ${left()}`,
      20000,
    );
  });

  test('a launcher is for whom it says', limit, async (t) => {
    const tokens = path.join(tempDir(t), 'tokens');
    const of = { ann: 'ann-token-0123456789', ben: 'ben-token-0123456789' };
    fs.writeFileSync(tokens, `${admin}\noperator ${of.ann} ann\noperator ${of.ben} ben\n`, { mode: 0o600 });
    const { server, launchers } = await start(t, ['--token-file', tokens], {
      limits: { nodes: 4, jobs: 1, who: ['ann'] },
    });
    launchers.say('answer', 'job 7\n');
    launchers.say('status', 'PENDING\n');
    const ask = (token, method, target, body) =>
      request(server.url, method, target, {
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body: body && JSON.stringify(body),
      });
    const post = (token) =>
      ask(token, 'POST', '/api/v1/runs', { ...quick, nodes: { count: 1 }, launch: { name: 'engine' } });
    const refused = [await post(of.ben), await post(admin)];
    assert.deepEqual(
      refused.map(({ status }) => status),
      [403, 403],
    );
    assert.match(refused[0].json.detail, /\bengine .*\bben\b.*limits\.who/);
    assert.match(refused[1].json.detail, /token/);
    assert.equal((await post(of.ann)).status, 201);
    await waitFor(
      () => launchers.asked().length > 0,
      () => 'not started',
    );
    const [job] = (await ask(of.ben, 'GET', '/api/v1/jobs')).json.jobs;
    assert.equal((await ask(of.ben, 'DELETE', `/api/v1/jobs/${job.id}`)).status, 403);
    // Nor for others when it is gone.
    fs.rmSync(path.join(launchers.dir, 'engine.json'));
    await server.killHard();
    await server.startAgain();
    await waitFor(
      async () => (await ask(of.ann, 'GET', `/api/v1/jobs/${job.id}`)).json.sentence.includes('was removed'),
      () => 'still known',
    );
    assert.equal((await ask(of.ben, 'DELETE', `/api/v1/jobs/${job.id}`)).status, 403);
    assert.equal((await ask(of.ann, 'DELETE', `/api/v1/jobs/${job.id}`)).status, 202);
  });

  // Stand-ins that behave as the manual says; `qsub` starts the script as PBS would on one node.
  const pbs = {
    qsub: `#!/bin/bash
echo "$@" >>"$PBS_DIR/calls"
[[ -n "$RINGBENCH_GROUP" ]] || exit 1
(PBS_JOBID=77.head setsid bash "\${@: -1}" >"$PBS_DIR/out" 2>&1 & echo $! >"$PBS_DIR/pid")
echo 77.head`,
    pbsdsh: '#!/bin/bash\n[[ "$1" == -- ]] && shift\nexec "$@"',
    qstat: `#!/bin/bash
if [[ ! -e "$PBS_DIR/deleted" ]]; then state=R; else state=F; fi
printf 'Job Id: %s\\n    Job_Name = x\\n    job_state = %s\\n    comment = Job run at Mon\\n' "$4" "$state"`,
    qdel: '#!/bin/bash\ntouch "$PBS_DIR/deleted"; kill -- -"$(cat "$PBS_DIR/pid")"',
    qselect: '#!/bin/bash\n',
  };

  test('PBS, by its manual', limit, async (t) => {
    const dir = tempDir(t),
      bin = tempDir(t);
    for (const [name, text] of Object.entries(pbs))
      fs.writeFileSync(path.join(bin, name), text, { mode: 0o755 });
    for (const name of ['pbs-submit', 'agents.pbs']) {
      fs.writeFileSync(path.join(dir, name), fs.readFileSync(path.join(shipped, name)), { mode: 0o755 });
    }
    const file = JSON.parse(fs.readFileSync(path.join(shipped, 'pbs.json'), 'utf8'));
    file.status.every_s = 0.1;
    fs.writeFileSync(path.join(dir, 'pbs.json'), JSON.stringify(file));
    const server = await startServer(t, {
      args: ['--launchers', dir],
      env: { PATH: `${bin}:${binDir}:${process.env.PATH}`, PBS_DIR: bin },
    });
    const run = await server.runToEnd({
      ...quick,
      nodes: { count: 1, wait_s: 60 },
      launch: { name: 'pbs', args: { queue: 'gpu', ncpus: 4 } },
    });
    assert.equal(run.state, 'completed', run.reason);
    assert.match(
      fs.readFileSync(path.join(bin, 'calls'), 'utf8'),
      /^-V -N ringbench-\w{12} -q gpu -l walltime=01:00:00 -l select=1:ncpus=4:ngpus=0 -l place=scatter:excl -j oe -o \/dev\/null \S+agents.pbs$/m,
    );
    assert.match((await jobIs(server, 'ended')).sentence, /^job 77\.head of pbs .*ended/);
  });

  test('what does not fit a launcher is refused by name', limit, async (t) => {
    const { server } = await start(t);
    const faults = async (spec) => {
      const answer = await server.post({ ...quick, ...spec });
      assert.equal(answer.status, 422, answer.text);
      return answer.json.errors.map((error) => error.pointer);
    };
    assert.deepEqual(await faults({ launch: { name: 'none' } }), ['/launch/name']);
    assert.deepEqual(await faults({ launch: {} }), ['/launch/name']);
    assert.deepEqual((await faults({ launch: { name: 'engine', args: { queue: 'A;rm', x: 1 } } })).sort(), [
      '/launch/args/queue',
      '/launch/args/x',
    ]);
    assert.deepEqual(await faults({ launch: { name: 'engine' }, nodes: { count: 5 } }), ['/nodes']);
    assert.deepEqual(await faults({ launch: { name: 'engine' }, nodes: { names: ['a'] } }), ['/nodes/names']);
    assert.deepEqual(await faults({ launch: { name: 'engine' }, nodes: { group: 'g' } }), ['/nodes/group']);
  });

  test(
    'a server does not start with a launcher that is none, or where anybody may add one',
    limit,
    async (t) => {
      const { dir } = makeLaunchers(t);
      fs.chmodSync(dir, 0o777);
      await assert.rejects(startServer(t, { args: ['--launchers', dir] }), /every user/);
      fs.chmodSync(dir, 0o755);
      fs.writeFileSync(
        path.join(dir, 'bad.json'),
        JSON.stringify({ ...engine, start: { ...engine.start, argv: ['{queue}'] } }),
      );
      await assert.rejects(
        startServer(t, { args: ['--launchers', dir] }),
        /bad\.json: \/start\/argv\/0: .*parameter/,
      );
      fs.writeFileSync(path.join(dir, 'bad.json'), JSON.stringify({ ...engine, limits: { who: [1] } }));
      await assert.rejects(
        startServer(t, { args: ['--launchers', dir] }),
        /bad\.json: \/limits\/who: .*strings/,
      );
      // A limit that is written wrongly would be none.
      for (const [faulty, said] of [
        [{ limits: { noeds: 4 } }, /bad\.json: \/limits\/noeds: .*nodes, jobs, hours, who/],
        [{ limits: 'none' }, /bad\.json: \/limits: .*object/],
        [{ status: { ...engine.status, evry_s: 1 } }, /bad\.json: \/status\/evry_s: unknown .*every_s/],
        [{ start: { argv: engine.start.argv } }, /bad\.json: \/start\/job: .*required/],
        [{ start: { ...engine.start, job: '[0-9]+' } }, /bad\.json: \/start\/job: .*group/],
        [{ stop: undefined }, /bad\.json: \/stop: .*required/],
        [{ states: { PENDING: 'waits' } }, /bad\.json: \/states\/PENDING: .*pending/],
        [{ limits: { hours: 0 } }, /bad\.json: \/limits\/hours: .*\b10000\b/],
        [
          { parameters: { job: { type: 'string', pattern: '[a-z]+' } } },
          /bad\.json: \/parameters\/job: .*reserved/,
        ],
        [{ env: { A: '{job}' } }, /bad\.json: \/env\/A: .*job/],
      ]) {
        fs.writeFileSync(path.join(dir, 'bad.json'), JSON.stringify({ ...engine, ...faulty }));
        await assert.rejects(startServer(t, { args: ['--launchers', dir] }), said);
      }
    },
  );
});
