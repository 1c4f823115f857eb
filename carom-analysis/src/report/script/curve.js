/* Drawing a curve: every row where there is room, else first, smallest, largest and last of each pixel column. */

/* Rows per pixel above which pixel columns are drawn; below pixels per row points get a dot. */
const DENSE = 3, ROOMY = 7;
/* Mean height of pixel columns, in pixels, from which a curve is a band. */
const BAND = 12;
/* Pixels per jump from which jumps have circles; from which those of dense curves are dotted. */
const CIRCLES = 24, DOTTED = 4;

function strokeStyle(g, curve, width = 1.4) {
  g.strokeStyle = g.fillStyle = colour(curve.tint);
  g.lineWidth = width;
  g.setLineDash(DASHES[curve.pattern]);
}

/* Draws within the box; x and y are axes. */
function drawCurve(g, curve, x, y, box) {
  const [a, b] = x.log ? [10 ** x.lo, 10 ** x.hi] : [x.lo, x.hi];
  const [from, to] = curve.rows(a, b);
  strokeStyle(g, curve);
  if (curve.style === 'stems') drawStems(g, curve, x, y, box, from, to);
  else if (curve.joined && curve.sorted && to - from > DENSE * (box.x1 - box.x0)) {
    drawDense(g, curve, x, y, box, from, to);
  } else if (curve.joined) drawRows(g, curve, x, y, box, from, to);
  g.setLineDash([]);
  if (curve.markers) drawMarkers(g, curve, x, y, box, from, to);
}

/* A value that an axis cannot show is a gap. */
const drawable = (axis, value) => Number.isFinite(value) && !(axis.log && value <= 0);

function drawRows(g, curve, x, y, box, from, to) {
  const [xs, ys] = [curve.X.v, curve.Y.v];
  const jumps = [];
  let pen = false;
  g.beginPath();
  for (let i = from; i < to; i++) {
    if (!drawable(x, xs[i]) || !drawable(y, ys[i])) {
      pen = false;
      continue;
    }
    const [px, py] = [x.at(xs[i]), y.at(ys[i])];
    if (!pen) {
      g.moveTo(px, py);
      // a mean after a gap still covers the interval before its row
      if (curve.style === 'means' && i > from) {
        g.moveTo(x.at(xs[i - 1]), py);
        g.lineTo(px, py);
      }
    } else if (curve.jumps && isJump(xs, i) && ys[i] !== ys[i - 1]) {
      jumps.push(i);
      g.moveTo(px, py);
    } else {
      if (curve.style === 'steps') g.lineTo(px, y.at(ys[i - 1]));
      if (curve.style === 'means') g.lineTo(x.at(xs[i - 1]), py);
      g.lineTo(px, py);
    }
    pen = true;
  }
  g.stroke();
  drawJumps(g, curve, x, y, box, jumps);
  if (curve.sorted && !curve.markers && to - from < (box.x1 - box.x0) / ROOMY) {
    for (let i = from; i < to; i++) {
      if (!drawable(y, ys[i]) || isJump(xs, i) || isJump(xs, i + 1)) continue;
      g.fillRect(x.at(xs[i]) - 1.2, y.at(ys[i]) - 1.2, 2.4, 2.4);
    }
  }
}

/* Dotted, an open circle before and a filled one after. */
function drawJumps(g, curve, x, y, box, jumps) {
  if (!jumps.length) return;
  const [xs, ys] = [curve.X.v, curve.Y.v];
  g.setLineDash([2, 2]);
  g.lineWidth = 1;
  strokes(g, () => jumps.forEach((i) => {
    g.moveTo(x.at(xs[i]), y.at(ys[i - 1]));
    g.lineTo(x.at(xs[i]), y.at(ys[i]));
  }));
  g.setLineDash([]);
  // all curves of a run have circles, or none
  const marks = x.isTime ? upper(time.marks, x.hi) - lower(time.marks, x.lo) : 0;
  if (Math.max(jumps.length, marks) > (box.x1 - box.x0) / CIRCLES) return;
  for (const i of jumps) {
    g.fillStyle = paint.panel;
    g.beginPath();
    g.arc(x.at(xs[i]), y.at(ys[i - 1]), 2.6, 0, 7);
    g.fill();
    g.stroke();
    g.fillStyle = colour(curve.tint);
    g.beginPath();
    g.arc(x.at(xs[i]), y.at(ys[i]), 2.6, 0, 7);
    g.fill();
  }
}

/* Pixel column by pixel column, from the pyramid. A band that fills columns lets others shine through, and has no
   dashes, which would draw patterns that are not in the data. */
function drawDense(g, curve, x, y, box, from, to) {
  const all = curve.jumpRows();
  const jumps = all.slice(lower(all, from + 1), lower(all, to));
  const few = jumps.length <= (box.x1 - box.x0) / DOTTED;
  const cuts = few ? [from, ...jumps, to] : [from, to];
  let filled = 0;
  g.beginPath();
  for (let k = 1; k < cuts.length; k++) filled += columnsOf(g, curve, x, y, box, cuts[k - 1], cuts[k]);
  if (filled > BAND * (box.x1 - box.x0)) {
    g.setLineDash([]);
    g.globalAlpha = 0.6;
  }
  g.stroke();
  g.globalAlpha = 1;
  if (few) drawJumps(g, curve, x, y, box, jumps);
}

/* The columns of rows without a jump; how many pixels they fill. */
function columnsOf(g, curve, x, y, box, from, to) {
  const [xs, ys] = [curve.X.v, curve.Y.v];
  let pen = false, i = from, filled = 0;
  for (const [j, middle] of pixelColumns(xs, x, box, from, to)) {
    const [low, high] = curve.Y.range(i, j);
    const [first, last] = [ys[i], ys[j - 1]];
    const ends = drawable(y, first) && drawable(y, last);
    if (!(low <= high) || (y.log && high <= 0)) pen = false;
    else {
      const bottom = y.log && low <= 0 ? curve.Y.positive(i, j) : low;
      const order = !ends ? [bottom, high] : last >= first ? [first, bottom, high, last] : [first, high, bottom, last];
      for (const value of order) {
        if (pen) g.lineTo(middle, y.at(value)); else g.moveTo(middle, y.at(value));
        pen = true;
      }
      filled += Math.abs(y.at(high) - y.at(bottom));
      // a gap at the end of the column ends the line
      if (!drawable(y, last)) pen = false;
    }
    i = j;
  }
  return filled;
}

/* The end of the rows in each pixel column that has any, and the column's middle. */
function* pixelColumns(xs, axis, box, from, to) {
  let i = from;
  for (let p = Math.floor(box.x0); p <= box.x1 && i < to; p++) {
    const end = axis.inverse(p + 1);
    const edge = axis.log ? 10 ** end : end;
    let [a, b] = [i, to];
    while (a < b) {
      const m = (a + b) >> 1;
      if (xs[m] < edge) a = m + 1; else b = m;
    }
    if (a > i) yield [a, p + 0.5];
    i = a;
  }
}

/* Shapes of markers, one after another in the legend: they tell curves apart where colours do not. */
const MARKS = [
  (g, x, y) => { g.arc(x, y, 2.5, 0, 7); g.fill(); },
  (g, x, y) => { g.arc(x, y, 3.8, 0, 7); g.stroke(); },
  (g, x, y) => { g.rect(x - 2.4, y - 2.4, 4.8, 4.8); g.fill(); },
  (g, x, y) => { g.rect(x - 3.6, y - 3.6, 7.2, 7.2); g.stroke(); },
];
function drawMark(g, mark, x, y) {
  g.beginPath();
  MARKS[mark % MARKS.length](g, x, y);
}

function drawMarkers(g, curve, x, y, box, from, to) {
  const [xs, ys] = [curve.X.v, curve.Y.v];
  // a cloud has one dot per point, small where there are many
  const many = to - from > 400;
  const size = to - from > 20000 ? 1 : 1.6;
  g.fillStyle = g.strokeStyle = colour(curve.tint);
  g.lineWidth = 1.3;
  for (let i = from; i < to; i++) {
    if (!drawable(x, xs[i]) || !drawable(y, ys[i])) continue;
    const [px, py] = [x.at(xs[i]), y.at(ys[i])];
    if (px < box.x0 - 4 || px > box.x1 + 4 || py < box.y0 - 4 || py > box.y1 + 4) continue;
    if (many) g.fillRect(px - size / 2, py - size / 2, size, size);
    else drawMark(g, curve.mark, px, py);
  }
}

function drawStems(g, curve, x, y, box, from, to) {
  const [xs, ys] = [curve.X.v, curve.Y.v];
  const foot = y.log ? box.y1 : Math.max(box.y0, Math.min(box.y1, y.at(0)));
  g.setLineDash([]);
  g.lineWidth = 1;
  g.globalAlpha = 0.35;
  strokes(g, () => {
    for (let i = from; i < to; i++) {
      if (!drawable(y, ys[i])) continue;
      g.moveTo(x.at(xs[i]), foot);
      g.lineTo(x.at(xs[i]), y.at(ys[i]));
    }
  });
  g.globalAlpha = 1;
  g.lineWidth = 1.3;
  for (let i = from; i < to; i++) {
    if (drawable(y, ys[i])) drawMark(g, curve.mark, x.at(xs[i]), y.at(ys[i]));
  }
}
