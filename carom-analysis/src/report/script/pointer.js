/* Mouse, pen, fingers and wheel in a chart.
   Click: time. Drag: zoom (flat: abscissa only, else a box); with shift: pan; of the cursor: time.
   Wheel: zoom, after a click or with Ctrl, so that the page still scrolls; with shift: values.
   Fingers: drag = time, pinch = zoom. Double-click: everything. */

const FLAT = 16, STILL = 4, GRAB = 5;

function listen(chart) {
  const {plot} = chart;
  const touches = new Map();
  let start = null, pinch = null;
  const place = (event) => {
    const {left, top} = plot.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  };

  plot.addEventListener('pointerdown', (event) => {
    if (!chart.frame || event.button > 1) return;
    const [x, y] = place(event);
    touches.set(event.pointerId, x);
    if (touches.size === 2) {
      [pinch, start, chart.drag] = [[...touches.values()], null, null];
      return;
    }
    capture(plot, event);
    start = grab(chart, event, x, y);
  });

  plot.addEventListener('pointermove', (event) => {
    if (!chart.frame) return;
    const [x, y] = place(event);
    if (pinch && touches.has(event.pointerId)) {
      touches.set(event.pointerId, x);
      pinch = squeeze(chart, pinch, [...touches.values()]);
    } else if (!start) point(chart, event, x, y);
    else move(chart, start, x, y);
  });

  const end = (event) => {
    touches.delete(event.pointerId);
    if (pinch) {
      if (touches.size < 2) pinch = null;
    } else if (start) release(chart, start, place(event)[0]);
    start = null;
  };
  plot.addEventListener('pointerup', end);
  plot.addEventListener('pointercancel', end);
  plot.addEventListener('pointerleave', () => {
    chart.nearest = null;
    if (!start) chart.span.point(null);
  });
  plot.addEventListener('dblclick', () => chart.span.zoom());
  plot.addEventListener('wheel', (event) => turn(chart, event, ...place(event)), {passive: false});
}

/* Moves outside of the element still count; made-up events of tests have no pointer to capture. */
function capture(element, event) {
  try { element.setPointerCapture(event.pointerId); } catch { /* not a real pointer */ }
}

function grab(chart, event, x, y) {
  const {span} = chart;
  const onCursor = span.isTime && Math.abs(x - chart.xAxis.at(time.t)) < GRAB;
  const moves = span.isTime && (event.pointerType === 'touch' || onCursor);
  return {x, y, moves, pans: event.shiftKey || event.button === 1, x0: span.x0, x1: span.x1, moved: false};
}

/* Where the pointer is: the read-out follows. */
function point(chart, event, x, y) {
  const {frame: box, span} = chart;
  const inside = x >= box.x0 && x <= box.x1 && event.pointerType !== 'touch';
  chart.nearest = inside ? nearestPoint(chart, x, y) : null;
  span.point(inside ? chart.xAxis.inverse(x) : null);
}

/* The point of a cloud or path below the pointer. */
function nearestPoint(chart, x, y) {
  let best = null, least = 12 ** 2;
  for (const axis of chart.axes) {
    for (const curve of axis.curves) {
      if (curve.sorted && curve.style !== 'markers') continue;
      const [xs, ys] = [curve.X.v, curve.Y.v];
      for (let row = 0; row < xs.length; row++) {
        const distance = (chart.xAxis.at(xs[row]) - x) ** 2 + (axis.at(ys[row]) - y) ** 2;
        if (distance < least) [best, least] = [{curve, row}, distance];
      }
    }
  }
  return best;
}

function move(chart, start, x, y) {
  const {frame: box, span, xAxis} = chart;
  if (Math.hypot(x - start.x, y - start.y) > STILL) start.moved = true;
  if (!start.moved) return;
  if (start.moves) {
    span.hover = null;
    time.goto(xAxis.inverse(x));
  } else if (start.pans) {
    const shift = (start.x - x) / (box.x1 - box.x0) * (start.x1 - start.x0);
    span.zoom(start.x0 + shift, start.x1 + shift);
  } else {
    const clamp = (value, low, high) => Math.max(low, Math.min(high, value));
    chart.drag = {x0: start.x, y0: start.y, x1: clamp(x, box.x0, box.x1), y1: clamp(y, box.y0, box.y1),
      flat: Math.abs(y - start.y) < FLAT};
    span.point(null);
  }
}

function release(chart, start, x) {
  const {frame: box, xAxis, span, drag} = chart;
  chart.drag = null;
  if (!start.moved) {
    if (span.isTime) time.goto(xAxis.inverse(Math.max(box.x0, Math.min(box.x1, x))));
  } else if (drag && Math.abs(drag.x1 - drag.x0) > 6) {
    if (!drag.flat && chart.axes[0]) {
      chart.box = [Math.max(drag.y0, drag.y1), Math.min(drag.y0, drag.y1)].map((y) => chart.axes[0].inverse(y));
    }
    span.zoom(xAxis.inverse(Math.min(drag.x0, drag.x1)), xAxis.inverse(Math.max(drag.x0, drag.x1)));
  } else need(OVER);
}

function squeeze(chart, before, after) {
  const factor = Math.abs(before[0] - before[1]) / Math.max(8, Math.abs(after[0] - after[1]));
  chart.span.zoomAt(chart.xAxis.inverse((after[0] + after[1]) / 2), factor);
  return after;
}

function turn(chart, event, x, y) {
  if (!chart.frame || !(event.ctrlKey || event.metaKey || document.activeElement === chart.plot)) return;
  event.preventDefault();
  const factor = Math.exp((event.deltaY || event.deltaX) * 0.0015);
  const [axis] = chart.axes;
  if (event.shiftKey && axis) {
    const centre = axis.inverse(y);
    chart.box = [centre + (axis.lo - centre) * factor, centre + (axis.hi - centre) * factor];
    need(BASE | OVER);
  } else chart.span.zoomAt(chart.xAxis.inverse(x), factor);
}
