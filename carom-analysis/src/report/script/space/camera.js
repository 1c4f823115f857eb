/* The eye: it turns about a centre, z is up. */

const FIELD = 0.6, STEEPEST = 1.55;
/* Yaw and pitch. */
const CORNERS = [[-1.02, 0.42], [-0.5, 0.62], [-2.1, 0.42], [0.5, 0.62], [2.1, 0.42], [-1.02, 1]];
const VIEWS = {
  corner: CORNERS[0], front: [-Math.PI / 2, 0], side: [0, 0], top: [-Math.PI / 2, STEEPEST],
};

class Camera {
  constructor() {
    Object.assign(this, {yaw: 0, pitch: 0, distance: 1, centre: [0, 0, 0], w: 1, h: 1, reach: 1});
  }

  /* Unit vectors to the right, upwards and towards the eye. */
  axes() {
    const [c, s] = [Math.cos(this.pitch), Math.sin(this.pitch)];
    const back = [c * Math.cos(this.yaw), c * Math.sin(this.yaw), s];
    const right = [-Math.sin(this.yaw), Math.cos(this.yaw), 0];
    return {right, up: cross(back, right), back};
  }

  /* Tangents of half the angles that are seen. */
  get tangents() {
    const t = Math.tan(FIELD / 2) * (this.w < this.h ? 1.3 : 1);
    return [t * this.w / this.h, t];
  }

  /* For points that are given from the centre. */
  matrix() {
    const {distance, reach} = this;
    const eye = this.axes().back.map((x) => x * distance);
    const lens = perspective(2 * Math.atan(this.tangents[1]), this.w / this.h, 0.02 * distance, distance + 4 * reach);
    return {eye, view: product(lens, lookAt(eye, [0, 0, 0], [0, 0, 1]))};
  }

  /* x, y in pixels and the depth of a point; what is behind the eye has a depth below zero. */
  project(point) {
    const {right, up, back} = this.axes();
    const d = plus(point, this.centre, -1);
    const depth = this.distance - dot(d, back);
    const k = this.pixels(depth);
    return [this.w / 2 + dot(d, right) * k, this.h / 2 - dot(d, up) * k, depth];
  }

  /* Pixels per length at a depth. */
  pixels(depth) {
    return this.h / 2 / this.tangents[1] / depth;
  }

  /* The whole of a box, beside a margin. */
  fit({low, high}) {
    this.centre = [0, 1, 2].map((k) => (low[k] + high[k]) / 2);
    const {right, up, back} = this.axes(), [tx, ty] = this.tangents;
    let distance = 0;
    for (let corner = 0; corner < 8; corner++) {
      const d = [0, 1, 2].map((k) => (corner >> k & 1 ? 1 : -1) * (high[k] - low[k]) / 2);
      const across = Math.max(Math.abs(dot(d, right)) / tx, Math.abs(dot(d, up)) / ty);
      distance = Math.max(distance, 1.12 * across + dot(d, back));
    }
    this.distance = distance || 1;
  }

  orbit(dx, dy) {
    this.yaw -= 0.007 * dx;
    this.pitch = Math.max(-STEEPEST, Math.min(STEEPEST, this.pitch + 0.007 * dy));
  }

  pan(dx, dy) {
    const {right, up} = this.axes(), k = 1 / this.pixels(this.distance);
    this.centre = plus(plus(this.centre, right, -dx * k), up, dy * k);
  }

  zoom(factor) {
    this.distance = Math.max(1e-6 * this.reach, Math.min(20 * this.reach, this.distance * factor));
  }
}
