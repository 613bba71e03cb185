// SPDX-License-Identifier: Apache-2.0
// examples.test.mjs - each folder of examples/ does what its README says, with simulated nodes;
// torch_standing.test.mjs has the one for torchrun
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { startFleet, startServer } from './lib/cluster.mjs';
import { Program, binDir, patience, root, tempDir } from './lib/fixture.mjs';
import { Calendar, day, sim, startChanging, sweepsAre, watchOf } from './lib/watches.mjs';

const limit = { timeout: 180000 * patience };

// A copy of an example, whose specs are changed as a user changes them.
class Example {
  constructor(t, server, name) {
    this.test = t;
    this.server = server;
    this.dir = path.join(tempDir(t), name);
    fs.cpSync(path.join(root, 'examples', name), this.dir, { recursive: true });
  }

  read(file) {
    return fs.readFileSync(path.join(this.dir, file), 'utf8');
  }

  adapt(file, change) {
    const spec = JSON.parse(this.read(file));
    change(spec);
    fs.writeFileSync(path.join(this.dir, file), JSON.stringify(spec));
  }

  // Have the spec measure simulated nodes; `wrong` needs data, which they have not.
  simulate(file, env = {}) {
    this.adapt(file, (spec) => {
      Object.assign(spec, { backend: 'sim', iters: 5, warmup: 1, env: { ...sim.env, ...env } });
      if (spec.thresholds) delete spec.thresholds.correct;
    });
  }

  async call(script, ...args) {
    const program = new Program(this.test, path.join(this.dir, script), args, {
      cwd: this.dir,
      env: { ...process.env, RINGBENCH_SERVER: this.server.url, PATH: `${binDir}:${process.env.PATH}` },
    });
    const { code } = await program.ended(90000);
    return { code, out: program.lines.join('\n'), err: program.errors.join('\n') };
  }
}

describe('examples', { concurrency: 3 }, () => {
  test('every example has a README, and the list names it', limit, () => {
    const list = fs.readFileSync(path.join(root, 'examples/README.md'), 'utf8');
    const folders = fs
      .readdirSync(path.join(root, 'examples'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory());
    assert.ok(folders.length >= 5);
    for (const { name } of folders) {
      assert.ok(fs.existsSync(path.join(root, 'examples', name, 'README.md')), name);
      assert.ok(list.includes(`(${name})`), name);
    }
  });

  test('nightly-watch: nights pass, then the slow node is named', limit, async (t) => {
    const calendar = new Calendar(t);
    const server = await startServer(t, { env: calendar.env });
    const slow = await startChanging(t, server);
    const example = new Example(t, server, 'nightly-watch');
    example.adapt('watch.json', (watch) => {
      Object.assign(watch.spec, sim, { env: { ...sim.env, SIM_NOISE: '0.002' } });
      watch.every = ['02:00', 'nonsense'];
    });
    const refused = await example.call('watch.sh', 'start', 'watch.json');
    assert.equal(refused.code, 3);
    assert.match(refused.err, /"\/every/);
    example.adapt('watch.json', (watch) => watch.every.pop());

    const { code, out: id } = await example.call('watch.sh', 'start', 'watch.json');
    assert.equal(code, 0);
    assert.equal((await example.call('watch.sh', 'state', id)).code, 2);
    calendar.move(Date.parse((await watchOf(server, id)).next) - Date.now() + 1000);
    await sweepsAre(server, id, 1);
    for (let night = 2; night <= 7; night++) {
      calendar.move(day);
      await sweepsAre(server, id, night);
    }
    const well = await example.call('watch.sh', 'state', id);
    assert.equal(well.code, 0, well.out);
    slow('sim-2:0.5');
    calendar.move(day);
    await sweepsAre(server, id, 8);
    const bad = await example.call('watch.sh', 'state', id);
    assert.equal(bad.code, 1, bad.out);
    assert.match(bad.out, /\bslow_node\b.*\bsim-2\b/);
    assert.equal((await example.call('watch.sh', 'state', '000000000000')).code, 3);
  });

  test(
    'rack-acceptance: a good rack is accepted, a slow node or low bandwidth refuses it',
    limit,
    async (t) => {
      const server = await startServer(t);
      const slow = path.join(tempDir(t), 'slow');
      fs.writeFileSync(slow, '');
      await startFleet(t, server, 8, ['--ranks', '2', '--racks', '2', '--slow', `@${slow}`]);
      const example = new Example(t, server, 'rack-acceptance');
      for (const file of ['pairs.json', 'whole.json']) example.simulate(file);

      const good = await example.call('accept.sh', 'rack-1', 'good');
      assert.equal(good.code, 0, good.out);
      assert.match(example.read('good/whole.html'), /<html/);
      const { runs } = await server.get('/api/v1/runs?label=acceptance=rack-1');
      assert.equal(runs.length, 2);
      const racks = new Map(
        (await server.get('/api/v1/nodes')).nodes.map((node) => [node.name, node.labels.rack]),
      );
      for (const { id } of runs) {
        const { nodes } = await server.getRun(id);
        assert.deepEqual(
          nodes.map((node) => racks.get(node.name)),
          Array(4).fill('rack-1'),
        );
      }

      const [node] = [...racks].find(([, rack]) => rack === 'rack-2');
      fs.writeFileSync(slow, `${node}:0.5`);
      const bad = await example.call('accept.sh', 'rack-2', 'bad');
      assert.equal(bad.code, 1, bad.out);
      assert.match(bad.out, new RegExp(`\\bslow_node\\b.*\\b${node}\\b`));
      fs.writeFileSync(slow, '');
      example.adapt('whole.json', (spec) => {
        spec.thresholds.bandwidth.min = 400;
      });
      assert.equal((await example.call('accept.sh', 'rack-2', 'low')).code, 1);
      example.adapt('pairs.json', (spec) => {
        spec.nodes.wait_s = 0;
      });
      const none = await example.call('accept.sh', 'rack-3', 'none');
      assert.equal(none.code, 1);
      assert.match(none.out, /^failed: /);
    },
  );

  test('tuner: a setting that beats the choice is in the file', limit, async (t) => {
    const server = await startServer(t);
    await startFleet(t, server, 4, ['--ranks', '2']);
    const example = new Example(t, server, 'tuner');
    example.simulate('matrix.json');
    const tuned = await example.call('tune.sh', 'matrix.json', 'tuner.conf');
    assert.equal(tuned.code, 0, tuned.out + tuned.err);
    assert.match(tuned.out, /^all_reduce float32 sum +bandwidth +busbw_gbs .* worse /m);
    const lines = example.read('tuner.conf').trimEnd().split('\n');
    // The model's own choice is the best one, but for chance.
    for (const line of lines) assert.match(line, /^#|^allreduce,\d+,\d+,(ring|tree),\w+,-1,4,8$/);
    assert.ok(lines.some((line) => line.startsWith('# run ')));
    example.adapt('matrix.json', (spec) => {
      spec.nodes = { count: 9, wait_s: 0 };
    });
    assert.equal((await example.call('tune.sh', 'matrix.json', 'none.conf')).code, 3);
    assert.equal(fs.existsSync(path.join(example.dir, 'none.conf')), false);
  });

  test('ci-gate: the code is the verdict, and the reports are kept', limit, async (t) => {
    const server = await startServer(t);
    await startFleet(t, server, 2, ['--ranks', '2']);
    const example = new Example(t, server, 'ci-gate');
    example.simulate('all_reduce.json');
    const first = await example.call('gate.sh', 'all_reduce.json', 'first');
    assert.equal(first.code, 2, first.out);
    example.adapt('all_reduce.json', (spec) => delete spec.baseline);
    assert.equal((await example.call('gate.sh', 'all_reduce.json', 'good')).code, 0);
    assert.match(example.read('good/report.html'), /<html/);
    example.adapt('all_reduce.json', (spec) => {
      spec.thresholds.bandwidth.min = 400;
    });
    assert.equal((await example.call('gate.sh', 'all_reduce.json', 'bad')).code, 1);
    assert.match(example.read('bad/verdict.txt'), /^fail: /);
    assert.match(example.read('bad/results.csv'), /^case,/);
    assert.equal((await example.call('gate.sh', 'nothing.json', 'none')).code, 3);
  });
});
