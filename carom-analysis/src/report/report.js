// The page of a report: errors, data, tables, charts, and the time that tables, charts and animations share.
"use strict";

const carom = (() => {
  const root = document.documentElement;

  // ---- errors: counted for tests, shown to the reader
  let errors = 0;
  function fail(reason) {
    errors += 1;
    root.dataset.errors = String(errors);
    const banner = document.getElementById("errors");
    banner.hidden = false;
    banner.textContent += (errors === 1 ? "Part of this report could not be shown.\n" : "\n") + String((reason && reason.message) || reason);
  }
  root.dataset.errors = "0";
  window.addEventListener("error", (event) => fail(event.error || event.message));
  window.addEventListener("unhandledrejection", (event) => fail(event.reason));

  // ---- data
  async function inflate(base64) {
    const text = atob(base64);
    const bytes = new Uint8Array(text.length);
    for (let k = 0; k < text.length; k++) bytes[k] = text.charCodeAt(k);
    const stream = new DecompressionStream("gzip");
    const writer = stream.writable.getWriter();
    // a damaged stream rejects the reading below as well
    writer.write(bytes).catch(() => {});
    writer.close().catch(() => {});
    return new Response(stream.readable).text();
  }

  async function source(id) {
    const element = document.getElementById(id);
    return element.dataset.encoding === "gzip" ? inflate(element.textContent) : element.textContent;
  }

  const payload = async (id) => JSON.parse(await source(id));

  // ---- colours of the current theme
  const PALETTE = 8;
  function theme() {
    const style = getComputedStyle(root);
    const read = (name) => style.getPropertyValue("--" + name).trim();
    const palette = Array.from({ length: PALETTE }, (_, k) => read("palette-" + k));
    const colours = { page: read("page"), ink: read("ink"), muted: read("muted"), line: read("line"), grid: read("grid"), flash: read("palette-1") };
    const colour = (name) => (typeof name === "number" ? palette[name % PALETTE] : colours[name] || name);
    return { ...colours, panel: read("panel"), colour, font: getComputedStyle(document.body).fontFamily };
  }
  const themeListeners = [];
  const onTheme = (listener) => themeListeners.push(listener);
  const themeChanged = () => themeListeners.forEach((listener) => listener());

  // ---- the time shared by tables, charts and animations
  const timeListeners = [];
  const onTime = (listener) => timeListeners.push(listener);
  const setTime = (time, origin) => timeListeners.forEach((listener) => listener(time, origin));

  // ---- tables
  function key(row, column) {
    const cell = row.cells[column];
    if (!cell) return "";
    return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
  }

  function compare(a, b) {
    const [textA, textB] = [typeof a === "string", typeof b === "string"];
    if (textA !== textB) return textA ? 1 : -1;
    if (textA) return a.localeCompare(b, undefined, { numeric: true });
    return Number.isNaN(a) || Number.isNaN(b) ? Number.isNaN(a) - Number.isNaN(b) : a - b;
  }

  function sort(table, column) {
    const header = table.tHead.rows[0].cells;
    const descending = header[column].getAttribute("aria-sort") === "ascending";
    for (const cell of header) cell.removeAttribute("aria-sort");
    header[column].setAttribute("aria-sort", descending ? "descending" : "ascending");
    const rows = Array.from(table.tBodies[0].rows, (row) => [key(row, column), row]);
    rows.sort(([a], [b]) => (descending ? compare(b, a) : compare(a, b)));
    table.tBodies[0].append(...rows.map(([, row]) => row));
  }

  function choose(row) {
    const body = row.parentElement;
    for (const other of body.querySelectorAll(".chosen, [tabindex]")) {
      other.classList.remove("chosen");
      other.removeAttribute("tabindex");
    }
    row.classList.add("chosen");
    row.tabIndex = 0;
    setTime(Number(row.dataset.time), row);
  }

  function setUpTable(table) {
    Array.from(table.tHead.rows[0].cells).forEach((cell, column) => {
      cell.firstElementChild.addEventListener("click", () => sort(table, column));
    });
    const body = table.tBodies[0];
    const first = body.querySelector("tr[data-time]");
    if (!first) return;
    first.tabIndex = 0;
    body.addEventListener("click", (event) => {
      const row = event.target.closest("tr[data-time]");
      if (row) choose(row);
    });
    body.addEventListener("keydown", (event) => {
      const row = event.target.closest("tr[data-time]");
      const steps = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling", Enter: null };
      if (!row || !(event.key in steps)) return;
      event.preventDefault();
      const next = steps[event.key] ? row[steps[event.key]] : row;
      if (next && next.dataset.time !== undefined) {
        choose(next);
        next.focus({ preventScroll: true });
        next.scrollIntoView({ block: "nearest" });
      }
    });
  }

  // ---- charts
  const DASHES = ["solid", "dash", "dot", "dashdot"];
  const charts = [];
  const groupRanges = new Map();
  // points beyond which markers are drawn by WebGL; few charts may use it, browsers limit the number of contexts
  const MANY_MARKERS = 8000;

  // the chart library reads some markup in texts
  const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

  const shortened = (text) => (text.length > 48 ? text.slice(0, 47) + "…" : text);

  function traces(data, colours) {
    const points = data.series.reduce((sum, series) => sum + (series.style === "lines" ? 0 : data.columns[series.y].length), 0);
    return data.series.map((series, index) => {
      const number = series.colour === null ? index : series.colour;
      const round = Math.floor(index / PALETTE) % DASHES.length;
      const colour = colours.colour(number);
      const markers = series.style === "markers" || series.style === "lines-and-markers";
      const many = data.columns[series.y].length > 2000;
      return {
        type: points > MANY_MARKERS ? "scattergl" : "scatter",
        name: plain(shortened(series.name)) || " ",
        x: data.columns[series.x],
        y: data.columns[series.y],
        mode: { lines: "lines", markers: "markers", "lines-and-markers": "lines+markers", steps: "lines" }[series.style],
        line: {
          color: colour,
          width: 1.75,
          // the data are decimated already, and coarser lines show corners
          simplify: false,
          dash: series.dash === "solid" && series.colour === null ? DASHES[round] : series.dash,
          shape: series.style === "steps" ? "hv" : "linear",
        },
        ...(markers && { marker: { color: colour, size: many ? 2.5 : 6.5, opacity: many ? 0.6 : 1 } }),
        connectgaps: false,
        hovertemplate: data.group === "time" ? "%{y:.6~g}" : "%{x:.6~g}, %{y:.6~g}",
      };
    });
  }

  function axis(label, log, colours, ticks) {
    return {
      title: { text: plain(label), standoff: 8, font: { size: 13, color: colours.muted } },
      type: log ? "log" : "linear",
      exponentformat: "power",
      showexponent: "all",
      automargin: true,
      gridcolor: colours.grid,
      linecolor: colours.line,
      tickcolor: colours.line,
      tickfont: { size: 12, color: colours.muted },
      showline: true,
      mirror: true,
      ticks: "outside",
      ticklen: 4,
      zeroline: !log,
      zerolinecolor: colours.line,
      zerolinewidth: 1,
      ...(log && { nticks: ticks, minor: { showgrid: false, ticks: "outside", ticklen: 2, tickcolor: colours.line } }),
    };
  }

  function layout(chart, colours) {
    const { data } = chart;
    const x = { ...axis(data.xLabel, data.logX, colours, 4), hoverformat: ".8~g" };
    const y = axis(data.yLabel, data.logY, colours, 6);
    if (data.equalAxes) Object.assign(y, { scaleanchor: "x", scaleratio: 1 });
    const empty = data.series.every((series) => data.columns[series.y].every((value) => value === null));
    const range = chart.range();
    if (range) Object.assign(x, { range, autorange: false });
    return {
      autosize: true,
      // linked charts stand exactly below each other
      margin: { l: data.group === null ? 12 : 66, r: 14, t: 10, b: 8 },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: colours.font, color: colours.ink, size: 13 },
      xaxis: x,
      yaxis: y,
      showlegend: data.series.length > 1,
      legend: { orientation: "h", x: 0, y: 1.02, xanchor: "left", yanchor: "bottom", font: { size: 13 }, bgcolor: "rgba(0,0,0,0)" },
      hovermode: data.group === "time" ? "x unified" : "closest",
      hoverlabel: { namelength: -1, bgcolor: colours.panel, bordercolor: colours.line, font: { color: colours.ink, family: colours.font, size: 12.5 } },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: colours.muted, activecolor: colours.ink },
      dragmode: "zoom",
      annotations: empty ? [{ text: "no data", xref: "paper", yref: "paper", x: 0.5, y: 0.5, showarrow: false, font: { color: colours.muted } }] : [],
    };
  }

  const CONFIGURATION = {
    responsive: true,
    displaylogo: false,
    modeBarButtonsToRemove: ["select2d", "lasso2d", "zoomIn2d", "zoomOut2d", "autoScale2d"],
  };

  class ChartView {
    constructor(element) {
      this.element = element;
      this.data = null;
      this.cursor = null;
      this.time = null;
    }

    // ranges of logarithmic axes are exponents in the library, values in the group
    range() {
      const range = groupRanges.get(this.data.group);
      return range && (this.data.logX ? range.map(Math.log10) : range.slice());
    }

    async draw() {
      this.data = await payload(this.element.dataset.payload);
      const colours = theme();
      await Plotly.newPlot(this.element, traces(this.data, colours), layout(this, colours), CONFIGURATION);
      if (this.data.group !== null) this.element.on("plotly_relayout", (change) => this.share(change));
      if (this.data.group === "time") this.followTime();
      this.element.dataset.drawn = "true";
    }

    restyle() {
      if (!this.data) return undefined;
      const colours = theme();
      return Plotly.react(this.element, traces(this.data, colours), layout(this, colours), CONFIGURATION);
    }

    share(change) {
      if (ChartView.sharing) return;
      const moved = Object.keys(change).some((name) => name.startsWith("xaxis.") && /range/.test(name));
      if (!moved) return;
      const { autorange, range } = this.element.layout.xaxis;
      const all = change["xaxis.autorange"] === true || autorange === true;
      if (all) groupRanges.delete(this.data.group);
      else groupRanges.set(this.data.group, this.data.logX ? range.map((exponent) => 10 ** exponent) : range.slice());
      ChartView.sharing = true;
      const others = charts.filter((other) => other !== this && other.data && other.data.group === this.data.group);
      Promise.all(others.map((other) => Plotly.relayout(other.element, all ? { "xaxis.autorange": true } : { "xaxis.range": other.range() })))
        .catch(fail)
        .finally(() => { ChartView.sharing = false; });
    }

    followTime() {
      this.cursor = document.createElement("div");
      this.cursor.className = "cursor";
      this.cursor.hidden = true;
      this.element.append(this.cursor);
      this.element.on("plotly_afterplot", () => this.placeCursor());
      this.element.on("plotly_click", (event) => setTime(event.points[0].x, this));
      onTime((time) => {
        this.time = time;
        this.placeCursor();
      });
    }

    placeCursor() {
      const { xaxis, yaxis } = this.element._fullLayout;
      const place = this.time === null ? NaN : xaxis.d2p(this.time);
      const inside = place >= 0 && place <= xaxis._length;
      this.cursor.hidden = !inside;
      if (!inside) return;
      this.cursor.style.left = xaxis._offset + place + "px";
      this.cursor.style.top = yaxis._offset + "px";
      this.cursor.style.height = yaxis._length + "px";
    }
  }
  ChartView.sharing = false;

  const idle = () => new Promise((resolve) => (window.requestIdleCallback ? requestIdleCallback(resolve, { timeout: 300 }) : setTimeout(resolve, 1)));

  async function loadLibrary() {
    const script = document.createElement("script");
    script.textContent = await source("chart-library");
    document.head.append(script);
    script.remove();
  }

  // charts in view come first, the others when the browser is idle
  async function drawCharts() {
    charts.push(...Array.from(document.querySelectorAll(".plot"), (element) => new ChartView(element)));
    if (charts.length === 0) return;
    const visible = new Set();
    const observer = new IntersectionObserver((entries) => {
      for (const entry of entries) visible[entry.isIntersecting ? "add" : "delete"](entry.target);
    }, { rootMargin: "200px" });
    charts.forEach((chart) => observer.observe(chart.element));
    await loadLibrary();
    const waiting = charts.slice();
    while (waiting.length > 0) {
      await idle();
      const found = waiting.findIndex((chart) => visible.has(chart.element));
      const [chart] = waiting.splice(Math.max(found, 0), 1);
      try {
        await chart.draw();
      } catch (error) {
        fail(error);
      }
    }
    observer.disconnect();
    onTheme(() => charts.forEach((chart) => chart.restyle()));
  }

  // ---- printing: light colours and the width of the paper
  function setUpPrinting() {
    const fit = (change) => charts.filter((chart) => chart.data).forEach((chart) => Plotly.relayout(chart.element, change));
    window.addEventListener("beforeprint", () => {
      root.dataset.theme = "light";
      themeChanged();
      fit({ autosize: false, width: 680 });
    });
    window.addEventListener("afterprint", () => {
      delete root.dataset.theme;
      themeChanged();
      fit({ autosize: true, width: undefined });
    });
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", themeChanged);
  }

  // ---- contents: the section being read
  function setUpContents() {
    const links = new Map(Array.from(document.querySelectorAll("nav a"), (link) => [link.hash.slice(1), link]));
    if (links.size === 0) return;
    const sections = Array.from(document.querySelectorAll("main > section"));
    const mark = () => {
      const atEnd = window.innerHeight + window.scrollY >= document.body.scrollHeight - 2 && window.scrollY > 0;
      const passed = sections.filter((section) => section.getBoundingClientRect().top < window.innerHeight * 0.3);
      const current = atEnd ? sections[sections.length - 1] : passed[passed.length - 1] || sections[0];
      links.forEach((link, id) => link.classList.toggle("current", id === current.id));
    };
    document.addEventListener("scroll", mark, { passive: true });
    mark();
  }

  // ---- start
  const tasks = [];
  async function start() {
    if (!window.DecompressionStream) {
      fail("This browser is too old: it cannot read the compressed data of this report.");
      return;
    }
    setUpContents();
    setUpPrinting();
    document.querySelectorAll(".table table").forEach(setUpTable);
    await Promise.all([...tasks.map((task) => task()), drawCharts()]);
    root.dataset.ready = "true";
  }

  return { start, fail, payload, theme, onTheme, onTime, setTime, tasks };
})();
