// SPDX-License-Identifier: Apache-2.0
// import_reports.test.mjs - files in the forms of other people's reports come to the right answer
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';

import { startServer } from './lib/cluster.mjs';
import { patience } from './lib/fixture.mjs';
import { Schemas } from './lib/schema.mjs';

const limit = { timeout: 60000 * patience };
const folder = new URL('../vectors/import/reports/', import.meta.url);
const reports = JSON.parse(fs.readFileSync(new URL('expected.json', folder), 'utf8'));

function assertVerdicts(report, verdicts) {
  const [answer, about, nodes] = report.verdict;
  assert.deepEqual(
    [verdicts[0].answer, verdicts[0].evidence.about, verdicts[0].nodes],
    [answer, about, nodes],
    verdicts[0].sentence,
  );
  assert.ok(verdicts[0].sentence.includes(report.sentence ?? ''), verdicts[0].sentence);
  if (report.verdicts) assert.equal(verdicts.length, report.verdicts);
}

async function assertRuns(server, report, runs) {
  assert.deepEqual(
    runs.map((run) => [run.state, run.world_size, run.rows_done]),
    report.runs,
  );
  if (report.reason) assert.ok(runs[0].reason.includes(report.reason), runs[0].reason);
  const { cases, machines } = await server.getRun(runs[0].id);
  assert.ok(cases.length > 0);
  if (report.nodes) assert.deepEqual(machines[0].nodes, report.nodes);
}

test('files in the forms of reports come to the right answer', limit, async (t) => {
  const server = await startServer(t);
  const schema = new Schemas(await server.get('/openapi.json'));
  const files = fs.readdirSync(folder).filter((name) => name.endsWith('.txt'));
  assert.deepEqual(reports.map(({ file }) => file).sort(), files.sort());
  for (const report of reports) {
    const body = fs.readFileSync(new URL(report.file, folder));
    const ask = (format) =>
      server.request('POST', `/api/v1/import?format=${format}&${report.query ?? ''}`, { body });
    const answer = await ask('json');
    try {
      assert.equal(answer.status, report.status, answer.text);
      if (report.detail) assert.match(answer.json.detail, new RegExp(report.detail));
      else assert.deepEqual(schema.faults({ $ref: '#/components/schemas/Imported' }, answer.json), []);
      if (report.runs) await assertRuns(server, report, answer.json.runs);
      if (report.unread) {
        assert.deepEqual(
          answer.json.unread.map(({ line }) => line),
          report.unread,
        );
      }
      if (report.verdict) assertVerdicts(report, answer.json.transports.verdicts);
      if (report.transportNodes) assert.deepEqual(answer.json.transports.nodes, report.transportNodes);
      if (report.text) assert.ok((await ask('text')).text.includes(report.text));
    } catch (error) {
      error.message = `${report.file}: ${error.message}`;
      throw error;
    }
  }
});
