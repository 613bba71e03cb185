/* SPDX-License-Identifier: Apache-2.0 */
/* log_reader.mjs - the log lines of a run, read page by page. Keeps the latest lines. No DOM. */

const LINES_ASKED = 1000;
const LINES_KEPT = 5000;

export class LogReader {
  turn = 0;
  /** @type {Schema.LogLine[]} */
  lines = [];
  after = 0;
  dropped = 0;

  constructor(api, id) {
    this.api = api;
    this.id = id;
    this.choose({});
  }

  /* Select one rank or case, or all. Discards the lines read so far. */
  choose({ rank = null, case: caseNumber = null }) {
    this.rank = rank;
    this.case = caseNumber;
    this.lines = [];
    this.after = 0;
    this.hasMore = false;
    this.dropped = 0;
    this.turn += 1;
  }

  /* Read the next page. Resolves to true if there were new lines. */
  async read() {
    const turn = this.turn;
    const params = new URLSearchParams({ limit: String(LINES_ASKED), after: String(this.after) });
    if (this.rank !== null) {
      params.set('rank', this.rank);
    }
    if (this.case !== null) {
      params.set('case', this.case);
    }
    const { lines, next } = await this.api.logs(this.id, params);
    if (turn !== this.turn) {
      return false;
    }
    const fresh = lines.filter((line) => line.seq > this.after);
    this.lines.push(...fresh);
    this.after = this.lines[this.lines.length - 1]?.seq ?? this.after;
    this.hasMore = next !== null && next !== undefined;
    const surplus = Math.max(0, this.lines.length - LINES_KEPT);
    this.lines.splice(0, surplus);
    this.dropped += surplus;
    return fresh.length > 0;
  }

  /* The lines that contain `text`, ignoring case. */
  find(text) {
    const wanted = text.toLowerCase();
    return this.lines.filter((line) => line.text.toLowerCase().includes(wanted));
  }
}
