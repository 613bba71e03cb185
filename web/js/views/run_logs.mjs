/* run_logs.mjs - what the ranks wrote, by rank and with a search */
import { caseName } from '../case_name.mjs';
import { isEnded } from '../events.mjs';
import { debounce, h, region, setHidden, setText } from '../dom.mjs';
import { LogReader } from '../log_reader.mjs';
import { poll } from '../poll.mjs';
import { plural } from '../units.mjs';

export const runLogs = (app, id, change) => new LogPanel(app.api, id, change);

class LogPanel {
  constructor(api, id, change) {
    this.log = new LogReader(api, id);
    this.view = null;
    this.isOver = false;
    this.polling = null;
    this.build();
    this.more.addEventListener('click', () => this.refresh());
    this.rank.addEventListener('change', () =>
      change({ rank: this.rank.value === '' ? null : Number(this.rank.value) }),
    );
    this.find.addEventListener(
      'input',
      debounce(() => change({ log: this.find.value }), 250),
    );
  }

  build() {
    this.rank = h('select', { 'aria-label': 'Rank' }, h('option', { value: '' }, 'all ranks'));
    this.find = h('input', {
      type: 'search',
      placeholder: 'find in the lines',
      'aria-label': 'Find in the log lines',
    });
    this.note = h('span.muted.note', { role: 'status' });
    this.list = h('ol.log-lines');
    this.more = h('button.quiet', { hidden: true }, 'Read on');
    this.element = h(
      'section.card',
      h('h2', 'Logs', this.note),
      h('div.controls', this.rank, this.find),
      region('Log lines', 'scroll log-box', this.list),
      this.more,
    );
  }

  /* What the ranks wrote is asked for while somebody looks. */
  show(isShown) {
    if (isShown !== Boolean(this.isShown)) {
      this.isShown = isShown;
      this.readOn(isShown);
    }
  }

  update(state, view) {
    const before = this.view;
    this.view = view;
    this.isOver = isEnded(state);
    this.cases = state.cases;
    fillRanks(this.rank, state.worldSize, view.rank);
    if (document.activeElement !== this.find) {
      this.find.value = view.log;
    }
    if (before === null) {
      this.log.choose(view);
    } else if (before.rank !== view.rank || before.case !== view.case) {
      this.log.choose(view);
      this.draw();
      this.readOn(this.isShown);
    } else if (before.log !== view.log) {
      this.draw();
    }
  }

  /* Follow the log while the panel is open and lines may come. */
  readOn(isWanted) {
    this.polling?.stop();
    this.polling = isWanted ? poll(() => this.refresh(), 2000) : null;
  }

  async refresh() {
    try {
      const isFresh = await this.log.read();
      setText(this.note, this.inWords());
      if (isFresh || !this.list.hasChildNodes()) {
        this.draw();
      }
      if (this.isOver && !this.log.hasMore) {
        this.readOn(false);
      }
    } catch (error) {
      setText(this.note, error.status ? error.message : 'waiting for the server');
    }
    setHidden(this.more, !this.log.hasMore);
  }

  inWords() {
    const { lines, dropped } = this.log;
    return plural(lines.length, 'line') + (dropped ? `, the oldest ${dropped} left out` : '');
  }

  draw() {
    const lines = this.log.find(this.view.log);
    const none = this.view.log ? 'No line has that.' : 'The ranks wrote nothing.';
    this.list.replaceChildren(
      ...(lines.length ? lines.map((line) => logLine(line, this.cases)) : [h('li.muted', none)]),
    );
  }

  destroy() {
    this.readOn(false);
  }
}

function fillRanks(select, worldSize, rank) {
  const count = Math.max(worldSize, rank === null ? 0 : rank + 1);
  for (let i = select.options.length - 1; i < count; i += 1) {
    select.append(h('option', { value: String(i) }, `rank ${i}`));
  }
  select.value = rank === null ? '' : String(rank);
}

function logLine(line, cases) {
  const found = cases.size > 1 ? cases.get(line.case) : null;
  const place = found ? caseName(found) : '';
  return h(
    'li',
    { class: line.stream === 'stderr' ? 'stderr' : null },
    h('span.muted', `${String(line.time ?? '').slice(11, 23)} ${place} rank ${line.rank} `),
    line.text,
  );
}
