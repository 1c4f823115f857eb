/* Without WebGL2: the edges of all solids on a plain canvas, seen by the same eye. */

/* Edges of more instances than this are left out. */
const MOST_OUTLINES = 3000;

class OutlinePainter {
  constructor(canvas, scene) {
    Object.assign(this, {canvas, scene, shells: new Map()});
  }

  shell(part) {
    const key = part.kind === 'mesh' ? `mesh ${part.number}` : part.kind;
    if (!this.shells.has(key)) {
      const made = part.kind === 'mesh' ? meshShell(part.points) : SHELLS[part.kind](...COARSE.map((n) => 2 * n));
      this.shells.set(key, made);
    }
    return this.shells.get(key);
  }

  draw(camera, frame, options, pushes) {
    const {scene} = this;
    const g = fit(this.canvas, camera.w, camera.h);
    g.lineWidth = 1.2;
    let left = MOST_OUTLINES;
    for (const body of scene.bodies) {
      const pose = scene.pose(body, frame);
      if (!pose || left <= 0) continue;
      g.strokeStyle = inkOf(body.colour);
      for (const part of body.parts) if (left-- > 0) this.edges(g, camera, pose, part);
    }
    g.strokeStyle = paint.wall;
    if (options.joints) for (const joint of scene.joints) {
      const pose = scene.pose(joint.body, frame);
      const at = pose && plus(pose.p, rotate(pose.q, joint.at));
      if (pose) joint.parts.forEach((part) => this.edges(g, camera, {p: at, q: pose.q}, part));
    }
    for (const [a, b] of scene.links) {
      const ends = [a, b].map((end) => scene.point(end.body, end.at, frame));
      if (ends[0] && ends[1]) this.line(g, camera, ...ends);
    }
    if (options.trails) for (const body of scene.bodies.filter((body) => body.trail && body.pose)) {
      g.strokeStyle = inkOf(body.colour);
      const way = trail(scene, body, frame);
      for (let i = 1; i < way.length; i++) {
        const [[p], [q]] = [way[i - 1], way[i]];
        if (p && q) this.line(g, camera, p, q);
      }
    }
    for (const {at, vector, pixels, tint} of pushes) {
      const [x, y, depth] = camera.project(at);
      const [u, v] = camera.project(plus(at, unit(vector), pixels / camera.pixels(depth)));
      if (depth > 0) arrowTo(g, x, y, u - x, v - y, tint, 2);
    }
  }

  line(g, camera, p, q) {
    const [[x, y, a], [u, v, b]] = [camera.project(p), camera.project(q)];
    if (a > 0 && b > 0) strokes(g, () => { g.moveTo(x, y); g.lineTo(u, v); });
  }

  edges(g, camera, pose, part) {
    const r = this.scene.reach;
    // a plane is a square
    const {edges} = this.shell(part.kind === 'plane' ? {kind: 'sheet'} : part);
    const scale = part.kind === 'plane' ? [r, r, 1] : part.scale;
    const q = multiply(pose.q, part.turn), at = plus(pose.p, rotate(pose.q, part.at));
    const place = (i) => camera.project(plus(at, rotate(q, [0, 1, 2].map((k) =>
      edges[i + k] * scale[k] + edges[i + 3 + k] * part.out))));
    strokes(g, () => {
      for (let i = 0; i < edges.length; i += 12) {
        const [[x, y, a], [u, v, b]] = [place(i), place(i + 6)];
        if (a > 0 && b > 0) { g.moveTo(x, y); g.lineTo(u, v); }
      }
    });
  }
}
