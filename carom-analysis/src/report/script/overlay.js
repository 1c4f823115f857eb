/* What lies over the curves and follows time and pointer. */

/* The cursor, the pointer, the box that is being drawn. */
function drawOver(chart) {
  if (!chart.frame) return;
  const {frame: box, span, xAxis} = chart;
  const g = fit(chart.top, chart.size.w, chart.size.h);
  const inside = (x) => x >= box.x0 - 1 && x <= box.x1 + 1;
  if (span.isTime && inside(xAxis.at(time.t))) cursor(g, xAxis.at(time.t), box);
  if (span.hover !== null) {
    const x = xAxis.pixel(span.hover);
    g.strokeStyle = paint.muted;
    g.setLineDash([3, 3]);
    if (inside(x)) strokes(g, () => { g.moveTo(x, box.y0); g.lineTo(x, box.y1); });
    g.setLineDash([]);
  }
  drawPoints(g, chart, box);
  if (chart.drag) dragged(g, chart.drag, box);
}

/* Small circles where the read-out is taken. */
function drawPoints(g, chart, box) {
  const x = chart.span.reading;
  const circle = (curve, px, py) => {
    if (px < box.x0 - 1 || px > box.x1 + 1 || py < box.y0 || py > box.y1) return;
    g.fillStyle = paint.panel;
    g.strokeStyle = colour(curve.tint);
    g.lineWidth = 1.5;
    g.beginPath();
    g.arc(px, py, 2.8, 0, 7);
    g.fill();
    g.stroke();
  };
  for (const axis of chart.axes) {
    for (const curve of axis.curves) {
      if (chart.nearest && chart.nearest.curve === curve) {
        const {row} = chart.nearest;
        circle(curve, chart.xAxis.at(curve.X.v[row]), axis.at(curve.Y.v[row]));
      } else if (x !== null && curve.joined && curve.sorted) {
        const at = chart.xAxis.log ? 10 ** x : x;
        const y = curve.at(at).pop();
        if (y !== undefined && drawable(axis, y)) circle(curve, chart.xAxis.at(at), axis.at(y));
      }
    }
  }
}

/* A line with a handle. */
function cursor(g, x, box) {
  g.strokeStyle = g.fillStyle = paint.ink;
  g.lineWidth = 1.25;
  strokes(g, () => { g.moveTo(x, box.y0 - 4); g.lineTo(x, box.y1); });
  g.beginPath();
  g.moveTo(x - 4, box.y0 - 9);
  g.lineTo(x + 4, box.y0 - 9);
  g.lineTo(x, box.y0 - 3);
  g.fill();
}

function dragged(g, {x0, x1, y0, y1, flat}, box) {
  const [top, bottom] = flat ? [box.y0, box.y1] : [Math.min(y0, y1), Math.max(y0, y1)];
  g.fillStyle = paint.box;
  g.strokeStyle = paint.accent;
  g.lineWidth = 1;
  g.fillRect(Math.min(x0, x1), top, Math.abs(x1 - x0), bottom - top);
  g.strokeRect(Math.min(x0, x1) + 0.5, top + 0.5, Math.abs(x1 - x0), bottom - top);
}
