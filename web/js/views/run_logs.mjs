/* run_logs.mjs - what the ranks wrote, by rank and with a search */
import {isEnded} from '../events.mjs';
import {debounce, h, setHidden, setText} from '../dom.mjs';
import {poll} from '../poll.mjs';
import {plural} from '../units.mjs';

const LINES_ASKED = 1000;
const LINES_KEPT = 5000;

export function runLogs(app, id, change) {
    const rank =
        h('select', {'aria-label': 'Rank'}, h('option', {value: ''}, 'all ranks'));
    const find = h('input', {
        'type': 'search',
        'placeholder': 'find in the lines',
        'aria-label': 'Find in the log lines'
    });
    const note = h('span', {class: 'muted', role: 'status'});
    const list = h('ol', {class: 'log-lines'});
    const more = h('button', {type: 'button', class: 'quiet', hidden: true}, 'Read on');
    const details =
        h('details', {class: 'card fold'}, h('summary', {}, h('h2', {}, 'Logs'), note),
            h('div', {class: 'controls'}, rank, find),
            h('div', {
                'class': 'scroll log-box',
                'tabindex': '0',
                'role': 'region',
                'aria-label': 'Log lines'
            },
                list),
            more);
    const log = new LogReader(app.api, id);
    let view = null;
    let ended = false;
    let polling = null;

    async function refresh() {
        try {
            const fresh = await log.read(view.rank);
            setText(note,
                plural(log.lines.length, 'line') +
                    (log.dropped ? `, the oldest ${log.dropped} left out` : ''));
            if (fresh) {
                draw();
            }
        } catch (error) {
            setText(note, error.status ? error.message : 'waiting for the server');
        }
        setHidden(more, !log.more);
        if (ended && !log.more) {
            polling?.stop();
            polling = null;
        }
    }

    function draw() {
        const wanted = view.log.toLowerCase();
        const lines = log.lines.filter(line => line.text.toLowerCase().includes(wanted));
        list.replaceChildren(...lines.map(logLine));
        if (lines.length === 0) {
            list.append(h('li', {class: 'muted'},
                wanted ? 'No line has that.' : 'The ranks wrote nothing.'));
        }
    }

    details.addEventListener('toggle', () => {
        polling?.stop();
        polling = details.open ? poll(refresh, 2000) : null;
    });
    more.addEventListener('click', refresh);
    rank.addEventListener(
        'change', () => change({rank: rank.value === '' ? null : Number(rank.value)}));
    find.addEventListener('input', debounce(() => change({log: find.value}), 200));

    return {
        element: details,
        update(state, next) {
            const other =
                view !== null && (next.rank !== view.rank || next.log !== view.log);
            view = next;
            ended = isEnded(state);
            fillRanks(rank, state.worldSize, view.rank);
            if (document.activeElement !== find) {
                find.value = view.log;
            }
            details.open ||= (view.rank !== null || view.log !== '') &&
                polling === null && !details.dataset.seen;
            details.dataset.seen = '1';
            if (other && details.open) {
                draw();
                polling?.stop();
                polling = poll(refresh, 2000);
            }
        },
        destroy: () => polling?.stop()
    };
}

/* The lines of one rank, or of all, in order; each read asks for what came since. */
class LogReader {
    constructor(api, id) {
        this.api = api;
        this.id = id;
        this.start(undefined);
    }

    start(rank) {
        this.rank = rank;
        this.lines = [];
        this.after = 0;
        this.more = false;
        this.dropped = 0;
    }

    /* Whether there is something new to draw. */
    async read(rank) {
        const restarted = rank !== this.rank;
        if (restarted) {
            this.start(rank);
        }
        const params = new URLSearchParams({limit: LINES_ASKED, after: this.after});
        if (rank !== null) {
            params.set('rank', rank);
        }
        const {lines, next} = await this.api.logs(this.id, params);
        if (rank !== this.rank) {
            return false;
        }
        const fresh = lines.filter(line => line.seq > this.after);
        this.lines.push(...fresh);
        this.after = this.lines[this.lines.length - 1]?.seq ?? this.after;
        this.more = next !== null && next !== undefined && fresh.length === LINES_ASKED;
        const surplus = Math.max(0, this.lines.length - LINES_KEPT);
        this.lines.splice(0, surplus);
        this.dropped += surplus;
        return restarted || fresh.length > 0;
    }
}

function fillRanks(select, worldSize, rank) {
    const count = Math.max(worldSize, rank === null ? 0 : rank + 1);
    for (let i = select.options.length - 1; i < count; i += 1) {
        select.append(h('option', {value: String(i)}, `rank ${i}`));
    }
    select.value = rank === null ? '' : String(rank);
}

function logLine(line) {
    return h('li', {class: line.stream === 'stderr' ? 'stderr' : null},
        h('span', {class: 'muted'},
            `${String(line.time ?? '').slice(11, 23)} ` +
                `${line.case > 0 ? `case ${line.case} ` : ''}rank ${line.rank} `),
        line.text);
}
