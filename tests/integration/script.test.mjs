// SPDX-License-Identifier: Apache-2.0
// script.test.mjs - the script ringbench, as people and jobs call it
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { describe, test } from 'node:test';

import { call, limit, script, shells, start } from './lib/client.mjs';
import { faulty, long, quick, startCluster, startServer } from './lib/cluster.mjs';
import { Program, binDir, freePort, makeCertificate, tempDir, waitFor } from './lib/fixture.mjs';

const root = new URL('../../', import.meta.url);

const firstRun = (out) => out.match(/^# run (\S+) /)[1];

// The first table of the script: [short, long, kind, field, note].
function optionTable() {
  const text = fs.readFileSync(script, 'utf8');
  const [, table] = text.match(/^nccl_tests_options='\n([\s\S]*?)\n'$/m);
  return table.split('\n').map((line) => line.match(/^(\S+) +(\S+) +(\S+) +(\S+) *(.*)$/).slice(1));
}

describe('the script', { concurrency: 4 }, () => {
  test('a line of nccl-tests runs under each shell', limit, async (t) => {
    const { server } = await startCluster(t, 2);
    for (const shell of shells) {
      const { code, out, err } = await call(
        t,
        server,
        [
          'run',
          'all_reduce_perf,broadcast',
          '-b',
          '8',
          '-e4K',
          '--stepfactor=4',
          '-w',
          '1',
          '-n',
          '3',
          '-d',
          'half,int8',
          '-o',
          'max',
          '-r',
          '1',
          '-c',
          '0',
          '-g',
          '1',
          '-I',
          '1',
          '--name',
          'a "b" \\c',
          '--label',
          'a.b=c=d',
          '--env',
          'NCCL_ALGO=Ring',
          '--matrix',
          'NCCL_PROTO=LL,Simple,',
          '--nodes',
          '2',
        ],
        { shell },
      );
      assert.equal(code, 0, out + err);
      assert.match(out, /^completed: /m);
      const { spec, name, labels } = await server.getRun(firstRun(out));
      assert.deepEqual(
        [
          name,
          labels,
          spec.collectives,
          spec.dtypes,
          spec.redops,
          spec.root,
          spec.iters,
          spec.warmup,
          spec.check,
          spec.per_iter,
          spec.env,
          spec.matrix,
          spec.nodes.count,
        ],
        [
          'a "b" \\c',
          { 'a.b': 'c=d' },
          ['all_reduce', 'broadcast'],
          ['float16', 'int8'],
          ['max'],
          1,
          3,
          1,
          0,
          true,
          { NCCL_ALGO: 'Ring' },
          { NCCL_PROTO: ['LL', 'Simple', null] },
          2,
        ],
      );
      assert.deepEqual(spec.sizes, [8, 32, 128, 512, 2048]);
    }
  });

  test(
    "each option of nccl-tests is there, and its field is the spec's and the documentation's",
    limit,
    async (t) => {
      const server = await startServer(t);
      const docs = fs.readFileSync(new URL('docs/reference/nccl-tests-parity.md', root), 'utf8');
      const documented = [...docs.matchAll(/^\| `-(\w)`, `--(\w+)` \| [^|]* \| (.*) \|$/gm)].map(
        ([, ...cells]) => cells,
      );
      const table = optionTable();
      assert.ok(documented.length > 30);
      assert.deepEqual(
        table.map(([short, name]) => `${short} ${name}`).sort(),
        documented
          .map(([short, name]) => `${short} ${name}`)
          .filter((option) => option !== 'h help')
          .sort(),
      );
      const validate = (body) =>
        server.request('POST', '/api/v1/runs/validate', { body: JSON.stringify(body) });
      for (const [short, , kind, field, note] of table) {
        const [, , there] = documented.find(([letter]) => letter === short);
        if (field === '-') {
          assert.ok(['one', 'always', 'none'].includes(kind) && note, short);
          continue;
        }
        // {"sizes": {"min"}} is sizes.min there.
        for (const name of field.split('.'))
          assert.ok(there.includes(`"${name}"`), `-${short}: ${name} is not in ${there}`);
        const json = (value) =>
          field
            .split('.')
            .reverse()
            .reduce((rest, name) => ({ [name]: rest }), value);
        const words = note.split(' ').filter(Boolean);
        const given = {
          size: ['64K'],
          number: [field === 'nccl.graph' ? 0 : 2],
          list: [words, ...words.map((word) => [word])],
          choice: words.map((word) => ({ true: true, false: false })[word] ?? word),
        }[kind];
        assert.ok(given, `-${short}: ${kind}`);
        for (const value of given) {
          const answer = await validate({
            ...json(value),
            ...(field === 'sizes.step' ? { sizes: { min: 8, max: 1 << 20, step: value } } : {}),
          });
          assert.equal(answer.status, 200, `-${short} ${JSON.stringify(value)}: ${answer.text}`);
        }
      }
    },
  );

  test('what is no option, or none that can be had here, is said before anything runs', limit, async (t) => {
    const server = await startServer(t);
    for (const [args, message] of /** @type {any[][]} */ ([
      [['run', 'all_reduce', '-g', '8'], /^ringbench: -g 8: .*--ranks-per-node .*--nodes/],
      [['run', 'all_reduce', '-D', '1'], /^ringbench: -D: /],
      [['run', 'all_reduce', '-Q', '1'], /^ringbench: .*-Q.*`ringbench help run`/],
      [['run', 'all_reduce', '-n', 'many'], /^ringbench: -n .*'many'$/],
      [['run', 'all_reduce', '-n'], /^ringbench: -n .*value$/],
      [['run', 'all_reduce', '-R', '3'], /^ringbench: -R .*none local symmetric/],
      [['run', 'all_reduce', '--env', 'X'], /^ringbench: --env .*NAME=VALUE.*'X'$/],
      [['run', 'all_reduce', 'broadcast'], /^ringbench: 'broadcast' /],
      [['run', '{}', '-n', '1'], /^ringbench: .*'-n'/],
      [['run'], /^ringbench: .*\brun\b/],
      [['run', './no-such-file'], /no-such-file/],
      [['fly'], /^ringbench: .*'fly'.*`ringbench help`/],
      [['watch', '../nodes'], /^ringbench: '\.\.\/nodes' .*`ringbench ls`/],
    ])) {
      const { code, out, err } = await call(t, server, args);
      assert.equal(code, 3, `${args}: ${err}`);
      assert.match(err, message);
      assert.equal(out, '');
    }
    assert.equal((await server.get('/api/v1/runs')).runs.length, 0);
  });

  test('a spec is a file, an argument or the input; a wrong one is refused by field', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const file = path.join(tempDir(t), 'spec.json');
    fs.writeFileSync(file, JSON.stringify({ ...quick, name: 'of a file' }));
    for (const [args, input, name] of [
      [[file], undefined, 'of a file'],
      [[JSON.stringify({ ...quick, name: 'argument' })], undefined, 'argument'],
      [['-'], JSON.stringify({ ...quick, name: 'input' }), 'input'],
    ]) {
      const { code, out, err } = await call(t, server, ['run', ...args], { input });
      assert.equal(code, 0, err);
      assert.equal((await server.getRun(firstRun(out))).name, name);
    }
    for (const shell of shells) {
      const { code, err } = await call(t, server, ['run', '{"iters": "two \\"or\\" so", "sises": 1}'], {
        shell,
      });
      assert.equal(code, 3);
      assert.match(err, /^ringbench: .*2 fields are wrong/);
      assert.match(err, /^ringbench: {3}\/iters: /m);
      assert.match(err, /^ringbench: {3}\/sises: /m);
    }
  });

  test('labels and notes are set and removed under each shell', limit, async (t) => {
    const server = await startServer(t);
    const { id } = await server.run({ ...quick, labels: { draft: 'yes' } });
    const said = async (args, options) => {
      assert.deepEqual(await call(t, server, args, options), { code: 0, out: '', err: '' });
      const { labels, notes } = await server.getRun(id);
      return [labels, notes];
    };
    const labels = { 'a.b': 'c=d', quoted: 'x "y" \\z' };
    for (const shell of shells) {
      const set = ['label', id, 'a.b=c=d', `quoted=${labels.quoted}`, 'draft='];
      assert.deepEqual(await said(set, { shell }), [labels, '']);
      const input = 'one "1"\n\ttwo \\2\n';
      assert.deepEqual(await said(['note', id, '-'], { shell, input }), [labels, input.trimEnd()]);
      assert.deepEqual(await said(['note', id, 'a "b" \\c'], { shell }), [labels, 'a "b" \\c']);
      assert.deepEqual(await said(['note', id, ''], { shell }), [labels, '']);
      assert.deepEqual(await said(['label', id, 'quoted=', 'a.b='], { shell }), [{}, '']);
      for (const args of [
        ['label', id],
        ['label', id, 'a'],
        ['note', id],
      ]) {
        assert.equal((await call(t, server, args, { shell })).code, 3);
      }
      const { code, err } = await call(t, server, ['label', id, `a=${'x'.repeat(201)}`], { shell });
      assert.equal(code, 3);
      assert.match(err, /\/labels\/a: .*200/);
    }
  });

  test('a run that fails is 1, one that was cancelled elsewhere 3', limit, async (t) => {
    const { server } = await startCluster(t, 2, faulty);
    const failed = await call(t, server, [
      'run',
      JSON.stringify({ ...quick, fault: { kind: 'exit', rank: 1 } }),
    ]);
    assert.equal(failed.code, 1, failed.out + failed.err);
    assert.match(failed.out.split('\n').at(-1), /^failed: /);
    assert.equal((await call(t, server, ['watch', firstRun(failed.out)])).code, 1);
    const { id } = await server.run(long);
    const watching = start(t, server, ['watch', id]);
    await watching.line(/^ +\d+ +\d+ +float/, 30000);
    const { code, err } = await call(t, server, ['cancel', id]);
    assert.deepEqual([code, err], [0, `ringbench: cancelling run ${id}`]);
    assert.equal((await watching.ended(30000)).code, 3);
    assert.match(watching.lines.at(-1), /^cancelled: /);
    assert.match(
      (await call(t, server, ['cancel', id])).err,
      /^ringbench: run \S+ has ended already: cancelled$/,
    );
  });

  const brief = ['run', 'all_reduce', '-b', '8', '-e', '8', '-n', '1'];
  const check = (max) => JSON.stringify({ latency: { figure: 'time_us', max } });

  test("the end of a run with checks is its verdict's, for run, watch and gate alike", limit, async (t) => {
    const { server } = await startCluster(t, 2);
    for (const [max, code, word] of [
      [1e9, 0, 'pass'],
      [1e-6, 1, 'fail'],
    ]) {
      const run = await call(t, server, [...brief, '--thresholds', check(max)]);
      assert.equal(run.code, code, run.out + run.err);
      assert.match(run.out.split('\n').at(-1), new RegExp(`; gate: ${word}: `));
      const id = firstRun(run.out);
      assert.equal((await call(t, server, ['watch', id])).code, code);
      for (const shell of shells) {
        const gate = await call(t, server, ['gate', id], { shell });
        assert.deepEqual([gate.code, gate.out.split(':')[0]], [code, word], gate.err);
      }
    }
    // Of one rank there is no bus bandwidth to be judged.
    const alone = await call(t, server, [
      ...brief,
      '--nodes',
      '1',
      '--thresholds',
      JSON.stringify({ bandwidth: { figure: 'busbw_gbs', min: 1 } }),
    ]);
    assert.equal(alone.code, 2, alone.out + alone.err);
    const unasked = await call(t, server, brief);
    assert.equal(unasked.code, 0);
    assert.equal((await call(t, server, ['gate', firstRun(unasked.out)])).code, 2);
  });

  test("the end is that run's, whatever others are called", limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const run = await call(t, server, [...brief, '--thresholds', check(1e-6)]);
    const id = firstRun(run.out);
    // More than a page of a list has.
    for (let i = 0; i < 55; i++) {
      const { status } = await server.request('POST', `/api/v1/import?name=${id}`, {
        body: calls(50),
        headers: { 'Content-Type': 'text/plain' },
      });
      assert.equal(status, 201);
    }
    assert.equal((await call(t, server, ['watch', id])).code, 1);
  });

  // A server that has one run, and says this of its end.
  async function sayingOfItsEnd(t, body) {
    const server = http.createServer((request, response) => {
      if (request.url.includes('/events')) response.end('completed: 1 row in 1 s\n');
      else response.end(request.url.endsWith('/verdict') ? body : '{}');
    });
    t.after(() => server.close());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
    return { url: `http://127.0.0.1:${port}` };
  }

  test('an end of which the server says nothing is no pass', limit, async (t) => {
    const end = { run: 'x1', state: 'completed', asked: false, verdict: { answer: 'not_evaluated' } };
    for (const [body, code] of [
      [end, 0],
      [{ ...end, state: 'failed' }, 1],
      [{ ...end, state: 'running', verdict: null }, 3],
      [{ ...end, run: 'x2' }, 3],
      ['', 3],
      [{}, 3],
      [{ ...end, asked: true }, 2],
      [{ ...end, asked: true, verdict: null }, 3],
      [{ ...end, asked: true, verdict: { answer: 'pass' } }, 0],
    ]) {
      const text = body && JSON.stringify(body);
      const { code: got, err } = await call(t, await sayingOfItsEnd(t, text), ['watch', 'x1']);
      assert.equal(got, code, `${text}: ${err}`);
      assert.equal(err !== '', code === 3, err);
    }
  });

  // Call it with an output that nobody reads.
  const unread =
    'mkfifo "$1/pipe"; exec 3<>"$1/pipe"; exec 4>"$1/pipe"; exec 3<&-; shift; exec "$@" >&4 4>&-';

  test('it ends when nobody reads what it says, and the run goes on', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const { id: ended } = await server.run(quick);
    await server.runEnds(ended);
    const { id } = await server.run(long);
    for (const shell of shells) {
      for (const run of [ended, id]) {
        const program = new Program(
          t,
          'sh',
          ['-c', unread, 'sh', tempDir(t), ...shell, script, 'watch', run],
          {
            env: { ...process.env, RINGBENCH_SERVER: server.url },
          },
        );
        assert.equal((await program.ended(30000)).code, 3, program.describe());
        assert.equal(program.errors.length, 1, program.describe());
        assert.match(program.errors[0], new RegExp(`^ringbench: .*output.*: ringbench watch ${run}$`));
      }
    }
    assert.equal((await server.getRun(id)).ended, null);
  });

  test('gate waits for the end, and says when it has not come', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const { id } = await server.run({ ...long, thresholds: JSON.parse(check(1e9)) });
    const early = await call(t, server, ['gate', id, '--wait', '0']);
    assert.deepEqual([early.code, early.out.split(':')[0]], [3, 'not ended']);
    const gate = start(t, server, ['gate', id]);
    assert.equal((await call(t, server, ['cancel', id])).code, 0);
    assert.equal((await gate.ended(30000)).code, 2, gate.describe());
    assert.match(gate.lines[0], /^not_evaluated: /);
  });

  // A call of nccl-tests that took so long, as text.
  const calls = (us) =>
    [1, 1.001, 0.999, 1.002]
      .map((noise) =>
        [
          '# Collective test starting: all_gather_perf',
          '# Rank 0 Pid 1 on a device 0 [0] X',
          '# Rank 1 Pid 2 on a device 1 [0] X',
          ` 1048576 1 float none -1 ${(us * noise).toFixed(2)} 0.00 0.00 N/A ${(us * noise).toFixed(2)} 0.00 0.00 N/A`,
          '# Avg bus bandwidth : 1',
        ].join('\n'),
      )
      .join('\n');

  test('compare ends with 0 unless the second run is worse, or too little is known', limit, async (t) => {
    const server = await startServer(t);
    const ids = {};
    // How runs scatter takes five of them.
    for (const [name, us] of [
      ['base', 50],
      ...[1, 2, 3, 4, 5].map((n) => [`${n}`, 50]),
      ['like', 50],
      ['slow', 80],
    ]) {
      const { out } = await call(t, server, ['import', '-', '--name', name], { input: calls(us) });
      [ids[name]] = out.split(' ');
    }
    for (const [a, b, code, says] of [
      [ids.base, ids.slow, 1, /^\S+ takes 60 % more time/m],
      [ids.slow, ids.base, 0, /^\S+ takes 37 % less time/m],
      [ids.base, ids.like, 0, /usual range/],
      [`${ids.base}:0`, `${ids.base}:1`, 2, /not enough data/],
    ]) {
      const { code: got, out, err } = await call(t, server, ['compare', a, b]);
      assert.equal(got, code, out + err);
      assert.match(out, says);
    }
    const unknown = await call(t, server, ['compare', ids.base, '000000000000']);
    assert.deepEqual([unknown.code, unknown.out], [3, '']);
    assert.match(unknown.err, /^ringbench: .*000000000000$/);
    assert.equal((await call(t, server, ['compare', ids.base])).code, 3);
  });

  test('^C cancels the run and says so, and leaves nothing behind', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    for (const shell of shells) {
      for (const isTerminal of [false, true]) {
        const dir = tempDir(t);
        // A terminal's ^C reaches all that the script has started, a job's end the script alone.
        const program = start(t, server, ['run', JSON.stringify(long)], {
          shell,
          detached: isTerminal,
          env: { TMPDIR: dir },
        });
        await program.line(/^ +\d+ +\d+ +float/, 30000);
        const [, id] = program.lines[0].match(/^# run (\S+)/);
        process.kill(isTerminal ? -program.pid : program.pid, 'SIGINT');
        assert.equal((await program.ended(30000)).code, 3, program.describe());
        assert.deepEqual(program.errors, [`ringbench: cancelling run ${id}`]);
        assert.match(program.lines.at(-1), /^cancelled: /);
        assert.equal((await server.getRun(id)).state, 'cancelled');
        assert.deepEqual(fs.readdirSync(dir), []);
      }
    }
  });

  test('^C of watch leaves the run alone', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const { id } = await server.run(long);
    const program = start(t, server, ['watch', id]);
    await program.line(/^ +\d+ +\d+ +float/, 30000);
    program.signal('SIGINT');
    assert.equal((await program.ended(30000)).code, 3);
    assert.deepEqual(program.errors, [`ringbench: run ${id} continues`]);
    assert.equal((await server.getRun(id)).state, 'running');
  });

  test('a run outlives a restart of its server in the terminal, too', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const program = start(t, server, ['run', JSON.stringify(long)]);
    await program.line(/^ +\d+ +\d+ +float/, 30000);
    await server.killHard();
    await program.errorLine(/^ringbench: .*stream of run \S+ /, 30000);
    const again = await server.startAgain();
    await program.errorLine(/^ringbench: .*from the beginning:$/, 60000);
    const [, id] = program.lines[0].match(/^# run (\S+)/);
    assert.equal((await call(t, again, ['cancel', id])).code, 0);
    assert.equal((await program.ended(60000)).code, 3);
    assert.match(program.lines.at(-1), /^cancelled: /);
  });

  test('lists, nodes and results are printed as the server makes them', limit, async (t) => {
    const { server } = await startCluster(t, 2);
    const { id } = await server.run({ ...quick, name: 'one of two', labels: { rack: 'r 1' } });
    await server.runEnds(id);
    await server.runToEnd(quick);
    const { out } = await call(t, server, [
      'ls',
      'of two',
      '--state',
      'completed',
      '--label',
      'rack=r 1',
      '--limit',
      '5',
    ]);
    assert.match(out, new RegExp(`^ID +STATE .*\n${id} +completed .* one of two$`));
    assert.equal((await call(t, server, ['ls'])).out.split('\n').length, 3);
    assert.match(
      (await call(t, server, ['ls', '--sort', 'figure', '--order', 'up'])).err,
      /order.*desc, asc/,
    );
    assert.match((await call(t, server, ['ls', '--state', 'flying'])).err, /^ringbench: .*\bstate\b/);
    assert.match((await call(t, server, ['nodes'])).out, /^NAME +STATE .*\nnode-1 +idle .*\nnode-2 +idle /);
    assert.match((await call(t, server, ['results', id, 'csv'])).out, /^case,attempt,/);
    assert.match((await call(t, server, ['results', id])).out, /^ +8 +2 +float /m);
    const unknown = await call(t, server, ['watch', '000000000000']);
    assert.equal(unknown.code, 3);
    assert.match(unknown.err, /^ringbench: .*000000000000$/);
  });

  test('files of other benchmarks are imported', limit, async (t) => {
    const server = await startServer(t);
    const file = new URL('tests/vectors/import/nccl-2.10-no-name.txt', root).pathname;
    const refused = await call(t, server, ['import', file]);
    assert.equal(refused.code, 3);
    assert.match(refused.err, /^ringbench: .*\?collective=/);
    for (const shell of shells) {
      const { code, out, err } = await call(
        t,
        server,
        ['import', '-', '--collective', 'all_reduce', '--name', 'a & ü'],
        { shell, input: fs.readFileSync(file) },
      );
      assert.deepEqual([code, err], [0, '']);
      const [, id] = out.match(
        /^(\S+) {2}4 rows .*all_reduce, 2 ranks: completed, .*nccl-tests\n4 rows .*0 lines/,
      );
      assert.equal((await server.getRun(id)).name, 'a & ü');
    }
    assert.match((await call(t, server, ['import'])).err, /^ringbench: .*file/);
    assert.match((await call(t, server, ['import', file, '--speed', '1'])).err, /^ringbench: .*--speed$/);
  });

  const secret = 'run-0123456789abcdef"\\';

  // A server that wants tokens, a folder, and the environment of who has one.
  async function startGuarded(t, args = []) {
    const dir = tempDir(t);
    const write = (name, text) => {
      fs.writeFileSync(path.join(dir, name), text, { mode: 0o600 });
      return path.join(dir, name);
    };
    const server = await startServer(t, {
      args: ['--token-file', write('tokens', `operator ${secret}\n`), ...args],
    });
    return { server, dir, write, env: { RINGBENCH_TOKEN_FILE: write('token', `${secret}\n`) } };
  }

  test('the token is read from its file, and on no command line', limit, async (t) => {
    const { server, dir, env, write } = await startGuarded(t);
    const bin = path.join(dir, 'bin');
    fs.mkdirSync(bin);
    const { stdout } = spawnSync('which', ['curl'], { encoding: 'utf8' });
    fs.writeFileSync(
      path.join(bin, 'curl'),
      `#!/bin/sh\ncat /proc/self/environ >>"${dir}/environ"\nprintf '%s\\n' "$@" >>"${dir}/argv"\nexec ${stdout.trim()} "$@"\n`,
      { mode: 0o755 },
    );
    const PATH = `${bin}:${process.env.PATH}`;
    for (const shell of shells) {
      const { code, out, err } = await call(t, server, ['ls'], { shell, env: { ...env, PATH } });
      assert.deepEqual([code, out.split(' ')[0]], [0, 'ID'], err);
    }
    for (const command of ['ls', 'nodes', 'launchers', 'jobs']) {
      const { code, err } = await call(t, server, [command], { env: { RINGBENCH_TOKEN_FILE: '' } });
      assert.equal(code, 3);
      assert.match(err, /Authorization/, command);
    }
    assert.match(fs.readFileSync(path.join(dir, 'argv'), 'utf8'), /^\/?.*api\/v1\/runs\?format=text$/m);
    for (const name of ['argv', 'environ'])
      assert.equal(fs.readFileSync(path.join(dir, name), 'utf8').includes('0123456789abcdef'), false);
    for (const [token, message] of /** @type {any[][]} */ ([
      [undefined, /^ringbench: token required: /],
      [write('wrong', 'no-such-token-0123\n'), /^ringbench: unknown token: /],
      [write('empty', ''), /^ringbench: RINGBENCH_TOKEN_FILE: .*empty /],
      [path.join(dir, 'missing'), /missing/],
    ])) {
      const { code, err } = await call(t, server, ['run', '{}'], {
        env: { RINGBENCH_TOKEN_FILE: token ?? '' },
      });
      assert.equal(code, 3);
      assert.match(err, message);
    }
  });

  test('a server that is not there, and one whose certificate nobody vouches for', limit, async (t) => {
    const nobody = { url: `http://127.0.0.1:${await freePort()}` };
    for (const command of [
      ['ls'],
      ['run', 'all_reduce'],
      ['watch', '000000000000'],
      ['gate', '000000000000'],
      ['compare', 'a', 'b'],
    ]) {
      const { code, err } = await call(t, nobody, command);
      assert.equal(code, 3, command.join(' '));
      assert.match(err, /^ringbench: .*http:\/\/127\.0\.0\.1:\d+: .*connect/);
    }
    const dir = tempDir(t);
    const { key, cert } = makeCertificate(dir);
    const { server, env } = await startGuarded(t, ['--tls-cert', cert, '--tls-key', key]);
    assert.match((await call(t, server, ['ls'], { env })).err, /^ringbench: .*https:.*certificate/);
    const { code, err } = await call(t, server, ['ls'], { env: { ...env, RINGBENCH_CA_FILE: cert } });
    assert.equal(code, 0, err);
  });

  test('a line gets nodes from a launcher and gives them back', limit, async (t) => {
    const launchers = tempDir(t),
      jobs = tempDir(t);
    for (const file of ['local.json', 'local-agents'])
      fs.copyFileSync(new URL(`deploy/launchers.d/${file}`, root), path.join(launchers, file));
    const server = await startServer(t, {
      args: ['--launchers', launchers],
      env: { PATH: `${binDir}:${process.env.PATH}`, LOCAL_AGENTS_DIR: jobs },
    });
    const said = async (...args) => {
      const { code, out, err } = await call(t, server, args, { shell: shells[0] });
      assert.equal(code, 0, out + err);
      return out;
    };
    assert.match(await said('launchers'), /^NAME +.*\nlocal /);
    const out = await said(
      'run',
      'broadcast',
      '-b8',
      '-e8',
      '-n1',
      '--nodes',
      '1',
      '--wait',
      '60',
      '--launch',
      'local',
      '--launch-arg',
      'ranks:=3',
    );
    assert.match(out, /^completed: /m);
    const { spec, world_size } = await server.getRun(firstRun(out));
    assert.equal(world_size, 3);
    assert.deepEqual(
      [spec.launch, spec.nodes.wait_s],
      [{ name: 'local', args: { ranks: 3 }, wait_s: 86400 }, 60],
    );

    await server.run({
      ...long,
      backend: 'host',
      nodes: { count: 1, wait_s: 60 },
      launch: { name: 'local' },
    });
    const [, job] = await waitFor(
      async () => (await said('jobs')).match(/^(\S+) +running/m),
      () => 'no job runs',
      20000,
    );
    assert.equal((await said('words', 'stop')).split(/\s/)[0], job);
    await said('stop', job);
    await waitFor(
      async () => / ended /.test(await said('jobs')),
      () => 'it has not ended',
      20000,
    );
    const refused = await call(t, server, [
      'run',
      'broadcast',
      '--launch',
      'local',
      '--launch-arg',
      'ranks=3',
    ]);
    assert.equal(refused.code, 3);
    assert.match(refused.err, /\/launch\/args\/ranks: .*integer/);
    assert.match((await call(t, server, ['stop', 'none'])).err, /^ringbench: .*none/);
  });

  test('completion in bash knows commands, options and runs', limit, async (t) => {
    const { server } = await startCluster(t, 1);
    const { id } = await server.run(quick);
    const complete = (...words) => {
      const file = new URL('client/completion/ringbench.bash', root).pathname;
      const { stdout, stderr } = spawnSync(
        'bash',
        [
          '-c',
          `. ${file}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ringbench; echo "\${COMPREPLY[*]}"`,
          'bash',
          script,
          ...words,
        ],
        { encoding: 'utf8', env: { ...process.env, RINGBENCH_SERVER: server.url } },
      );
      assert.equal(stderr, '');
      return stdout.trim();
    };
    assert.equal(complete('wa'), 'watch');
    assert.equal(complete('run', 'all_r'), 'all_reduce');
    assert.equal(complete('run', 'all_reduce', '--minb'), '--minbytes');
    assert.equal(complete('watch', id.slice(0, 5)), id);
    const { collectives } = await server.get('/api/v1/collectives');
    for (const { name } of collectives) assert.ok(complete('run', name).split(' ').includes(name), name);
  });
});
