// SPDX-License-Identifier: Apache-2.0
// program.test.mjs - programs of the nodes' administrators: offered, started without a
// shell, watched, and their figures as results
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';

import { assertProblem, noWorkersLeft, startAgent, startCluster, startServer } from './lib/cluster.mjs';
import { patience, tempDir, waitFor } from './lib/fixture.mjs';
import { Schemas } from './lib/schema.mjs';

const limit = { timeout: 120000 * patience };

// A config directory with programs: {NAME: content}. Text of JavaScript under `script`
// becomes a file that argv begins with.
function configDir(t, programs) {
  const dir = tempDir(t);
  fs.mkdirSync(path.join(dir, 'programs.d'));
  for (const [name, { script, argv = [], ...rest }] of Object.entries(programs)) {
    const file = path.join(dir, `${name}.mjs`);
    if (script) fs.writeFileSync(file, script);
    const content = script ? { argv: [process.execPath, file, ...argv], ...rest } : { argv, ...rest };
    fs.writeFileSync(path.join(dir, 'programs.d', `${name}.json`), JSON.stringify(content));
  }
  return dir;
}

const figures = {
  description: 'prints what it is told',
  script: `
    const [steps, wait, ...rest] = process.argv.slice(2);
    console.log(JSON.stringify({ argv: rest }));
    for (let step = 0; step < Number(steps); step++) {
      console.log('step ' + step + ' speed: ' + (10 + step) + '.5 samples/s');
      console.log(JSON.stringify({ busbw_gbs: step * 2, size: 1024 << step, note: 'x' }));
      await new Promise((resolve) => setTimeout(resolve, Number(wait)));
    }
    console.error('loss=-1e-3');
  `,
  argv: ['{steps}', '{wait_ms}', '--label={text}', '{text}', '{{{mode}}}', '{exact}', '{ratio}'],
  parameters: {
    steps: { type: 'integer', min: 1, max: 100, default: 2 },
    wait_ms: { type: 'integer', min: 0, max: 10000, default: 0 },
    text: { type: 'string', pattern: '[a-z;/ *$`|&"\'-]*', default: 'word' },
    mode: { type: 'enum', values: ['fast', 'slow'], default: 'fast' },
    exact: { type: 'boolean', default: true },
    ratio: { type: 'number', min: 0, max: 1, default: 0.1 },
  },
  metrics: [
    { name: 'speed', unit: 'samples/s', higher_is_better: true, regex: 'speed: ([0-9.]+)' },
    { name: 'busbw', unit: 'GB/s', higher_is_better: true, json: 'busbw_gbs', labels: ['size'] },
    { name: 'loss', unit: '', higher_is_better: false, regex: 'loss=([-+0-9.e]+)', stream: 'stderr' },
  ],
  ranks_per_node: 1,
};

async function clusterWith(t, programs, nodes = 1) {
  const dir = configDir(t, programs);
  return startCluster(t, nodes, { agent: { args: ['--config-dir', dir] } });
}

async function output(server, id, rank = 0) {
  const { lines } = await server.get(`/api/v1/runs/${id}/logs?case=0&rank=${rank}`);
  return lines.map(({ text }) => text).join('\n');
}

// The arguments that the program got behind the first two.
async function argvOf(server, id) {
  const text = await output(server, id);
  return JSON.parse(text.match(/^\{"argv":.*$/m)[0]).argv;
}

describe('programs', { concurrency: 6 }, () => {
  test('figures show live, in results, CSV, text and the summary', limit, async (t) => {
    const { server, agents } = await clusterWith(t, { figures }, 2);
    const schemas = new Schemas(await server.get('/openapi.json'));
    const fits = (name, value) =>
      assert.deepEqual(schemas.faults(schemas.document.components.schemas[name], value), [], name);
    const offered = await server.get('/api/v1/programs');
    fits('ProgramList', offered);
    assert.deepEqual(
      offered.programs.map(({ name, nodes }) => [name, nodes]),
      [['figures', ['node-1', 'node-2']]],
    );
    assert.equal(offered.programs[0].parameters.steps.max, 100);
    assert.equal(offered.programs[0].argv, undefined);

    const run = await server.run({ program: { name: 'figures', args: { steps: 3 } }, repeats: 2 });
    fits('Run', run);
    const ended = await server.runEnds(run.id);
    assert.equal(ended.state, 'completed', ended.reason);
    fits('Run', ended);
    assert.equal(ended.backend, 'program');
    assert.equal(ended.program, 'figures');
    assert.equal(ended.world_size, 2);
    assert.equal(ended.rows_done, 2 * 2 * 7);
    const speed = ended.summary.metrics.find(({ metric }) => metric === 'speed');
    assert.deepEqual(speed, {
      metric: 'speed',
      unit: 'samples/s',
      higher_is_better: true,
      count: 12,
      last: 12.5,
      mean: 11.5,
      min: 10.5,
      max: 12.5,
      rank0: { count: 6, last: 12.5, mean: 11.5, min: 10.5, max: 12.5 },
    });
    const summary = await server.get(`/api/v1/runs/${run.id}/summary`);
    fits('RunSummary', summary);
    const drawn = summary.figures.find(({ metric, rank }) => metric === 'speed' && rank === 1);
    assert.deepEqual([drawn.count, drawn.values.map(([, value]) => value)], [3, [10.5, 11.5, 12.5]]);
    const rows = await server.rows(run.id);
    for (const row of rows) fits('Figure', row);
    const { headline } = ended.summary;
    assert.deepEqual([headline.metric, headline.text], ['speed', '11.5 samples/s']);
    assert.deepEqual((await server.get('/api/v1/runs?sort=figure')).runs[0].summary.headline, headline);
    const mine = rows.filter((row) => row.case === 1 && row.rank === 1);
    assert.deepEqual(
      mine.filter((row) => row.metric === 'busbw').map(({ value, labels }) => [value, labels]),
      [
        [0, { size: 1024 }],
        [2, { size: 2048 }],
        [4, { size: 4096 }],
      ],
    );
    assert.deepEqual(mine.find((row) => row.metric === 'loss').value, -0.001);
    for (const event of await server.events(run.id)) fits('Event', event);

    const csv = (await server.request('GET', `/api/v1/runs/${run.id}/results?format=csv`)).text.split('\r\n');
    assert.match(csv[0], /^case,attempt,metric,value,unit,higher_is_better,rank,labels,.*,repeat$/);
    assert.ok(
      csv.some((line) => /^1,1,busbw,2,GB\/s,true,1,size=2048,+1$/.test(line)),
      csv.join('\n'),
    );
    assert.ok(
      csv.some((line) => /^0,1,speed,10\.5,samples\/s,true,0,+0$/.test(line)),
      csv.join('\n'),
    );
    const text = (await server.request('GET', `/api/v1/runs/${run.id}/results?format=text`)).text;
    assert.match(text, /^# case 1$/m);
    assert.match(text, /^speed +12\.5 +samples\/s +0$/m);
    assert.match(text, /^busbw +4 +GB\/s +1 +size=4096$/m);
    await noWorkersLeft(agents);
  });

  test('a figure is seen while the program runs', limit, async (t) => {
    const { server } = await clusterWith(t, { figures });
    const text = await server.followText({
      program: { name: 'figures', args: { steps: 2, wait_ms: 10000 } },
    });
    const id = text.headers.location.split('/').pop();
    await text.line(/^# placed: program, 1 rank on node-1$/);
    await text.line(/^speed +10\.5 +samples\/s +0$/);
    const seen = await server.getRun(id);
    assert.equal(seen.state, 'running');
    assert.equal(seen.summary.metrics[0].last, 10.5);
    await server.request('POST', `/api/v1/runs/${id}/cancel`);
    const lines = await text.ended();
    assert.match(lines.at(-1), /^cancelled: /);
    assert.equal((await server.getRun(id)).cases[0].ranks[0].reason, 'cancelled: stopped on request');
  });

  test('an argument stays one argument, whatever it says', limit, async (t) => {
    const { server } = await clusterWith(t, { figures });
    const mark = path.join(tempDir(t), 'mark');
    const word = `; touch ${mark.replace(/[^a-z/ -]/g, 'x')} \`id\` $HOME "|' *`.replace(/[A-Z]/g, 'h');
    const { id } = await server.run({
      program: { name: 'figures', args: { text: word, mode: 'slow', exact: false, ratio: 1 } },
    });
    const run = await server.runEnds(id);
    assert.equal(run.state, 'completed', run.reason);
    assert.deepEqual(await argvOf(server, id), [`--label=${word}`, word, '{slow}', 'false', '1']);
    assert.equal(fs.existsSync(mark), false);
  });

  test('what does not fit is refused with its pointer', limit, async (t) => {
    const { server } = await clusterWith(t, {
      figures,
      strict: { argv: ['/bin/true', '{n}'], parameters: { n: { type: 'integer', min: 0, max: 9 } } },
    });
    for (const [program, pointer, detail] of /** @type {any[][]} */ ([
      [{ name: 'figures', args: { steps: 101 } }, '/program/args/steps', /100.*101/],
      [{ name: 'figures', args: { steps: 1.5 } }, '/program/args/steps', /integer/],
      [{ name: 'figures', args: { ratio: -0.5 } }, '/program/args/ratio', /at least 0/],
      [{ name: 'figures', args: { mode: 'middle' } }, '/program/args/mode', /fast, slow/],
      [{ name: 'figures', args: { exact: 'yes' } }, '/program/args/exact', /true.*false/],
      [{ name: 'figures', args: { text: 'A' } }, '/program/args/text', /\[a-z/],
      [{ name: 'figures', args: { text: 'a\nb' } }, '/program/args/text', /U\+000A/],
      [{ name: 'figures', args: { text: '-v' } }, '/program/args/text', /-$/],
      [{ name: 'figures', args: { text: 'a'.repeat(257) } }, '/program/args/text', /256 bytes/],
      [{ name: 'figures', args: { 'a/b': 1 } }, '/program/args/a~1b', /'a\/b'.*steps/],
      [{ name: 'strict' }, '/program/args/n', /missing/],
      [{ name: '../figures' }, '/program/name', /name/],
      [{ name: 'figures', argv: ['sh'] }, '/program/argv', /unknown/],
      [{ name: 'figures', args: [] }, '/program/args', /object/],
    ])) {
      const answer = assertProblem(await server.post({ program }), 422);
      assert.deepEqual(
        answer.errors.map((error) => error.pointer),
        [pointer],
        JSON.stringify(answer),
      );
      assert.match(answer.errors[0].detail, detail);
    }
    const both = assertProblem(
      await server.post({ program: { name: 'figures' }, collectives: ['all_reduce'], iters: 3 }),
      422,
    );
    assert.deepEqual(
      both.errors.map((error) => error.pointer),
      ['/collectives', '/iters'],
    );
    const all = assertProblem(
      await server.post({ program: { name: 'figures', args: { steps: 101 } }, repeats: 0 }),
      422,
    );
    assert.deepEqual(all.errors.map((error) => error.pointer).sort(), ['/program/args/steps', '/repeats']);
  });

  test('a program that no node offers names those that are', limit, async (t) => {
    const { server } = await clusterWith(t, { figures });
    const run = await server.runToEnd({ program: { name: 'figure' }, nodes: { wait_s: 0 } });
    assert.equal(run.state, 'failed');
    assert.match(run.reason, /node-1: .*'figure'.*figures/);
  });

  test("a failure carries the program's last lines", limit, async (t) => {
    const { server, agents } = await clusterWith(t, {
      broken: {
        script: `
        if (process.env.RANK === '1') { console.log('half way'); console.error('disk is full'); process.exit(7); }
        setInterval(() => {}, 1000);
      `,
        ranks_per_node: 2,
      },
      silent: { script: 'process.exit(0);' },
    });
    const run = await server.runToEnd({ program: { name: 'broken' } });
    assert.equal(run.state, 'failed');
    assert.match(
      run.reason,
      /^rank 1 on node-1: program exited 7; its last lines: half way \| disk is full$/,
    );
    await noWorkersLeft(agents);
    const silent = await server.runToEnd({ program: { name: 'silent' } });
    assert.equal(silent.state, 'completed', silent.reason);
    assert.equal(silent.rows_done, 0);
  });

  test('a line that an expression takes too long for is said once and counted', limit, async (t) => {
    const { server } = await clusterWith(t, {
      long: {
        script: 'for (let i = 0; i < 40; i++) console.log("a".repeat(4096)); console.log("rate 5");',
        metrics: [
          { name: 'slow', unit: 's', higher_is_better: false, regex: '([^x]*a)+[ :]([0-9]+)$' },
          { name: 'rate', unit: '1/s', higher_is_better: true, regex: 'rate ([0-9]+)' },
        ],
      },
    });
    const { id } = await server.run({ program: { name: 'long' } });
    const run = await server.runEnds(id);
    assert.equal(run.state, 'completed', run.reason);
    assert.deepEqual(
      (await server.rows(id)).map(({ metric, value }) => [metric, value]),
      [['rate', 5]],
    );
    const said = (await server.events(id)).filter(({ type }) => type === 'message');
    assert.deepEqual(
      said.map(({ level, rank }) => [level, rank]),
      [
        ['warn', 0],
        ['warn', 0],
      ],
    );
    assert.match(said[0].text, /\bslow: .*\b50000\b/);
    assert.match(said[1].text, /^skipped 40 lines/);
  });

  test('a program is stopped at its time limit and when it stalls', limit, async (t) => {
    const { server, agents } = await clusterWith(t, {
      slow: { script: 'setInterval(() => console.log("on"), 100);', timeout_s: 1 },
      stuck: { script: 'console.log("begun"); setInterval(() => {}, 1000);' },
      telling: {
        script:
          'process.on("SIGUSR2", () => console.error("where I am")); console.log("begun"); setInterval(() => {}, 1000);',
      },
      chatty: {
        script:
          'const line = "x".repeat(100000); let n = 0; setInterval(() => { console.log(line); if (++n == 80) process.exit(); }, 100);',
      },
    });
    const slow = await server.runToEnd({ program: { name: 'slow' } });
    assert.match(slow.reason, /^rank 0 on node-1: timeout: .*\b1 s\b/);
    const stuck = await server.runToEnd({ program: { name: 'stuck' }, stall_s: 8 });
    assert.match(stuck.reason, /^stalled: .* 8 s$/);
    // Asked where it is, it may say so, and one that does not heed the question lives on.
    const telling = await server.runToEnd({ program: { name: 'telling' }, stall_s: 8 });
    assert.match(telling.reason, /^stalled: .* 8 s$/);
    const { lines } = await server.get(`/api/v1/runs/${telling.id}/logs?rank=0`);
    assert.match(lines.map(({ text }) => text).join(''), /where I am/);
    // Output beyond what is kept is a sign of life all the same.
    const chatty = await server.runToEnd({ program: { name: 'chatty' }, stall_s: 8 });
    assert.equal(chatty.state, 'completed', chatty.reason);
    await noWorkersLeft(agents);
  });

  test("ranks of two nodes get torchrun's environment, the file's and the run's", limit, async (t) => {
    const dir = tempDir(t);
    const { server } = await clusterWith(
      t,
      {
        env: {
          script: `
        const names = ['RANK', 'WORLD_SIZE', 'LOCAL_RANK', 'LOCAL_WORLD_SIZE', 'GROUP_RANK', 'MASTER_ADDR',
          'TORCHELASTIC_USE_AGENT_STORE', 'TORCHELASTIC_RESTART_COUNT', 'FROM_FILE', 'NCCL_ALGO', 'OMP_NUM_THREADS'];
        console.log(JSON.stringify({ argv: [process.cwd(), ...names.map((name) => process.env[name])] }));
      `,
          env: { FROM_FILE: '{config_dir}', NCCL_ALGO: 'Ring', OMP_NUM_THREADS: '3' },
          cwd: dir,
          ranks_per_node: 2,
        },
      },
      2,
    );
    const { id } = await server.run({ program: { name: 'env' }, env: { NCCL_ALGO: 'Tree' } });
    const run = await server.runEnds(id);
    assert.equal(run.state, 'completed', run.reason);
    const text = await output(server, id, 3);
    const { argv } = JSON.parse(text);
    assert.deepEqual(
      [argv[0], ...argv.slice(1, 9)],
      [dir, '3', '4', '1', '2', '1', '127.0.0.1', 'True', '0'],
    );
    assert.ok(fs.existsSync(path.join(argv[9], 'programs.d')));
    assert.deepEqual(argv.slice(10), ['Tree', '3']);
  });

  test('a file that is wrong is named and left out; the others are offered', limit, async (t) => {
    const server = await startServer(t);
    const dir = configDir(t, {
      good: { argv: ['true'] },
      unknown: { argv: ['true', '{what}'], shell: true },
      missing: { argv: ['/nowhere/at/all'] },
      pattern: { argv: ['true', '{a}'], parameters: { a: { type: 'string', pattern: '(' } } },
      metric: {
        argv: ['true'],
        metrics: [{ name: 'm', unit: 's', higher_is_better: false, regex: 'no group' }],
      },
      expression: {
        argv: ['true'],
        metrics: [{ name: 'm', unit: 's', higher_is_better: false, regex: 'a(b' }],
      },
    });
    fs.writeFileSync(path.join(dir, 'programs.d', 'broken.json'), '{"argv": ');
    fs.writeFileSync(path.join(dir, 'programs.d', 'open.json'), '{"argv": ["true"]}', { mode: 0o666 });
    fs.chmodSync(path.join(dir, 'programs.d', 'open.json'), 0o666);
    const agent = await startAgent(t, server, 'node-1', { args: ['--config-dir', dir] });
    const { programs } = await server.get('/api/v1/programs');
    assert.deepEqual(
      programs.map(({ name }) => name),
      ['good'],
    );
    for (const pattern of [
      /programs\.d\/unknown\.json: \/argv\/1: \{what\} /,
      /programs\.d\/unknown\.json: \/shell: /,
      /programs\.d\/missing\.json: \/argv\/0: \/nowhere\/at\/all /,
      /programs\.d\/pattern\.json: \/parameters\/a\/pattern: /,
      /programs\.d\/metric\.json: \/metrics\/0\/regex: .*group/,
      /programs\.d\/expression\.json: \/metrics\/0\/regex: .*parenthesis.* 3/,
      /programs\.d\/broken\.json: not valid JSON/,
      /programs\.d\/open\.json .*every user/,
    ]) {
      await waitFor(
        () => agent.errors.some((line) => pattern.test(line)),
        () => `${pattern}: ${agent.errors.join('\n')}`,
      );
    }
  });

  test('a directory to which anybody may add programs has none', limit, async (t) => {
    const server = await startServer(t);
    const dir = configDir(t, { good: { argv: ['true'] } });
    fs.chmodSync(path.join(dir, 'programs.d'), 0o777);
    const agent = await startAgent(t, server, 'node-1', { args: ['--config-dir', dir] });
    assert.deepEqual((await server.get('/api/v1/programs')).programs, []);
    await waitFor(
      () =>
        agent.errors.some((line) =>
          /programs\.d is writable by every user: .*; this node offers no programs/.test(line),
        ),
      () => agent.errors.join('\n'),
    );
  });

  test('nodes whose declarations differ are told apart', limit, async (t) => {
    const server = await startServer(t);
    const one = (max) => ({
      p: { argv: ['true', '{n}'], parameters: { n: { type: 'integer', min: 0, max, default: 0 } } },
    });
    await startAgent(t, server, 'node-1', { args: ['--config-dir', configDir(t, one(5))] });
    await startAgent(t, server, 'node-2', { args: ['--config-dir', configDir(t, one(50))] });
    const { programs } = await server.get('/api/v1/programs');
    assert.deepEqual(
      programs.map(({ nodes }) => nodes),
      [['node-1'], ['node-2']],
    );
    const run = await server.runToEnd({ program: { name: 'p', args: { n: 20 } } });
    assert.deepEqual(run.nodes, [{ name: 'node-2', ranks: 1 }]);
    const refused = await server.runEnds(
      (
        await server.run({
          program: { name: 'p', args: { n: 20 } },
          nodes: { names: ['node-1', 'node-2'], wait_s: 0 },
        })
      ).id,
    );
    assert.match(refused.reason, /node-1: \/program\/args\/n .*\b5\b.*\b20\b/);
  });

  test('a matrix makes a case per combination, interleaved over repeats', limit, async (t) => {
    const { server } = await clusterWith(t, {
      env: {
        script:
          'console.log("algo: " + (process.env.NCCL_ALGO === undefined ? 0 : process.env.NCCL_ALGO.length));',
        env: { NCCL_ALGO: 'from the file' },
        metrics: [{ name: 'algo', unit: 'bytes', higher_is_better: false, regex: 'algo: ([0-9]+)' }],
      },
    });
    const schemas = new Schemas(await server.get('/openapi.json'));
    const text = await server.followText({
      program: { name: 'env' },
      matrix: { NCCL_ALGO: ['Ring', null] },
      repeats: 2,
    });
    const id = text.headers.location.split('/').pop();
    await text.line(/^# case 1 \(NCCL_ALGO unset\): running$/);
    await text.ended();
    const run = await server.getRun(id);
    assert.equal(run.state, 'completed', run.reason);
    assert.deepEqual(schemas.faults(schemas.document.components.schemas.Run, run), []);
    assert.deepEqual(
      run.cases.map(({ repeat, env }) => [repeat, env.NCCL_ALGO]),
      [
        [0, 'Ring'],
        [0, null],
        [1, null],
        [1, 'Ring'],
      ],
    );
    const rows = await server.rows(id);
    assert.deepEqual(
      rows.map((row) => [row.case, row.value]),
      [
        [0, 4],
        [1, 0],
        [2, 0],
        [3, 4],
      ],
    );
    for (const event of (await server.events(id)).filter(({ type }) => type === 'case')) {
      assert.deepEqual(schemas.faults(schemas.document.components.schemas.Event, event), []);
      assert.deepEqual(event.env, run.cases[event.case].env);
    }
    const refused = assertProblem(
      await server.post({ matrix: { NCCL_ALGO: ['A'] }, env: { NCCL_ALGO: 'B' } }),
      422,
    );
    assert.equal(refused.errors[0].pointer, '/matrix/NCCL_ALGO');
  });

  // A program that logs as NCCL does: where to and what its variables say, a line per write,
  // from a process of its own as torchrun's workers are, with metrics beside it.
  const logger = `
  import { spawnSync } from 'node:child_process';
  import fs from 'node:fs';
  const { RANK, NCCL_DEBUG, NCCL_DEBUG_FILE } = process.env;
  if (process.argv[2] !== 'worker') {
    console.log('subsys=' + process.env.NCCL_DEBUG_SUBSYS);
    const { status } = spawnSync(process.execPath, [process.argv[1], 'worker'], { stdio: 'inherit' });
    console.log('rate: 7');
    if (fs.existsSync('hold')) setTimeout(() => {}, 600000);
    process.exitCode = status;
  } else {
    const file = NCCL_DEBUG_FILE?.replace('%p', process.pid);
    const fd = file ? fs.openSync(file, 'w') : 1;
    const say = (text) => fs.writeSync(fd, 'node:' + process.pid + ':1 [0] ' + text + '\\n');
    if (NCCL_DEBUG === 'INFO') {
      say('NCCL INFO NET/Socket : Using [0]eth0:10.0.0.' + RANK + '<0>');
      process.stdout.write('half a line, ');
      say('NCCL INFO Channel 00/0 : ' + RANK + '[0] -> ' + (1 - RANK) + '[0] [send] via NET/Socket/0');
      say('NCCL INFO rate: 99');
    }
    if (NCCL_DEBUG === 'INFO' || NCCL_DEBUG === 'WARN') say('NCCL WARN rate: 98 is no rate');
    console.log('rate: 5');
  }
`;
  const rate = [{ name: 'rate', unit: 'GB/s', higher_is_better: true, regex: 'rate: ([0-9.]+)' }];

  test("the ways of a program's NCCL are told, and its log stays out of what it prints", limit, async (t) => {
    const dir = tempDir(t);
    const { server } = await clusterWith(
      t,
      { train: { script: logger, ranks_per_node: 1, cwd: dir, metrics: rate } },
      2,
    );
    const go = async (env) => {
      const { id } = await server.run({ program: { name: 'train' }, env });
      const run = await server.runEnds(id);
      assert.equal(run.state, 'completed', run.reason);
      const { ways, verdicts } = run.cases[0].transports;
      return {
        ways: ways.map(({ kind, text, between }) => [kind, text, between]),
        sentences: verdicts.map(({ sentence }) => sentence),
        text: await output(server, id),
        rates: (await server.rows(id)).filter(({ rank }) => rank === 0).map(({ value }) => value),
      };
    };
    const ways = [['ethernet', 'sockets over Ethernet eth0, 1 channel', 'node-1 and node-2']];
    const quiet = await go({});
    assert.deepEqual(quiet.ways, ways);
    assert.deepEqual(quiet.rates, [5, 7]);
    assert.match(quiet.text, /^subsys=INIT,BOOTSTRAP,ENV,NET$/m);
    assert.match(quiet.text, /^half a line, rate: 5$/m);
    assert.doesNotMatch(quiet.text, /NCCL INFO/);
    assert.match(quiet.text, /NCCL WARN rate: 98/);
    const shown = await go({ NCCL_DEBUG: 'INFO' });
    assert.deepEqual(shown.ways, ways);
    assert.match(shown.text, /NCCL INFO Channel 00/);
    assert.match(shown.text, /^subsys=undefined$/m);
    const warned = await go({ NCCL_DEBUG: 'WARN' });
    assert.match(warned.text, /NCCL WARN rate: 98/);
    assert.deepEqual(warned.ways, []);
  });

  test("where nothing is heard of a program's NCCL that is said", limit, async (t) => {
    const dir = tempDir(t);
    const { server } = await clusterWith(
      t,
      {
        own: {
          script: logger,
          ranks_per_node: 1,
          cwd: dir,
          env: { NCCL_DEBUG: 'INFO', NCCL_DEBUG_FILE: path.join(dir, 'own.%p') },
        },
        none: { script: 'console.log(1);', ranks_per_node: 1 },
      },
      1,
    );
    const saysOf = async (name, env = {}) => {
      const { id } = await server.run({ program: { name }, env, repeats: 2 });
      const run = await server.runEnds(id);
      assert.equal(run.state, 'completed', run.reason);
      const [{ answer, sentence }] = run.cases[0].transports.verdicts;
      const text = await server.get(`/api/v1/runs/${id}/events?format=text`);
      assert.equal(text.split(`# ${sentence}`).length, 2, text);
      assert.equal(run.cases[1].transports, undefined);
      assert.equal(run.cases[0].transports.verdicts.length, 1);
      assert.equal(answer, 'not_enough_data');
      return sentence;
    };
    const unset = await saysOf('none');
    assert.doesNotMatch(unset, /NCCL_DEBUG/);
    assert.match(await saysOf('none', { NCCL_DEBUG: 'VERSION' }), /NCCL_DEBUG=VERSION/);
    assert.equal(await saysOf('own'), unset);
    const [file] = fs.readdirSync(dir).filter((name) => name.startsWith('own.'));
    assert.match(fs.readFileSync(path.join(dir, file), 'utf8'), /NCCL INFO Channel/);
  });

  // What the program was told of NCCL's log; then it prints as NCCL does that cannot open the file which it was given.
  const printer = `
  for (const name of ['NCCL_DEBUG', 'NCCL_DEBUG_SUBSYS', 'NCCL_DEBUG_FILE']) console.log(name + '=' + (process.env[name] ?? '-'));
  console.log('node:1:1 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>');
  console.log('node:1:1 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0');
  console.log('node:1:1 [0] NCCL WARN something is odd');
`;

  async function printed(server, env = {}) {
    const { id } = await server.run({ program: { name: 'printer' }, env });
    const run = await server.runEnds(id);
    assert.equal(run.state, 'completed', run.reason);
    return { text: await output(server, id), ways: run.cases[0].transports.ways.map(({ text }) => text) };
  }

  const heard = ['sockets over Ethernet eth0, 1 channel'];

  test("NCCL's log in a program's output is read where no file takes it, and not shown", limit, async (t) => {
    const { server } = await clusterWith(t, { printer: { script: printer, ranks_per_node: 1 } });
    const { text, ways } = await printed(server);
    assert.match(
      text,
      /^NCCL_DEBUG=INFO\nNCCL_DEBUG_SUBSYS=INIT,BOOTSTRAP,ENV,NET\nNCCL_DEBUG_FILE=\/.*\.nccl-0\nnode:1:1 \[0\] NCCL WARN something is odd\n$/,
    );
    assert.deepEqual(ways, heard);

    // NCCL would put something else in the place of a percent sign.
    const spool = path.join(tempDir(t), 'a%b');
    fs.mkdirSync(spool);
    const dir = configDir(t, { printer: { script: printer, ranks_per_node: 1 } });
    const other = await startCluster(t, 1, { agent: { args: ['--config-dir', dir, '--spool-dir', spool] } });
    const odd = await printed(other.server);
    assert.match(
      odd.text,
      /^NCCL_DEBUG=INFO\nNCCL_DEBUG_SUBSYS=INIT,BOOTSTRAP,ENV,NET\nNCCL_DEBUG_FILE=-\nnode:1:1 \[0\] NCCL WARN something is odd\n$/,
    );
    assert.deepEqual(odd.ways, heard);
  });

  test("what NCCL's files say of its log is the program's own choice", limit, async (t) => {
    const home = tempDir(t);
    const file = path.join(home, 'nccl.conf');
    const own = path.join(home, '.nccl.conf');
    const { server } = await clusterWith(t, {
      printer: { script: printer, ranks_per_node: 1, env: { HOME: home } },
    });
    const told = async (env) =>
      (await printed(server, env)).text
        .split('\n')
        .filter((line) => /^NCCL_DEBUG/.test(line))
        .map((line) => line.replace(/=\/.*/, '=FILE'));
    const none = ['NCCL_DEBUG=-', 'NCCL_DEBUG_SUBSYS=-', 'NCCL_DEBUG_FILE=-'];
    for (const line of ['NCCL_DEBUG=WARN', 'NCCL_DEBUG_FILE=/tmp/nccl.%p']) {
      fs.writeFileSync(own, `# of the user\n${line}\n`);
      assert.deepEqual(await told(), none, line);
    }
    // The whole of what the program prints is shown then.
    assert.match((await printed(server)).text, /NCCL INFO Channel 00/);
    fs.writeFileSync(own, '#NCCL_DEBUG=WARN\nNCCL_DEBUG_SUBSYS=ALL\nNCCL_DEBUG_FILES=no\n');
    assert.deepEqual(await told(), ['NCCL_DEBUG=INFO', 'NCCL_DEBUG_SUBSYS=-', 'NCCL_DEBUG_FILE=FILE']);

    // Another file of the user's takes the place of that in the home.
    fs.writeFileSync(file, 'NCCL_DEBUG_FILE=/dev/null\n');
    const named = await clusterWith(t, {
      printer: { script: printer, ranks_per_node: 1, env: { HOME: home, NCCL_CONF_FILE: file } },
    });
    const other = await printed(named.server);
    assert.match(other.text, /^NCCL_DEBUG=-\nNCCL_DEBUG_SUBSYS=-\nNCCL_DEBUG_FILE=-\n/);
  });

  // An agent whose /etc has one more file, for which it needs a mount of its own.
  const inEtc = (dir) => [
    'unshare',
    '--mount',
    'sh',
    '-c',
    `mount -t overlay -o lowerdir=${dir}:/etc overlay /etc && exec "$@"`,
    'sh',
  ];

  function whyNoEtc() {
    const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'rb-etc-'));
    try {
      execFileSync(inEtc(dir)[0], [...inEtc(dir).slice(1), 'true'], { stdio: 'ignore' });
      return false;
    } catch {
      return 'no mounts of its own here';
    } finally {
      fs.rmSync(dir, { recursive: true });
    }
  }

  test("so is what the machine's nccl.conf says", { ...limit, skip: whyNoEtc() }, async (t) => {
    const etc = tempDir(t);
    fs.writeFileSync(path.join(etc, 'nccl.conf'), 'NCCL_DEBUG_FILE=/var/log/nccl.%h.%p\n');
    const dir = configDir(t, {
      printer: { script: printer, ranks_per_node: 1, env: { HOME: '/nonexistent' } },
    });
    const { server } = await startCluster(t, 1, {
      agent: { args: ['--config-dir', dir], within: inEtc(etc) },
    });
    const { text, ways } = await printed(server);
    assert.match(text, /^NCCL_DEBUG=-\nNCCL_DEBUG_SUBSYS=-\nNCCL_DEBUG_FILE=-\nnode:1:1 \[0\] NCCL INFO NET/);
    assert.deepEqual(ways, heard);
  });

  test("a program's ways are known while it runs", limit, async (t) => {
    const dir = tempDir(t);
    fs.writeFileSync(path.join(dir, 'hold'), '');
    const { server } = await clusterWith(t, { train: { script: logger, ranks_per_node: 1, cwd: dir } }, 1);
    const { id } = await server.run({ program: { name: 'train' } });
    const { log } = await server.event(id, (event) => event.type === 'nccl');
    assert.deepEqual(
      log.transports.map(({ via }) => via),
      ['NET/Socket'],
    );
    assert.equal((await server.getRun(id)).state, 'running');
    await server.request('POST', `/api/v1/runs/${id}/cancel`);
    await server.runEnds(id);
  });
});
