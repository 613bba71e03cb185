/* run_source.mjs - one run as the page knows it: its events as they come, while it is
 * looked at; of very many, the server's summary. */
import { applyEvents, isEnded, newRunState } from './events.mjs';
import { seriesOf, stateOfSummary } from './summary.mjs';

/* Rows and figures above which the summary is read; and events of ranks, of which each has
 * five in a case. */
const MANY = 10000;
const MANY_OF_RANKS = 100000;
const EVENTS_OF_RANK = 5;
/* Events that a page can hold for a replay. */
const REPLAY_MAX = 200000;
const REFRESH_MS = 4000;
const ETA_MS = 3000;

export class RunSource {
  /* `onChange` is called after every change, however small. */
  constructor(api, id, onChange) {
    this.api = api;
    this.id = id;
    this.onChange = onChange;
    /** @type {any} the run, as GET /runs/{id} returns it */
    this.meta = null;
    this.state = newRunState();
    this.log = [];
    /* The id that the log begins after: 0 if it is whole. */
    this.logFrom = 0;
    this.wantsCases = false;
    this.stream = null;
    this.replayed = { state: newRunState(), count: 0 };
    this.refreshing = false;
    this.onVisible = () => this.heed();
    this.open();
  }

  /* Follow the run, from where it was left. */
  open(onChange = this.onChange) {
    this.onChange = onChange;
    this.error = null;
    this.done = false;
    this.stopped = false;
    /* Whether the server was asked for the run in vain. */
    this.waits = false;
    document.addEventListener('visibilitychange', this.onVisible);
    this.heed();
    return this;
  }

  /* The state after the first `count` events; null: as it is now. Going on from where
   * the last question was is cheap. */
  stateAt(count) {
    if (count === null || !this.isWhole() || count >= this.log.length) {
      return this.state;
    }
    if (count < this.replayed.count) {
      this.replayed = { state: newRunState(), count: 0 };
    }
    applyEvents(this.replayed.state, this.log.slice(this.replayed.count, count));
    this.replayed.count = count;
    return this.replayed.state;
  }

  isWhole() {
    return this.logFrom === 0;
  }

  canLoadLog() {
    return !this.isWhole() && !this.api.isSummary && this.state.lastId <= REPLAY_MAX;
  }

  /* All events of a run that was drawn from its summary, for a replay. */
  async loadLog() {
    this.log = await this.api.stored(this.id, 0);
    this.logFrom = 0;
    this.state = newRunState();
    applyEvents(this.state, this.log);
    this.onChange();
  }

  name() {
    return this.meta?.name || this.id;
  }

  /* Start or stop following, as the page is seen or not. */
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
    });
    if (this.stream === stream) {
      this.stream = null;
      this.finish(outcome);
    }
  }

  take(events) {
    for (const event of events) {
      if (event.id > (this.log[this.log.length - 1]?.id ?? this.logFrom)) {
        this.log.push(event);
      }
    }
    /* No page replays so many: none is kept. */
    if (this.log.length > REPLAY_MAX && this.isWhole()) {
      this.log = [];
      this.logFrom = Infinity;
    }
    applyEvents(this.state, events);
    if (this.state.summary && events.some((event) => event.type === 'result')) {
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
    /* What the server says of it, now that it is over. */
    if (outcome === 'ended' && !isEnded(this.meta)) {
      await this.insist(undefined, async () => {
        this.meta = await this.api.run(this.id);
      });
      this.onChange();
    }
  }

  /* What the events do not say: name, labels, spec; and where there are many events,
   * what they come to. */
  async load(signal) {
    this.meta = await this.api.run(this.id, signal);
    const figures = this.meta.summary?.metrics ?? [];
    const count = figures.reduce((sum, one) => sum + one.count, this.meta.rows_done);
    if (
      this.api.isSummary ||
      count - this.state.results > MANY ||
      (this.state.lastId === 0 && eventsOfRanks(this.meta) > MANY_OF_RANKS)
    ) {
      await this.summarise(signal);
    }
    this.onChange();
  }

  async summarise(signal) {
    const summary = await this.api.summary(this.id, 'combination', signal);
    const state = stateOfSummary(summary);
    if (this.wantsCases && state.summary) {
      state.summary.cases = seriesOf(await this.api.summary(this.id, 'case', signal));
    }
    this.meta = summary.run;
    this.log = this.log.filter((event) => event.id > summary.last_event);
    this.logFrom = summary.last_event;
    applyEvents(state, this.log);
    this.state = state;
  }

  /* A page that shows one case of a run of many events needs its figures. */
  needCase(number) {
    if (number === null || this.wantsCases || !this.state.summary) {
      return;
    }
    this.wantsCases = true;
    this.refreshSoon(0);
  }

  /* Medians over rows that are not here can only be told by the server. */
  refreshSoon(ms = REFRESH_MS) {
    if (this.refreshing) {
      return;
    }
    this.refreshing = true;
    setTimeout(async () => {
      try {
        await this.summarise(undefined);
        this.onChange();
      } catch {
        /* the next rows ask again, and the header says that the server is gone */
      }
      this.refreshing = false;
    }, ms);
  }

  /* The server's guess of the time that is left, while the run goes on. */
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
        /* the stream tells how it is with the server */
      }
      this.askEta();
    }, ETA_MS);
  }

  /* Try until the server answers; what it refuses ends it. */
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

/* Of the cases that have begun. */
function eventsOfRanks({ cases = [], nodes = [], world_size: all = 0 }) {
  const ranks = new Map(nodes.map((node) => [node.name, node.ranks]));
  return cases
    .filter(({ started }) => started)
    .reduce(
      (sum, { nodes: names }) =>
        sum + EVENTS_OF_RANK * (names?.reduce((n, name) => n + (ranks.get(name) ?? 0), 0) ?? all),
      0,
    );
}
