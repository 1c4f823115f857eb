/* Phase portraits: any column over any other; the time window strong, the rest pale. */

class Portrait {
  constructor(box, signals, {x, y, bound}) {
    Object.assign(this, {signals, x: signals[x], y: signals[y], bound, bounded: [signals[x], signals[y]]});
    const pick = (which) => {
      const list = el('select', {'aria-label': which === 'x' ? 'abscissa' : 'ordinate'});
      signals.forEach((signal, i) => list.append(el('option', {value: i}, signal.name)));
      list.value = String(signals.indexOf(this[which]));
      list.onchange = () => {
        this[which] = signals[list.value];
        need(BASE | OVER);
      };
      return list;
    };
    this.title = el('h2', {class: 'printonly'});
    this.plot = el('div', {class: 'plot tall', role: 'img', 'aria-label': 'phase portrait',
      title: 'phase portrait; the strong part is the time window'});
    [this.base, this.top] = [el('canvas'), el('canvas')];
    this.plot.append(this.base, this.top);
    this.foot = el('p', {class: 'pf'});
    this.figure = el('figure', {class: 'card chart portrait'}, el('figcaption', {class: 'cap'}, this.title, pick('y'),
      el('span', {class: 'm scr'}, 'over'), pick('x')), this.plot, this.foot);
    box.append(this.figure);
  }

  axis(signal) {
    const [low, high] = signal.Y.range(0, signal.Y.v.length);
    const axis = new Axis(signal.unit === '1' ? '' : signal.unit, false);
    axis.largest = low <= high ? Math.max(Math.abs(low), Math.abs(high)) : 0;
    axis.settle(low, high);
    return axis;
  }

  /* Whether the signals are still those that the bound is of. */
  isBound() {
    return this.x === this.bounded[0] && this.y === this.bounded[1];
  }

  /* Lengths are the same along both axes, and all of the bound is seen. */
  oneScale(box) {
    const [w, h] = [box.x1 - box.x0, box.y1 - box.y0];
    const reach = Math.max(1, this.X.largest, this.Y.largest) * 1.08 / Math.min(w, h);
    this.X.set(-reach * w, reach * w);
    this.Y.set(-reach * h, reach * h);
  }

  outline(g, bound) {
    const [left, right, top, bottom] = [this.X.at(-1), this.X.at(1), this.Y.at(1), this.Y.at(-1)];
    [g.strokeStyle, g.lineWidth] = [paint.ink, 1.2];
    g.beginPath();
    if (bound === 'square') g.rect(left, top, right - left, bottom - top);
    else g.ellipse((left + right) / 2, (top + bottom) / 2, (right - left) / 2, (bottom - top) / 2, 0, 0, 7);
    g.stroke();
  }

  draw() {
    const [w, h] = [this.plot.clientWidth || 300, this.plot.clientHeight || 212];
    const g = fit(this.base, w, h);
    [this.X, this.Y, this.size] = [this.axis(this.x), this.axis(this.y), {w, h}];
    const box = this.frame = {x0: 0, x1: w - 12, y0: 12, y1: h - 20};
    const bound = this.isBound() && this.bound;
    if (bound) this.oneScale(box);
    this.Y.place(box.y1, box.y0);
    box.x0 = ordinateWidth(g, this.Y, box);
    if (bound) this.oneScale(box);
    this.X.place(box.x0, box.x1);
    drawAbscissa(g, this.X, box, '');
    drawOrdinate(g, this.Y, box, box.x0, {right: false, grid: true});
    g.strokeStyle = paint.rule;
    g.strokeRect(box.x0 + 0.5, box.y0 + 0.5, box.x1 - box.x0, box.y1 - box.y0);
    g.save();
    g.beginPath();
    g.rect(box.x0, box.y0, box.x1 - box.x0, box.y1 - box.y0);
    g.clip();
    if (bound) this.outline(g, bound);
    const n = this.x.X.v.length;
    const [from, to] = this.x.rows(time.span.x0, time.span.x1);
    if (to - from < n) this.path(g, 0, n, paint.faint, 1, 0.45);
    this.path(g, from, to, paint.c0, 1.4, 1);
    g.restore();
    this.title.textContent = `${this.y.name} over ${this.x.name}`;
    this.figure.dataset.drawn = 'true';
  }

  /* Rows closer than half a pixel are one; jumps are dotted. */
  path(g, from, to, tint, width, alpha) {
    const [t, xs, ys] = [this.x.X.v, this.x.Y.v, this.y.Y.v];
    const jumps = [];
    let pen = false, last = [NaN, NaN];
    [g.strokeStyle, g.lineWidth, g.globalAlpha] = [tint, width, alpha];
    g.beginPath();
    for (let i = from; i < to; i++) {
      if (!(Number.isFinite(xs[i]) && Number.isFinite(ys[i]))) {
        pen = false;
        continue;
      }
      const at = [this.X.at(xs[i]), this.Y.at(ys[i])];
      if (!pen) g.moveTo(...at);
      else if (isJump(t, i) && (xs[i] !== xs[i - 1] || ys[i] !== ys[i - 1])) {
        jumps.push([this.X.at(xs[i - 1]), this.Y.at(ys[i - 1]), ...at]);
        g.lineTo(...jumps[jumps.length - 1].slice(0, 2));
        g.moveTo(...at);
      } else if (i < to - 1 && Math.abs(at[0] - last[0]) + Math.abs(at[1] - last[1]) < 0.5) continue;
      else g.lineTo(...at);
      [pen, last] = [true, at];
    }
    g.stroke();
    g.setLineDash([2, 2]);
    g.lineWidth = 1;
    strokes(g, () => jumps.forEach(([a, b, c, d]) => { g.moveTo(a, b); g.lineTo(c, d); }));
    g.setLineDash([]);
    g.globalAlpha = 1;
  }

  /* The point of the time; at an impact that before, too. */
  over() {
    if (!this.frame) return;
    const g = fit(this.top, this.size.w, this.size.h);
    const t = time.span.reading;
    const [xs, ys] = [this.x.at(t), this.y.at(t)];
    if (!xs.length || !ys.length) return;
    const dot = (x, y, filled) => {
      g.fillStyle = filled ? paint.ink : paint.panel;
      g.strokeStyle = paint.ink;
      g.lineWidth = 1.4;
      g.beginPath();
      g.arc(this.X.at(x), this.Y.at(y), 4, 0, 7);
      g.fill();
      g.stroke();
    };
    if (xs.length + ys.length > 2) dot(xs[0], ys[0], false);
    dot(xs[xs.length - 1], ys[ys.length - 1], true);
    const text = (values, axis) => [...new Set(values.map((x) => num(x / axis.factor, 4)))].join(' \u2192 ');
    this.foot.textContent = `${this.x.name} ${text(xs, this.X)} ${this.X.shown} \u00b7 ` +
      `${this.y.name} ${text(ys, this.Y)} ${this.Y.shown}`;
  }
}
