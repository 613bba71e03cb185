/* SPDX-License-Identifier: Apache-2.0 */
/* url_state.test.mjs - every view has an address that restores it */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAddress, parseAddress, runListQuery } from '../../../web/js/url_state.mjs';

function roundTrip(address) {
  const url = new URL(address, 'http://x');
  return formatAddress(parseAddress(url.pathname, url.search));
}

test('an address comes back as it was', () => {
  const addresses = [
    '/',
    '/new',
    '/nodes',
    '/compare',
    '/trends',
    '/watches',
    '/compare?base=r1&base_env=A%3Db&head=r1%3A2&head=r3&head_env=A&last=5&like=hardware',
    '/trends?collective=broadcast&in_place=1&nodes=a%2Cb&run=r1&since=2026-01-31&per_line=200',
    '/nodes/node-1',
    '/runs/06cw1x2k3m4n',
    '/?q=nightly&state=running&state=failed&label=a%3Db&cursor=xyz',
    '/new?from=06cw&without=node-1',
    '/?node=n1&since=2026-01-31&until=2026-02-01&sort=duration&order=asc',
    '/nodes?q=h100&state=lost&label=rack%3D7&sort=nccl&order=desc',
    '/runs/06cw?metric=algbw&y=log&zoom=64K-16M&place=in&hide=a%2Fb&hide=c&band=0&sort=-out_busbw' +
      '&case=1&rank=3&log=NCCL&with=r2&with=r3&tab=ranks',
  ];
  for (const address of addresses) {
    assert.equal(roundTrip(address), address);
  }
});

test('defaults are left out', () => {
  assert.equal(roundTrip('/runs/a?metric=busbw&y=linear&place=out&band=1'), '/runs/a');
});

test('nonsense in an address falls back to what is usual', () => {
  const { query } = parseAddress('/runs/a', '?metric=rm&y=up&case=-1&rank=x&place=');
  assert.deepEqual(
    [query.metric, query.y, query.case, query.rank, query.place],
    ['busbw', 'linear', null, null, 'out'],
  );
});

test('names are decoded once; a stray percent sign is a name too', () => {
  assert.equal(parseAddress('/nodes/a%252Fb', '').id, 'a%2Fb');
  assert.equal(parseAddress('/nodes/100%', '').id, '100%');
  assert.equal(formatAddress({ view: 'node', id: '../<script>' }), '/nodes/..%2F%3Cscript%3E');
});

test('a path of no view is missing', () => {
  assert.equal(parseAddress('/runs', '').view, 'missing');
  assert.equal(parseAddress('/nodes/a/b', '').view, 'missing');
});

test('at most six runs are laid over one another, each once', () => {
  const { query } = parseAddress('/runs/a', '?with=b&with=b&with=c&with=d&with=e&with=f&with=g');
  assert.deepEqual(query.with, ['b', 'c', 'd', 'e', 'f']);
});

test('the list is asked for as the address has it', () => {
  const { query } = parseAddress('/', '?q=a+b&state=failed&label=k%3Dv');
  assert.equal(runListQuery(query, 50), 'q=a+b&state=failed&label=k%3Dv&limit=50');
});

test('days of the list begin and end here', () => {
  const { query } = parseAddress('/', '?since=2026-01-31&until=2026-01-31&sort=figure&order=asc');
  const asked = new URLSearchParams(runListQuery(query, 50, true));
  assert.equal(Date.parse(asked.get('since')), new Date(2026, 0, 31).getTime());
  assert.equal(Date.parse(asked.get('until')), new Date(2026, 1, 1).getTime());
  assert.deepEqual(
    ['sort', 'order', 'total'].map((key) => asked.get(key)),
    ['figure', 'asc', '1'],
  );
  const { query: odd } = parseAddress('/', '?since=soon&sort=name&order=up');
  assert.equal(runListQuery(odd, 50), 'limit=50');
});
