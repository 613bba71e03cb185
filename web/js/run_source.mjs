/* SPDX-License-Identifier: Apache-2.0 */
/* run_source.mjs - reads one run for the page: its document, events and summary, kept current while
 * the page is visible. With very many events, only the latest are read. */
import { applyEvents, isEnded, newRunState } from './events.mjs';
import { applySummary, mergeSummary, seriesOf, stateOfSummary } from './summary.mjs';

/* With more events of ranks than this, the page reads the summary instead. A node sends five events
 * per case for its ranks, and each rank of NCCL one more. */
const MANY_OF_RANKS = 100000;
const EVENTS_OF_NODE = 5;
const REFRESH_MS = 4000;
const ETA_MS = 3000;
/* Number of wrong elements that are listed, and of sizes whose rows are searched for wrong elements. */
const WRONG_NAMED = 8;
const WRONG_SIZES = 4;
/* Members of the run that each summary updates. */
const BRIEF = ['labels', 'notes', 'summary', 'rows_done', 'eta_s', 'eta_basis'];

export class RunSource {
  /* `onChange` is called after every change. */
  constructor(api, id, onChange) {
    this.api = api;
    this.id = id;
    this.onChange = onChange;
    /** @type {any} as returned by GET /runs/{id} */
    this.meta = null;
    this.state = newRunState();
    /** @type {any} as received so far */
    this.summary = null;
    /* The first wrong elements, out of `total`. */
    this.wrong = { total: 0, named: /** @type {any[]} */ ([]), isFinal: true };
    this.wantsCases = false;
    this.stream = null;
    this.refreshing = false;
    this.naming = false;
    this.onVisible = () => this.heed();
    this.open();
  }

  /* Start or resume following. */
  open(onChange = this.onChange) {
    this.onChange = onChange;
    this.error = null;
    this.done = false;
    this.stopped = false;
    /* True after a failed attempt to read the run. */
    this.waits = false;
    document.addEventListener('visibilitychange', this.onVisible);
    this.heed();
    return this;
  }

  /* The final verdicts of an ended run, else the ones received in events. */
  verdicts() {
    return this.meta && isEnded(this.meta) ? this.meta.verdicts : this.state.verdicts;
  }

  /* Replace the run's document after this page has changed its labels or notes. */
  edited(meta) {
    this.meta = meta;
    this.onChange();
  }

  name() {
    return this.meta?.name || this.id;
  }

  /* Follow only while the page is visible. */
  heed() {
    if (document.hidden || this.stopped) {
      this.stream?.abort();
      this.stream = null;
      clearTimeout(this.etaTimer);
    } else if (!this.done && !this.stream) {
      this.start();
    }
  }

  async start() {
    const stream = new AbortController();
    this.stream = stream;
    await this.insist(stream.signal, () => this.load(stream.signal));
    if (stream.signal.aborted || this.error) {
      return;
    }
    this.askEta();
    const outcome = await this.api.follow(this.id, {
      after: this.state.lastId,
      signal: stream.signal,
      onEvents: (events) => this.take(events),
      onSummary: (summary) => this.takeSummary(summary),
    });
    if (this.stream === stream) {
      this.stream = null;
      this.finish(outcome);
    }
  }

  take(events) {
    applyEvents(this.state, events);
    this.onChange();
  }

  takeSummary(message) {
    this.summary = mergeSummary(this.summary, message);
    applySummary(this.state, this.summary);
    const brief = BRIEF.filter((key) => key in message.run).map((key) => [key, message.run[key]]);
    this.meta = this.meta && { ...this.meta, ...Object.fromEntries(brief) };
    if (this.wantsCases) {
      this.refreshSoon();
    }
    this.onChange();
  }

  async finish(outcome) {
    this.done = outcome !== 'stopped';
    this.error = outcome instanceof Error ? outcome : null;
    if (outcome === 'ended' && !isEnded(this.state)) {
      this.error = new Error('The stream ended before the run did.');
    }
    this.onChange();
    /* Read the ended run again: the server has completed its document. */
    if (outcome === 'ended' && !isEnded(this.meta)) {
      await this.insist(undefined, async () => {
        this.meta = await this.api.run(this.id);
      });
      this.onChange();
    }
  }

  /* Read what events do not contain: name, labels and spec. With many events, read the summary
   * too. */
  async load(signal) {
    this.meta = await this.api.run(this.id, signal);
    if (this.api.isSummary || (this.state.lastId === 0 && eventsOfRanks(this.meta) > MANY_OF_RANKS)) {
      await this.summarise(signal);
    }
    this.onChange();
  }

  async summarise(signal) {
    this.summary = { ...(await this.api.summary(this.id, 'combination', signal)), whole: true };
    this.meta = this.summary.run;
    this.state = stateOfSummary(this.summary);
  }

  /* Start reading figures by case. A page that shows a single case needs them. */
  needCase(number) {
    if (number !== null && !this.wantsCases) {
      this.wantsCases = true;
      this.refreshSoon(0);
    }
  }

  refreshSoon(ms = isEnded(this.state) ? 0 : REFRESH_MS) {
    if (this.refreshing) {
      return;
    }
    this.refreshing = true;
    setTimeout(async () => {
      try {
        const cases = seriesOf(await this.api.summary(this.id, 'case'));
        this.state.summary = { all: null, ...this.state.summary, cases };
        this.state.epoch += 1;
        this.onChange();
      } catch {
        /* The next summary repeats the request. The page's banner reports an unreachable server. */
      }
      this.refreshing = false;
    }, ms);
  }

  /* Find the first wrong elements in their rows. In a live run, rows may be read before they are
   * stored; the next draw then repeats the search. */
  async nameWrong({ total, points }) {
    const { wrong } = this;
    if (this.naming || (total === wrong.total && wrong.isFinal)) {
      return;
    }
    this.naming = true;
    const named = [];
    let isFinal = isEnded(this.state);
    let areAllThere = true;
    try {
      for (const { series, size } of points.slice(0, WRONG_SIZES)) {
        const { rows } = await this.api.rows(this.id, new URLSearchParams({ series, size, limit: '100' }));
        const errors = rows.flatMap((row) => (row.errors ?? []).map((error) => ({ ...error, row })));
        areAllThere &&= errors.length > 0;
        named.push(...errors);
      }
      isFinal ||= areAllThere;
      if (isFinal) {
        this.wrong = { total, named: named.slice(0, WRONG_NAMED), isFinal };
        this.onChange();
      }
    } catch {
      /* Ignored, because the table marks the rows in any case. */
    }
    this.naming = false;
  }

  /* Update the server's estimate of the remaining time while the run continues. */
  askEta() {
    clearTimeout(this.etaTimer);
    this.etaTimer = setTimeout(async () => {
      if (this.stopped || isEnded(this.state) || document.hidden) {
        return;
      }
      try {
        this.meta = { ...(await this.api.run(this.id)), asked: Date.now() };
        this.onChange();
      } catch {
        /* Ignored, because the stream reports an unreachable server. */
      }
      this.askEta();
    }, ETA_MS);
  }

  /* Repeat until the server answers. A 4xx answer is final. */
  async insist(signal, call) {
    let wait = 300;
    while (!this.stopped && !signal?.aborted) {
      try {
        await call();
        this.waits = false;
        return;
      } catch (error) {
        if (signal?.aborted) {
          return;
        }
        if (error.status >= 400 && error.status < 500) {
          this.error = error;
          this.done = true;
          this.onChange();
          return;
        }
        this.waits = true;
        this.onChange();
        await new Promise((resolve) => {
          setTimeout(resolve, wait);
        });
        wait = Math.min(5000, wait * 2);
      }
    }
  }

  close() {
    this.stopped = true;
    document.removeEventListener('visibilitychange', this.onVisible);
    this.heed();
  }
}

/* Returns about how many events the nodes and ranks of all started cases send. */
function eventsOfRanks({ cases = [], nodes = [] }) {
  const sent = new Map(nodes.map(({ name, ranks }) => [name, EVENTS_OF_NODE + ranks]));
  const sentBy = (names) => names.reduce((sum, name) => sum + (sent.get(name) ?? 0), 0);
  return cases
    .filter(({ started }) => started)
    .reduce((sum, { nodes: names }) => sum + sentBy(names ?? [...sent.keys()]), 0);
}
