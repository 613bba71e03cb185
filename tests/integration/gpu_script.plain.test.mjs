// SPDX-License-Identifier: Apache-2.0
// gpu_script.plain.test.mjs - tests/gpu/run, as it would go on a machine with one GPU: over the
// emulated libraries, with stand-ins for nvidia-smi, mpirun and nccl-tests
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { Program, binDir, buildDir, patience, root, tempDir } from './lib/fixture.mjs';

const dir = path.join(buildDir, 'tests/emulation');
const isBuilt =
  fs.existsSync(path.join(binDir, 'launch_case')) && fs.existsSync(path.join(dir, 'libnccl.so.2'));
const deadline = 200000 * patience;
const limit = { timeout: deadline, skip: !isBuilt && 'built without the NCCL worker' };

const kinds = ['all_reduce', 'all_gather', 'reduce_scatter', 'alltoall'];

// As nccl-tests: options, a table with lines for people around it, by the first rank alone.
// Each start is told in a file: rank, GPU, what NCCL takes for the host, and how many files
// of events there are by then.
const perf = `#!/bin/bash
# MPI_Init
rank=\${OMPI_COMM_WORLD_RANK:-0}
name=$(basename "$0" _perf)
echo "$name $rank \${OMPI_COMM_WORLD_SIZE:-1} \${NCCL_TESTS_DEVICE:-none} \${NCCL_HOSTID:-none} \\
$(ls "$DRY_OUT" | grep -c "^beside-$name-\${OMPI_COMM_WORLD_SIZE:-1}.*\\.[123]\\.events")" >>"$DRY_SEEN"
[ "$rank" = 0 ] || exit 0
while [ $# -gt 0 ]; do
  case $1 in -e) most=$2 ;; -c) check=$2 ;; -g) gpus=$2 ;; esac
  shift
done
[ -z "$DRY_FAILS" ] || { echo "stand-in: no such GPU"; exit 2; }
[ "$check" = 1 ] && [ "$gpus" = 1 ] || exit 3
echo "# nccl-tests version 2.19.6 nccl-headers=22809 nccl-library=22809"
echo "#       size         count      type   redop    root     time   algbw   busbw  #wrong"
for ((size = 1024; size <= most; size *= 2)); do
  echo "  $size $((size / 4)) float sum -1 10.00 0.10 0.10 0 12.50 0.08 0.08 0"
done
echo "# Out of bounds values : 0 OK"
`;
const mpirun = `#!/bin/bash
[ "$1" = -np ] || exit 3
export OMPI_COMM_WORLD_SIZE=$2
shift 2
for ((rank = 0; rank < OMPI_COMM_WORLD_SIZE; rank++)); do
  OMPI_COMM_WORLD_RANK=$rank "$@" &
done
wait
`;
const smi = `#!/bin/bash
case $* in
*compute_cap*) echo 9.0 ;;
*driver_version*) echo 580.65.06 ;;
*) echo "a table" ;;
esac
`;

function putPrograms(t) {
  const folder = tempDir(t);
  const programs = { mpirun, 'nvidia-smi': smi };
  for (const kind of kinds) programs[`${kind}_perf`] = perf;
  for (const [name, text] of Object.entries(programs))
    fs.writeFileSync(path.join(folder, name), text, { mode: 0o755 });
  return folder;
}

async function runScript(t, args, env = {}, cwd = root) {
  const programs = putPrograms(t);
  const out = path.join(tempDir(t), 'out');
  const seen = path.join(tempDir(t), 'seen');
  const script = new Program(
    t,
    path.join(root, 'tests/gpu/run'),
    ['--out', out, '--nccl-tests', programs, ...args],
    {
      cwd,
      env: {
        ...process.env,
        PATH: `${programs}:${process.env.PATH}`,
        RINGBENCH_BIN_DIR: binDir,
        RINGBENCH_CUDART_LIB: path.join(dir, 'libcudart.so.13'),
        RINGBENCH_NCCL_LIB: path.join(dir, 'libnccl.so.2'),
        RINGBENCH_EMULATION: 'devices=1',
        DRY_OUT: out,
        DRY_SEEN: seen,
        ...env,
      },
    },
  );
  const { code } = await script.ended(deadline);
  const starts = fs.existsSync(seen) ? fs.readFileSync(seen, 'utf8').trim().split('\n') : [];
  return { script, code, out, starts: starts.map((line) => line.split(' ')) };
}

function sizesOf(table) {
  return table
    .split('\n')
    .map((line) => line.match(/^\| (\d+) \| (?:yes|no) \|/))
    .filter(Boolean)
    .map((match) => Number(match[1]));
}

describe('the script for GPUs', { concurrency: 2 }, () => {
  test('on one GPU all that can be tried is, and passes', limit, async (t) => {
    const { script, code, out } = await runScript(t, ['--parts', 'single,shapes,shared,failures']);
    const text = script.lines.join('\n');
    assert.equal(code, 0, script.describe());
    assert.match(text, /EMULATED: no figure below is a measurement/);
    assert.match(text, /^ok {6}1 rank\(s\): fp8, too/m);
    assert.match(text, /^ok {6}4 ranks .*ranks_per_gpu 4/m);
    assert.match(text, /init.* 5 s/);
    assert.match(text, /^ok {6}SIGTERM .*init/m);
    assert.match(text, /^ok {6}.*killed rank of 4/m);
    assert.match(text, /^\d+ ok, 0 failed/m);
    for (const file of [
      'summary.txt',
      'machine.txt',
      'nvidia-smi.txt',
      'probe.json',
      'all-1.events',
      'all-1.case.json',
      'shared-4.events',
      'hang.events',
    ])
      assert.ok(fs.statSync(path.join(out, file)).size > 0, file);
  });

  test('ringbench and nccl-tests take turns, a process per rank', limit, async (t) => {
    const { script, code, out, starts } = await runScript(t, [
      '--parts',
      'beside,beside-shared',
      '--most',
      '16384',
    ]);
    assert.equal(code, 0, script.describe());
    for (const kind of kinds) {
      for (const [n, name] of /** @type {any[][]} */ ([
        [1, `${kind}-1`],
        [2, `${kind}-2-shared`],
        [4, `${kind}-4-shared`],
      ])) {
        const table = fs.readFileSync(path.join(out, `beside-${name}.md`), 'utf8');
        const sizes = [1024, 2048, 4096, 8192, 16384];
        assert.deepEqual(
          sizesOf(table),
          sizes.flatMap((size) => [size, size]),
        );
        assert.ok(fs.readFileSync(path.join(out, 'summary.txt'), 'utf8').includes(table.trim()));
        const own = starts.filter((start) => start[0] === kind && start[2] === String(n));
        assert.equal(own.length, 3 * n);
        // Ours goes first, then theirs, then ours.
        assert.deepEqual(
          own.filter((start) => start[1] === '0').map((start) => start[5]),
          ['1', '1', '3'],
        );
        const hosts = new Set(own.map((start) => start[4]));
        assert.equal(hosts.size, n);
        assert.ok(own.every((start) => start[3] === (n === 1 ? 'none' : '0')));
        for (const round of [1, 2, 3]) {
          assert.ok(fs.existsSync(path.join(out, `beside-${name}.${round}.txt`)));
          assert.ok(fs.existsSync(path.join(out, `beside-${name}.${round}.events`)));
        }
      }
    }
  });

  test('a comparison fails when either fails or ours is wrong', limit, async (t) => {
    const args = ['--parts', 'beside', '--most', '2048'];
    const failing = /^FAILED {2}all_reduce beside nccl-tests, 1 rank/m;
    const theirs = await runScript(t, args, { DRY_FAILS: '1' });
    assert.equal(theirs.code, 1, theirs.script.describe());
    assert.match(theirs.script.lines.join('\n'), failing);
    assert.match(theirs.script.lines.join('\n'), /all_reduce_perf: stand-in: no such GPU/);
    const ours = await runScript(t, args, { RINGBENCH_EMULATION: 'devices=1,wrong=3' });
    assert.equal(ours.code, 1, ours.script.describe());
    assert.match(ours.script.lines.join('\n'), failing);
  });

  test('without a GPU it says why; paths are relative to the caller', limit, async (t) => {
    const folder = tempDir(t);
    const { script, code } = await runScript(
      t,
      ['--out', 'logs'],
      {
        RINGBENCH_EMULATION: 'no_driver',
        RINGBENCH_BIN_DIR: path.relative(folder, binDir),
      },
      folder,
    );
    assert.equal(code, 77, script.describe());
    assert.match(script.lines.join('\n'), /skipped: .*NVIDIA driver/);
    assert.ok(fs.existsSync(path.join(folder, 'logs/probe.json')));
  });
});
