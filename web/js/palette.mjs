/* SPDX-License-Identifier: Apache-2.0 */
/* palette.mjs - chooses line styles: colour, dash and point shape. Lines never differ by colour
 * only. Colours: Okabe and Ito, "Color Universal Design", 2008. No DOM. */

const BLUE = '#0072B2';
const SKY = '#56B4E9';
const ORANGE = '#E69F00';
const GREEN = '#009E73';
const VERMILLION = '#D55E00';
const PURPLE = '#CC79A7';
const YELLOW = '#F0E442';

/* Highest contrast with the background first. */
const COLOURS = {
  light: [BLUE, VERMILLION, GREEN, PURPLE, '#000000', ORANGE, SKY],
  dark: [SKY, ORANGE, GREEN, PURPLE, YELLOW, VERMILLION, '#FFFFFF'],
};
const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3]];
/* Outlines around a point, as the rest of an SVG path that starts with a move to the point. */
export const SHAPES = {
  circle: 'm-3.4 0a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0-6.8 0z',
  square: 'm-3.4-3.4h6.8v6.8h-6.8z',
  triangle: 'm0-4.1l3.9 7.2h-7.8z',
  diamond: 'm0-4.6l4.6 4.6l-4.6 4.6l-4.6-4.6z',
  cross: 'm-1.4-3.9h2.8v2.5h2.5v2.8h-2.5v2.5h-2.8v-2.5h-2.5v-2.8h2.5z',
};
const SHAPE_NAMES = Object.keys(SHAPES);

/* Style of line number `index`. The in-place twin of a line has the same colour and shape, hollow
 * and dashed. `dash` overrides the dash. */
export function lookOf(index, inPlace, theme, dash = null) {
  const colours = COLOURS[theme];
  const round = Math.floor(index / colours.length);
  return {
    colour: colours[index % colours.length],
    shape: SHAPE_NAMES[index % SHAPE_NAMES.length],
    dash: dash === null && inPlace ? [6, 4] : DASHES[(dash ?? round * 2) % DASHES.length],
    hollow: inPlace,
  };
}

/* Returns the colour of a threshold or baseline. A missed threshold is red. */
export function referenceColour(answer, theme) {
  const [plain, failed] = theme === 'dark' ? ['#9ba6b4', '#ff8f85'] : ['#56606d', '#b3261e'];
  return answer === 'fail' ? failed : plain;
}

export const REFERENCE_DASH = [7, 3, 1.5, 3];
