/* Draws the scene with WebGL2: shadow, solids, planes, edges, lines, arrows. Places are given from the centre of what
   is seen, in single precision: near by they are as exact as far away. */

const SHADOW = 1536, SUN = [0.4, -0.36, 0.84];
/* Below this radius in pixels a solid has few corners and no edges. */
const SMALL = 9;

const LIGHT = {
  background: [0.985, 0.988, 0.99], floor: [0.95, 0.957, 0.963], line: [0.79, 0.815, 0.84], sky: [0.6, 0.63, 0.67],
  ground: [0.47, 0.47, 0.48], dim: 0.76, edge: [0, 0, 0, 0.42], joint: [0.38, 0.4, 0.43],
};
const DARK = {
  background: [0.075, 0.09, 0.105], floor: [0.2, 0.228, 0.256], line: [0.34, 0.38, 0.42], sky: [0.46, 0.49, 0.54],
  ground: [0.25, 0.26, 0.28], dim: 0.34, edge: [0, 0, 0, 0.6], joint: [0.6, 0.63, 0.67],
};

/* Red, green and blue of a colour of the page. */
const probe = document.createElement('canvas').getContext('2d');
const known = new Map();
function rgb(text) {
  if (!known.has(text)) known.set(text, readColour(text));
  return known.get(text);
}
function readColour(text) {
  probe.fillStyle = '#888';
  probe.fillStyle = text;
  const hex = /^#(..)(..)(..)/.exec(probe.fillStyle);
  if (hex) return hex.slice(1, 4).map((x) => parseInt(x, 16) / 255);
  return probe.fillStyle.match(/[\d.]+/g).slice(0, 3).map((x) => Number(x) / 255);
}
const isDark = () => { const [r, g, b] = rgb(paint.panel); return r + g + b < 1.5; };

class SpacePainter {
  constructor(canvas, scene) {
    this.canvas = canvas;
    this.scene = scene;
    const gl = this.gl = canvas.getContext('webgl2', {antialias: true, preserveDrawingBuffer: true});
    if (!gl) throw new Error('no WebGL2');
    this.programs = {
      solid: makeProgram(gl, SOLID_VERTEX, SOLID_FRAGMENT), shade: makeProgram(gl, SHADE_VERTEX, SHADE_FRAGMENT),
      edge: makeProgram(gl, EDGE_VERTEX, EDGE_FRAGMENT), floor: makeProgram(gl, FLOOR_VERTEX, FLOOR_FRAGMENT),
      ribbon: makeProgram(gl, RIBBON_VERTEX, RIBBON_FRAGMENT),
    };
    this.batches = new Map();
    this.ribbons = new Ribbons(gl);
    this.makeFloor();
    this.makeShadow();
  }

  makeFloor() {
    const {gl} = this;
    this.floor = gl.createVertexArray();
    gl.bindVertexArray(this.floor);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([-1, -1, 0, 1, -1, 0, -1, 1, 0, 1, 1, 0]), gl.STATIC_DRAW);
    attributes(gl, [['p', 3]], false);
  }

  makeShadow() {
    const {gl} = this;
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, SHADOW, SHADOW);
    const set = (name, value) => gl.texParameteri(gl.TEXTURE_2D, gl[name], gl[value]);
    set('TEXTURE_MIN_FILTER', 'LINEAR');
    set('TEXTURE_MAG_FILTER', 'LINEAR');
    set('TEXTURE_COMPARE_MODE', 'COMPARE_REF_TO_TEXTURE');
    set('TEXTURE_COMPARE_FUNC', 'LEQUAL');
    set('TEXTURE_WRAP_S', 'CLAMP_TO_EDGE');
    set('TEXTURE_WRAP_T', 'CLAMP_TO_EDGE');
    this.target = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.target);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, texture, 0);
    gl.drawBuffers([gl.NONE]);
    gl.readBuffer(gl.NONE);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  /* The batch of a kind of solid, made when it is first drawn; a mesh has its own. */
  batch(part, coarse) {
    const key = part.kind === 'mesh' ? `mesh ${part.number}` : `${part.kind} ${coarse}`;
    if (!this.batches.has(key)) {
      const shell = part.kind === 'mesh' ? meshShell(part.points) : SHELLS[part.kind](...(coarse ? COARSE : FINE));
      const batch = new Batch(this.gl, shell);
      batch.hollow = HOLLOW.has(part.kind);
      batch.coarse = coarse && part.kind !== 'mesh';
      batch.arrow = part.kind === 'arrow';
      this.batches.set(key, batch);
    }
    return this.batches.get(key);
  }

  draw(camera, frame, options, pushes) {
    const {gl, canvas} = this;
    const ratio = paperPixels || Math.min(2, window.devicePixelRatio || 1);
    const [w, h] = [Math.round(camera.w * ratio), Math.round(camera.h * ratio)];
    if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
    this.theme = isDark() ? DARK : LIGHT;
    this.back = camera.axes().back;
    for (const batch of this.batches.values()) batch.clear();
    this.ribbons.clear();
    this.solids(camera, frame, options);
    this.lines(camera, frame, options);
    this.arrows(camera, pushes);
    for (const batch of this.batches.values()) batch.upload();
    this.shadow(camera, options);
    const {eye, view} = camera.matrix();
    this.look = {
      view, eye, sun: unit(SUN), light: this.light, map: 0, shadow: options.shadow ? 1 : 0, texel: 1 / SHADOW,
      sky: this.theme.sky, ground: this.theme.ground,
    };
    gl.viewport(0, 0, w, h);
    gl.clearColor(...this.theme.background, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.disable(gl.BLEND);
    this.faces((batch) => !batch.arrow, 0);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    setAll(gl, this.programs.edge, {view, push: 4e-5, ink: this.theme.edge});
    for (const batch of this.batches.values()) if (!batch.coarse && !batch.arrow) batch.drawEdges();
    this.planes(camera, frame);
    gl.depthMask(false);
    setAll(gl, this.programs.ribbon, {view, pixel: [2 / camera.w, 2 / camera.h]});
    this.ribbons.draw();
    gl.depthMask(true);
    gl.disable(gl.BLEND);
    this.front();
    gl.bindVertexArray(null);
  }

  faces(wanted, plain) {
    const {gl} = this;
    gl.enable(gl.DEPTH_TEST);
    setAll(gl, this.programs.solid, {...this.look, plain});
    for (const batch of this.batches.values()) {
      if (!wanted(batch)) continue;
      // of a hole one sees the wall behind
      if (batch.hollow) gl.enable(gl.CULL_FACE);
      gl.cullFace(gl.FRONT);
      batch.drawFaces();
      gl.disable(gl.CULL_FACE);
    }
  }

  /* Arrows; what is behind or inside of a body shines through. */
  front() {
    const {gl} = this, arrow = (batch) => batch.arrow;
    this.faces(arrow, 0.55);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.CONSTANT_ALPHA, gl.ONE_MINUS_CONSTANT_ALPHA);
    gl.blendColor(0, 0, 0, 0.4);
    gl.depthFunc(gl.GREATER);
    gl.depthMask(false);
    this.faces(arrow, 0.55);
    gl.depthMask(true);
    gl.depthFunc(gl.LESS);
    gl.disable(gl.BLEND);
  }

  solids(camera, frame, options) {
    for (const body of this.scene.bodies) {
      const pose = this.scene.pose(body, frame);
      if (!pose || !body.parts.length) continue;
      const p = plus(pose.p, camera.centre, -1);
      for (const part of body.parts) {
        if (part.kind !== 'plane') this.part(camera, p, pose.q, part, rgb(inkOf(part.colour ?? body.colour)));
      }
    }
    if (!options.joints) return;
    for (const joint of this.scene.joints) {
      const pose = this.scene.pose(joint.body, frame);
      if (!pose) continue;
      const p = plus(plus(pose.p, rotate(pose.q, joint.at)), camera.centre, -1);
      for (const part of joint.parts) this.part(camera, p, pose.q, part, this.theme.joint);
    }
  }

  part(camera, p, q, part, tint) {
    const at = plus(p, rotate(q, part.at));
    const depth = camera.distance - dot(at, this.back);
    // a thin rod is all edges
    const size = part.kind === 'capsule' ? 2 * part.scale[0] : part.radius;
    const coarse = depth > 0 && size * camera.pixels(depth) < SMALL;
    // a little towards grey: light and shadow have room
    const soft = tint.map((x) => 0.74 * x + 0.26 * (this.theme === DARK ? 0.5 : 0.62));
    this.batch(part, coarse).add(at, multiply(q, part.turn), part.scale, part.out, soft);
  }

  /* Springs, rods and the ways of bodies. */
  lines(camera, frame, options) {
    const {scene} = this;
    for (const [a, b] of scene.links) {
      const [p, q] = [a, b].map((end) => scene.point(end.body, end.at, frame));
      if (p && q) this.ribbons.add(plus(p, camera.centre, -1), plus(q, camera.centre, -1), this.theme.joint, 2.5);
    }
    if (!options.trails) return;
    for (const body of scene.bodies.filter((body) => body.trail && body.pose)) {
      const tint = rgb(inkOf(body.colour));
      const way = trail(scene, body, frame);
      for (let i = 1; i < way.length; i++) {
        const [[p, a], [q, b]] = [way[i - 1], way[i]];
        if (p && q) this.ribbons.add(plus(p, camera.centre, -1), plus(q, camera.centre, -1), tint, 1.8, a, b);
      }
    }
  }

  arrows(camera, pushes) {
    for (const {at, vector, pixels, width, tint} of pushes) {
      const place = plus(at, camera.centre, -1);
      const depth = camera.distance - dot(place, this.back);
      if (!(depth > 0)) continue;
      const k = 1 / camera.pixels(depth), r = width * k;
      const shaft = Math.max(0, pixels * k - 3.2 * r);
      this.batch({kind: 'arrow'}, false).add(place, between([0, 0, 1], unit(vector)), [r, r, r], shaft, rgb(tint));
    }
  }

  /* The map of the light: of the whole scene, or of what is seen near by. */
  shadow(camera, options) {
    const {gl, scene} = this;
    const half = Math.min(1.1 * scene.reach, 1.3 * camera.distance);
    const middle = half < scene.reach ? [0, 0, 0] : plus(scene.middle, camera.centre, -1);
    const far = 2.5 * scene.reach + half;
    const sun = plus(middle, unit(SUN), far);
    this.light = product(parallel(half, 0.01 * far, 2 * far), lookAt(sun, middle, [0, 0, 1]));
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.target);
    gl.viewport(0, 0, SHADOW, SHADOW);
    gl.enable(gl.DEPTH_TEST);
    gl.depthMask(true);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    if (options.shadow) {
      setAll(gl, this.programs.shade, {view: this.light});
      for (const batch of this.batches.values()) if (!batch.hollow && !batch.arrow) batch.drawFaces();
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  /* Planes and the grid below; seen from below they are thin. */
  planes(camera, frame) {
    const {gl, scene, theme} = this;
    const cell = this.cell = nice(0.4 * camera.distance);
    for (const {p, q, solid} of scene.floors(frame)) {
      const normal = rotate(q, [0, 0, 1]);
      const back = [q[0], -q[1], -q[2], -q[3]];
      // from the foot of the centre of what is seen: near by numbers stay small
      const [x, y] = rotate(back, plus(camera.centre, p, -1));
      const centre = plus(plus(p, camera.centre, -1), rotate(q, [x, y, 0]));
      const middle = rotate(back, plus(scene.middle, camera.centre, -1)).slice(0, 2);
      const [u, v] = [x, y].map((value) => value - Math.floor(value / cell) * cell);
      // walls are no wider than the scene: one looks over them
      const reach = (normal[2] > 0.95 ? 2.6 : 1.3) * scene.reach, near = 60 * camera.distance < reach;
      const above = dot(plus(this.look.eye, centre, -1), normal) > 0;
      setAll(gl, this.programs.floor, {
        ...this.look, place: centre, q: [q[1], q[2], q[3], q[0]], middle, origin: [-u, -v], cell, reach,
        shift: near ? [0, 0] : middle, span: near ? 60 * camera.distance : reach,
        base: theme.floor, line: theme.line, dim: theme.dim,
        solid: above ? solid : 0.2 * solid, under: above ? 1 : 0.5,
        // walls that lean away from the light are darker
        tone: 0.72 + 0.28 * Math.min(1, Math.max(0, dot(normal, this.look.sun)) / this.look.sun[2]),
      });
      // walls hide each other, unless one looks through them from behind
      gl.depthMask(solid && above);
      gl.bindVertexArray(this.floor);
      gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    }
  }
}

/* The last part of the way of a body: points with their strength, the youngest last. */
const WAY = 1 / 3, MOST_TRAIL = 300;
function trail(scene, body, frame) {
  const span = WAY * (time.span.hi - time.span.lo), [now] = frame;
  const first = Math.max(0, upper(scene.times, time.t - span) - 1);
  const step = Math.max(1, Math.ceil((now - first) / MOST_TRAIL));
  const way = [];
  const strength = (t) => 0.85 * Math.max(0, 1 - (time.t - t) / span);
  for (let i = now; i > first; i -= step) way.push([scene.point(body, body.trail, [i, 0]), strength(scene.times[i])]);
  way.reverse();
  way.push([scene.point(body, body.trail, frame), 0.85]);
  return way;
}
