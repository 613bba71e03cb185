/* page_file.mjs - what is shown as a page of its own that needs no server and no network */
import { escapeXml } from './xml.mjs';
import { h } from './dom.mjs';

const POLICY = "default-src 'none'; style-src 'unsafe-inline'";

/* The text of the file: `element` as it stands, all that opens open, without what only a
 * live page can do; `data` for programs. Its head is written as text: a style sheet that
 * is made here would have to keep to this page's own policy. */
export function pageFile(title, element, data) {
  const copy = element.cloneNode(true);
  copy.querySelectorAll('button').forEach((one) => one.remove());
  copy.querySelectorAll('details').forEach((one) => {
    one.open = true;
  });
  copy
    .querySelectorAll('a[href]')
    .forEach((link) => link.setAttribute('href', new URL(link.getAttribute('href'), location.origin)));
  const body = h(
    'body',
    h('main', h('h1', title), copy, footer()),
    h(
      'script',
      { type: 'application/json', id: 'ringbench-data' },
      JSON.stringify(data).replaceAll('<', '\\u003c'),
    ),
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeXml(title)}</title>
<style>
${styles()}
</style>
</head>
${body.outerHTML}
</html>
`;
}

const styles = () =>
  [...document.styleSheets]
    .flatMap((sheet) => [...sheet.cssRules])
    .map((rule) => rule.cssText)
    .join('\n');

const footer = () =>
  h(
    'footer.muted',
    h(
      'p',
      `Made at ${new Date().toISOString()} from `,
      h('code', location.href),
      '. This file needs nothing but itself; the server’s whole answer stands in it as JSON, ' +
        'in the element with the id ',
      h('code', 'ringbench-data'),
      '.',
    ),
  );
