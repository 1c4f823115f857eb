/* Vectors, unit quaternions (w first) and matrices (columns first) of the view in space. */

const plus = (a, b, s = 1) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const norm = (a) => Math.hypot(a[0], a[1], a[2]);
const unit = (a) => { const l = norm(a) || 1; return [a[0] / l, a[1] / l, a[2] / l]; };

/* p then q of the same space: the turn q after p is q p. */
const multiply = (p, q) => [
  p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
  p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
  p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
  p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
];

/* The vector v turned by q. */
function rotate(q, v) {
  const u = [q[1], q[2], q[3]];
  const t = cross(u, v).map((x) => 2 * x);
  return plus(plus(v, t, q[0]), cross(u, t));
}

/* The shortest turn of the unit vector a to b. */
function between(a, b) {
  const w = 1 + dot(a, b);
  if (w < 1e-12) return [0, ...unit(Math.abs(a[0]) < 0.9 ? cross(a, [1, 0, 0]) : cross(a, [0, 1, 0]))];
  const q = [w, ...cross(a, b)];
  const l = Math.hypot(...q);
  return q.map((x) => x / l);
}

/* Evenly from p to q, by the shorter way. */
function slerp(p, q, s) {
  let c = p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3];
  const side = c < 0 ? -1 : 1;
  c *= side;
  let [a, b] = [1 - s, s];
  if (c < 0.9995) {
    const angle = Math.acos(c), sine = Math.sin(angle);
    [a, b] = [Math.sin((1 - s) * angle) / sine, Math.sin(s * angle) / sine];
  }
  const r = [0, 1, 2, 3].map((k) => a * p[k] + b * side * q[k]);
  const l = Math.hypot(...r) || 1;
  return r.map((x) => x / l);
}

function product(a, b) {
  const out = new Float32Array(16);
  for (let c = 0; c < 4; c++) {
    for (let r = 0; r < 4; r++) {
      for (let k = 0; k < 4; k++) out[4 * c + r] += a[4 * k + r] * b[4 * c + k];
    }
  }
  return out;
}

function perspective(angle, aspect, near, far) {
  const f = 1 / Math.tan(angle / 2);
  const deep = near - far;
  return [f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / deep, -1, 0, 0, 2 * far * near / deep, 0];
}

const parallel = (half, near, far) =>
  [1 / half, 0, 0, 0, 0, 1 / half, 0, 0, 0, 0, -2 / (far - near), 0, 0, 0, -(far + near) / (far - near), 1];

/* From the axes of the space to those of an eye. */
function lookAt(eye, centre, up) {
  const z = unit(plus(eye, centre, -1)), x = unit(cross(up, z)), y = cross(z, x);
  return [x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0, -dot(x, eye), -dot(y, eye), -dot(z, eye), 1];
}
