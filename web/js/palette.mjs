/* palette.mjs - how a series looks: colour, dash and point shape, so that no one of them
 * has to be seen. Colours: Okabe and Ito, "Color Universal Design", 2008. No DOM. */

const BLUE = '#0072B2';
const SKY = '#56B4E9';
const ORANGE = '#E69F00';
const GREEN = '#009E73';
const VERMILLION = '#D55E00';
const PURPLE = '#CC79A7';
const YELLOW = '#F0E442';

/* Most contrast with the background first. */
const COLOURS = {
  light: [BLUE, VERMILLION, GREEN, PURPLE, '#000000', ORANGE, SKY],
  dark: [SKY, ORANGE, GREEN, PURPLE, YELLOW, VERMILLION, '#FFFFFF'],
};
const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3]];
/* Outlines about the origin, as the data of an SVG path. */
export const SHAPES = {
  circle: 'M3.4 0A3.4 3.4 0 1 1-3.4 0A3.4 3.4 0 1 1 3.4 0Z',
  square: 'M-3.4-3.4H3.4V3.4H-3.4Z',
  triangle: 'M0-4.1L3.9 3.1H-3.9Z',
  diamond: 'M0-4.6L4.6 0L0 4.6L-4.6 0Z',
  cross: 'M-1.4-3.9H1.4V-1.4H3.9V1.4H1.4V3.9H-1.4V1.4H-3.9V-1.4H-1.4Z',
};
const SHAPE_NAMES = Object.keys(SHAPES);

/* The look of line number `index`. In place shares its line's colour and shape, drawn
 * hollow and dashed, since the two are read as a pair. */
export function lookOf(index, inPlace, theme) {
  const colours = COLOURS[theme];
  const round = Math.floor(index / colours.length);
  return {
    colour: colours[index % colours.length],
    shape: SHAPE_NAMES[index % SHAPE_NAMES.length],
    dash: inPlace ? [6, 4] : DASHES[(round * 2) % DASHES.length],
    hollow: inPlace,
  };
}

/* The colour of a limit or a baseline: a limit that was missed stands out. */
export function referenceColour(answer, theme) {
  const [plain, failed] = theme === 'dark' ? ['#9ba6b4', '#ff8f85'] : ['#56606d', '#b3261e'];
  return answer === 'fail' ? failed : plain;
}

export const REFERENCE_DASH = [7, 3, 1.5, 3];
