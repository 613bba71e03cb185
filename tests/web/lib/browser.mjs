/* SPDX-License-Identifier: Apache-2.0 */
/* browser.mjs - Debian's Chromium or Firefox for the tests, or why there is none */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const KINDS = {
  chromium: {
    places: [
      process.env.RINGBENCH_CHROMIUM,
      /* Draws no window's frame and starts fewer processes: about half of chromium's CPU time. */
      '/usr/bin/chromium-headless-shell',
      '/usr/bin/chromium',
      '/usr/bin/chromium-browser',
      '/usr/bin/google-chrome',
    ],
    missing: 'there is no Chromium (Debian package chromium-headless-shell)',
    options: {
      args: [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
  },
  firefox: {
    places: [process.env.RINGBENCH_FIREFOX, '/usr/bin/firefox-esr', '/usr/bin/firefox'],
    missing: 'there is no Firefox (Debian package firefox-esr)',
    /* Without it playwright speaks to a Firefox of its own build alone. */
    options: { channel: 'moz-firefox' },
  },
};
const programOf = (kind) => KINDS[kind].places.find((file) => file && existsSync(file));
const MODULES = new URL('../../../web/node_modules/', import.meta.url);

/* null, or why browser tests can't run here. */
export function whyNoBrowser(kind = 'chromium') {
  if (!programOf(kind)) {
    return KINDS[kind].missing;
  }
  if (!existsSync(new URL('playwright-core/index.mjs', MODULES))) {
    return 'playwright-core is not installed (npm ci in web/)';
  }
  return null;
}

export async function openBrowser(kind = 'chromium') {
  const browsers = await import(new URL('playwright-core/index.mjs', MODULES).href);
  const options = { executablePath: programOf(kind), headless: true, ...KINDS[kind].options };
  if (kind === 'firefox') {
    /* With a profile of ours, playwright waits in vain for a first page. */
    const browser = await browsers.firefox.launch(options);
    return { context: await browser.newContext(), close: () => browser.close() };
  }
  const profile = mkdtempSync(join(tmpdir(), 'ringbench-browser-'));
  const context = await browsers.chromium.launchPersistentContext(profile, {
    acceptDownloads: true,
    ...options,
  });
  return {
    context,
    async close() {
      await context.close();
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/* Returns axe's violations on the page. In the dark scheme axe only checks the rules about colors, because
 * the tests check each view in the light scheme, too. The legacy mode omits frames of other origins, which
 * the page has none of; the usual mode opens another page for each call and takes twice as long. */
export async function axe(page) {
  const { AxeBuilder } = await import(new URL('@axe-core/playwright/dist/index.mjs', MODULES).href);
  const builder = new AxeBuilder({ page }).setLegacyMode();
  const isDark = await page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches);
  if (isDark) {
    builder.withRules(['color-contrast', 'link-in-text-block']);
  }
  return (await builder.analyze()).violations;
}

/* Everything that the page complained about: errors thrown, and console errors. */
export function complaints(page) {
  const found = [];
  page.on('pageerror', (error) => found.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') {
      found.push(message.text());
    }
  });
  return found;
}
