/* SPDX-License-Identifier: Apache-2.0 */
/* download.mjs - saves files, and copies text to the clipboard */

export function download(blob, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  /* A busy browser may start the download late. */
  setTimeout(() => URL.revokeObjectURL(link.href), 120000);
}

/* Copy text to the clipboard. Plain HTTP from another host has no clipboard API. */
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
