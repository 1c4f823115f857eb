/* The motion: shapes at the time of the cursor, trails, impulses, loupes where contacts have a place. */

/* Arrows of impulses fade over this time of watching [s]; trails show this part of the run. */
const FADE = 0.35, TRAIL = 1 / 8;
/* Magnification and most of the loupes; the words beside one; the scale bar below the drawing. */
const LOUPE = 20, LOUPES = 6, WORDS = 84, BAR = 26;

/* Frame before t, and how far t is to the next. */
function frameAt(times, t) {
  const n = times.length;
  const i = Math.max(0, Math.min(n - 1, upper(times, t) - 1));
  const width = i + 1 < n ? times[i + 1] - times[i] : 0;
  return [i, width > 0 ? Math.min(1, Math.max(0, (t - times[i]) / width)) : 0];
}

/* The colour of a shape: that of words, of walls, of the palette, or one of its own. */
function inkOf(given) {
  if (given === 'ink') return paint.ink;
  if (given === 'muted') return paint.wall;
  return typeof given === 'number' ? colour(given) : given;
}

class Motion {
  constructor(figure, data, columns, lanes, signals) {
    Object.assign(this, {figure, data, lanes, signals, view: null, times: columns[data.times].v});
    this.options = {trails: true, forces: true, loupes: true};
    for (const shape of data.shapes) {
      if (shape.moving) shape.columns = shape.moving.map((column) => columns[column].v);
    }
    this.places = data.places.map(([contact, list]) => ({contact, columns: list.map((column) => columns[column].v)}));
    this.most = Math.max(...lanes.map((lane) => lane.P.range(0, lane.P.v.length)[1]), 0);
    this.strongest = Math.max(...lanes.map((lane) => strongest(lane, signals[lane.acts])), 0);
    findSolid(data);
    this.build();
  }

  build() {
    const caption = el('figcaption', {class: 'cap'}, el('h2', {}, 'Motion'), el('span', {class: 'sp'}));
    const toggle = (name, title, useful) => {
      if (!useful) return;
      const press = () => {
        this.options[name] = !this.options[name];
        button.setAttribute('aria-pressed', this.options[name]);
        need(MOTION);
      };
      const button = el('button', {class: 'b', type: 'button', title, 'aria-pressed': true, onclick: press}, name);
      caption.append(button);
    };
    toggle('trails', 'paths of marked points', this.data.shapes.some((shape) => shape.trace && shape.columns));
    this.arrowed = this.places.some((place) => this.pushes(place));
    toggle('forces', 'arrows: impulses of impacts; thin: contact forces', this.arrowed);
    toggle('loupes', 'contacts enlarged, true geometry', this.places.length > 0);
    this.plot = el('div', {class: 'plot', id: 'scene', role: 'img', tabindex: 0, 'aria-label': 'motion'});
    this.canvas = el('canvas', {'data-frames': this.times.length});
    this.plot.append(this.canvas);
    this.figure.append(caption, this.plot, this.names());
    this.listen();
  }

  /* Names of shapes, as a legend. */
  names() {
    const box = el('p', {class: 'pf'});
    for (const shape of this.data.shapes.filter((shape) => shape.name)) {
      const tile = el('i', {class: 'tile'});
      shape.tile = tile;
      box.append(el('span', {}, tile, shape.name));
    }
    return box;
  }

  numbers(columns, [i, part]) {
    return columns.map((column) => part > 0 ? column[i] + (column[i + 1] - column[i]) * part : column[i]);
  }

  coordinates(shape, frame) {
    return shape.columns ? this.numbers(shape.columns, frame) : shape.fixed.map((x) => x ?? NaN);
  }

  /* Loupes stand in a column at the right edge: how many, and how large. */
  loupeSize(h) {
    const count = this.options.loupes ? Math.min(LOUPES, this.places.length) : 0;
    return {count, radius: Math.min(44, (h - BAR - 6) / (2 * Math.max(3, count)) - 5)};
  }

  /* Pixels per metre and the middle, so that everything fits beside the loupes. */
  whole(w, h) {
    const {x, y} = this.data.bounds;
    const {count, radius} = this.loupeSize(h);
    const aside = count ? 2 * radius + WORDS + 10 : 0;
    const k = Math.min((w - aside) / (x[1] - x[0]), (h - BAR) / (y[1] - y[0]));
    return {k, x: (x[0] + x[1]) / 2 + aside / 2 / k, y: (y[0] + y[1]) / 2 - BAR / 2 / k};
  }

  draw() {
    if (!this.times.length) {
      this.figure.dataset.drawn = 'true';
      return;
    }
    const [w, h] = [this.plot.clientWidth || 600, this.plot.clientHeight || 300];
    const g = fit(this.canvas, w, h);
    const view = this.view ?? this.whole(w, h);
    const map = {k: view.k, X: (x) => w / 2 + (x - view.x) * view.k, Y: (y) => h / 2 - (y - view.y) * view.k};
    const frame = frameAt(this.times, time.t);
    if (this.options.trails) this.data.shapes.forEach((shape) => this.trail(g, shape, map, frame));
    this.data.shapes.forEach((shape) => this.shape(g, shape, this.coordinates(shape, frame), map));
    if (this.options.forces) this.places.forEach((place) => this.arrows(g, place, frame, map));
    if (this.options.loupes) this.loupes(g, frame, w, h);
    this.scaleBar(g, view.k, w, h);
    this.canvas.dataset.time = String(time.t);
    this.figure.dataset.drawn = 'true';
  }

  shape(g, shape, numbers, {k, X, Y}) {
    if (shape.tile) shape.tile.style.background = inkOf(shape.stroke.colour);
    if (!numbers.every(Number.isFinite)) return;
    g.strokeStyle = inkOf(shape.stroke.colour);
    g.lineWidth = shape.stroke.width;
    g.setLineDash(shape.stroke.dashed ? DASHES.dash : []);
    g.lineCap = g.lineJoin = 'round';
    g.beginPath();
    if (shape.geometry === 'circle') g.arc(X(numbers[0]), Y(numbers[1]), Math.max(0.5, Math.abs(numbers[2]) * k), 0, 7);
    else if (shape.geometry === 'point') g.arc(X(numbers[0]), Y(numbers[1]), 2 * shape.stroke.width, 0, 7);
    else for (let i = 0; i < numbers.length; i += 2) g.lineTo(X(numbers[i]), Y(numbers[i + 1]));
    if (shape.geometry === 'polygon') g.closePath();
    if (shape.fill !== null || shape.geometry === 'point') {
      g.fillStyle = inkOf(shape.fill ?? shape.stroke.colour);
      g.globalAlpha = shape.geometry === 'point' ? 1 : 0.25;
      g.fill();
      g.globalAlpha = 1;
    }
    g.stroke();
    g.setLineDash([]);
    hatch(g, shape, numbers, {k, X, Y});
  }

  /* The path of the first point over the last part of the run, fading. */
  trail(g, shape, {X, Y}, [now]) {
    if (!shape.trace || !shape.columns) return;
    const [xs, ys] = shape.columns;
    const length = TRAIL * (time.span.hi - time.span.lo);
    g.strokeStyle = inkOf(shape.stroke.colour);
    g.lineWidth = 1.3;
    for (let i = now; i > 0 && this.times[i] > time.t - length; i--) {
      g.globalAlpha = 0.75 * Math.max(0, 1 - (time.t - this.times[i]) / length) ** 1.5;
      if (Number.isFinite(xs[i - 1] + ys[i - 1] + xs[i] + ys[i])) {
        strokes(g, () => { g.moveTo(X(xs[i - 1]), Y(ys[i - 1])); g.lineTo(X(xs[i]), Y(ys[i])); });
      }
    }
    g.globalAlpha = 1;
  }

  /* Whether the file tells in which direction the contact pushes. */
  pushes({columns: [, , nx, ny]}) {
    return Math.hypot(nx[0], ny[0]) > 0;
  }

  /* The force of a contact, thin, and its latest impulse, fading while one watches; lengths by their roots. */
  arrows(g, place, frame, map, scale = 1) {
    const lane = this.lanes[place.contact];
    const k = upper(lane.T.v, time.t + time.slack) - 1;
    const age = k < 0 ? 1 : Math.max(0, time.t - lane.T.v[k]) / (FADE * time.speed);
    const force = age > 0 && this.signals[lane.acts]?.at(time.t).pop();
    if (force > 0 && force <= this.strongest) {
      this.arrow(g, place, frame, map, scale * (8 + 40 * Math.sqrt(force / this.strongest)), 1.1);
    }
    if (age >= 1 || !(this.most > 0)) return;
    g.globalAlpha = 1 - age;
    this.arrow(g, place, frame, map, scale * (8 + 46 * Math.sqrt(Math.max(0, lane.P.v[k]) / this.most)), 2.2);
    g.globalAlpha = 1;
  }

  arrow(g, place, frame, {X, Y}, length, width) {
    const [x, y, nx, ny] = this.numbers(place.columns, frame);
    const norm = Math.hypot(nx, ny);
    if (norm > 0) arrowTo(g, X(x), Y(y), nx / norm * length, -ny / norm * length, colour(place.contact), width);
  }

  /* Contacts enlarged: the shapes themselves, clipped to a circle at the right edge. */
  loupes(g, frame, w, h) {
    const {count, radius} = this.loupeSize(h);
    const k = this.whole(w, h).k * LOUPE;
    this.places.slice(0, count).forEach((place, i) => {
      const [x, y] = this.numbers(place.columns, frame);
      // of a gap that is wider than the loupe there is nothing to see in it
      const gap = this.signals[this.lanes[place.contact].gap]?.at(time.t).pop();
      if (!Number.isFinite(x + y) || Math.abs(gap) * k > radius) return;
      const centre = [w - radius - 10, 10 + radius + i * (2 * radius + 10)];
      const map = {k, X: (u) => centre[0] + (u - x) * k, Y: (v) => centre[1] - (v - y) * k};
      g.save();
      g.beginPath();
      g.arc(...centre, radius, 0, 7);
      g.fillStyle = paint.panel;
      g.fill();
      g.clip();
      this.data.shapes.forEach((shape) => this.shape(g, shape, this.coordinates(shape, frame), map));
      if (this.options.forces) this.arrows(g, place, frame, map, 0.6);
      g.restore();
      g.strokeStyle = colour(place.contact);
      g.lineWidth = 1;
      g.beginPath();
      g.arc(...centre, radius, 0, 7);
      g.stroke();
      this.loupeText(g, this.lanes[place.contact], gap, centre[0] - radius - 6, centre[1]);
    });
  }

  loupeText(g, lane, gap, x, y) {
    // rounding noise reads 0
    const noise = 1e-12 * (this.signals[lane.gap]?.Y.range(0, this.signals[lane.gap].Y.v.length)[1] ?? 0);
    g.font = plain;
    g.textAlign = 'right';
    g.textBaseline = 'middle';
    // a halo keeps the words readable over the drawing
    [g.strokeStyle, g.lineWidth] = [paint.panel, 4];
    const write = (text, tint, at) => {
      g.strokeText(text, x, at, WORDS);
      g.fillStyle = tint;
      g.fillText(text, x, at, WORDS);
    };
    write(`${lane.name}, \u00d7${LOUPE}`, paint.muted, y - 7);
    const shown = si(Math.abs(gap) < noise ? 0 : gap, 'm', 3);
    if (gap !== undefined) write(`gap ${shown.join(' ')}`, paint.ink, y + 7);
  }

  /* Below the drawing: a length, and what arrows mean. */
  scaleBar(g, k, w, h) {
    const length = nice(100 / k);
    g.strokeStyle = g.fillStyle = paint.ink;
    g.lineWidth = 1;
    strokes(g, () => {
      g.moveTo(12.5, h - 11);
      g.lineTo(12.5, h - 7);
      g.lineTo(12.5 + length * k, h - 7);
      g.lineTo(12.5 + length * k, h - 11);
    });
    g.font = plain;
    g.textAlign = 'left';
    g.textBaseline = 'bottom';
    g.fillText(si(length, 'm').join(' '), 16, h - 11);
    if (!this.options.forces || !this.arrowed || w < 430) return;
    const x = 12.5 + length * k + 22;
    arrowTo(g, x, h - 5, 0, -17, paint.muted, 2.2);
    g.fillStyle = paint.muted;
    g.fillText('impulse of an impact, length \u221d \u221ap; thin: contact force', x + 8, h - 7, w - x - 20);
  }

  /* Drag: pan. Wheel with Ctrl or after a click: zoom. Double-click: everything. */
  listen() {
    let start = null;
    const size = () => [this.plot.clientWidth, this.plot.clientHeight];
    this.plot.addEventListener('pointerdown', (event) => {
      if (event.pointerType === 'touch') return;
      start = {x: event.clientX, y: event.clientY, view: this.view ?? this.whole(...size())};
      capture(this.plot, event);
    });
    this.plot.addEventListener('pointermove', (event) => {
      if (!start) return;
      const {k, x, y} = start.view;
      this.view = {k, x: x - (event.clientX - start.x) / k, y: y + (event.clientY - start.y) / k};
      need(MOTION);
    });
    this.plot.addEventListener('pointerup', () => { start = null; });
    this.plot.addEventListener('dblclick', () => { this.view = null; need(MOTION); });
    this.plot.addEventListener('wheel', (event) => {
      if (!(event.ctrlKey || event.metaKey || document.activeElement === this.plot)) return;
      event.preventDefault();
      const [w, h] = size();
      const view = this.view ?? this.whole(w, h);
      const {left, top} = this.plot.getBoundingClientRect();
      const factor = Math.exp(-event.deltaY * 0.0015);
      const x = (event.clientX - left - w / 2) / view.k + view.x;
      const y = (h / 2 + top - event.clientY) / view.k + view.y;
      this.view = {k: view.k * factor, x: x - (x - view.x) / factor, y: y - (y - view.y) / factor};
      need(MOTION);
    }, {passive: false});
  }
}

/* The largest force of a contact; means over steps with an impact are none. */
function strongest({T}, force) {
  let most = 0;
  if (!force) return most;
  const [t, v] = [force.X.v, force.Y.v];
  for (let i = 0; i < t.length; i++) {
    if (v[i] > most && !(Math.abs(T.v[lower(T.v, t[i] - time.slack)] - t[i]) <= time.slack)) most = v[i];
  }
  return most;
}

function arrowTo(g, x, y, dx, dy, tint, width) {
  const length = Math.hypot(dx, dy);
  if (!(length > 1.5)) return;
  const [ux, uy, head] = [dx / length, dy / length, Math.min(7, length * 0.6)];
  g.strokeStyle = g.fillStyle = tint;
  g.lineWidth = width;
  g.lineCap = 'butt';
  strokes(g, () => { g.moveTo(x, y); g.lineTo(x + dx - ux * head, y + dy - uy * head); });
  g.beginPath();
  g.moveTo(x + dx, y + dy);
  g.lineTo(x + dx - (ux + uy * 0.45) * head, y + dy - (uy - ux * 0.45) * head);
  g.lineTo(x + dx - (ux - uy * 0.45) * head, y + dy - (uy + ux * 0.45) * head);
  g.fill();
}
