// SPDX-License-Identifier: Apache-2.0
// pbs.test.mjs - the shipped job script and launcher, with commands that do as PBS's manual says
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { quick, startServer } from './lib/cluster.mjs';
import { atEnd, binDir, patience, processesWithEnv, tempDir, waitFor } from './lib/fixture.mjs';

const limit = { timeout: 120000 * patience };
const root = fileURLToPath(new URL('../../deploy', import.meta.url));

// A cluster on this machine. PBS_NODEFILE has the host of a chunk as often as it has MPI processes;
// with `place=pack` all chunks are on one host. What pbsdsh starts gets no environment of the job's,
// and its host's name by another way, since all hosts are this one.
const commands = {
  qsub: `#!/bin/bash
args=("$@")
mapfile -t -O "\${#args[@]}" args < <(sed -n 's/^#PBS -l //p' "\${@: -1}")
name=ringbench select= place=
for ((i = 0; i < \${#args[@]}; i++)); do
    case \${args[i]} in
    -N) name=\${args[i + 1]} ;;
    -v) IFS=, read -ra variables <<<"\${args[i + 1]}"; export "\${variables[@]?}" ;;
    select=*) select=\${select:-\${args[i]#select=}} ;;
    place=*) place=\${place:-\${args[i]#place=}} ;;
    esac
done
id=$(($(ls "$PBS_DIR/jobs" | wc -l) + 1))
job="$PBS_DIR/jobs/$id"
mkdir "$job"
[[ $select =~ mpiprocs=([0-9]+) ]] && ranks=\${BASH_REMATCH[1]} || ranks=1
for ((i = 0; i < \${select%%:*} * ranks; i++)); do
    [[ $place = pack* ]] && echo h0 || echo "h$((i / ranks))"
done >"$job/nodefile"
echo "$name" >"$job/name"
(export PBS_JOBID=$id.head PBS_ENVIRONMENT=PBS_BATCH PBS_NODEFILE="$job/nodefile"
setsid bash -c 'echo $$ >"$1/pid"; bash "$2" >"$1/out" 2>&1; touch "$1/over"' - "$job" "\${@: -1}" &) </dev/null >/dev/null 2>&1
while [[ -e "$PBS_DIR/slow" ]]; do sleep 0.1; done
echo "$id.head"
`,
  pbsdsh: `#!/bin/bash
[[ -n $PBS_ENVIRONMENT ]] || exit 1
mapfile -t hosts <"$PBS_NODEFILE"
tasks=("\${!hosts[@]}")
if [[ $1 = -n ]]; then tasks=("$2"); shift 2; fi
[[ $1 = -- ]] && shift
for task in "\${tasks[@]}"; do
    env -i PBS_DIR="$PBS_DIR" RINGBENCH_NAME="\${hosts[task]}" XDG_RUNTIME_DIR="$PBS_DIR" "$@" &
done
trap 'kill $(jobs -rp)' TERM
while [[ -n $(jobs -rp) ]]; do wait; done
`,
  qstat: `#!/bin/bash
job="$PBS_DIR/jobs/\${@: -1}"
job=\${job%.head}
[[ -e $job ]] || { echo "qstat: Unknown Job Id \${@: -1}" >&2; exit 153; }
[[ -e $job/over ]] && state=F || state=R
printf 'Job Id: %s\\n    Job_Name = %s\\n    job_state = %s\\n' "\${@: -1}" "$(cat "$job/name")" "$state"
`,
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell replaces it
  qdel: '#!/bin/bash\nkill -- -"$(cat "$PBS_DIR/jobs/${1%.head}/pid")"; touch "$PBS_DIR/jobs/${1%.head}/over"\n',
  qselect: `#!/bin/bash
[[ $1 = -N ]] || exit 2
for job in "$PBS_DIR"/jobs/*; do
    [[ -e $job/over || $(cat "$job/name") != "$2" ]] || echo "\${job##*/}.head"
done
`,
};

class Pbs {
  constructor(t) {
    this.dir = tempDir(t);
    fs.mkdirSync(path.join(this.dir, 'bin'));
    fs.mkdirSync(path.join(this.dir, 'jobs'));
    for (const [name, text] of Object.entries(commands))
      fs.writeFileSync(path.join(this.dir, 'bin', name), text, { mode: 0o755 });
    this.env = { ...process.env, PATH: `${this.dir}/bin:${binDir}:${process.env.PATH}`, PBS_DIR: this.dir };
    atEnd(t, () =>
      this.processes().forEach((pid) => {
        try {
          process.kill(pid, 'SIGKILL');
        } catch {
          /* gone */
        }
      }),
    );
  }

  call(...args) {
    return execFileSync(args[0], args.slice(1), { env: this.env, encoding: 'utf8' }).trim();
  }

  // What a job said.
  output(id) {
    return fs.readFileSync(path.join(this.dir, 'jobs', id.replace('.head', ''), 'out'), 'utf8');
  }

  isOver(id) {
    return fs.existsSync(path.join(this.dir, 'jobs', id.replace('.head', ''), 'over'));
  }

  processes() {
    return processesWithEnv('PBS_DIR', this.dir);
  }
}

const idleOf = async (server, group) =>
  (await server.get('/api/v1/nodes')).nodes
    .filter((node) => node.group === group && node.state === 'idle')
    .map((node) => node.name)
    .sort();

const shapes = {
  'chunks on hosts of their own': { select: 'select=2:ncpus=1', hosts: ['h0', 'h1'] },
  'two chunks on one host': { select: 'select=2:ncpus=1', place: 'place=pack', hosts: ['h0'] },
  'chunks of several MPI processes': { select: 'select=2:ncpus=4:mpiprocs=3', hosts: ['h0', 'h1'] },
};
describe('PBS', { concurrency: 3 }, () => {
  for (const [name, { select, place, hosts }] of Object.entries(shapes)) {
    test(`${name}: an agent per host, which qdel ends`, limit, async (t) => {
      const pbs = new Pbs(t),
        server = await startServer(t);
      const job = pbs.call(
        'qsub',
        '-v',
        `RINGBENCH_SERVER=${server.url}`,
        '-l',
        select,
        ...(place ? ['-l', place] : []),
        path.join(root, 'pbs/agents.pbs'),
      );
      await waitFor(
        async () => (await idleOf(server, `pbs-${job}`)).length === hosts.length,
        () => pbs.output(job),
        20000,
      );
      assert.deepEqual(await idleOf(server, `pbs-${job}`), hosts);
      pbs.call('qdel', job);
      for (const host of hosts) await server.nodeIs(host, 'left');
      await waitFor(
        () => pbs.processes().length === 0,
        () => pbs.output(job),
      );
      assert.doesNotMatch(pbs.output(job), /another agent/);
    });
  }

  test('two chunks on one host: the job ends when its agent has left', limit, async (t) => {
    const pbs = new Pbs(t),
      server = await startServer(t);
    const job = pbs.call(
      'qsub',
      '-v',
      `RINGBENCH_SERVER=${server.url},RINGBENCH_AGENT_OPTIONS=--once --ranks 2`,
      '-l',
      'select=2',
      '-l',
      'place=pack',
      path.join(root, 'pbs/agents.pbs'),
    );
    const run = await server.runToEnd({ ...quick, nodes: { count: 1, group: `pbs-${job}`, wait_s: 60 } });
    assert.equal(run.state, 'completed', run.reason);
    await waitFor(
      () => pbs.isOver(job),
      () => pbs.output(job),
      20000,
    );
  });

  test('a job whose qsub the server did not outlive is found by qselect', limit, async (t) => {
    const pbs = new Pbs(t),
      launchers = tempDir(t);
    for (const name of ['pbs.json', 'pbs-submit', 'agents.pbs']) {
      fs.writeFileSync(path.join(launchers, name), fs.readFileSync(path.join(root, 'launchers.d', name)), {
        mode: 0o755,
      });
    }
    const slow = path.join(pbs.dir, 'slow');
    fs.writeFileSync(slow, '');
    const server = await startServer(t, { args: ['--launchers', launchers], env: pbs.env });
    const { id } = await server.run({ ...quick, nodes: { count: 2, wait_s: 60 }, launch: { name: 'pbs' } });
    await waitFor(() => fs.existsSync(path.join(pbs.dir, 'jobs/1/out')), 'no job');
    await server.killHard();
    fs.rmSync(slow);
    const run = await (await server.startAgain()).runEnds(id);
    assert.equal(run.state, 'completed', run.reason);
    assert.deepEqual(fs.readdirSync(path.join(pbs.dir, 'jobs')), ['1']);
    await waitFor(
      () => pbs.isOver('1'),
      () => pbs.output('1'),
      20000,
    );
  });
});
