/* The view of a spatial model: picture, words, buttons, mouse, touch and keys. */

const TOGGLES = {
  trails: 'ways of bodies, the last third of the run',
  forces: 'arrows: impulses of impacts; thin: forces of contacts that last; lengths by their roots',
  joints: 'symbols of joints', names: 'names of bodies', shadow: 'shadow of a distant light',
};
/* Pixels of the longest arrows, and of the shortest ones. */
const LONGEST = 84, SHORTEST = 22;

class SpaceView {
  constructor(figure, data, columns, lanes) {
    Object.assign(this, {figure, lanes, follow: -1, moved: false});
    this.scene = new SpaceScene(data, columns);
    this.pushes = new Pushes(data, columns, this.scene);
    const many = this.scene.bodies.length > 12;
    this.options = {trails: true, forces: true, joints: true, names: !many, shadow: true};
    this.camera = new Camera();
    this.camera.reach = this.scene.reach;
    [this.camera.yaw, this.camera.pitch] = this.corner();
    this.build(data.note);
    this.listen();
    this.keys();
  }

  build(note) {
    const useful = {
      trails: this.scene.bodies.some((body) => body.trail), forces: this.pushes.any,
      joints: this.scene.joints.length > 0, names: true, shadow: true,
    };
    this.caption = el('figcaption', {class: 'cap'}, el('h2', {}, 'Motion'), el('span', {class: 'sp'}));
    const shown = Object.entries(TOGGLES).filter(([name]) => useful[name]);
    this.caption.append(el('span', {class: 'views'}, ...shown.map(([name, title]) => this.toggle(name, title))));
    const views = Object.keys(VIEWS).map((name) => el('button', {
      class: 'b', type: 'button', title: `seen from the ${name}`, onclick: () => this.turn(name),
    }, name));
    const whole = {class: 'b', type: 'button', title: 'everything in view (F)', onclick: () => this.whole()};
    views.push(el('button', whole, 'fit'));
    this.caption.append(el('span', {class: 'views'}, ...views), this.followed());
    this.plot = el('div', {class: 'plot', id: 'stage', role: 'img', tabindex: 0, 'aria-label': 'motion in space'});
    this.note = el('p', {class: 'note'}, this.told(note));
    this.missing = el('p', {class: 'note warn'});
    this.figure.append(this.caption, this.plot, this.missing, this.note);
    this.paint();
  }

  /* The first corner from which no wall is seen from behind. */
  corner() {
    const walls = this.scene.times.length ? this.scene.floors([0, 0]).map(({q}) => rotate(q, [0, 0, 1])) : [];
    const free = ([yaw, pitch]) => {
      const eye = [Math.cos(pitch) * Math.cos(yaw), Math.cos(pitch) * Math.sin(yaw), Math.sin(pitch)];
      return walls.every((normal) => dot(normal, eye) > 0.1);
    };
    return CORNERS.find(free) ?? CORNERS[0];
  }

  told(note) {
    const {thinned} = this.scene;
    const rows = `Thinned: of each ${thinned} rows those with extremes are drawn, straight between them.`;
    return [thinned > 1 ? rows : '', note].filter((text) => text).join(' ');
  }

  toggle(name, title) {
    const press = () => {
      this.options[name] = !this.options[name];
      button.setAttribute('aria-pressed', this.options[name]);
      need(MOTION);
    };
    const state = {'aria-pressed': this.options[name], onclick: press};
    const button = el('button', {class: 'b', type: 'button', title, ...state}, name);
    return button;
  }

  /* The list of bodies to follow. */
  followed() {
    this.list = el('select', {class: 'b', title: 'the body in the middle', 'aria-label': 'follow'});
    this.list.append(el('option', {value: -1}, 'free'));
    const moving = this.scene.bodies.filter((body) => body.pose);
    for (const {number, name} of moving.slice(0, 200)) {
      this.list.append(el('option', {value: number}, `follow ${name}`));
    }
    this.list.onchange = () => this.pursue(Number(this.list.value));
    return this.list;
  }

  /* The picture by WebGL2, or outlines where there is none. */
  paint() {
    this.picture = el('canvas', {'data-frames': this.scene.times.length});
    this.over = el('canvas');
    this.plot.replaceChildren(this.picture, this.over);
    this.words = new SpaceWords(this.over, this.scene);
    try {
      this.painter = new SpacePainter(this.picture, this.scene);
      this.missing.hidden = true;
      this.picture.addEventListener('webglcontextlost', (event) => event.preventDefault());
      this.picture.addEventListener('webglcontextrestored', () => { this.paint(); need(MOTION); });
    } catch (error) {
      // a canvas that was asked for WebGL has no other context
      const plainCanvas = el('canvas', {'data-frames': this.scene.times.length});
      this.picture.replaceWith(plainCanvas);
      this.picture = plainCanvas;
      this.painter = new OutlinePainter(plainCanvas, this.scene);
      this.missing.textContent = `Outlines only: this browser draws no solids (${error.message}).`;
      this.missing.hidden = false;
    }
    this.plot.dataset.webgl = String(this.painter instanceof SpacePainter);
  }

  draw() {
    if (!this.scene.times.length) {
      this.figure.dataset.drawn = 'true';
      return;
    }
    const {camera, options, scene} = this;
    [camera.w, camera.h] = [this.plot.clientWidth || 600, this.plot.clientHeight || 400];
    if (!this.moved) camera.fit(scene.box);
    const frame = scene.frame(time.t);
    if (this.follow >= 0) camera.centre = scene.pose(scene.bodies[this.follow], frame)?.p ?? camera.centre;
    const pushes = options.forces ? this.arrows() : [];
    this.painter.draw(camera, frame, options, pushes);
    this.words.draw(camera, frame, options, pushes, this.painter.cell, this.picture);
    this.picture.dataset.time = String(time.t);
    if (this.figure.dataset.drawn !== 'true') this.figure.dataset.first = String(performance.now() - started);
    this.figure.dataset.drawn = 'true';
  }

  /* Arrows with their lengths in pixels and the words beside them. */
  arrows() {
    const size = (part) => SHORTEST + (LONGEST - SHORTEST) * Math.sqrt(Math.max(0, part));
    const impulses = this.pushes.impulses(time.t).map((push) => ({
      ...push, pixels: size(push.part) * (1 - 0.6 * push.age), width: 5.5 - 2 * push.age, tint: colour(push.contact),
      text: `${num(push.size, 3)} N s`, alpha: 1 - 0.7 * push.age,
    }));
    const hit = new Set(impulses.map((push) => push.contact));
    const forces = this.pushes.lasting(time.t).filter((push) => !hit.has(push.contact));
    const thin = (push) => ({...push, pixels: 0.7 * size(push.part), width: 2.6, tint: colour(push.contact)});
    return [...impulses, ...forces.map(thin)];
  }

  turn(name) {
    [this.camera.yaw, this.camera.pitch] = name === 'corner' ? this.corner() : VIEWS[name];
    need(MOTION);
  }

  whole() {
    this.pursue(-1);
    this.moved = false;
  }

  pursue(body) {
    this.moved = true;
    this.follow = body;
    this.list.value = String(body);
    need(MOTION);
  }

  /* The body that is drawn nearest to a place. */
  nearest(x, y) {
    const frame = this.scene.frame(time.t);
    let [best, least] = [-1, 60];
    for (const body of this.scene.bodies.filter((body) => body.pose)) {
      const pose = this.scene.pose(body, frame);
      if (!pose) continue;
      const [u, v, depth] = this.camera.project(pose.p);
      const away = Math.hypot(u - x, v - y);
      if (depth > 0 && away < least) [best, least] = [body.number, away];
    }
    return best;
  }

  change(action) {
    this.moved = true;
    action();
    need(MOTION);
  }

  /* Drag: turn. Shift or the right button: move. Wheel with Ctrl or after a click: zoom. Two fingers: zoom and turn. */
  listen() {
    const {plot, camera} = this, down = new Map();
    let pinch = 0;
    plot.addEventListener('pointerdown', (event) => {
      down.set(event.pointerId, [event.clientX, event.clientY]);
      pinch = 0;
      capture(plot, event);
    });
    plot.addEventListener('pointermove', (event) => {
      const last = down.get(event.pointerId);
      if (!last) return;
      const [dx, dy] = [event.clientX - last[0], event.clientY - last[1]];
      down.set(event.pointerId, [event.clientX, event.clientY]);
      if (down.size === 2) {
        const [[x, y], [u, v]] = [...down.values()], apart = Math.hypot(u - x, v - y);
        this.change(() => { if (pinch) camera.zoom(pinch / apart); camera.orbit(dx / 2, dy / 2); });
        pinch = apart;
      } else if (event.shiftKey || event.buttons & 6) {
        if (this.follow >= 0) this.pursue(-1);
        this.change(() => camera.pan(dx, dy));
      } else {
        this.change(() => camera.orbit(dx, dy));
      }
    });
    const up = (event) => { down.delete(event.pointerId); pinch = 0; };
    plot.addEventListener('pointerup', up);
    plot.addEventListener('pointercancel', up);
    plot.addEventListener('contextmenu', (event) => event.preventDefault());
    plot.addEventListener('wheel', (event) => {
      if (!(event.ctrlKey || event.metaKey || document.activeElement === plot)) return;
      event.preventDefault();
      this.change(() => camera.zoom(Math.exp(event.deltaY * 0.0015)));
    }, {passive: false});
    plot.addEventListener('dblclick', (event) => {
      const {left, top} = plot.getBoundingClientRect();
      const body = this.nearest(event.clientX - left, event.clientY - top);
      if (body >= 0 && body !== this.follow) this.pursue(body);
      else this.whole();
    });
  }

  keys() {
    KEYS.f = KEYS.F = () => this.whole();
    const moving = this.scene.bodies.filter((body) => body.pose);
    moving.slice(0, 9).forEach((body, i) => {
      KEYS[i + 1] = () => this.pursue(this.follow === body.number ? -1 : body.number);
    });
    HELP.push(['drag in the motion', 'turn; shift or right button: move; two fingers: zoom and turn'],
      ['double-click, 1 to 9', 'follow a body, and let it go'], ['F', 'everything in view']);
  }
}
