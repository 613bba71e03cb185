// SPDX-License-Identifier: Apache-2.0
// netns.mjs - hosts of our own: network namespaces on a bridge, their links shaped
//
// The bridge lives in a namespace of its own, so the machine's own network stays as it is.
// Root only. Names carry this process's id and a number; teardown() removes all, also after a failed setup.
import { execFileSync } from 'node:child_process';

// Else the bridge takes that of one of its ports.
const bridgeAddress = '02:00:00:00:00:fe';

let serial = 0;

const run = (...argv) => execFileSync(argv[0], argv.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] });

// A class of its own for each port that a host may connect from.
const firstPort = 40000;
const ports = Array.from({ length: 256 }, (_, i) => firstPort + i);

// Ranks connect to lower ones, each socket from a port of its own: host 0 sends to that port, others
// from it.
const cappedFlows = (i, rate) =>
  [
    'qdisc replace dev eth0 root handle 1: htb default 0',
    ...ports.flatMap((port, k) => [
      `class add dev eth0 parent 1: classid 1:${(k + 1).toString(16)} htb rate ${rate} burst 16k cburst 16k quantum 60000`,
      `filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip ${i === 0 ? 'dport' : 'sport'} ${port} 0xffff ` +
        `flowid 1:${(k + 1).toString(16)}`,
    ]),
  ].join('\n');

/** Why namespaces cannot be made here, or null. */
export function whyNot() {
  if (process.getuid() !== 0) {
    return 'network namespaces need root';
  }
  const name = `rb${process.pid}try`;
  try {
    run('ip', 'netns', 'add', name);
    run('ip', '-n', name, 'link', 'set', 'lo', 'up');
    run(
      'tc',
      '-n',
      name,
      'qdisc',
      'replace',
      'dev',
      'lo',
      'root',
      'tbf',
      'rate',
      '1gbit',
      'burst',
      '256k',
      'latency',
      '20ms',
    );
    return null;
  } catch (error) {
    return `network namespaces with tbf cannot be made here: ${String(error.stderr ?? error).trim()}`;
  } finally {
    try {
      run('ip', 'netns', 'del', name);
    } catch {
      // it was never made
    }
  }
}

/**
 * n hosts with one address each on one switch, every link limited to `rate` (tc's spelling, for
 * example "1gbit"; null: unlimited) in the direction away from the host.
 *
 * Gives {hosts: [{namespace, address, exec}], hub: {namespace, address, exec}, setRate(i, rate), capFlows(rate),
 * cut(i), rejoin(i), deafen(i), strand(i), teardown()}; exec is what to put before a command to run it there. The hub is
 * the switch's own namespace, reachable from all hosts: the place for a server. After capFlows(rate), of two
 * hosts before anything is started in them, each connection between them gets so much at most and all
 * together are not limited, as where links are bonded. After cut(i) a host's packets vanish in silence,
 * both ways, until rejoin(i); after deafen(i) those that go to it do; after strand(i) all but those that it sends to the hub.
 */
export function setup(n, rate) {
  const prefix = `rb${process.pid}n${serial++}`;
  const place = (namespace, address) => ({
    namespace,
    address,
    exec: ['nsenter', `--net=/run/netns/${namespace}`],
  });
  const hub = place(`${prefix}sw`, '10.77.0.254');
  const hosts = Array.from({ length: n }, (_, i) => place(`${prefix}h${i}`, `10.77.0.${i + 1}`));

  const teardown = () => {
    for (const { namespace } of [...hosts, hub]) {
      try {
        run('ip', 'netns', 'del', namespace);
      } catch {
        // it was never made
      }
    }
  };
  const setRate = (i, limit) => {
    run(
      'tc',
      '-n',
      hosts[i].namespace,
      'qdisc',
      'replace',
      'dev',
      'eth0',
      'root',
      'tbf',
      'rate',
      limit,
      'burst',
      '256k',
      'latency',
      '20ms',
    );
  };

  try {
    run('ip', 'netns', 'add', hub.namespace);
    run('ip', '-n', hub.namespace, 'link', 'set', 'lo', 'up');
    run('ip', '-n', hub.namespace, 'link', 'add', 'br0', 'address', bridgeAddress, 'type', 'bridge');
    run('ip', '-n', hub.namespace, 'addr', 'add', `${hub.address}/24`, 'dev', 'br0');
    run('ip', '-n', hub.namespace, 'link', 'set', 'br0', 'up');
    hosts.forEach(({ namespace, address }, i) => {
      run('ip', 'netns', 'add', namespace);
      run(
        'ip',
        'link',
        'add',
        'eth0',
        'netns',
        namespace,
        'type',
        'veth',
        'peer',
        'name',
        `p${i}`,
        'netns',
        hub.namespace,
      );
      run('ip', '-n', hub.namespace, 'link', 'set', `p${i}`, 'master', 'br0', 'up');
      run('ip', '-n', namespace, 'addr', 'add', `${address}/24`, 'dev', 'eth0');
      run('ip', '-n', namespace, 'link', 'set', 'lo', 'up');
      run('ip', '-n', namespace, 'link', 'set', 'eth0', 'up');
      if (rate) {
        setRate(i, rate);
      }
    });
  } catch (error) {
    teardown();
    throw new Error(`namespaces: ${String(error.stderr ?? error).trim()}`);
  }
  const cut = (i) => {
    run('ip', '-n', hub.namespace, 'link', 'set', `p${i}`, 'nomaster');
  };
  const rejoin = (i) => {
    run('ip', '-n', hub.namespace, 'link', 'set', `p${i}`, 'master', 'br0');
  };
  const capFlows = (rate) =>
    hosts.forEach(({ namespace, exec }, i) => {
      run(...exec, 'sh', '-c', `echo ${ports[0]} ${ports.at(-1)} >/proc/sys/net/ipv4/ip_local_port_range`);
      execFileSync('tc', ['-n', namespace, '-batch', '-'], {
        input: cappedFlows(i, rate),
        stdio: ['pipe', 'pipe', 'pipe'],
      });
    });
  // A port outside the bridge brings the hub what is sent to the port's own address.
  const strand = (i) => {
    cut(i);
    run('ip', '-n', hub.namespace, 'link', 'set', `p${i}`, 'address', bridgeAddress);
  };
  // No packet is as small as what this lets through.
  const deafen = (i) => {
    run(
      'tc',
      '-n',
      hub.namespace,
      'qdisc',
      'replace',
      'dev',
      `p${i}`,
      'root',
      'tbf',
      'rate',
      '8bit',
      'burst',
      '1',
      'limit',
      '1',
    );
  };
  return { hosts, hub, setRate, capFlows, cut, rejoin, deafen, strand, teardown };
}
