/* SPDX-License-Identifier: Apache-2.0 */
/* report_data.mjs - serves a report's data through the interface of api.mjs
 * (docs/reference/api.md). No DOM. */
import { ENDED } from './events.mjs';

export class ReportData {
  constructor(data) {
    this.data = data;
    this.document = data.run ?? data.summary.run;
    const all = data.events ?? [];
    this.events = all.filter(({ type }) => type !== 'result');
    this.results = all.filter(({ type }) => type === 'result');
    this.goneSince = null;
    this.id = this.document.id;
    this.nodes = data.nodes;
    this.generator = data.generator;
    this.generated = data.generated;
    this.address = data.address;
    this.origin = data.address ? new URL(data.address).origin : 'http://HOST';
    /* A report of a run with very many events contains a summary instead of events. */
    this.isSummary = data.events === undefined;
  }

  /* Notices about the report itself: [[title, text]]. */
  get notes() {
    const notes = [];
    if (!ENDED.has(this.document.state)) {
      notes.push(['Unfinished. ', `The run had not ended when this report was made at ${this.generated}.`]);
    }
    if (this.isSummary) {
      notes.push([
        'Shortened. ',
        'The run has too many results for one file. Charts and table cover all of them. ' +
          'Single rows and older events are left out.',
      ]);
    }
    return notes;
  }

  now() {
    return Date.parse(this.generated);
  }

  token() {
    return null;
  }

  /* A report does not count down the remaining time. */
  async run() {
    return { ...this.document, eta_s: null };
  }

  async summary(_id, by) {
    return by === 'case' ? this.data.summary_by_case : this.data.summary;
  }

  async collectives() {
    return { collectives: this.data.collectives };
  }

  /* Rows of the latest attempts only. */
  async rows(_id, query) {
    if (this.isSummary) {
      throw new Error('The single rows are not in this report: the run has too many.');
    }
    const wanted = [...query].filter(([name]) => ['series', 'size', 'case'].includes(name));
    const attempts = new Map(this.document.cases.map((found) => [found.case, found.attempt]));
    const rows = this.results.filter(
      (row) =>
        row.attempt === attempts.get(row.case) &&
        wanted.every(([name, value]) => row[name] === Number(value)),
    );
    return { rows: rows.slice(0, Number(query.get('limit') ?? rows.length)) };
  }

  async stored(_id, after) {
    return this.events.filter((event) => event.id > after);
  }

  async follow(id, { after, onEvents, onSummary }) {
    const events = await this.stored(id, after);
    if (events.length > 0) {
      onEvents(events);
    }
    onSummary({ ...this.data.summary, whole: true });
    return 'stopped';
  }
}
