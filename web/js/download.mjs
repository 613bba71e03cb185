/* SPDX-License-Identifier: Apache-2.0 */
/* download.mjs - hand files and text to the person */

export function download(blob, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  /* A busy browser begins the download late. */
  setTimeout(() => URL.revokeObjectURL(link.href), 120000);
}

/* Put text on the clipboard. On plain http from another host there is no clipboard API. */
export async function copyText(text) {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const area = document.createElement('textarea');
  area.className = 'visually-hidden';
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}
