/* The start: data, charts, motion, keys, links. */

const meta = JSON.parse($('#meta').textContent);
const {run} = meta;
const started = performance.now();

/* Charts of one group share a window. */
function spanOf(group, spans, number) {
  if (run && group === 'time') return time.span;
  const name = group ?? `chart ${number}`;
  if (!spans.has(name)) spans.set(name, new Span(name));
  return spans.get(name);
}

function makeCharts(columns) {
  const spans = new Map();
  const curve = (data) => new Curve(data, columns, meta.thinned);
  const charts = [];
  $$('[data-chart]').forEach((figure, i) => guarded(() => {
    const spec = meta.charts[i];
    charts.push(new Chart(figure, spec, spec.series.map(curve), spanOf(spec.group, spans, i)));
  }));
  if (run && run.signals.length > 1) {
    const figure = el('figure', {class: 'card chart'});
    $('#choice').append(figure);
    const spec = {title: 'Columns by choice', x_label: 't', x_unit: 's', y_label: '', note: '', group: 'time'};
    charts.push(new Chart(figure, spec, run.signals.map(curve), time.span, true));
  }
  for (const span of spans.values()) span.settle();
  return charts;
}

/* Everything that follows the time of a run. */
function makeRun(columns, charts) {
  const signals = run.signals.map((data) => new Curve(data, columns, meta.thinned));
  const lanes = run.lanes.map((lane) => ({...lane, T: columns[lane.t], P: columns[lane.p]}));
  time.marks = [...new Set(columns[run.marks].v)].sort((a, b) => a - b);
  for (const {X} of signals) time.span.include(X.v[0], X.v[X.v.length - 1]);
  time.span.settle();
  for (const signal of signals) if (/^[qv]\./.test(signal.name)) noteSize(signal);
  time.t = time.span.lo;
  const bar = new TimeBar($('#bar'), lanes, signals);
  painters.push((bits) => {
    if (bits & BASE) bar.draw();
    if (bits & (BASE | OVER)) bar.over();
  });
  const portraits = run.portraits.map((data) => new Portrait($('#portraits'), signals, data));
  painters.push((bits) => portraits.forEach((portrait) => {
    if (bits & BASE) portrait.draw();
    if (bits & (BASE | OVER)) portrait.over();
  }));
  charts.push(...portraits);
  if (run.motion) {
    const motion = new Motion($('#motion'), run.motion, columns, lanes, signals);
    painters.push((bits) => { if (bits) motion.draw(); });
  }
  if (run.space) {
    const view = new SpaceView($('#space'), run.space, columns, lanes);
    painters.push((bits) => { if (bits) view.draw(); });
    charts.push(view);
    time.view = view;
  }
  startTabs();
  startHelp();
  addEventListener('keydown', key);
}

const HELP = [
  ['click', 'set the time'],
  ['drag the cursor, or the time line', 'move the time'],
  ['drag in a chart', 'zoom: flat drag time only, else a box'],
  ['shift + drag', 'pan'],
  ['wheel', 'zoom (after a click in the chart, or with Ctrl; shift: values)'],
  ['double-click, 0', 'whole time'],
  ['\u2190 \u2192', 'previous, next impact or event; with shift one row'],
  ['space', 'play, pause'],
  ['Home, End', 'start, end'],
  ['+ \u2212', 'zoom at the cursor'],
];

function startHelp() {
  const close = el('button', {class: 'b', type: 'button', onclick: () => box.classList.remove('on')}, 'close');
  const rows = HELP.map(([what, does]) => el('tr', {}, el('td', {class: 'l'}, what), el('td', {class: 'l'}, does)));
  const box = el('aside', {class: 'card', id: 'help', role: 'dialog', 'aria-label': 'mouse and keys'},
    el('div', {class: 'cap'}, el('h2', {}, 'Mouse and keys'), el('span', {class: 'sp'}), close),
    el('table', {}, el('tbody', {}, ...rows)));
  document.body.append(box);
}

/* One row of the data on. */
function stepRow(direction) {
  const t = run.signals.length ? time.rows : [];
  const row = direction > 0 ? upper(t, time.t + time.slack * 1e-3) : lower(t, time.t - time.slack * 1e-3) - 1;
  if (row >= 0 && row < t.length) time.goto(t[row], true);
}

const KEYS = {
  ' ': () => time.play(),
  ArrowRight: (event) => event.shiftKey ? stepRow(1) : time.stepMark(1),
  ArrowLeft: (event) => event.shiftKey ? stepRow(-1) : time.stepMark(-1),
  Home: () => time.goto(time.span.lo, true),
  End: () => time.goto(time.span.hi, true),
  '+': () => time.span.zoomAt(time.t, 0.5),
  '=': () => time.span.zoomAt(time.t, 0.5),
  '-': () => time.span.zoomAt(time.t, 2),
  0: () => time.span.zoom(),
  '?': () => $('#help').classList.toggle('on'),
  Escape: () => { $('#help').classList.remove('on'); document.activeElement.blur(); },
};

function key(event) {
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === ' ' && event.target.tagName === 'BUTTON') return;
  if (!Object.hasOwn(KEYS, event.key)) return;
  event.preventDefault();
  KEYS[event.key](event);
}

/* The address holds a state: #t=0.0259&x=0.025,0.031&tab=2 */
function follow(charts) {
  const state = new URLSearchParams(location.hash.slice(1));
  const number = (text) => text.split(',').map(Number);
  const spans = new Set(charts.filter((chart) => chart.span).map((chart) => chart.span));
  if (state.has('x')) for (const span of run ? [time.span] : spans) span.zoom(...number(state.get('x')));
  if (state.has('t') && run) time.goto(Number(state.get('t')), true);
  if (state.has('tab')) $(`[aria-controls="pane-${Number(state.get('tab'))}"]`)?.click();
  if (state.has('paper')) paper(true, charts);
}

/* Records the line of a curve as it is drawn, in values: what a test compares with the data. */
function trace(chart, number) {
  const curve = chart.curves[number];
  const axis = chart.axes.find((axis) => axis.curves.includes(curve));
  const points = [];
  const note = (x, y) => points.push([chart.xAxis.inverse(x), axis.inverse(y)]);
  const nothing = () => {};
  const recorder = new Proxy({moveTo: note, lineTo: note}, {
    get: (known, name) => known[name] ?? nothing,
    set: () => true,
  });
  drawCurve(recorder, curve, chart.xAxis, axis, chart.frame);
  return points;
}

async function start() {
  readColours();
  time.span.isTime = !!run;
  const columns = (await decode(meta)).map((values) => new Column(values));
  const decoded = performance.now() - started;
  const charts = makeCharts(columns);
  if (run) {
    time.rows = run.signals.length ? columns[run.signals[0].x].v : [];
    guarded(() => makeRun(columns, charts));
  }
  const plots = charts.filter((chart) => chart instanceof Chart);
  painters.unshift((bits) => drawCharts(plots, bits));
  for (const table of $$('figure.table table')) startTable(table);
  startPrint(charts);
  follow(charts);
  stale = ALL;
  drawNow();
  new ResizeObserver(() => { if (!paperPixels) need(ALL); }).observe($('main'));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    readColours();
    for (const chart of plots) chart.legend.build();
    need(ALL);
  });
  addEventListener('hashchange', () => follow(charts));
  const drawn = performance.now() - started;
  window.report = {
    charts: plots, columns, time, drawNow, trace: (chart, curve) => trace(plots[chart], curve),
    space: time.view, goto: (t) => time.goto(t, true), zoom: (a, b, chart = 0) => plots[chart].span.zoom(a, b),
    hover: (x, chart = 0) => plots[chart].span.point(x), play: (on) => time.play(on), paper: (on) => paper(on, charts),
    times: {decoded, drawn, first: firstDrawn},
  };
  root.dataset.ready = 'true';
}
start().catch((error) => {
  failed(error);
  root.dataset.ready = 'true';
});
