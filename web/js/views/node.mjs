/* node.mjs - the view of one node: what it is, what runs there, what ran there */
import {h, setText} from '../dom.mjs';
import {labelChips, statePill, timeOf} from '../parts.mjs';
import {poll} from '../poll.mjs';
import {formatMemory, plural, shorten} from '../units.mjs';

const HISTORY_RUNS = 200;

export function nodeView(root, app, {id}) {
    app.title(id);
    const state = h('span');
    const facts = h('dl', {class: 'facts card'});
    const backends = h('div', {class: 'cards'});
    const history = h('ul', {class: 'plain'});
    const note = h('p', {class: 'muted'}, 'Asking the server…');
    root.append(h('p', {class: 'crumbs'}, h('a', {href: '/nodes'}, 'Nodes')),
        h('div', {class: 'title'}, h('h1', {}, shorten(id, 200)), state), note,
        h('div', {class: 'node-page'}, facts,
            h('section', {class: 'stack'}, h('h2', {}, 'Backends'), backends)),
        h('h2', {}, 'Runs here'),
        h('p', {class: 'muted'}, `Among the last ${HISTORY_RUNS} runs.`), history);
    let drawn = '';

    async function refresh() {
        try {
            const node = await app.api.node(id);
            const runs = await app.api.list(`limit=${HISTORY_RUNS}`);
            const here = runs.runs.filter(run => run.nodes?.some(n => n.name === id));
            setText(note, '');
            const sign = JSON.stringify([node, here]);
            if (sign !== drawn) {
                drawn = sign;
                draw(node, here);
            }
        } catch (error) {
            setText(note, error.status ? error.message : 'Waiting for the server.');
        }
    }

    function draw(node, runs) {
        state.replaceChildren(statePill(node.state));
        facts.replaceChildren(...factRows(node));
        const probes = Object.entries(node.inventory?.backends ?? {});
        backends.replaceChildren(
            ...probes.map(([name, probe]) => backendCard(name, probe)));
        history.replaceChildren(
            ...(runs.length ? runs.map(runLine) : [h('li', {class: 'muted'}, 'None.')]));
    }

    const polling = poll(refresh, 3000);
    return {update() {}, destroy: polling.stop};
}

function factRows(node) {
    const inventory = node.inventory ?? {};
    const cpu = inventory.cpu ?? {};
    const addresses = (inventory.addresses ?? []).map(a => `${a.interface} ${a.address}`);
    const rows = [
        [
            'Runs now',
            node.run ? h('a', {href: `/runs/${node.run}`}, node.run) : 'nothing'
        ],
        ['Group', node.group], ['Labels', labelChips(node.labels)],
        ['Address', node.address], ['Host', inventory.host],
        ['System', [inventory.os, inventory.kernel].filter(Boolean).join(', ')],
        ['CPU', cpuInWords(cpu)], ['NUMA nodes', inventory.numa_nodes],
        ['Memory', inventory.memory_bytes ? formatMemory(inventory.memory_bytes) : null],
        ['Interfaces', addresses.map(text => h('div', {}, text))],
        ['Host identity', inventory.hostid], ['Ranks offered', node.ranks],
        ['Agent', node.version], ['Registered', timeOf(node.registered)],
        ['Last seen', timeOf(node.last_seen)]
    ];
    return rows
        .filter(([, value]) => value !== null && value !== undefined && value !== '' &&
                value.length !== 0)
        .flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]);
}

function cpuInWords({model, ...counts}) {
    const parts = ['socket', 'core', 'thread']
                      .filter(word => counts[`${word}s`])
                      .map(word => plural(counts[`${word}s`], word));
    return [model, ...parts].filter(Boolean).join(', ');
}

function backendCard(name, probe) {
    const devices = probe?.devices ?? [];
    return h('section', {class: 'card'},
        h('h3', {}, name, ' ',
            h('span', {class: `pill ${probe?.available ? 'good' : 'calm'}`},
                probe?.available ? 'available' : 'not available')),
        probe?.reason ? h('p', {}, probe.reason) : null,
        devices.length === 0
            ? null
            : h('ul', {},
                  devices.map(
                      device => h('li', {}, `${device.index}: ${device.name}`,
                          device.memory_bytes ? ` (${formatMemory(device.memory_bytes)})`
                                              : ''))));
}

function runLine(run) {
    return h('li', {}, statePill(run.state), ' ',
        h('a', {href: `/runs/${run.id}`}, shorten(run.name || run.id, 80)), ' ',
        timeOf(run.created));
}
