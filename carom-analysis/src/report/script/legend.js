/* The legend is the read-out: names, values at the pointer or the cursor, and which curves are shown. */

/* Curves that are shown until the reader asks for more. */
const SHOWN = 8;

/* A piece of the curve as it is drawn. */
function swatch(curve) {
  const canvas = el('canvas', {class: 'swatch', 'aria-hidden': 'true'});
  const g = fit(canvas, 18, 8);
  strokeStyle(g, curve, 2.2);
  if (curve.joined) strokes(g, () => { g.moveTo(0, 4); g.lineTo(18, 4); });
  g.setLineDash([]);
  g.lineWidth = 1.3;
  if (curve.markers || curve.style === 'stems') drawMark(g, curve.mark, 9, 4);
  return canvas;
}

class Legend {
  constructor(chart) {
    this.chart = chart;
    this.box = el('div', {class: 'lg'});
    this.fold = el('div', {class: 'fold'});
  }

  /* Made anew when curves come and go, or colours change. */
  build() {
    const {curves} = this.chart;
    this.box.textContent = this.fold.textContent = '';
    this.heads = [];
    this.values = new Map();
    const listed = curves.filter((curve, i) => curve.on || (i < SHOWN && !this.chart.choice));
    for (const unit of new Set(listed.map((curve) => curve.unit))) {
      const head = el('div', {class: 'lh'}, el('span'), el('span'));
      this.heads.push([unit, head]);
      this.box.append(head, ...listed.filter((curve) => curve.unit === unit).map((curve) => this.entry(curve)));
    }
    const rest = curves.length - listed.length;
    if (rest > 0 || this.chart.choice) this.box.append(this.more(rest));
    for (const [colour, name] of this.chart.spec.image?.swatches ?? []) {
      const tile = el('i', {class: 'tile'});
      tile.style.background = colour;
      this.box.append(el('span', {class: 'entry'}, tile, el('span', {class: 'nm', title: name}, name)));
    }
  }

  entry(curve) {
    const value = el('span', {class: 'v'});
    this.values.set(curve, value);
    const toggle = () => this.chart.show(curve, !curve.on);
    const same = curve.same ? `: coincides with ${curve.same}, drawn dashed over it` : '';
    return el('button', {class: curve.on ? 'entry' : 'entry off', type: 'button', onclick: toggle,
      title: `${curve.name}${same}. Click: hide or show`},
    swatch(curve), el('span', {class: 'nm'}, curve.name || this.chart.spec.y_label), value);
  }

  more(count) {
    const text = this.chart.choice ? 'choose columns\u2026' : `${count} more\u2026`;
    for (const curve of this.chart.curves) {
      const box = el('input', {type: 'checkbox', onchange: () => this.chart.show(curve, box.checked)});
      box.checked = curve.on;
      this.fold.append(el('label', {}, box, el('span', {class: 'nm'}, curve.name),
        el('span', {class: 'm'}, curve.unit)));
    }
    return el('button', {class: 'more', type: 'button', onclick: () => this.fold.classList.toggle('open')}, text);
  }

  /* Tells values at the pointer, or else at the cursor of time. */
  read() {
    const {span, axes} = this.chart;
    const x = span.reading;
    const where = x === null ? '' : this.where(x);
    this.heads.forEach(([unit, head], i) => {
      const axis = axes.find((axis) => axis.unit === unit);
      head.children[0].textContent = i ? '' : where;
      head.children[1].textContent = axis ? axis.shown : unit;
    });
    for (const axis of axes) {
      for (const curve of axis.curves) {
        const text = this.text(curve, axis, x);
        const place = this.values.get(curve);
        if (place && place.textContent !== text) place.textContent = text;
      }
    }
  }

  where(x) {
    const {xAxis: {log, factor, shown}, spec} = this.chart;
    const value = log ? num(10 ** x, 4) : num(x / factor, 6);
    return this.chart.span.isTime ? `at ${value} ${shown}` : `${spec.x_label || 'x'} = ${value} ${shown}`;
  }

  text(curve, axis, x) {
    const {nearest} = this.chart;
    const clean = (y) => num(Math.abs(y) < 1e-12 * axis.largest ? 0 : y / axis.factor, 5);
    if (!curve.sorted || curve.style === 'markers') {
      return nearest && nearest.curve === curve ? clean(curve.Y.v[nearest.row]) : '';
    }
    if (x === null) return '';
    const at = this.chart.xAxis.log ? 10 ** x : x;
    if (curve.style === 'stems') {
      const last = curve.last(at);
      if (!last) return '\u2013';
      return (Math.abs(last[0] - at) <= time.slack ? '' : 'last ') + clean(last[1]);
    }
    const [before, after] = curve.at(at);
    if (before === undefined) return '\u2013';
    const short = (y) => num(Math.abs(y) < 1e-12 * axis.largest ? 0 : y / axis.factor, 4);
    if (after === undefined || short(before) === short(after)) return clean(after ?? before);
    return `${short(before)} \u2192 ${short(after)}`;
  }
}
