/* shared_streams.mjs - a tab's side of hub.mjs. Where a browser has no shared workers, or
 * the worker does not start, nothing is shared. */

/* Where there can be none it is said at once; a busy machine takes seconds for one. */
const HELLO_MS = 10000;
const ALIVE_MS = 20000;

export class SharedStreams {
  constructor(url) {
    this.followed = new Map();
    this.n = 0;
    /** @type {MessagePort | null} */
    this.port = null;
    this.ready = this.connect(url);
  }

  /* Whether the hub is there; asks once. */
  async connect(url) {
    try {
      const worker = new SharedWorker(url, { type: 'module', name: 'ringbench' });
      const port = worker.port;
      const said = new Promise((resolve) => {
        worker.onerror = () => resolve(false);
        setTimeout(() => resolve(false), HELLO_MS);
        port.onmessage = ({ data }) => (data.hello ? resolve(true) : this.heed(data));
      });
      if (await said) {
        this.port = port;
        setInterval(() => this.sayAlive(), ALIVE_MS);
        addEventListener('pagehide', () => this.leaveAll());
      }
    } catch {
      /* no shared workers here */
    }
    return this.port !== null;
  }

  sayAlive() {
    if (this.followed.size > 0) {
      this.port?.postMessage({ alive: true });
    }
  }

  leaveAll() {
    this.followed.forEach((_entry, n) => this.port?.postMessage({ leave: true, n }));
  }

  heed({ n, events, summary, outcome, error, goneSince }) {
    const entry = this.followed.get(n);
    if (!entry) {
      return;
    }
    if (events) {
      entry.onEvents(events);
    } else if (summary) {
      entry.onSummary(summary);
    } else if (outcome) {
      this.followed.delete(n);
      entry.resolve(error ?? outcome);
    } else {
      entry.onReach(goneSince);
    }
  }

  /* Follow a run: resolves to 'ended', 'stopped', or {status, problem}. */
  follow(id, { after, token, onEvents, onSummary, onReach, signal }) {
    return new Promise((resolve) => {
      this.n += 1;
      const { n } = this;
      const stop = () => {
        if (this.followed.delete(n)) {
          this.port?.postMessage({ leave: true, n });
          resolve('stopped');
        }
      };
      const end = (value) => {
        signal.removeEventListener('abort', stop);
        resolve(value);
      };
      this.followed.set(n, { onEvents, onSummary, onReach, resolve: end });
      signal.addEventListener('abort', stop);
      this.port?.postMessage({ follow: true, n, id, after, token });
    });
  }
}
