/* Words and signs over the picture: names, impulses, axes, a scale. */

const AXES = [[[1, 0, 0], 'x', '#cc3a2e'], [[0, 1, 0], 'y', '#2a8f44'], [[0, 0, 1], 'z', '#2f6fd0']];
/* Room below for axes and scale; most names. */
const FOOT_ROOM = 64, MOST_NAMES = 40;

class SpaceWords {
  constructor(canvas, scene) {
    Object.assign(this, {canvas, scene});
  }

  draw(camera, frame, options, pushes, cell, picture) {
    const g = this.g = fit(this.canvas, camera.w, camera.h);
    this.camera = camera;
    // of two canvases in a stack the lower one is lost in print
    if (paperPixels) g.drawImage(picture, 0, 0, camera.w, camera.h);
    g.font = plain;
    g.textBaseline = 'middle';
    this.taken = [];
    for (const push of pushes) if (push.text) this.beside(push);
    if (options.names) this.names(frame);
    this.axes();
    this.scale(cell);
  }

  /* Words with a halo, moved down where others stand already. */
  place(text, x, y, align, alpha = 1) {
    const {g, taken} = this, width = g.measureText(text).width;
    const left = align === 'center' ? x - width / 2 : x;
    const meets = ([a, b, w]) => left < a + w + 4 && a < left + width + 4 && Math.abs(y - b) < 13;
    y = Math.max(9, y);
    for (let k = 0; k < 6 && taken.some(meets); k++) y += 13;
    if (y > this.camera.h - FOOT_ROOM && left < 120 || y > this.camera.h - 8 || taken.some(meets)) return;
    if (left < 2 || left + width > this.camera.w - 2) return;
    taken.push([left, y, width]);
    this.write(text, x, y, align, paint.ink, alpha);
  }

  write(text, x, y, align, tint, alpha = 1) {
    const {g} = this;
    [g.textAlign, g.lineWidth, g.lineJoin, g.strokeStyle] = [align, 3, 'round', paint.panel];
    g.globalAlpha = 0.85 * alpha;
    g.strokeText(text, x, y);
    g.globalAlpha = alpha;
    g.fillStyle = tint;
    g.fillText(text, x, y);
    g.globalAlpha = 1;
  }

  /* The size of an impulse at the tip of its arrow. */
  beside({at, vector, pixels, text, alpha}) {
    const [, , depth] = this.camera.project(at);
    const [x, y] = this.camera.project(plus(at, unit(vector), pixels / this.camera.pixels(depth)));
    if (depth > 0) this.place(text, x + 8, y - 2, 'left', alpha);
  }

  names(frame) {
    const moving = this.scene.bodies.filter((body) => body.pose && body.parts.length);
    for (const body of moving.slice(0, MOST_NAMES)) {
      const pose = this.scene.pose(body, frame);
      if (!pose) continue;
      // over the part in the middle: a string or an arm may end far from it
      const far = (part) => norm(part.at);
      const solid = body.parts.filter((part) => part.kind !== 'plane').sort((a, b) => far(a) - far(b))[0];
      if (!solid) continue;
      const middle = plus(pose.p, rotate(pose.q, solid.at));
      const [x, centre, depth] = this.camera.project(middle);
      const tops = ballsOf(solid).map(([at, r]) => {
        const [, y, d] = this.camera.project(plus(pose.p, rotate(pose.q, at)));
        return y - r * this.camera.pixels(d);
      });
      // and of what is long not over its end
      const thin = 3 * Math.min(...solid.scale.filter((s) => s > 0)) * this.camera.pixels(depth);
      if (depth > 0) this.place(body.name, x, Math.max(Math.min(...tops), centre - thin) - 9, 'center');
    }
  }

  /* The axes of the model, the nearest in front. */
  axes() {
    const {g, camera} = this, {right, up, back} = camera.axes();
    const o = [36, camera.h - 34];
    const seen = AXES.map(([axis, name, tint]) => {
      const d = this.scene.lifted(axis);
      return {x: 24 * dot(d, right), y: -24 * dot(d, up), near: dot(d, back), name, tint};
    });
    for (const {x, y, name, tint} of seen.sort((a, b) => a.near - b.near)) {
      [g.strokeStyle, g.lineWidth] = [tint, 2];
      strokes(g, () => { g.moveTo(...o); g.lineTo(o[0] + x, o[1] + y); });
      this.write(name, o[0] + 1.35 * x, o[1] + 1.35 * y, 'center', paint.ink);
    }
  }

  /* A length at the depth of the centre, and the cells of the grid. */
  scale(cell) {
    const {g, camera} = this, k = camera.pixels(camera.distance), bar = nice(90 / k) * k;
    const [x, y] = [camera.w - 14.5, camera.h - 9.5];
    [g.strokeStyle, g.lineWidth] = [paint.ink, 1];
    strokes(g, () => { g.moveTo(x - bar, y - 4); g.lineTo(x - bar, y); g.lineTo(x, y); g.lineTo(x, y - 4); });
    this.write(`${si(bar / k, 'm').join(' ')} at the centre`, x, y - 11, 'right', paint.ink);
    if (cell) this.write(`grid ${si(cell, 'm').join(' ')}`, x, y - 25, 'right', paint.muted);
  }
}
