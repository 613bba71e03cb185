/* browser.mjs - Debian's Chromium for the tests, or the reason why there is none */
import {existsSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

const PLACES = [
  process.env.RINGBENCH_CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome'
];
const CHROMIUM = PLACES.find(file => file && existsSync(file));
const MODULES = new URL('../../../web/node_modules/', import.meta.url);

/* null, or why browser tests can't run here. */
export function whyNoBrowser() {
  if (!CHROMIUM) {
    return 'there is no Chromium (Debian package chromium)';
  }
  if (!existsSync(new URL('playwright-core/index.mjs', MODULES))) {
    return 'playwright-core is not installed (npm ci in web/)';
  }
  return null;
}

export async function openBrowser() {
  const {chromium} = await import(new URL('playwright-core/index.mjs', MODULES));
  const profile = mkdtempSync(join(tmpdir(), 'ringbench-browser-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: CHROMIUM,
    headless: true,
    acceptDownloads: true,
    args: [
      '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
      '--disable-background-networking', '--disable-component-update', '--disable-sync'
    ]
  });
  return {
    context,
    async close() {
      await context.close();
      rmSync(profile, {recursive: true, force: true, maxRetries: 5});
    }
  };
}

export async function axe(page) {
  const {AxeBuilder} =
    await import(new URL('@axe-core/playwright/dist/index.mjs', MODULES));
  return (await new AxeBuilder({page}).analyze()).violations;
}

/* Everything that the page complained about: errors thrown, and console errors. */
export function complaints(page) {
  const found = [];
  page.on('pageerror', error => found.push(String(error)));
  page.on('console', message => {
    if (message.type() === 'error') {
      found.push(message.text());
    }
  });
  return found;
}
