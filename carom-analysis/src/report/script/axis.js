/* Axes: where ticks are, what they say, and the grid. A scale maps values to pixels. */

/* Round numbers from a to b, about n of them, with the decimals they need. */
function ticks(a, b, n) {
  const raw = (b - a) / Math.max(1, n);
  const power = 10 ** Math.floor(Math.log10(raw));
  const lead = raw / power;
  const step = (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10) * power;
  const decimals = Math.max(0, Math.min(15, -Math.floor(Math.log10(step) + 1e-9)));
  const found = [];
  for (let i = Math.ceil(a / step - 1e-9); i * step <= b + step * 1e-9 && found.length < 200; i++) {
    const value = i * step;
    const large = Math.abs(value) >= 1e6 || step < 1e-6;
    found.push({value, text: large ? num(value, 6) : fixed(value, decimals)});
  }
  return found;
}

/* Powers of ten between two logarithms; with little in between also 2 and 5 times them. */
function logTicks(a, b, n) {
  const found = [];
  const every = Math.max(1, Math.ceil((b - a) / Math.max(1, n)));
  for (let e = Math.ceil(a - 1e-9); e <= b + 1e-9; e++) {
    if (((e % every) + every) % every === 0) found.push({value: e, power: e});
  }
  if (found.length < 2) {
    found.length = 0;
    for (let e = Math.floor(a); e <= b; e++) {
      for (const lead of [1, 2, 5]) {
        const value = e + Math.log10(lead);
        if (value >= a && value <= b) found.push({value, text: num(10 ** value, 2)});
      }
    }
  }
  // less than a factor of two or so
  if (found.length < 2) return ticks(10 ** a, 10 ** b, n).map(({value, text}) => ({value: Math.log10(value), text}));
  return found;
}

/* The largest round number not above x, for scale bars. */
function nice(x) {
  const power = 10 ** Math.floor(Math.log10(x));
  const lead = x / power;
  return (lead < 2 ? 1 : lead < 5 ? 2 : 5) * power;
}

/* The largest coordinate and velocity of a run by their units: what is far below is rounding. */
const sizes = new Map();

function noteSize({unit, Y}) {
  const [low, high] = Y.range(0, Y.v.length);
  if (low <= high) sizes.set(unit, Math.max(sizes.get(unit) ?? 0, Math.abs(low), Math.abs(high)));
}

/* An axis in the place that the chart gives it; lo and hi are logarithms where it is logarithmic. */
class Axis {
  constructor(unit, log) {
    Object.assign(this, {unit, log, lo: 0, hi: 1, largest: 0, factor: 1, shown: unit, curves: []});
  }

  /* Takes in what is drawn and leaves a margin. */
  settle(low, high) {
    if (!(low <= high)) [low, high] = this.log ? [1, 10] : [0, 1];
    [this.factor, this.shown] = this.log ? [1, this.unit] : scaleFor(this.unit, this.largest);
    if (this.log) {
      const [a, b] = [Math.log10(low), Math.log10(high)];
      const room = Math.max(0.1, 0.06 * (b - a));
      return this.set(a - room, b + room);
    }
    // rounding noise of a large constant is no motion
    const least = Math.max(1e-13 * (sizes.get(this.unit) ?? 0), this.largest * 1e-9) || 1;
    if (high - low < least) [low, high] = [(low + high - least) / 2, (low + high + least) / 2];
    this.set(low - 0.07 * (high - low), high + 0.09 * (high - low));
  }

  set(lo, hi) {
    [this.lo, this.hi] = [lo, hi];
  }

  /* Where the chart puts it: pixels of lo and of hi. */
  place(from, to) {
    [this.from, this.to] = [from, to];
  }

  /* Pixel of a value; values that a logarithm has not lie far below. */
  at(value) {
    const pixel = this.pixel(this.log ? (value > 0 ? Math.log10(value) : -1e3) : value);
    return Math.max(-2e4, Math.min(2e4, pixel));
  }

  /* Pixel of a place on the axis: a value, or its logarithm. */
  pixel(place) {
    return this.from + (place - this.lo) / (this.hi - this.lo) * (this.to - this.from);
  }

  /* The value of a pixel, or its logarithm. */
  inverse(pixel) {
    return this.lo + (pixel - this.from) / (this.to - this.from) * (this.hi - this.lo);
  }

  ticks(n) {
    if (this.log) return logTicks(this.lo, this.hi, n);
    const found = ticks(this.lo / this.factor, this.hi / this.factor, n);
    for (const tick of found) tick.value *= this.factor;
    return found;
  }

  tickAt(tick) {
    return this.pixel(tick.value);
  }
}

const small = `8.5px ${FONT}`, plain = `10.5px ${FONT}`, strong = `600 10.5px ${FONT}`;

/* Text of a tick, or a power of ten with its exponent raised; `side` is left, right or center. */
function tickText(g, tick, x, y, side) {
  g.textAlign = 'left';
  const exponent = tick.power === undefined ? '' : minus(String(tick.power));
  const text = tick.power === undefined ? tick.text : '10';
  g.font = plain;
  const width = g.measureText(text).width;
  g.font = small;
  const all = width + (exponent ? g.measureText(exponent).width + 1 : 0);
  const start = side === 'right' ? x - all : side === 'center' ? x - all / 2 : x;
  if (exponent) g.fillText(exponent, start + width + 1, y - 4);
  g.font = plain;
  g.fillText(text, start, y + (exponent ? 1 : 0));
  return [start, start + all];
}

/* Grid lines and numbers of the abscissa, with its name and unit at the right end. */
function drawAbscissa(g, axis, box, name) {
  const found = axis.ticks((box.x1 - box.x0) / 80);
  g.strokeStyle = paint.grid;
  g.lineWidth = 1;
  strokes(g, () => found.forEach((tick) => {
    const x = Math.round(axis.tickAt(tick)) + 0.5;
    g.moveTo(x, box.y0);
    g.lineTo(x, box.y1);
  }));
  g.fillStyle = paint.muted;
  g.textBaseline = 'middle';
  g.font = plain;
  const title = [name, axis.shown && (name ? `[${axis.shown}]` : axis.shown)].filter(Boolean).join(' ');
  const room = Math.min(g.measureText(title).width, (box.x1 - box.x0) * 0.6);
  g.textAlign = 'right';
  g.fillText(title, box.x1, box.y1 + 11, (box.x1 - box.x0) * 0.6);
  let taken = -Infinity;
  for (const tick of found) {
    g.font = plain;
    const half = g.measureText(tick.text ?? '10\u2212\u2212').width / 2;
    const x = axis.tickAt(tick);
    if (x + half > box.x1 - room - 6 || x - half < 0 || x - half < taken + 4) continue;
    [, taken] = tickText(g, tick, x, box.y1 + 11, 'center');
  }
}

/* Numbers of an ordinate at pixel x; the first axis has the grid. One of an image has a name. */
function drawOrdinate(g, axis, box, x, {right, grid, tint, name}) {
  const found = axis.ticks((box.y1 - box.y0) / 26);
  if (grid) {
    g.lineWidth = 1;
    g.strokeStyle = paint.grid;
    strokes(g, () => found.forEach((tick) => {
      const y = Math.round(axis.tickAt(tick)) + 0.5;
      g.moveTo(box.x0, y);
      g.lineTo(box.x1, y);
    }));
    if (!axis.log && axis.lo < 0 && axis.hi > 0) {
      g.strokeStyle = paint.faint;
      g.globalAlpha = 0.6;
      strokes(g, () => {
        const y = Math.round(axis.at(0)) + 0.5;
        g.moveTo(box.x0, y);
        g.lineTo(box.x1, y);
      });
      g.globalAlpha = 1;
    }
  }
  g.fillStyle = tint || paint.muted;
  g.textBaseline = 'middle';
  for (const tick of found) {
    const y = axis.tickAt(tick);
    if (y < box.y0 + 9 || y > box.y1 - 2) continue;
    tickText(g, tick, right ? x + 5 : x - 5, y, right ? 'left' : 'right');
  }
  g.font = strong;
  g.textAlign = right ? 'left' : 'right';
  g.textBaseline = 'alphabetic';
  if (name) {
    g.textAlign = 'left';
    g.fillText(axis.shown ? `${name} [${axis.shown}]` : name, 4, box.y0 - 1, box.x1);
    return;
  }
  // beside the handle of a cursor at the edge
  g.fillText(axis.shown, right ? x + 6 : x - 7, box.y0 - 1);
}

/* Room that the numbers of an ordinate need. */
function ordinateWidth(g, axis, box) {
  g.font = plain;
  const widths = axis.ticks((box.y1 - box.y0) / 26).map((tick) => g.measureText(tick.text ?? '10\u221210').width);
  g.font = strong;
  return Math.max(22, ...widths, g.measureText(axis.shown).width) + 11;
}
