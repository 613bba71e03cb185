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
export const SHAPES = ['circle', 'square', 'triangle', 'diamond', 'cross'];

/* The look of line number `index`. In place shares its line's colour and shape, drawn
 * hollow and dashed, since the two are read as a pair. */
export function lookOf(index, inPlace, theme) {
  const colours = COLOURS[theme];
  const round = Math.floor(index / colours.length);
  return {
    colour: colours[index % colours.length],
    shape: SHAPES[index % SHAPES.length],
    dash: inPlace ? [6, 4] : DASHES[(round * 2) % DASHES.length],
    hollow: inPlace,
  };
}

/* What lines are held against: one that they failed stands out. */
export function referenceColour(answer, theme) {
  const [plain, failed] = theme === 'dark' ? ['#9ba6b4', '#ff8f85'] : ['#56606d', '#b3261e'];
  return answer === 'fail' ? failed : plain;
}

export const REFERENCE_DASH = [7, 3, 1.5, 3];

/* The outline of a shape about (x, y) as [x, y] corners; the circle has none. */
export function shapeCorners(shape, x, y, r) {
  switch (shape) {
    case 'square':
      return [
        [x - r, y - r],
        [x + r, y - r],
        [x + r, y + r],
        [x - r, y + r],
      ];
    case 'triangle':
      return [
        [x, y - 1.2 * r],
        [x + 1.15 * r, y + 0.9 * r],
        [x - 1.15 * r, y + 0.9 * r],
      ];
    case 'diamond':
      return [
        [x, y - 1.35 * r],
        [x + 1.35 * r, y],
        [x, y + 1.35 * r],
        [x - 1.35 * r, y],
      ];
    case 'cross':
      return crossCorners(x, y, 1.15 * r, 0.42 * r);
    default:
      return null;
  }
}

function crossCorners(x, y, r, w) {
  return [
    [-w, -r],
    [w, -r],
    [w, -w],
    [r, -w],
    [r, w],
    [w, w],
    [w, r],
    [-w, r],
    [-w, w],
    [-r, w],
    [-r, -w],
    [-w, -w],
  ].map(([dx, dy]) => [x + dx, y + dy]);
}
