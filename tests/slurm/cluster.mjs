// SPDX-License-Identifier: Apache-2.0
// cluster.mjs - a Slurm of one's own: munged, slurmctld and five slurmd on this machine, in a
// folder, on ports and in a namespace of processes that go with it
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';

import { startServer } from '../integration/lib/cluster.mjs';
import { Program, atEnd, binDir, freePort, tempDir, waitFor } from '../integration/lib/fixture.mjs';

const host = os.hostname();

// The first process of the namespace: when its input ends, as it does when the test is killed,
// it ends, and the kernel ends all others.
const daemons = `
exec >"$DIR/daemons.log" 2>&1
munged --foreground --force --num-threads=2 --key-file="$DIR/munge.key" --socket="$DIR/munge.socket" \\
  --pid-file="$DIR/munged.pid" --log-file="$DIR/munged.log" --seed-file="$DIR/munge.seed" &
slurmctld -D &
for i in 1 2 3 4 5; do slurmd -D -N n$i & done
read -r`;

// n1 has four GPUs, n2 two. n5 is another kind of node: it has a feature, and fewer CPUs.
function configOf(dir, ports) {
  return `
ClusterName=ringbench
SlurmctldHost=${host}(127.0.0.1)
SlurmctldPort=${ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=${dir}/munge.socket,cred_expire=30
CredType=cred/munge
GresTypes=gpu
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SchedulerParameters=bf_interval=1,sched_interval=2
ReturnToService=2
StateSaveLocation=${dir}/state
SlurmdSpoolDir=${dir}/spool.%n
SlurmctldPidFile=${dir}/slurmctld.pid
SlurmdPidFile=${dir}/slurmd.%n.pid
SlurmctldLogFile=${dir}/slurmctld.log
SlurmdLogFile=${dir}/slurmd.%n.log
SlurmdParameters=config_overrides
MessageTimeout=60
SlurmctldTimeout=30
SlurmdTimeout=300
MinJobAge=300
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
NodeName=n1 NodeHostname=${host} NodeAddr=127.0.0.1 Port=${ports[1]} CPUs=2 RealMemory=500 Gres=gpu:4 Feature=usual State=UNKNOWN
NodeName=n2 NodeHostname=${host} NodeAddr=127.0.0.1 Port=${ports[1] + 1} CPUs=2 RealMemory=500 Gres=gpu:2 Feature=usual State=UNKNOWN
NodeName=n[3-4] NodeHostname=${host} NodeAddr=127.0.0.1 Port=[${ports[1] + 2}-${ports[1] + 3}] CPUs=2 RealMemory=500 Feature=usual,plain State=UNKNOWN
NodeName=n5 NodeHostname=${host} NodeAddr=127.0.0.1 Port=${ports[1] + 4} CPUs=1 RealMemory=500 Feature=other State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=urgent Nodes=ALL PriorityTier=10 MaxTime=INFINITE State=UP
`;
}

const gresConf = (dir) => `
NodeName=n1 Name=gpu File=${dir}/nvidia[0-3]
NodeName=n2 Name=gpu File=${dir}/nvidia[0-1]
`;

const isFree = (port) =>
  new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });

// Five ports in a row, which nobody listens on now and no connection gets by itself.
async function portsInARow() {
  for (;;) {
    const first = 20000 + Math.floor(Math.random() * 10000);
    const free = await Promise.all([0, 1, 2, 3, 4].map((i) => isFree(first + i)));
    if (free.every(Boolean)) return first;
  }
}

// Those of a namespace, zombies aside.
export function processesIn(namespace) {
  return fs
    .readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .flatMap((pid) => {
      try {
        if (fs.readlinkSync(`/proc/${pid}/ns/pid`) !== namespace) return [];
        return [{ pid, name: fs.readFileSync(`/proc/${pid}/comm`, 'utf8').trim() }];
      } catch {
        return []; // it has ended
      }
    });
}

export class Slurm {
  dir;
  conf;
  env;
  jobs = [];

  // more: lines of slurm.conf besides.
  static async start(t, more = '') {
    const slurm = new Slurm();
    slurm.dir = tempDir(t, 'ringbench-slurm-');
    slurm.conf = path.join(slurm.dir, 'slurm.conf');
    slurm.env = {
      ...process.env,
      SLURM_CONF: slurm.conf,
      PATH: `${binDir}:${process.env.PATH}:/usr/sbin`,
      XDG_RUNTIME_DIR: slurm.dir,
    };
    for (const name of ['state', 'spool.n1', 'spool.n2', 'spool.n3', 'spool.n4', 'spool.n5']) {
      fs.mkdirSync(path.join(slurm.dir, name));
    }
    fs.writeFileSync(slurm.conf, configOf(slurm.dir, [await freePort(), await portsInARow()]) + more);
    // GPUs have to be devices; these are /dev/null.
    for (let i = 0; i < 4; i++) execFileSync('mknod', [path.join(slurm.dir, `nvidia${i}`), 'c', '1', '3']);
    fs.writeFileSync(path.join(slurm.dir, 'gres.conf'), gresConf(slurm.dir));
    await slurm.startDaemons(t);
    await waitFor(
      () => slurm.states().length === 5 && slurm.states().every((state) => state === 'idle'),
      () => `${slurm.states()}\n${slurm.logs()}`,
      30000,
    );
    return slurm;
  }

  async startDaemons(t) {
    fs.writeFileSync(path.join(this.dir, 'munge.key'), randomBytes(128), { mode: 0o400 });
    this.namespace = new Program(
      t,
      'unshare',
      ['--pid', '--fork', '--kill-child', '--mount-proc', 'bash', '-c', daemons],
      { env: { ...this.env, DIR: this.dir }, stdio: ['pipe', 'pipe', 'pipe'] },
    );
    const spaceOf = (pid, name) => fs.readlinkSync(`/proc/${pid}/ns/${name}`, { encoding: 'utf8' });
    this.space = await waitFor(
      () => {
        try {
          const space = spaceOf(this.namespace.pid, 'pid_for_children');
          return space !== spaceOf('self', 'pid') && space;
        } catch {
          return false; // not yet
        }
      },
      () => this.namespace.describe(),
    );
    atEnd(t, () => this.stop());
  }

  // A server that uses it, and goes with this process.
  startServer(t, args = []) {
    return startServer(t, { args, env: this.env, within: ['setpriv', '--pdeathsig', 'KILL'] });
  }

  // The processes that there are, {pid, name} of each.
  processes() {
    return processesIn(this.space);
  }

  logs() {
    return fs
      .readdirSync(this.dir)
      .filter((name) => name.endsWith('.log'))
      .map(
        (name) =>
          `${name}: ${fs.readFileSync(path.join(this.dir, name), 'utf8').split('\n').slice(-8).join('\n')}`,
      )
      .join('\n');
  }

  // Returns the output of the job whose group is slurm-ID, or '' if it was submitted with --output.
  outputOf(group) {
    const file = path.join(this.dir, `${group}.log`);
    return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
  }

  // A command of Slurm's: what it prints.
  call(file, ...args) {
    return execFileSync(file, args, {
      env: this.env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
  }

  states() {
    try {
      return this.call('sinfo', '--partition=main', '--noheader', '--Node', '--format=%T').split('\n');
    } catch {
      return [];
    }
  }

  // Submits a job and returns its ID, which is also added to `jobs`.
  submit(env, ...args) {
    const job = execFileSync('sbatch', ['--parsable', `--output=${this.dir}/slurm-%j.log`, ...args], {
      env: { ...this.env, ...env },
      encoding: 'utf8',
    }).trim();
    this.jobs.push(job);
    return job;
  }

  async stop() {
    this.namespace.child.stdin.end();
    await waitFor(
      () => this.processes().length === 0,
      () => JSON.stringify(this.processes()),
    );
  }
}
