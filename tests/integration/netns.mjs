// netns.mjs - hosts of our own: network namespaces on a bridge, their links shaped
//
// The bridge lives in a namespace of its own, so the machine's own network stays as it is.
// Root only. Names carry this process's id; teardown() removes all, also after a failed setup.
import { execFileSync } from 'node:child_process';

// Else the bridge takes that of one of its ports.
const bridgeAddress = '02:00:00:00:00:fe';

const run = (...argv) => execFileSync(argv[0], argv.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] });

/** Why namespaces cannot be made here, or null. */
export function whyNot() {
    if (process.getuid() !== 0) {
        return 'network namespaces need root';
    }
    const name = `rb${process.pid}try`;
    try {
        run('ip', 'netns', 'add', name);
        run('ip', '-n', name, 'link', 'set', 'lo', 'up');
        run('tc', '-n', name, 'qdisc', 'replace', 'dev', 'lo', 'root', 'tbf', 'rate', '1gbit',
            'burst', '256k', 'latency', '20ms');
        return null;
    } catch (error) {
        return `network namespaces with tbf cannot be made here: ${String(error.stderr ?? error)
            .trim()}`;
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
 * Gives {hosts: [{namespace, address, exec}], hub: {namespace, address, exec}, setRate(i, rate),
 * cut(i), deafen(i), strand(i), teardown()}; exec is what to put before a command to run it there. The hub is
 * the switch's own namespace, reachable from all hosts: the place for a server. After cut(i) a host's
 * packets vanish in silence, both ways; after deafen(i) those that go to it do; after strand(i) all
 * but those that it sends to the hub.
 */
export function setup(n, rate) {
    const prefix = `rb${process.pid}`;
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
        run('tc', '-n', hosts[i].namespace, 'qdisc', 'replace', 'dev', 'eth0', 'root', 'tbf',
            'rate', limit, 'burst', '256k', 'latency', '20ms');
    };

    try {
        run('ip', 'netns', 'add', hub.namespace);
        run('ip', '-n', hub.namespace, 'link', 'set', 'lo', 'up');
        run('ip', '-n', hub.namespace, 'link', 'add', 'br0', 'address', bridgeAddress,
            'type', 'bridge');
        run('ip', '-n', hub.namespace, 'addr', 'add', `${hub.address}/24`, 'dev', 'br0');
        run('ip', '-n', hub.namespace, 'link', 'set', 'br0', 'up');
        hosts.forEach(({ namespace, address }, i) => {
            run('ip', 'netns', 'add', namespace);
            run('ip', 'link', 'add', 'eth0', 'netns', namespace, 'type', 'veth', 'peer', 'name',
                `p${i}`, 'netns', hub.namespace);
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
    // A port outside the bridge brings the hub what is sent to the port's own address.
    const strand = (i) => {
        cut(i);
        run('ip', '-n', hub.namespace, 'link', 'set', `p${i}`, 'address', bridgeAddress);
    };
    // No packet is as small as what this lets through.
    const deafen = (i) => {
        run('tc', '-n', hub.namespace, 'qdisc', 'replace', 'dev', `p${i}`, 'root', 'tbf',
            'rate', '8bit', 'burst', '1', 'limit', '1');
    };
    return { hosts, hub, setRate, cut, deafen, strand, teardown };
}
