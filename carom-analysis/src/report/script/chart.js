/* A chart: one axis per unit, curves, cursor. Two canvases: curves below, what follows the pointer on top. */

/* When the first chart was there, in ms since the page was asked for. */
let firstDrawn = null;

class Chart {
  /* `spec` is a chart of the page's data; `choice` marks the chart whose curves the reader picks. */
  constructor(figure, spec, curves, span, choice = false) {
    Object.assign(this, {figure, spec, curves, span, choice, log: !!spec.log_y, box: null, nearest: null});
    this.xAxis = new Axis(spec.x_unit, !!spec.log_x);
    this.axes = [];
    curves.forEach((curve, i) => {
      curve.tint = curve.colour ?? i;
      curve.pattern = curve.dash !== 'solid' ? curve.dash : ROUNDS[Math.floor(i / COLOURS) % ROUNDS.length];
      curve.mark = i;
      curve.on = choice ? i < 2 : i < SHOWN;
    });
    this.dashEqual();
    this.build();
    this.room();
    span.charts.push(this);
  }

  build() {
    const {spec, figure} = this;
    const title = 'logarithmic axis of values';
    const log = el('button', {class: 'b', type: 'button', title, 'aria-pressed': this.log}, 'log');
    log.onclick = () => {
      this.log = !this.log;
      this.box = null;
      log.setAttribute('aria-pressed', this.log);
      need(BASE | OVER);
    };
    this.plot = el('div', {class: 'plot', tabindex: 0, role: 'img', 'aria-label': `chart: ${spec.title}`});
    this.base = el('canvas');
    this.top = el('canvas');
    this.plot.append(this.base, this.top);
    this.legend = new Legend(this);
    const apart = !spec.image && spec.y_label !== spec.title && curvesNamedApart(this.curves);
    const label = apart && spec.y_label || '';
    figure.append(
      el('figcaption', {class: 'cap'}, el('h2', {title: spec.title}, spec.title), el('span', {class: 'm yl', title: label}, label),
        el('span', {class: 'sp'}), spec.image ? null : log),
      this.plot, this.legend.box, this.legend.fold);
    for (const text of [spec.note, this.thinning()]) if (text) figure.append(el('p', {class: 'note'}, text));
    if (spec.image) {
      figure.classList.add('picture');
      this.picture();
    }
    this.legend.build();
    listen(this);
  }

  /* What a thinned chart owes to its reader. */
  thinning() {
    const block = Math.max(1, ...this.curves.map((curve) => curve.block));
    if (block === 1) return '';
    const file = this.spec.file ? `; all rows are in ${this.spec.file}` : '';
    return `Thinned, extremes kept: of each ${block} rows those with the smallest and largest values${file}.`;
  }

  picture() {
    this.image = new Image();
    this.image.onload = () => need(BASE);
    this.image.src = 'data:image/png;base64,' + this.spec.image.png;
  }

  /* Abscissae that the window of the group must hold. */
  room() {
    const log = (x) => this.xAxis.log ? Math.log10(x) : x;
    if (this.spec.x_range) return this.span.include(...this.spec.x_range.map(log));
    for (const {X} of this.curves) {
      const n = X.v.length;
      const [low, high] = X.range(0, n);
      this.span.include(log(this.xAxis.log ? X.positive(0, n) : low), log(high));
    }
    if (this.curves.some((curve) => curve.markers || !curve.sorted)) this.span.margin = 0.02;
    if (this.spec.image) this.span.include(...this.spec.image.ranges[0]);
  }

  /* A curve that hides an earlier one is dashed over it. */
  dashEqual() {
    const whole = (unit) => {
      const ranges = this.curves.filter((curve) => curve.unit === unit).map(({Y}) => Y.range(0, Y.v.length));
      return Math.max(...ranges.map(([, high]) => high)) - Math.min(...ranges.map(([low]) => low));
    };
    this.curves.forEach((b, j) => {
      const [low, high] = b.Y.range(0, b.Y.v.length);
      // what the eye cannot tell apart on the axis that they share
      const near = 0.015 * whole(b.unit);
      const close = (a) => {
        if (a.unit !== b.unit || a.x !== b.x || a.pattern !== 'solid' || !a.joined) return false;
        const n = b.Y.v.length;
        const [from, to] = a.Y.range(0, n);
        if (!(Math.abs(from - low) <= near && Math.abs(to - high) <= near)) return false;
        const stride = Math.max(1, Math.floor(n / 500));
        for (let i = 0; i < n; i += stride) if (Math.abs(a.Y.v[i] - b.Y.v[i]) > near) return false;
        return true;
      };
      const twin = b.joined && b.pattern === 'solid' && this.curves.slice(0, Math.min(j, 16)).find(close);
      if (twin) [b.pattern, b.same] = ['dash', twin.name];
    });
  }

  show(curve, on) {
    curve.on = on;
    this.box = null;
    if (on && this.choice) this.recolour();
    this.legend.build();
    need(BASE | OVER);
  }

  /* Picked curves have the first colours. */
  recolour() {
    this.curves.filter((curve) => curve.on).forEach((curve, i) => {
      [curve.tint, curve.mark, curve.pattern] = [i, i, ROUNDS[Math.floor(i / COLOURS) % ROUNDS.length]];
    });
  }

  /* First pass of drawing: axes and the room that they need. */
  prepare(g) {
    const [w, h] = [this.plot.clientWidth || 600, this.plot.clientHeight || 160];
    this.size = {w, h};
    const {span, xAxis} = this;
    const top = xAxis.log ? 1 : Math.max(Math.abs(span.lo), Math.abs(span.hi));
    [xAxis.factor, xAxis.shown] = xAxis.log ? [1, xAxis.unit] : scaleFor(xAxis.unit, top);
    xAxis.set(span.x0, span.x1);
    xAxis.isTime = span.isTime;
    this.axes = this.spec.image ? [this.imageAxis()] : this.curveAxes();
    const box = {x0: 0, x1: w, y0: 12, y1: h - 20};
    for (const axis of this.axes) axis.place(box.y1, box.y0);
    this.widths = this.axes.map((axis) => ordinateWidth(g, axis, box));
    return [this.widths[0] ?? 22, this.widths.slice(1).reduce((sum, width) => sum + width, 0)];
  }

  imageAxis() {
    const {ranges: [, [low, high]], y_unit: unit} = this.spec.image;
    const axis = new Axis(unit, false);
    axis.largest = Math.max(Math.abs(low), Math.abs(high));
    [axis.factor, axis.shown] = scaleFor(unit, axis.largest);
    axis.set(...(this.box || [low, high]));
    return axis;
  }

  curveAxes() {
    const axes = [];
    this.hidden = false;
    for (const curve of this.curves.filter((curve) => curve.on)) {
      let axis = axes.find((axis) => axis.unit === curve.unit);
      if (!axis) axes.push(axis = new Axis(curve.unit, this.log));
      axis.curves.push(curve);
    }
    for (const axis of axes) this.fitAxis(axis);
    const range = this.box || (this.spec.y_range && this.spec.y_range.map((y) => this.log ? Math.log10(y) : y));
    if (range && axes.length && range.every(Number.isFinite)) axes[0].set(...range);
    return axes;
  }

  /* Values refit to the window; prefixes follow the whole run, so that units do not change under the eye. */
  fitAxis(axis) {
    const edge = (x) => this.xAxis.log ? 10 ** x : x;
    let [low, high] = [Infinity, -Infinity];
    for (const curve of axis.curves) {
      const [i, j] = curve.rows(edge(this.span.x0), edge(this.span.x1));
      const [a, b] = curve.Y.range(i, j);
      const [all, most] = curve.Y.range(0, curve.Y.v.length);
      if (a <= b) [low, high] = [Math.min(low, this.log ? curve.Y.positive(i, j) : a), Math.max(high, b)];
      if (all <= most) axis.largest = Math.max(axis.largest, Math.abs(all), Math.abs(most));
      if (this.log && a <= 0) this.hidden = true;
      if (!this.log && curve.style === 'stems') low = Math.min(low, 0);
    }
    axis.settle(low, high);
  }

  /* Second pass: draws with the margins that all charts of a column share. */
  draw(left, right) {
    const {w, h} = this.size;
    const box = this.frame = {x0: left, x1: w - Math.max(12, right), y0: 12, y1: h - 20};
    this.xAxis.place(box.x0, box.x1);
    if (this.spec.equal && this.axes.length) this.equalise(box);
    const g = fit(this.base, w, h);
    drawAbscissa(g, this.xAxis, box, this.span.isTime ? '' : this.spec.x_label);
    let x = box.x1;
    this.axes.forEach((axis, i) => {
      const alone = this.axes.length > 1 && axis.curves.length === 1;
      const tint = alone ? colour(axis.curves[0].tint) : null;
      drawOrdinate(g, axis, box, i ? x : box.x0, {right: i > 0, grid: i === 0, tint, name: this.spec.image && this.spec.y_label});
      if (i) x += this.widths[i];
    });
    g.strokeStyle = paint.rule;
    g.lineWidth = 1;
    g.strokeRect(box.x0 + 0.5, box.y0 + 0.5, box.x1 - box.x0, box.y1 - box.y0);
    this.marks(g, box);
    g.save();
    g.beginPath();
    g.rect(box.x0, box.y0 - 1, box.x1 - box.x0, box.y1 - box.y0 + 2);
    g.clip();
    if (this.image && this.image.complete) this.drawImage(g);
    this.drawCurves(g);
    g.restore();
    if (this.hidden) this.warn(g, box, 'log: values \u2264 0 are not drawn');
    this.figure.dataset.drawn = 'true';
    firstDrawn ??= performance.now();
  }

  drawCurves(g) {
    g.lineJoin = 'round';
    for (const axis of this.axes) for (const curve of axis.curves) drawCurve(g, curve, this.xAxis, axis, this.frame);
  }

  /* One unit is as long on both axes: the shorter range is widened. */
  equalise(box) {
    const [x, y] = [this.xAxis, this.axes[0]];
    const perPixel = [(x.hi - x.lo) / (box.x1 - box.x0), (y.hi - y.lo) / (box.y1 - box.y0)];
    const widen = (axis, pixels) => {
      const [middle, half] = [(axis.lo + axis.hi) / 2, Math.max(...perPixel) * pixels / 2];
      axis.set(middle - half, middle + half);
    };
    widen(x, box.x1 - box.x0);
    widen(y, box.y1 - box.y0);
  }

  drawImage(g) {
    const [[a, b], [low, high]] = this.spec.image.ranges;
    const [x, y] = [this.xAxis, this.axes[0]];
    g.imageSmoothingEnabled = false;
    g.drawImage(this.image, x.at(a), y.at(high), x.at(b) - x.at(a), y.at(low) - y.at(high));
  }

  /* Impacts and events are ticks on the upper edge. */
  marks(g, box) {
    if (!this.span.isTime) return;
    const [from, to] = [lower(time.marks, this.span.x0), upper(time.marks, this.span.x1)];
    g.strokeStyle = paint.ink;
    g.globalAlpha = 0.75;
    strokes(g, () => {
      for (let k = from; k < to; k++) {
        const x = Math.round(this.xAxis.at(time.marks[k])) + 0.5;
        g.moveTo(x, box.y0);
        g.lineTo(x, box.y0 + 5);
      }
    });
    g.globalAlpha = 1;
  }

  warn(g, box, text) {
    g.fillStyle = paint.warn;
    g.font = plain;
    g.textAlign = 'right';
    g.textBaseline = 'top';
    g.fillText(text, box.x1 - 6, box.y0 + 8);
  }
}

/* Whether names in the legend say something else than the label of the axis. */
function curvesNamedApart(curves) {
  return curves.length !== 1 || curves[0].name !== '';
}

/* All charts, those of one column with common margins so that the cursor is one straight line. */
function drawCharts(charts, bits) {
  if (bits & BASE) {
    const g = el('canvas').getContext('2d');
    const columns = new Map();
    for (const chart of charts) {
      const [left, right] = chart.prepare(g);
      const column = columns.get(chart.figure.parentNode) ?? [0, 0];
      columns.set(chart.figure.parentNode, [Math.max(column[0], left), Math.max(column[1], right)]);
    }
    for (const chart of charts) guarded(() => chart.draw(...columns.get(chart.figure.parentNode)));
  }
  for (const chart of charts) {
    if (bits & (BASE | OVER)) guarded(() => { drawOver(chart); chart.legend.read(); });
  }
}
