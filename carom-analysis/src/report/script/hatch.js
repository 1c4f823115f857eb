/* Hatching of walls and ground: the solid side of fixed lines that something touches. */

/* Points nearer to a line than this part of the drawing touch it. */
const TOUCH = 0.012;
/* Distance of the strokes along a line, and how far they reach from it [px]. */
const STROKE = [7, 7];

/* Tells for each fixed line on which side it is solid: 1 to the left of its direction, -1 to the right, 0 where nothing
   touches it or where things touch it from both sides. Of a circle left is inside. What goes through a line, as the rod
   of a slider does in a drawing, does not count. */
function findSolid({shapes, bounds}) {
  const size = Math.max(bounds.x[1] - bounds.x[0], bounds.y[1] - bounds.y[0]);
  const near = TOUCH * size;
  // a small circle is a pin
  const isWall = ({geometry, fixed}) =>
    geometry === 'segment' || geometry === 'polyline' || (geometry === 'circle' && Math.abs(fixed[2]) > 0.1 * size);
  const moving = shapes.filter((shape) => shape.columns);
  const lines = shapes.filter((shape) => shape.fixed && shape.fill === null && !shape.stroke.dashed);
  for (const line of lines) {
    if (isWall(line)) line.solid = -freeSide(line, moving, near);
  }
}

/* The side of a line on which all is that touches it without going through; 0 where there is none. */
function freeSide(line, moving, near) {
  const distance = line.geometry === 'circle' ? fromCircle(line.fixed) : fromEdges(line.fixed);
  const sides = moving.map((shape) => sideOf(shape, distance, near)).filter((side) => side);
  return sides.length && sides.every((side) => side === sides[0]) ? sides[0] : 0;
}

/* The side on which a shape always is, if it comes near; 0 otherwise. */
function sideOf({geometry, columns}, distance, near) {
  const [width, radii] = geometry === 'circle' ? [3, columns[2]] : [2, null];
  let [side, touches] = [0, false];
  for (let frame = 0; frame < columns[0].length; frame++) {
    for (let k = 0; k + 1 < columns.length; k += width) {
      const far = distance(columns[k][frame], columns[k + 1][frame]);
      if (!Number.isFinite(far)) continue;
      const free = Math.abs(far) - (radii ? Math.abs(radii[frame]) : 0);
      if (free <= near) touches = true;
      if (free < -near || (free > near && side && Math.sign(far) !== side)) return 0;
      if (free > near) side = Math.sign(far);
    }
  }
  return touches ? side : 0;
}

/* The signed distance of a point from the nearest edge beside which it is; NaN beside none. */
function fromEdges(numbers) {
  return (x, y) => {
    let nearest = NaN;
    for (let i = 0; i + 3 < numbers.length; i += 2) {
      const [ex, ey] = [numbers[i + 2] - numbers[i], numbers[i + 3] - numbers[i + 1]];
      const [px, py, length] = [x - numbers[i], y - numbers[i + 1], Math.hypot(ex, ey)];
      const along = (px * ex + py * ey) / length;
      if (!(along >= 0 && along <= length)) continue;
      const far = (ex * py - ey * px) / length;
      if (!(Math.abs(far) > Math.abs(nearest))) nearest = far;
    }
    return nearest;
  };
}

/* Positive inside. */
function fromCircle([cx, cy, radius]) {
  return (x, y) => Math.abs(radius) - Math.hypot(x - cx, y - cy);
}

/* The strokes beside a line that is drawn through `numbers`. */
function hatch(g, shape, numbers, {k, X, Y}) {
  if (!shape.solid) return;
  g.lineWidth = 1;
  g.globalAlpha = 0.85;
  strokes(g, () => {
    if (shape.geometry === 'circle') {
      const [x, y, radius] = [X(numbers[0]), Y(numbers[1]), Math.abs(numbers[2]) * k];
      const count = Math.min(2000, Math.round(2 * Math.PI * radius / STROKE[0]));
      for (let i = 0; i < count; i++) {
        const angle = 2 * Math.PI * i / count;
        const [nx, ny] = [Math.cos(angle), Math.sin(angle)];
        stroke(g, x + radius * nx, y + radius * ny, [-nx * shape.solid, -ny * shape.solid], [-ny, nx]);
      }
      return;
    }
    for (let i = 0; i + 3 < numbers.length; i += 2) {
      const [x, y] = [X(numbers[i]), Y(numbers[i + 1])];
      const [dx, dy] = [X(numbers[i + 2]) - x, Y(numbers[i + 3]) - y];
      const length = Math.hypot(dx, dy);
      const [ux, uy] = [dx / length, dy / length];
      // the left of a direction, where y points down
      const into = [uy * shape.solid, -ux * shape.solid];
      const [first, last] = visible(g, [x, y], [ux, uy], length);
      for (let at = first; at < last; at += STROKE[0]) stroke(g, x + at * ux, y + at * uy, into, [ux, uy]);
    }
  });
  g.globalAlpha = 1;
}

/* The part of a line that may be seen, from a whole number of strokes on: loupes draw long ones. */
function visible(g, [x, y], [ux, uy], length) {
  const {width, height} = g.canvas;
  const reach = width + height;
  const middle = (width / 2 - x) * ux + (height / 2 - y) * uy;
  const first = Math.max(0, middle - reach);
  // strokes lean back by less than their distance: none leaves its corner
  return [(Math.ceil(first / STROKE[0]) + 1) * STROKE[0], Math.min(length, middle + reach)];
}

function stroke(g, x, y, [nx, ny], [ux, uy]) {
  g.moveTo(x, y);
  g.lineTo(x + STROKE[1] * (nx - ux) * 0.75, y + STROKE[1] * (ny - uy) * 0.75);
}
