/* page.mjs - a fake server and a browser page for one test, both gone when it ends */
import {complaints, openBrowser, whyNoBrowser} from './browser.mjs';
import {FakeServer} from './fake_server.mjs';

export const skip = whyNoBrowser() ?? false;
export const LIMIT = {
    timeout: 60000,
    skip
};

let browser = null;

/* One browser for all tests of a file: call in after(). */
export async function closeBrowser() {
    await browser?.close();
    browser = null;
}

/* {page, errors}: a page that fails the test at its end if it complained of anything but
 * what matches `expected`. */
export async function openPage(
    t, {expected = /(?!)/, width = 1280, scheme = 'light'} = {}) {
    browser ??= await openBrowser();
    const page = await browser.context.newPage();
    await page.setViewportSize({width, height: 900});
    await page.emulateMedia({colorScheme: scheme});
    const errors = complaints(page);
    t.after(async () => {
        await page.close();
        const real = errors.filter(text => !expected.test(text));
        if (real.length > 0) {
            throw new Error(`the page complained: ${real.join('\n')}`);
        }
    });
    return {page, errors};
}

/* The same with a fake server: {server, page, errors, open(path)}. */
export async function setUp(t, options) {
    const server = new FakeServer();
    await server.start();
    const {page, errors} = await openPage(t, options);
    t.after(() => server.stop());
    return {server, page, errors, open: path => page.goto(server.url + path)};
}

/* Wait until the page shows this text somewhere. */
export const sees = (page, text) => page.getByText(text).first().waitFor();

/* Wait until `check` gives something true; for what happens outside of the page. */
export async function until(check, what, ms = 10000) {
    const end = Date.now() + ms;
    for (;;) {
        const value = await check();
        if (value) {
            return value;
        }
        if (Date.now() > end) {
            throw new Error(`waited in vain: ${what}`);
        }
        await new Promise(resolve => setTimeout(resolve, 20));
    }
}

/* The text of each row of the figures' table. */
export const figureRows = page =>
    page.locator('table.figures tbody tr:not(.detail)').allInnerTexts();
