/* The time bar: buttons, clock, and a line with a lane for each contact, the window and the cursor. */

const LANES = 6, PAD = 8, FOOT = 17;

class TimeBar {
  constructor(box, lanes, signals) {
    Object.assign(this, {all: lanes, lanes: lanes.slice(0, LANES), signals});
    const button = (text, title, action) => el('button', {class: 'b', type: 'button', title, onclick: action}, text);
    this.playButton = button('', 'play (space)', () => time.play());
    const marks = [button('|\u25c0\ufe0e', 'previous impact or event (left arrow)', () => time.stepMark(-1)),
      button('\u25b6\ufe0e|', 'next impact or event (right arrow)', () => time.stepMark(1))];
    for (const mark of marks) mark.disabled = !time.marks.length;
    this.full = button('whole time', 'show the whole time (double-click or 0)', () => time.span.zoom());
    const help = button('?', 'mouse and keys (?)', () => $('#help').classList.toggle('on'));
    this.clock = el('span', {id: 'clock'});
    this.note = el('small', {id: 'clock-note'});
    this.line = el('div', {id: 'line', title: 'time; lanes of contacts: tick = impact, bar = contact kept'});
    [this.base, this.top] = [el('canvas'), el('canvas')];
    this.line.append(this.base, this.top);
    box.append(el('div', {class: 'btns'}, marks[0], this.playButton, marks[1], this.speeds()),
      el('div', {id: 'now'}, this.clock, this.note), this.line, el('div', {class: 'btns'}, this.full, help));
    this.listen();
  }

  /* The speed at which the run lasts about ten seconds is chosen. */
  speeds() {
    const {span} = time;
    const wanted = (span.hi - span.lo) / 10;
    const choices = [];
    for (let power = 100; power > 5e-7; power /= 10) choices.push(power, power / 2, power / 5);
    const distance = (speed) => Math.abs(Math.log(speed / wanted));
    time.speed = choices.reduce((best, speed) => distance(speed) < distance(best) ? speed : best, 1);
    const name = (speed) => Math.abs(speed - 1) < 1e-9 ? 'real time'
      : speed > 1 ? `${num(speed, 3)}\u00d7` : `1/${grouped(Math.round(1 / speed))}`;
    const list = el('select', {class: 'b opt', title: 'speed of the motion', 'aria-label': 'speed'});
    for (const speed of choices) list.append(el('option', {value: speed}, name(speed)));
    list.value = String(time.speed);
    list.onchange = () => { time.speed = Number(list.value); };
    return list;
  }

  X(t) {
    const {span} = time;
    return PAD + (t - span.lo) / (span.hi - span.lo) * (this.line.clientWidth - 2 * PAD);
  }

  T(x) {
    const {span} = time;
    return span.lo + (x - PAD) / (this.line.clientWidth - 2 * PAD) * (span.hi - span.lo);
  }

  draw() {
    const [w, h] = [this.line.clientWidth, this.line.clientHeight];
    const g = fit(this.base, w, h);
    const body = h - FOOT;
    g.fillStyle = paint.grid;
    g.fillRect(PAD, 0, w - 2 * PAD, body);
    this.lanes.forEach((lane, k) => this.lane(g, lane, k, body / this.lanes.length, w));
    if (!time.span.whole) this.window(g, w, body);
    this.labels(g, w, h);
  }

  /* Bars while the contact is kept, ticks at its impacts. */
  lane(g, lane, k, height, w) {
    const y = k * height;
    const acts = this.signals[lane.acts];
    g.fillStyle = colour(k);
    g.globalAlpha = 0.45;
    if (acts) {
      const [, most] = acts.Y.range(0, acts.Y.v.length);
      for (let p = PAD; p < w - PAD; p++) {
        const from = lower(acts.X.v, this.T(p));
        let to = Math.max(from + 1, lower(acts.X.v, this.T(p + 1)));
        // rows inside a step have no force of their own: that of its end counts
        while (to < acts.X.v.length && Number.isNaN(acts.Y.v[to - 1])) to++;
        if (acts.Y.range(from, Math.min(to, acts.X.v.length))[1] > 1e-9 * most) {
          g.fillRect(p, y + height * 0.35, 1, height * 0.4);
        }
      }
    }
    g.globalAlpha = 1;
    for (const t of lane.T.v) g.fillRect(Math.round(this.X(t)) - 0.75, y + 1, 1.5, height - 1.5);
  }

  window(g, w, body) {
    const [a, b] = [this.X(time.span.x0), this.X(time.span.x1)];
    g.fillStyle = paint.panel;
    g.globalAlpha = 0.55;
    g.fillRect(PAD, 0, a - PAD, body);
    g.fillRect(b, 0, w - PAD - b, body);
    g.globalAlpha = 1;
    g.strokeStyle = paint.accent;
    g.lineWidth = 1.5;
    g.strokeRect(a, 0.75, Math.max(2, b - a), body - 1.5);
  }

  labels(g, w, h) {
    const [factor, unit] = time.scale();
    g.font = plain;
    g.fillStyle = paint.muted;
    g.textBaseline = 'bottom';
    g.textAlign = 'right';
    g.fillText(unit, w - PAD, h - 1);
    const room = g.measureText(unit).width + 6;
    g.textAlign = 'center';
    for (const {value, text} of ticks(time.span.lo / factor, time.span.hi / factor, (w - 2 * PAD) / 80)) {
      const x = this.X(value * factor);
      const half = g.measureText(text).width / 2;
      g.fillRect(x - 0.5, h - FOOT, 1, 3);
      if (x + half < w - PAD - room) g.fillText(text, Math.max(half, x), h - 1);
    }
  }

  over() {
    const [w, h] = [this.line.clientWidth, this.line.clientHeight];
    const g = fit(this.top, w, h);
    const x = this.X(time.t);
    g.fillStyle = paint.ink;
    g.fillRect(x - 0.75, 0, 1.5, h - 13);
    g.beginPath();
    g.moveTo(x - 5, h - 12);
    g.lineTo(x + 5, h - 12);
    g.lineTo(x, h - 19);
    g.fill();
    if (time.span.hover !== null) {
      g.fillStyle = paint.muted;
      g.fillRect(this.X(time.span.hover) - 0.5, 0, 1, h - FOOT);
    }
    this.tell();
  }

  /* What happens at the cursor: which contacts close, or an event. */
  what() {
    const here = (lane) => Math.abs(lane.T.v[upper(lane.T.v, time.t + time.slack) - 1] - time.t) <= time.slack;
    const names = this.all.filter(here).map((lane) => lane.name);
    const word = this.all.some((lane) => lane.gap !== null) ? 'impact' : 'activation';
    return names.length ? `${word} at ${names.join(', ')}` : 'event';
  }

  tell() {
    const [factor, unit] = time.scale();
    this.clock.textContent = `${num(time.t / factor, 6)} ${unit}`;
    this.note.textContent = time.markAt(time.t) >= 0 ? this.what()
      : time.span.hover !== null ? `pointer ${num(time.span.hover / factor, 6)} ${unit}`
        : `of ${num(time.span.hi / factor, 6)} ${unit}`;
    this.full.disabled = time.span.whole;
    this.playButton.textContent = time.playing ? '\u275a\u275a' : '\u25b6\ufe0e';
    this.playButton.title = time.playing ? 'pause (space)' : 'play (space)';
  }

  listen() {
    const {line} = this;
    const {span} = time;
    let drag = null, from = 0;
    const place = (event) => event.clientX - line.getBoundingClientRect().left;
    const edge = (x) => span.whole ? null : Math.abs(x - this.X(span.x0)) < GRAB ? 'start'
      : Math.abs(x - this.X(span.x1)) < GRAB ? 'end' : null;
    line.addEventListener('pointerdown', (event) => {
      const x = from = place(event);
      capture(line, event);
      drag = edge(x) ?? (event.shiftKey && !span.whole ? 'window' : 'time');
      if (drag === 'time') time.goto(this.T(x), true);
    });
    line.addEventListener('pointermove', (event) => {
      const x = place(event), t = this.T(x);
      line.style.cursor = edge(x) ? 'ew-resize' : 'pointer';
      if (drag === 'time') time.goto(t, true);
      else if (drag === 'start') span.zoom(Math.min(t, span.x1), span.x1);
      else if (drag === 'end') span.zoom(span.x0, Math.max(t, span.x0));
      else if (drag === 'window') {
        const shift = this.T(x) - this.T(from);
        from = x;
        span.zoom(span.x0 + shift, span.x1 + shift);
      }
    });
    line.addEventListener('pointerup', () => { drag = null; });
    line.addEventListener('dblclick', () => span.zoom());
    line.addEventListener('wheel', (event) => {
      event.preventDefault();
      const t = Math.max(span.x0, Math.min(span.x1, this.T(place(event))));
      span.zoomAt(t, Math.exp(event.deltaY * 0.0015));
    }, {passive: false});
  }
}
