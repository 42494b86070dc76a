// Places the labels of the plot beside their points, without overlaps.
import type { Point } from './pareto';

export interface Label {
  /** The corner of the point. */
  corner: Corner;
  text: string;
}

type Corner = (typeof CORNERS)[number];
/** A rectangle: left, right, top and bottom in pixels. */
type Box = [number, number, number, number];

// Beside a point, the front or a bar of its CI would cross the label.
const CORNERS = ['above right', 'below right', 'above left', 'below left'] as const;
/** The plot on a narrow screen in pixels; on a wider one, labels are farther apart. */
const NARROW = { width: 250, height: 130 };
/** The mean width of a character and the height of a line in pixels. */
const TEXT = { width: 7, height: 14 };
/** The distance of a label from the centre of its point in pixels. */
export const GAP = 9;

/** The labels by the points' ids. A label without room is left out: the table beside the plot has all. */
export function placeLabels(
  points: Point[],
  name: (point: Point) => string,
  [maxCost, minScore, maxScore]: [number, number, number],
): Map<string, Label> {
  const spots = points.map((point) => ({
    point,
    x: (point.cost / maxCost) * NARROW.width,
    y: ((maxScore - point.score) / (maxScore - minScore)) * NARROW.height,
  }));
  const taken: Box[] = spots.map(({ x, y }) => [x - 6, x + 6, y - 6, y + 6]);
  const labels = new Map<string, Label>();
  // Those on the front come first.
  for (const { point, x, y } of spots.sort((a, b) => Number(b.point.isOnFront) - Number(a.point.isOnFront))) {
    const text = name(point);
    const corner = CORNERS.find((one) => {
      const box = boxOf(one, x, y, text.length * TEXT.width);
      return isInside(box) && !taken.some((other) => overlap(box, other));
    });
    if (corner === undefined) continue;
    taken.push(boxOf(corner, x, y, text.length * TEXT.width));
    labels.set(point.id, { corner, text });
  }
  return labels;
}

function boxOf(corner: Corner, x: number, y: number, width: number): Box {
  const left = corner.endsWith('right') ? x + GAP : x - GAP - width;
  const top = corner.startsWith('above') ? y - GAP - TEXT.height : y + GAP;
  return [left, left + width, top, top + TEXT.height];
}

// To the right, the plot has a margin.
const isInside = ([left, right, top, bottom]: Box) =>
  left >= 0 && right <= NARROW.width + 24 && top >= -16 && bottom <= NARROW.height;

const overlap = (a: Box, b: Box) => a[0] < b[1] && b[0] < a[1] && a[2] < b[3] && b[2] < a[3];

/** The ticks of the cost axis: round numbers, of which the last leaves room for a label. */
export function costTicks(highest: number): number[] {
  if (highest <= 0) return [0, 1];
  const room = highest * 1.1;
  const power = 10 ** Math.floor(Math.log10(room / 3));
  const step = power * ([1, 2, 5].find((factor) => factor * power * 4 >= room) ?? 10);
  return Array.from({ length: Math.ceil(room / step - 1e-9) + 1 }, (_, index) => index * step);
}
