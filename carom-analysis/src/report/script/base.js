/* Elements, colours, errors. Text enters the page by textContent only: a name cannot become markup. */

const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => Array.from(root.querySelectorAll(selector));

/* el('button', {class: 'b', onclick: f}, 'text', child): attributes, listeners, children. */
function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else if (value != null) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child != null));
  return made;
}

const FONT = 'system-ui,"Segoe UI","Helvetica Neue","DejaVu Sans",Arial,sans-serif';
const COLOURS = 6;
/* Patterns of rounds of the palette, and of curves that ask for one. */
const DASHES = {solid: [], dash: [7, 5], dot: [2, 2.5], dashdot: [7, 3, 2, 3]};
const ROUNDS = ['solid', 'dash', 'dot', 'dashdot'];

/* The colours of the style sheet, read again when light becomes dark. */
const paint = {};
function readColours() {
  const style = getComputedStyle(document.documentElement);
  const names = ['panel', 'ink', 'muted', 'faint', 'rule', 'grid', 'sel', 'accent', 'wall', 'box', 'warn'];
  for (let i = 0; i < COLOURS; i++) names.push('c' + i);
  for (const name of names) paint[name] = style.getPropertyValue('--' + name).trim();
}
const colour = (i) => paint['c' + i % COLOURS];

/* Errors are counted and told on the page: a chart that is missing must not go unnoticed. */
const root = document.documentElement;
root.dataset.errors = '0';
function failed(error) {
  root.dataset.errors = String(Number(root.dataset.errors) + 1);
  const box = $('#errors');
  box.hidden = false;
  box.textContent = 'Part of this report could not be shown. ' + (error && error.message || error);
}
addEventListener('error', (event) => failed(event.error || event.message));
addEventListener('unhandledrejection', (event) => failed(event.reason));
function guarded(action) {
  try { action(); } catch (error) { failed(error); }
}

/* Pixels of a canvas: 0 is the screen's own; paper gets three per point. */
let paperPixels = 0;
function fit(canvas, width, height) {
  const ratio = paperPixels || window.devicePixelRatio || 1;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
  const g = canvas.getContext('2d');
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, width, height);
  return g;
}

/* Many small pieces in one stroke. */
function strokes(g, draw) {
  g.beginPath();
  draw(g);
  g.stroke();
}
