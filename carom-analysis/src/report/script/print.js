/* Paper: light, 186 mm wide, three pixels per point, everything drawn before the page is printed. */

/* A class and not a media query: queries change only after drawing. */
function paper(on, charts) {
  root.classList.toggle('paper', on);
  paperPixels = on ? 3 : 0;
  readColours();
  for (const chart of charts) if (chart.legend) chart.legend.build();
  stale = ALL;
  drawNow();
  for (const {base, top, size, frame} of charts.filter((chart) => chart.top)) {
    // of two canvases in a stack the lower one is lost in print: one is drawn into the other
    if (on && frame) base.getContext('2d').drawImage(top, 0, 0, size.w, size.h);
    top.style.display = on ? 'none' : '';
  }
}

function startPrint(charts) {
  addEventListener('beforeprint', () => paper(true, charts));
  addEventListener('afterprint', () => paper(false, charts));
}
