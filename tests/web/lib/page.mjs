/* SPDX-License-Identifier: Apache-2.0 */
/* page.mjs - a fake server and a browser page for one test, both gone when it ends */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { complaints, openBrowser, whyNoBrowser } from './browser.mjs';
import { FakeServer } from './fake_server.mjs';

export const skip = whyNoBrowser() ?? false;
/* Slow machines say so: everything then may take longer. */
export const patience = Number(process.env.RINGBENCH_TEST_PATIENCE || 5);
export const LIMIT = {
  timeout: 120000 * patience,
  skip,
};

let browser = null;
/* What is to be undone at the end of each test, and what its pages complained of. */
const ends = new WeakMap();

/* One browser for all tests of a file: call in after(). */
export async function closeBrowser() {
  await browser?.close();
  browser = null;
}

/* A test with pages: at its end they are closed first, then what they loaded from; and it
 * fails if a page complained of anything that was not expected. (Not in after(): when one
 * such hook throws, the others don't run.) */
export function pageTest(name, options, body) {
  return test(name, options, async (t) => {
    const state = { undo: [], complaints: [] };
    ends.set(t, state);
    try {
      await body(t);
    } finally {
      for (const undo of state.undo.reverse()) {
        await undo();
      }
    }
    assert.deepEqual(
      state.complaints.flatMap((list) => list()),
      [],
    );
  });
}

/* {page, errors}: a page; `expected` matches the complaints that it may make, `kind` is the
 * browser's, one for a file. */
export async function openPage(
  t,
  { expected = /(?!)/, width = 1280, scheme = 'light', kind = 'chromium' } = {},
) {
  browser ??= await openBrowser(kind);
  const page = await browser.context.newPage();
  ends.get(t).undo.push(() => page.close());
  page.setDefaultTimeout(20000 * patience);
  await page.setViewportSize({ width, height: 900 });
  await page.emulateMedia({ colorScheme: scheme });
  const errors = complaints(page);
  ends.get(t).complaints.push(() => errors.filter((text) => !expected.test(text)));
  return { page, errors };
}

/* The same with a fake server: {server, page, errors, open(path)}. */
export async function setUp(t, options) {
  const server = new FakeServer();
  await server.start();
  ends.get(t).undo.push(() => server.stop());
  const { page, errors } = await openPage(t, options);
  return { server, page, errors, open: (path) => page.goto(server.url + path) };
}

/* Wait until the page shows this text somewhere. */
export const sees = (page, text) => page.getByText(text).filter({ visible: true }).first().waitFor();

/* Wait until `check` gives something true; for what happens outside of the page. */
export async function until(check, what, ms = 20000) {
  const end = Date.now() + ms * patience;
  for (;;) {
    const value = await check();
    if (value) {
      return value;
    }
    if (Date.now() > end) {
      throw new Error(`waited in vain: ${what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/* What tests of several files look for by its label, which is written once. */
export const measuring = (page) => page.getByText('How to measure');
export const numbersExplained = (page) => page.locator('summary', { hasText: 'About these numbers' });
export const overlayLink = (page) => page.getByRole('link', { name: 'Overlay 2 runs' });
export const requestJson = (page) => page.getByLabel('The request as JSON');
export const seesNoRunsYet = (page) => sees(page, 'No runs yet');
export const slowNodeButton = (page) => page.getByRole('button', { name: 'Find the slow node' });
export const startButton = (page) => page.getByRole('button', { name: 'Start the run' });

/* The text of each row of the figures' table. */
export const figureRows = (page) =>
  page.getByRole('region', { name: 'Results' }).locator('tbody tr:not(.detail)').allInnerTexts();

/* What a button hands over as a file: {name, content, text}. */
export async function taken(page, name) {
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name }).click(),
  ]);
  const chunks = [];
  for await (const chunk of await file.createReadStream()) {
    chunks.push(chunk);
  }
  const content = Buffer.concat(chunks);
  return { name: file.suggestedFilename(), content, text: content.toString() };
}
