/* SPDX-License-Identifier: Apache-2.0 */
/* timing.test.mjs - a poll goes on, whatever happens to one request */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { poll } from '../../../web/js/timing.mjs';

test('a poll outlives an exception, which is reported', async () => {
  const reported = [];
  Object.assign(globalThis, {
    document: { hidden: false, addEventListener() {}, removeEventListener() {} },
    reportError: (error) => reported.push(error.message),
  });
  let turns = 0;
  await new Promise((resolve) => {
    const polling = poll(async () => {
      turns += 1;
      if (turns === 1) {
        throw new Error('an unexpected answer');
      }
      polling();
      resolve();
    }, 1);
  });
  assert.equal(turns, 2);
  assert.deepEqual(reported, ['an unexpected answer']);
});
