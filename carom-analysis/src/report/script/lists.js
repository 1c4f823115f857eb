/* Tabs and tables: sorted by a click on the head; a row with a time leads there, and is marked when time comes by. */

function startTabs() {
  const tabs = $$('#tabs [role=tab]');
  const open = (chosen) => {
    for (const tab of tabs) {
      tab.setAttribute('aria-selected', tab === chosen);
      document.getElementById(tab.getAttribute('aria-controls')).classList.toggle('on', tab === chosen);
    }
    need(OVER);
  };
  tabs.forEach((tab, i) => {
    tab.addEventListener('click', () => open(tab));
    tab.addEventListener('keydown', (event) => {
      const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
      if (!step) return;
      event.stopPropagation();
      const next = tabs[(i + step + tabs.length) % tabs.length];
      open(next);
      next.focus();
    });
  });
}

/* Numbers as numbers: the whole one is the title of the cell, in its own unit. */
function sortKey(cell) {
  const text = cell ? cell.title || cell.textContent : '';
  const plain = text.replace('\u221e', 'Infinity').replaceAll('\u2212', '-').replaceAll('\u2009', '');
  const number = cell && cell.classList.contains('l') ? Number(plain) : parseFloat(plain);
  return text !== '' && !Number.isNaN(number) ? number : text;
}

function compare(a, b) {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === typeof b) return a.localeCompare(b);
  return typeof a === 'number' ? -1 : 1;
}

function startTable(table) {
  const body = table.tBodies[0];
  Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
    head.addEventListener('keydown', (event) => { if (event.key === 'Enter') head.click(); });
    head.addEventListener('click', () => {
      const down = head.getAttribute('aria-sort') === 'ascending';
      for (const other of head.parentNode.cells) other.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      const rows = Array.from(body.rows, (row) => [sortKey(row.cells[column]), row]);
      rows.sort((a, b) => (down ? -1 : 1) * compare(a[0], b[0]));
      body.append(...rows.map(([, row]) => row));
    });
  });
  const rows = Array.from(body.rows).filter((row) => row.dataset.time !== undefined);
  if (rows.length && run) followTime(table, rows);
}

/* The rows of the time are marked, the last ones before it with a bar, and come into view. */
function followTime(table, rows) {
  const times = rows.map((row) => Number(row.dataset.time));
  const sorted = [...new Set(times)].sort((a, b) => a - b);
  table.classList.add('timed');
  rows.forEach((row, i) => row.addEventListener('click', () => time.goto(times[i], true)));
  const column = Array.from(table.tHead.rows[0].cells, (head) => head.textContent.trim()).indexOf('contact');
  if (column >= 0) rows.forEach((row) => paintContact(row.cells[column]));
  const scroll = table.parentNode;
  let shown = null;
  painters.push((bits) => {
    if (!(bits & OVER)) return;
    const last = sorted[upper(sorted, time.t + time.slack) - 1];
    const here = last !== undefined && Math.abs(last - time.t) <= time.slack;
    if (shown === `${last} ${here}` || !scroll.offsetParent) return;
    shown = `${last} ${here}`;
    let first = null;
    rows.forEach((row, i) => {
      row.classList.toggle('near', times[i] === last);
      row.classList.toggle('at', here && times[i] === last);
      if (times[i] === last) first ??= row;
    });
    if (first) bringIntoView(scroll, first, table.tHead.offsetHeight);
  });
}

/* A contact has its colour in lists, too. */
function paintContact(cell) {
  const lane = run.lanes.findIndex(({name}) => name === cell.textContent);
  if (lane < 0) return;
  const tile = el('i', {class: 'tile'});
  tile.style.background = `var(--c${lane % COLOURS})`;
  cell.prepend(tile);
}

function bringIntoView(scroll, row, head) {
  const top = row.offsetTop - head;
  if (top < scroll.scrollTop || top > scroll.scrollTop + scroll.clientHeight - head - 50) {
    scroll.scrollTop = top - scroll.clientHeight / 3;
  }
}
