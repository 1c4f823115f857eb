/* What charts share: the window of abscissae of a group, and the time with its cursor. */

/* Drawing is put off to the next frame; bits tell what is out of date. */
const BASE = 1, OVER = 2, MOTION = 4, ALL = 7;
const painters = [];
let stale = 0, waiting = false;
function need(bits) {
  stale |= bits;
  if (!waiting) {
    waiting = true;
    requestAnimationFrame(drawNow);
  }
}
function drawNow() {
  waiting = false;
  const bits = stale;
  stale = 0;
  for (const painter of painters) guarded(() => painter(bits));
}

/* The common window of linked charts. On a logarithmic axis lo, hi, x0 and x1 are logarithms. */
class Span {
  constructor(name) {
    this.name = name;
    [this.lo, this.hi] = [Infinity, -Infinity];
    [this.x0, this.x1] = [0, 1];
    this.hover = null;
    this.charts = [];
    this.isTime = false;
    this.margin = 0;
  }

  /* Makes room for abscissae of a chart. */
  include(low, high) {
    if (!(low <= high)) return;
    [this.lo, this.hi] = [Math.min(this.lo, low), Math.max(this.hi, high)];
  }

  /* After all charts are known: a window that is not empty. */
  settle() {
    if (!(this.lo <= this.hi)) [this.lo, this.hi] = [0, 1];
    if (this.lo === this.hi) {
      const room = Math.abs(this.lo) || 1;
      [this.lo, this.hi] = [this.lo - room / 2, this.hi + room / 2];
    }
    // points at the ends are seen whole
    const room = this.isTime ? 0 : this.margin * (this.hi - this.lo);
    [this.lo, this.hi] = [this.lo - room, this.hi + room];
    [this.x0, this.x1] = [this.lo, this.hi];
  }

  get whole() {
    return this.x1 - this.x0 >= (this.hi - this.lo) * 0.9999;
  }

  /* Shows a to b, or everything; never less than a ten-millionth. */
  zoom(a, b) {
    if (a == null) {
      [a, b] = [this.lo, this.hi];
      for (const chart of this.charts) chart.box = null;
    }
    const least = (this.hi - this.lo) * 1e-7;
    if (b - a < least) [a, b] = [(a + b - least) / 2, (a + b + least) / 2];
    const width = Math.min(b - a, this.hi - this.lo);
    this.x0 = Math.max(this.lo, Math.min(a, this.hi - width));
    this.x1 = this.x0 + width;
    need(BASE | OVER);
  }

  zoomAt(x, factor) {
    const width = (this.x1 - this.x0) * factor;
    const start = x - (x - this.x0) / (this.x1 - this.x0) * width;
    this.zoom(start, start + width);
  }

  point(x) {
    this.hover = x;
    need(OVER);
  }

  /* What read-outs tell of: the pointer, else the cursor of time. */
  get reading() {
    return this.hover ?? (this.isTime ? time.t : null);
  }
}

/* The time of the run: one cursor for charts, motion and lists. */
const time = {
  t: 0,
  span: new Span('time'),
  marks: [],
  playing: false,
  speed: 1,

  scale() {
    return scaleFor('s', Math.max(Math.abs(this.span.lo), Math.abs(this.span.hi)));
  },

  /* Moves the cursor; `show` moves the window as well. */
  goto(t, show) {
    const {span} = this;
    // near a mark: at it, so that all tell the same
    this.t = this.marks[this.markAt(t)] ?? Math.max(span.lo, Math.min(span.hi, t));
    if (show && (this.t < span.x0 || this.t > span.x1)) {
      const width = span.x1 - span.x0;
      span.zoom(this.t - width / 2, this.t + width / 2);
    }
    need(OVER | MOTION);
  },

  get slack() {
    return 1e-9 * (this.span.hi - this.span.lo);
  },

  /* The mark at the cursor, or -1. */
  markAt(t) {
    const k = lower(this.marks, t - this.slack);
    return k < this.marks.length && Math.abs(this.marks[k] - t) <= this.slack ? k : -1;
  },

  stepMark(direction) {
    const k = direction > 0 ? upper(this.marks, this.t + this.slack) : lower(this.marks, this.t - this.slack) - 1;
    if (k >= 0 && k < this.marks.length) this.goto(this.marks[k], true);
  },

  play(on = !this.playing) {
    this.playing = on;
    if (on && this.t >= this.span.hi) this.goto(this.span.lo, true);
    let last = null;
    const tick = (now) => {
      if (!this.playing) return;
      if (last !== null) {
        this.goto(this.t + (now - last) / 1000 * this.speed, true);
        if (this.t >= this.span.hi) return this.play(false);
      }
      last = now;
      requestAnimationFrame(tick);
    };
    if (on) requestAnimationFrame(tick);
    need(OVER);
  },
};
