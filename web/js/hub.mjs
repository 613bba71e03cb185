/* hub.mjs - runs as a shared worker: the one event stream of this browser, for all of its
 * tabs. A run that several tabs show is read once; while one is streamed, others are asked
 * for what is new, since a browser opens only six connections to a server. */
import { Api } from './api.mjs';
import { ENDED } from './events.mjs';
import { mergeSummary } from './summary.mjs';

const POLL_MS = 700;
/* Of a run that is asked for what is new the whole summary is read. */
const SUMMARY_MS = 4000;
/* A tab that crashed says nothing any more: what it followed is let go after this long. */
const SILENT_MS = 90000;

const topics = new Map();
let streamed = null;

/* A run that somebody follows. Each subscriber is {port, n, after, heard, waiting}: what
 * came while it waits for what it missed is kept aside. */
class Topic {
  constructor(key, id, token, after) {
    this.key = key;
    this.id = id;
    this.after = after;
    /** @type {any} what the stream has said of the run's summary */
    this.summary = null;
    this.summaryAt = 0;
    this.subscribers = new Set();
    this.stop = new AbortController();
    this.api = new Api({ storage: { getItem: () => token } });
    this.api.addEventListener('reach', () => this.tellReach());
  }

  async run() {
    let outcome = null;
    while (outcome === null && !this.stop.signal.aborted) {
      outcome = streamed === null ? await this.stream() : await this.poll();
    }
    topics.delete(this.key);
    if (outcome !== null && outcome !== 'stopped') {
      this.subscribers.forEach((one) => this.finish(one, outcome));
    }
  }

  async stream() {
    streamed = this;
    try {
      return await this.api.followAlone(this.id, {
        after: this.after,
        signal: this.stop.signal,
        onEvents: (events) => this.take(events),
        onSummary: (summary) => this.takeSummary(summary),
      });
    } finally {
      streamed = null;
    }
  }

  /* What is new, once; null to go on. */
  async poll() {
    try {
      const events = await this.api.stored(this.id, this.after);
      this.take(events);
      const ended = events.some((event) => event.type === 'state' && ENDED.has(event.state));
      if (ended || Date.now() > this.summaryAt + SUMMARY_MS) {
        this.takeSummary({ ...(await this.api.summary(this.id, 'combination')), whole: true });
      }
      if (ended) {
        return 'ended';
      }
    } catch (error) {
      if (error.status >= 400 && error.status < 500 && error.status !== 429) {
        return error;
      }
    }
    await new Promise((resolve) => {
      setTimeout(resolve, POLL_MS);
    });
    return null;
  }

  take(events) {
    if (events.length > 0) {
      this.after = events[events.length - 1].id;
      this.subscribers.forEach((one) => hand(one, events));
    }
  }

  takeSummary(summary) {
    this.summaryAt = Date.now();
    this.summary = mergeSummary(this.summary, summary);
    this.subscribers.forEach((one) => one.port.postMessage({ n: one.n, summary }));
  }

  async join(one) {
    this.subscribers.add(one);
    this.tellReach(new Set([one]));
    if (this.summary) {
      one.port.postMessage({ n: one.n, summary: this.summary });
    }
    if (one.after >= this.after) {
      return;
    }
    one.waiting = [];
    try {
      const missed = await this.api.stored(this.id, one.after);
      const aside = one.waiting;
      one.waiting = null;
      hand(one, missed);
      hand(one, aside);
    } catch (error) {
      this.finish(one, error);
    }
  }

  leave(one) {
    this.subscribers.delete(one);
    if (this.subscribers.size === 0) {
      this.stop.abort();
      topics.delete(this.key);
    }
  }

  /** @param {string | (Error & { status?: number, problem?: any })} outcome */
  finish(one, outcome) {
    const error =
      outcome instanceof Error ? { status: outcome.status, problem: outcome.problem ?? null } : null;
    one.port.postMessage({ n: one.n, outcome: error ? 'error' : outcome, error });
    this.subscribers.delete(one);
  }

  tellReach(whom = this.subscribers) {
    whom.forEach((one) => one.port.postMessage({ n: one.n, goneSince: this.api.goneSince }));
  }
}

function hand(one, events) {
  if (one.waiting) {
    one.waiting.push(...events);
    return;
  }
  const fresh = events.filter((event) => event.id > one.after);
  if (fresh.length > 0) {
    one.after = fresh[fresh.length - 1].id;
    one.port.postMessage({ n: one.n, events: fresh });
  }
}

function follow(port, { n, id, after, token }) {
  const key = `${token}\n${id}`;
  let topic = topics.get(key);
  if (!topic) {
    topic = new Topic(key, id, token, after);
    topics.set(key, topic);
    topic.run();
  }
  const one = { port, n, after, heard: Date.now(), waiting: null };
  topic.join(one);
  return { topic, one };
}

function leaveSilent() {
  for (const topic of topics.values()) {
    for (const one of topic.subscribers) {
      if (Date.now() - one.heard > SILENT_MS) {
        topic.leave(one);
      }
    }
  }
}

globalThis.addEventListener('connect', (event) => {
  const [port] = /** @type {MessageEvent} */ (event).ports;
  const followed = new Map();
  port.onmessage = ({ data }) => {
    followed.forEach(({ one }) => {
      one.heard = Date.now();
    });
    if (data.follow) {
      followed.set(data.n, follow(port, data));
    } else if (data.leave) {
      const { topic, one } = followed.get(data.n) ?? {};
      followed.delete(data.n);
      topic?.leave(one);
    }
  };
  port.postMessage({ hello: true });
});
setInterval(leaveSilent, SILENT_MS / 3);
