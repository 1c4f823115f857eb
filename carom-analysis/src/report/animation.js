// Animations: planar shapes on a canvas, interpolated between frames.
"use strict";

(() => {
  const FLASH_SECONDS = 0.35;
  // room for the numbers of the grid [px]
  const MARGIN = { left: 46, bottom: 28 };
  const ICONS = { play: "M2 1 L11 6 L2 11 Z", pause: "M2 1 H5 V11 H2 Z M7 1 H10 V11 H7 Z" };

  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

  // the last index whose time is not after t, at least 0
  function lastBefore(t, count, timeOf) {
    let [low, high] = [0, count - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (timeOf(middle) <= t) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  // 1, 2 or 5 times a power of ten
  function nice(value) {
    const power = 10 ** Math.floor(Math.log10(value));
    return [5, 2, 1].map((factor) => factor * power).find((step) => step <= value * 1.0001);
  }

  // trailing digits of sums like 0.1 + 0.2 are not wanted
  const short = (value) => String(Number(value.toPrecision(6)));

  function element(parent, name, properties) {
    const child = document.createElement(name);
    Object.assign(child, properties);
    parent.append(child);
    return child;
  }

  class Player {
    constructor(figure, data) {
      this.figure = figure;
      this.canvas = figure.querySelector("canvas");
      this.times = data.motion.times;
      this.shapes = data.motion.shapes;
      this.contacts = data.motion.contacts;
      this.bounds = data.bounds;
      this.begin = this.times.length ? this.times[0] : 0;
      this.end = this.times.length ? this.times[this.times.length - 1] : 0;
      this.time = this.begin;
      this.playing = false;
      this.zoom = { factor: 1, x: 0, y: 0 };
      this.colours = carom.theme();
      for (const shape of this.shapes) Player.prepare(shape.coordinates, this.times.length);
      for (const contact of this.contacts) if (contact.position) Player.prepare(contact.position, this.times.length);
      this.buildControls();
      this.buildKey();
      this.listen();
    }

    static prepare(coordinates, frames) {
      coordinates.values = coordinates.fixed || coordinates.moving;
      coordinates.width = coordinates.fixed ? coordinates.fixed.length : coordinates.moving.length / Math.max(frames, 1);
      coordinates.now = new Array(coordinates.width).fill(null);
    }

    // ---- controls

    buildControls() {
      const controls = element(this.figure, "div", { className: "controls" });
      this.button = element(controls, "button", { type: "button", className: "play" });
      this.button.innerHTML = '<svg viewBox="0 0 12 12" aria-hidden="true"><path></path></svg>';
      this.icon = this.button.querySelector("path");
      this.slider = element(controls, "input", { type: "range", min: 0, max: 10000, step: 1, value: 0, ariaLabel: "Time" });
      this.output = element(controls, "output", {});
      const label = element(controls, "label", { textContent: "Speed" });
      this.speedList = element(label, "select", {});
      this.fillSpeeds();
      const zoom = (text, title, action) => {
        element(controls, "button", { type: "button", textContent: text, title, ariaLabel: title }).addEventListener("click", action);
      };
      zoom("−", "Zoom out", () => this.magnify(1 / 1.4));
      zoom("+", "Zoom in", () => this.magnify(1.4));
      zoom("Fit", "Show all", () => this.fit());
      if (this.end <= this.begin) for (const control of [this.button, this.slider, this.speedList]) control.disabled = true;
      this.showPlaying();
    }

    // the motion should take between 2 and 20 seconds unless real time does
    fillSpeeds() {
      const length = this.end - this.begin;
      const base = length > 0 && (length < 2 || length > 20) ? nice(length / 8) : 1;
      this.speed = base;
      const factors = new Set([0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10].map((factor) => short(base * factor)).concat("1"));
      const ordered = Array.from(factors, Number).sort((a, b) => a - b);
      for (const factor of ordered) element(this.speedList, "option", { value: String(factor), textContent: factor + "×", selected: factor === Number(short(base)) });
    }

    buildKey() {
      const key = element(this.figure, "div", { className: "key" });
      this.swatches = this.shapes.filter((shape) => shape.name).map((shape) => {
        const entry = element(key, "span", {});
        const swatch = element(entry, "i", {});
        entry.append(shape.name);
        return { shape, swatch };
      });
      this.lights = this.contacts.map((contact) => {
        const entry = element(key, "span", {});
        const light = element(entry, "span", { className: "light" });
        entry.append(contact.name);
        return light;
      });
      if (!key.hasChildNodes()) key.remove();
    }

    listen() {
      this.button.addEventListener("click", () => this.toggle());
      this.slider.addEventListener("input", () => this.seek(this.begin + (this.slider.value / 10000) * (this.end - this.begin)));
      this.speedList.addEventListener("change", () => { this.speed = Number(this.speedList.value); });
      this.canvas.addEventListener("keydown", (event) => this.key(event));
      this.canvas.addEventListener("dblclick", () => this.fit());
      this.canvas.addEventListener("wheel", (event) => {
        // plain wheels scroll the page
        if (!event.ctrlKey) return;
        event.preventDefault();
        this.magnify(Math.exp(-event.deltaY * 0.01));
      }, { passive: false });
      this.canvas.addEventListener("pointerdown", (event) => this.canvas.setPointerCapture(event.pointerId));
      this.canvas.addEventListener("pointermove", (event) => {
        if (!event.buttons || !this.scale) return;
        this.zoom.x -= event.movementX / this.scale;
        this.zoom.y += event.movementY / this.scale;
        this.draw();
      });
      carom.onTime((time, origin) => {
        if (origin !== this) {
          this.pause();
          this.time = clamp(time, this.begin, this.end);
          this.draw();
        }
      });
      carom.onTheme(() => {
        this.colours = carom.theme();
        this.draw();
      });
      new ResizeObserver(() => this.draw()).observe(this.canvas);
    }

    key(event) {
      const step = (this.end - this.begin) / (event.shiftKey ? 20 : 200);
      const actions = {
        " ": () => this.toggle(),
        ArrowRight: () => this.seek(this.time + step),
        ArrowLeft: () => this.seek(this.time - step),
        Home: () => this.seek(this.begin),
        End: () => this.seek(this.end),
      };
      if (!(event.key in actions)) return;
      event.preventDefault();
      actions[event.key]();
    }

    magnify(factor) {
      this.zoom.factor = clamp(this.zoom.factor * factor, 0.2, 1e6);
      this.draw();
    }

    fit() {
      this.zoom = { factor: 1, x: 0, y: 0 };
      this.draw();
    }

    // ---- time

    seek(time) {
      this.pause();
      this.show(clamp(time, this.begin, this.end));
    }

    show(time) {
      this.time = time;
      this.draw();
      carom.setTime(time, this);
    }

    toggle() {
      if (this.playing) {
        this.pause();
        return;
      }
      if (this.end <= this.begin) return;
      if (this.time >= this.end) this.time = this.begin;
      this.playing = true;
      this.showPlaying();
      let last = null;
      const advance = (now) => {
        if (!this.playing) return;
        const elapsed = last === null ? 0 : (now - last) / 1000;
        last = now;
        const time = Math.min(this.time + elapsed * this.speed, this.end);
        this.show(time);
        if (time >= this.end) this.pause();
        else requestAnimationFrame(advance);
      };
      requestAnimationFrame(advance);
    }

    pause() {
      this.playing = false;
      this.showPlaying();
    }

    showPlaying() {
      this.icon.setAttribute("d", this.playing ? ICONS.pause : ICONS.play);
      this.button.ariaLabel = this.button.title = this.playing ? "Pause (space)" : "Play (space)";
    }

    // coordinates at the current time; null where they are unknown
    interpolate(coordinates, frame, weight) {
      const { values, width, now } = coordinates;
      const start = coordinates.fixed ? 0 : frame * width;
      const next = coordinates.fixed || weight === 0 ? start : start + width;
      for (let k = 0; k < width; k++) {
        const [a, b] = [values[start + k], values[next + k]];
        if (a === null || b === null || a === undefined || b === undefined) return null;
        now[k] = a + weight * (b - a);
      }
      return now;
    }

    // 1 while the impulse acts, then fading
    brightness(contact) {
      const { intervals } = contact;
      if (intervals.length === 0) return 0;
      const [from, to] = intervals[lastBefore(this.time, intervals.length, (k) => intervals[k][0])];
      if (this.time < from) return 0;
      return clamp(1 - (this.time - to) / (FLASH_SECONDS * this.speed), 0, 1);
    }

    // ---- drawing

    draw() {
      const width = this.canvas.clientWidth;
      if (width === 0) return;
      const [spanX, spanY] = [this.bounds.x[1] - this.bounds.x[0], this.bounds.y[1] - this.bounds.y[0]];
      const areaWidth = width - MARGIN.left;
      const areaHeight = Math.round(clamp((areaWidth * spanY) / spanX, 220, Math.min(460, Math.max(areaWidth, 220))));
      const height = areaHeight + MARGIN.bottom;
      this.resize(width, height);
      this.scale = Math.min(areaWidth / spanX, areaHeight / spanY) * this.zoom.factor;
      const centreX = (this.bounds.x[0] + this.bounds.x[1]) / 2 + this.zoom.x;
      const centreY = (this.bounds.y[0] + this.bounds.y[1]) / 2 + this.zoom.y;
      this.place = (x, y) => [MARGIN.left + areaWidth / 2 + (x - centreX) * this.scale, areaHeight / 2 - (y - centreY) * this.scale];

      const { context } = this;
      context.fillStyle = this.colours.page;
      context.fillRect(0, 0, width, height);
      const barStart = this.drawScaleBar(width, height);
      this.drawGrid({ width, areaWidth, areaHeight, centreX, centreY, barStart });
      context.save();
      context.beginPath();
      context.rect(MARGIN.left, 0, areaWidth, areaHeight);
      context.clip();
      const frame = this.times.length ? lastBefore(this.time, this.times.length, (k) => this.times[k]) : 0;
      const duration = frame + 1 < this.times.length ? this.times[frame + 1] - this.times[frame] : 0;
      const weight = duration > 0 ? (this.time - this.times[frame]) / duration : 0;
      for (const shape of this.shapes) if (shape.trace) this.drawTrace(shape, frame, weight);
      for (const shape of this.shapes) this.drawShape(shape, this.interpolate(shape.coordinates, frame, weight));
      this.drawContacts(frame, weight);
      context.restore();
      this.showState();
      this.canvas.dataset.drawn = "true";
    }

    resize(width, height) {
      const ratio = window.devicePixelRatio || 1;
      const [pixelsX, pixelsY] = [Math.round(width * ratio), Math.round(height * ratio)];
      if (this.canvas.width !== pixelsX || this.canvas.height !== pixelsY) {
        this.canvas.width = pixelsX;
        this.canvas.height = pixelsY;
        this.canvas.style.height = height + "px";
      }
      this.context = this.canvas.getContext("2d");
      this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
      this.context.lineJoin = this.context.lineCap = "round";
    }

    drawGrid({ width, areaWidth, areaHeight, centreX, centreY, barStart }) {
      const { context } = this;
      const step = nice(110 / this.scale);
      context.fillStyle = this.colours.muted;
      context.lineWidth = 1;
      context.setLineDash([]);
      context.font = "11px " + this.colours.font;
      const lines = (centre, pixels, action) => {
        const first = Math.ceil((centre - pixels / 2 / this.scale) / step);
        const last = Math.floor((centre + pixels / 2 / this.scale) / step);
        for (let k = first; k <= Math.min(last, first + 200); k++) action(k * step, short(k * step));
      };
      context.strokeStyle = this.colours.grid;
      context.beginPath();
      context.textBaseline = "middle";
      context.textAlign = "center";
      lines(centreX, areaWidth, (x, label) => {
        const at = Math.round(this.place(x, 0)[0]) + 0.5;
        context.moveTo(at, 0);
        context.lineTo(at, areaHeight);
        if (at < barStart - 24) context.fillText(label, at, areaHeight + MARGIN.bottom / 2);
      });
      context.textAlign = "right";
      lines(centreY, areaHeight, (y, label) => {
        const at = Math.round(this.place(0, y)[1]) + 0.5;
        context.moveTo(MARGIN.left, at);
        context.lineTo(width, at);
        if (at > 7) context.fillText(label, MARGIN.left - 7, at);
      });
      context.stroke();
      context.strokeStyle = this.colours.line;
      context.beginPath();
      context.moveTo(MARGIN.left + 0.5, 0);
      context.lineTo(MARGIN.left + 0.5, areaHeight + 0.5);
      context.lineTo(width, areaHeight + 0.5);
      context.stroke();
    }

    // returns where the bar and its label begin
    drawScaleBar(width, height) {
      const { context } = this;
      const length = nice(100 / this.scale);
      const [pixels, y] = [length * this.scale, Math.round(height - MARGIN.bottom / 2) + 0.5];
      const [left, right] = [width - 14 - pixels, width - 14];
      const label = short(length) + " m";
      context.font = "600 11.5px " + this.colours.font;
      context.strokeStyle = context.fillStyle = this.colours.ink;
      context.lineWidth = 1.5;
      context.setLineDash([]);
      context.beginPath();
      for (const [x, dy] of [[left, -4], [left, 4], [left, 0], [right, 0], [right, -4], [right, 4]]) context.lineTo(x, y + dy);
      context.stroke();
      context.textBaseline = "middle";
      context.textAlign = "right";
      context.fillText(label, left - 7, y);
      return left - 7 - context.measureText(label).width;
    }

    path(points, closed) {
      const { context } = this;
      context.beginPath();
      for (let k = 0; k + 1 < points.length; k += 2) context.lineTo(...this.place(points[k], points[k + 1]));
      if (closed) context.closePath();
    }

    drawShape(shape, points) {
      if (!points) return;
      const { context } = this;
      const { stroke } = shape;
      context.strokeStyle = this.colours.colour(stroke.colour);
      context.lineWidth = stroke.width;
      context.setLineDash(stroke.dashed ? [6, 5] : []);
      if (shape.geometry === "point" || shape.geometry === "circle") {
        const [x, y] = this.place(points[0], points[1]);
        const radius = shape.geometry === "point" ? 2 * stroke.width : Math.abs(points[2]) * this.scale;
        context.beginPath();
        context.arc(x, y, radius, 0, 2 * Math.PI);
      } else {
        this.path(points, shape.geometry === "polygon");
      }
      if (shape.geometry === "point") {
        context.fillStyle = context.strokeStyle;
        context.fill();
        return;
      }
      if (shape.fill !== null) {
        context.fillStyle = this.colours.colour(shape.fill);
        // a colour of the model file is meant as written; palette colours only tint
        context.globalAlpha = typeof shape.fill === "string" && shape.fill !== "ink" && shape.fill !== "muted" ? 1 : 0.16;
        context.fill();
        context.globalAlpha = 1;
      }
      context.stroke();
    }

    drawTrace(shape, frame, weight) {
      const { context } = this;
      const { values, width, fixed } = shape.coordinates;
      if (fixed) return;
      context.beginPath();
      let open = false;
      for (let k = 0; k <= frame; k++) {
        const [x, y] = [values[k * width], values[k * width + 1]];
        const known = typeof x === "number" && typeof y === "number";
        if (known) context[open ? "lineTo" : "moveTo"](...this.place(x, y));
        open = known;
      }
      const now = this.interpolate(shape.coordinates, frame, weight);
      if (now && open) context.lineTo(...this.place(now[0], now[1]));
      context.strokeStyle = this.colours.colour(shape.stroke.colour);
      context.globalAlpha = 0.45;
      context.lineWidth = 1.25;
      context.setLineDash([]);
      context.stroke();
      context.globalAlpha = 1;
    }

    drawContacts(frame, weight) {
      const { context } = this;
      this.contacts.forEach((contact, index) => {
        const light = this.brightness(contact);
        this.lights[index].style.background = light > 0 ? `color-mix(in srgb, ${this.colours.flash} ${Math.round(100 * light)}%, transparent)` : "";
        const at = contact.position && light > 0 && this.interpolate(contact.position, frame, weight);
        if (!at) return;
        const [x, y] = this.place(at[0], at[1]);
        context.setLineDash([]);
        context.strokeStyle = context.fillStyle = this.colours.flash;
        context.globalAlpha = light;
        context.lineWidth = 2;
        context.beginPath();
        context.arc(x, y, 6 + 12 * (1 - light), 0, 2 * Math.PI);
        context.stroke();
        context.beginPath();
        context.arc(x, y, 3, 0, 2 * Math.PI);
        context.fill();
        context.globalAlpha = 1;
      });
    }

    showState() {
      const length = this.end - this.begin;
      this.slider.value = length > 0 ? String(Math.round((10000 * (this.time - this.begin)) / length)) : "0";
      const decimals = length > 0 ? clamp(3 - Math.floor(Math.log10(length)), 0, 9) : 3;
      this.output.textContent = "t = " + this.time.toFixed(decimals) + " s";
      this.canvas.dataset.time = String(this.time);
      for (const { shape, swatch } of this.swatches) swatch.style.borderTopColor = this.colours.colour(shape.stroke.colour);
    }
  }

  carom.tasks.push(async () => {
    for (const figure of document.querySelectorAll(".animation")) {
      try {
        new Player(figure, await carom.payload(figure.dataset.payload)).draw();
      } catch (error) {
        carom.fail(error);
      }
    }
  });
})();
