/* SPDX-License-Identifier: Apache-2.0 */
/* api.test.mjs - following a run through refusals, cuts and a server that is gone */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Api, ApiError } from '../../../web/js/api.mjs';

const encoder = new TextEncoder();
const frame = (id) => `id: ${id}\nevent: message\ndata: {"id":${id},"type":"message"}\n\n`;

/* A response whose body is these pieces of text; `cut`: the connection breaks after. */
function streamOf(pieces, cut = false) {
  const body = new ReadableStream({
    start(controller) {
      pieces.forEach((piece) => controller.enqueue(encoder.encode(piece)));
      if (cut) {
        setTimeout(() => controller.error(new TypeError('network error')), 1);
      } else {
        controller.close();
      }
    },
  });
  return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
}

function storage() {
  const items = new Map();
  return {
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => items.set(key, value),
    removeItem: (key) => items.delete(key),
  };
}

/* An Api whose requests are answered by `answers` in turn. */
function apiWith(answers, options = {}) {
  const requests = [];
  const api = new Api({
    storage: storage(),
    fetch: async (path, init) => {
      requests.push({ path, headers: init.headers, signal: init.signal });
      const answer = answers.shift();
      if (answer instanceof Error) {
        throw answer;
      }
      return typeof answer === 'function' ? answer(init) : answer;
    },
    ...options,
  });
  return { api, requests };
}

async function follow(api, after = 0) {
  const ids = [];
  const summaries = [];
  const signal = new AbortController().signal;
  const outcome = await api.follow('r1', {
    after,
    signal,
    onEvents: (events) => ids.push(...events.map((event) => event.id)),
    onSummary: (summary) => summaries.push(summary),
  });
  return { ids, summaries, outcome };
}

test('summaries come beside events, in their order', async () => {
  const summary = (n) => `event: summary\ndata: {"last_event":${n}}\n\n`;
  const pieces = [
    frame(1) + summary(1),
    frame(2),
    summary(2).slice(0, 20),
    `${summary(2).slice(20)}event: end\ndata: {}\n\n`,
  ];
  const { api, requests } = apiWith([streamOf(pieces)]);
  const { ids, summaries, outcome } = await follow(api);
  assert.equal(outcome, 'ended');
  assert.deepEqual(ids, [1, 2]);
  assert.deepEqual(summaries, [{ last_event: 1 }, { last_event: 2 }]);
  assert.equal(requests[0].path, '/api/v1/runs/r1/events?results=0&summary=1');
});

test('a cut stream goes on after the last event, without gap or duplicate', async () => {
  const { api, requests } = apiWith([
    streamOf([frame(1), frame(2), 'id: 3\nda'], true),
    streamOf([frame(2), frame(3)]),
    new TypeError('connection refused'),
    streamOf([frame(4), 'event: end\ndata: {}\n\n']),
  ]);
  const { ids, outcome } = await follow(api);
  assert.equal(outcome, 'ended');
  assert.deepEqual(ids, [1, 2, 3, 4]);
  assert.deepEqual(
    requests.map((r) => r.headers['Last-Event-ID']),
    ['0', '2', '3', '3'],
  );
});

test('it says since when the server is gone, and when it is back', async () => {
  const { api } = apiWith([new TypeError('refused'), new TypeError('refused'), streamOf(['event: end\n\n'])]);
  const told = [];
  api.addEventListener('reach', () => told.push(api.goneSince));
  await follow(api);
  assert.equal(told.length, 2);
  assert.ok(told[0] instanceof Date);
  assert.equal(told[1], null);
});

test('a run that does not exist is not asked for again', async () => {
  const { api, requests } = apiWith([new Response('{"status":404,"detail":"no run r1"}', { status: 404 })]);
  const { outcome } = await follow(api);
  assert.ok(outcome instanceof ApiError);
  assert.equal(outcome.message, 'no run r1');
  assert.equal(requests.length, 1);
});

test('a server that cannot now (503) is asked again', async () => {
  const { api } = apiWith([new Response('busy', { status: 503 }), streamOf([frame(1), 'event: end\n\n'])]);
  assert.deepEqual((await follow(api)).ids, [1]);
});

test('a silent connection is given up and made anew', async () => {
  const silent = (init) => {
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(encoder.encode(frame(1)));
        init.signal.addEventListener('abort', () =>
          controller.error(new DOMException('aborted', 'AbortError')),
        );
      },
    });
    return new Response(body);
  };
  const { api } = apiWith([silent, streamOf([frame(2), 'event: end\n\n'])], { silenceMs: 20 });
  assert.deepEqual((await follow(api)).ids, [1, 2]);
});

test('an abort stops at once', async () => {
  const stop = new AbortController();
  const { api } = apiWith([new TypeError('refused')]);
  const done = api.follow('r1', { after: 0, onEvents() {}, onSummary() {}, signal: stop.signal });
  setTimeout(() => stop.abort(), 5);
  assert.equal(await done, 'stopped');
});

test('a token is asked for once, kept, and asked for again when refused', async () => {
  const asked = [];
  const refused = () => new Response('{"detail":"token"}', { status: 401 });
  const ok = () => Response.json({ runs: [] });
  const { api, requests } = apiWith([refused(), refused(), ok(), ok()], {
    askToken: async (wasRefused) => {
      asked.push(wasRefused);
      return `token-${asked.length}`;
    },
  });
  await api.list('limit=1');
  await api.list('limit=1');
  assert.deepEqual(asked, [false, true]);
  assert.deepEqual(
    requests.map((r) => r.headers.Authorization),
    [undefined, 'Bearer token-1', 'Bearer token-2', 'Bearer token-2'],
  );
});

test('two requests that are refused together ask one person once', async () => {
  let asked = 0;
  const api = new Api({
    storage: storage(),
    fetch: async (_path, init) =>
      init.headers.Authorization ? Response.json({}) : new Response('{}', { status: 401 }),
    askToken: async () => {
      asked += 1;
      return 't';
    },
  });
  await Promise.all([api.nodes(), api.list('')]);
  assert.equal(asked, 1);
});

test('a problem document becomes an error with its faults', async () => {
  const problem = {
    status: 422,
    detail: 'the spec has 1 fault',
    errors: [{ pointer: '/iters', detail: 'must be 1 or more' }],
  };
  const { api } = apiWith([Response.json(problem, { status: 422 })]);
  await assert.rejects(
    api.create({}, 'k'),
    (/** @type {any} */ error) =>
      error.status === 422 &&
      error.message === problem.detail &&
      error.problem.errors[0].pointer === '/iters',
  );
});

/* As a server does that is stopped: the connection stands, and no answer comes. */
const frozen = (init) =>
  new Promise((_, reject) => {
    const connection = setInterval(() => {}, 1000); /* keeps node from ending */
    init.signal.addEventListener('abort', () => {
      clearInterval(connection);
      reject(init.signal.reason);
    });
  });

test('a frozen server is gone, whoever may abort the request', async () => {
  const { api } = apiWith([frozen], { requestMs: 20 });
  await assert.rejects(api.run('r1', new AbortController().signal), { name: 'TimeoutError' });
  assert.notEqual(api.goneSince, null);
});

test('a stream that never begins is given up', async () => {
  const { api } = apiWith([frozen, streamOf([frame(1), 'event: end\n\n'])], { silenceMs: 20 });
  assert.deepEqual((await follow(api)).ids, [1]);
});

test('a stream whose slot another window took gives way, and goes on with the next slot', async () => {
  const first = (init) =>
    new Response(
      new ReadableStream({
        start(controller) {
          controller.enqueue(encoder.encode(frame(1)));
          init.signal.addEventListener('abort', () => controller.error(init.signal.reason));
        },
      }),
    );
  let taken = 0;
  const slots = {
    take(onLost) {
      taken += 1;
      if (taken === 1) {
        setTimeout(onLost, 1);
      }
      return () => {};
    },
  };
  const end = `${frame(2)}event: end\ndata: {}\n\n`;
  const { api, requests } = apiWith([first, streamOf([end])], { slots, pollMs: 1 });
  const { ids, outcome } = await follow(api);
  assert.deepEqual([ids, outcome, taken], [[1, 2], 'ended', 2]);
  assert.equal(requests[1].headers['Last-Event-ID'], '1');
  assert.equal(api.goneSince, null);
});

test('a late refusal of an older token asks nobody again', async () => {
  let refuse = (_response) => {};
  const late = new Promise((resolve) => {
    refuse = resolve;
  });
  const done = () => new Response('{}', { headers: { 'Content-Type': 'application/json' } });
  let asked = 0;
  const { api, requests } = apiWith([() => late, new Response('', { status: 401 }), done(), done()], {
    askToken: async () => {
      asked += 1;
      return 'secret';
    },
  });
  const first = api.json('/slow');
  await api.json('/fast');
  refuse(new Response('', { status: 401 }));
  await first;
  assert.equal(asked, 1);
  assert.equal(requests.at(-1).headers.Authorization, 'Bearer secret');
});
