// cluster.mjs - a Slurm of one's own: munged, slurmctld and four slurmd on this machine, in a
// folder and on ports that go with it
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';

import { Program, atEnd, binDir, freePort, tempDir, waitFor } from '../integration/lib/fixture.mjs';

const host = os.hostname();

// n4 is another kind of node: it has a feature.
function configOf(dir, ports) {
  return `
ClusterName=ringbench
SlurmctldHost=${host}(127.0.0.1)
SlurmctldPort=${ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=${dir}/munge.socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=2
ReturnToService=2
StateSaveLocation=${dir}/state
SlurmdSpoolDir=${dir}/spool.%n
SlurmctldPidFile=${dir}/slurmctld.pid
SlurmdPidFile=${dir}/slurmd.%n.pid
SlurmctldLogFile=${dir}/slurmctld.log
SlurmdLogFile=${dir}/slurmd.%n.log
SlurmdParameters=config_overrides
KillWait=2
SlurmctldTimeout=30
SlurmdTimeout=300
MinJobAge=300
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
NodeName=n[1-3] NodeHostname=${host} NodeAddr=127.0.0.1 Port=[${ports[1]}-${ports[1] + 2}] CPUs=2 RealMemory=500 Feature=usual State=UNKNOWN
NodeName=n4 NodeHostname=${host} NodeAddr=127.0.0.1 Port=${ports[1] + 3} CPUs=1 RealMemory=500 Feature=other State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`;
}

const isFree = (port) => new Promise((resolve) => {
  const server = net.createServer();
  server.once('error', () => resolve(false));
  server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
});

// Four ports in a row, which nobody listens on now and no connection gets by itself.
async function portsInARow() {
  for (;;) {
    const first = 20000 + Math.floor(Math.random() * 10000);
    const free = await Promise.all([0, 1, 2, 3].map((i) => isFree(first + i)));
    if (free.every(Boolean)) return first;
  }
}

export class Slurm {
  static async start(t) {
    const slurm = new Slurm();
    slurm.dir = tempDir(t, 'ringbench-slurm-');
    slurm.conf = path.join(slurm.dir, 'slurm.conf');
    slurm.env = { ...process.env, SLURM_CONF: slurm.conf, PATH: `${binDir}:${process.env.PATH}:/usr/sbin` };
    for (const name of ['state', 'spool.n1', 'spool.n2', 'spool.n3', 'spool.n4']) {
      fs.mkdirSync(path.join(slurm.dir, name));
    }
    fs.writeFileSync(slurm.conf, configOf(slurm.dir, [await freePort(), await portsInARow()]));
    // What a job leaves is ended with it; this is for a test that broke.
    atEnd(t, () => { try { execFileSync('pkill', ['-KILL', '-f', slurm.dir]); } catch { /* nothing is left */ } });
    slurm.startDaemons(t);
    await waitFor(() => slurm.states().length === 4 && slurm.states().every((state) => state === 'idle'),
      () => `${slurm.states()}\n${slurm.logs()}`, 30000);
    atEnd(t, () => slurm.stop());
    return slurm;
  }

  startDaemons(t) {
    const at = (name) => path.join(this.dir, name);
    fs.writeFileSync(at('munge.key'), randomBytes(128), { mode: 0o400 });
    const daemon = (file, ...args) => new Program(t, file, args, { env: this.env });
    daemon('/usr/sbin/munged', '--foreground', '--force', '--num-threads=2', `--key-file=${at('munge.key')}`,
      `--socket=${at('munge.socket')}`, `--pid-file=${at('munged.pid')}`, `--log-file=${at('munged.log')}`,
      `--seed-file=${at('munge.seed')}`);
    daemon('/usr/sbin/slurmctld', '-D', '-f', this.conf);
    for (let i = 1; i <= 4; i++) daemon('/usr/sbin/slurmd', '-D', '-f', this.conf, '-N', `n${i}`);
  }

  logs() {
    return fs.readdirSync(this.dir).filter((name) => name.endsWith('.log'))
      .map((name) => `${name}: ${fs.readFileSync(path.join(this.dir, name), 'utf8').split('\n').slice(-8).join('\n')}`).join('\n');
  }

  // A command of Slurm's: what it prints.
  call(file, ...args) {
    return execFileSync(file, args, { env: this.env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
  }

  states() {
    try {
      return this.call('sinfo', '--noheader', '--Node', '--format=%T').split('\n');
    } catch {
      return [];
    }
  }

  submit(env, ...args) {
    return execFileSync('sbatch', ['--parsable', '--output=/dev/null', ...args],
      { env: { ...this.env, ...env }, encoding: 'utf8' }).trim();
  }

  stop() {
    try {
      this.call('scancel', '--user=root');
      this.call('scontrol', 'shutdown');
    } catch { /* it is down */ }
  }
}
