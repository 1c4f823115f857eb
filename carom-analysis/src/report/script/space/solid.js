/* Solids of size one. A corner is p × scale + e × out: with p, e and the normal n one set of triangles serves all
   sizes of a kind, drawn out where a size is not a scale (capsules, rings, slots). Edges show form and turn. */

/* Far away a solid has few pixels: it is drawn with fewer corners. */
const FINE = [48, 24], COARSE = [12, 6];

class Shell {
  constructor() {
    this.corners = [];
    this.triangles = [];
    this.edges = [];
  }

  corner(p, n, e = [0, 0, 0]) {
    this.corners.push(...p, ...n, ...e);
    return this.corners.length / 9 - 1;
  }

  quad(a, b, c, d) {
    this.triangles.push(a, b, c, a, c, d);
  }

  edge(p, q, e = [0, 0, 0], f = e) {
    this.edges.push(...p, ...e, ...q, ...f);
  }
}

/* A profile of [r, z, n_r, n_z, e_r, e_z] turned about z; rows of the same point but another normal are not joined. */
function lathe(profile, around, {rims = [], meridians = 0} = {}) {
  const shell = new Shell();
  const at = (i) => [Math.cos(2 * Math.PI * i / around), Math.sin(2 * Math.PI * i / around)];
  const m = profile.length;
  for (let i = 0; i <= around; i++) {
    const [c, s] = at(i);
    for (const [r, z, a, b, er = 0, ez = 0] of profile) {
      shell.corner([r * c, r * s, z], [a * c, a * s, b], [er * c, er * s, ez]);
    }
  }
  for (let i = 0; i < around; i++) {
    for (let k = 0; k + 1 < m; k++) {
      const [p, q] = [profile[k], profile[k + 1]];
      if (p[0] === q[0] && p[1] === q[1] && (p[5] ?? 0) === (q[5] ?? 0)) continue;
      shell.quad(i * m + k, (i + 1) * m + k, (i + 1) * m + k + 1, i * m + k + 1);
    }
    const [c, s] = at(i), [d, t] = at(i + 1);
    for (const [r, z, er = 0, ez = 0] of rims) {
      shell.edge([r * c, r * s, z], [r * d, r * t, z], [er * c, er * s, ez], [er * d, er * t, ez]);
    }
  }
  for (let i = 0; i < meridians; i++) {
    const [c, s] = at(Math.round(i * around / meridians));
    for (let k = 0; k + 1 < m; k++) {
      const [[r, z, , , , e = 0], [u, w, , , , f = 0]] = [profile[k], profile[k + 1]];
      shell.edge([r * c, r * s, z], [u * c, u * s, w], [0, 0, e], [0, 0, f]);
    }
  }
  return shell;
}

/* An arc of the unit circle, as a profile; `e` draws it out along the axis. */
const arc = (from, to, count, e = 0) => Array.from({length: count + 1}, (_, i) => {
  const w = from + (to - from) * i / count, [c, s] = [Math.cos(w), Math.sin(w)];
  return [Math.abs(c) < 1e-12 ? 0 : c, s, c, s, 0, e];
});

const FLAT_ENDS = [[0, -1, 0, -1], [1, -1, 0, -1], [1, -1, 1, 0], [1, 1, 1, 0], [1, 1, 0, 1], [0, 1, 0, 1]];

function blockShell() {
  const shell = new Shell();
  for (let axis = 0; axis < 3; axis++) {
    const [u, w] = [(axis + 1) % 3, (axis + 2) % 3];
    const place = (x, a, b) => { const p = [0, 0, 0]; [p[axis], p[u], p[w]] = [x, a, b]; return p; };
    for (const side of [1, -1]) {
      const corners = [[-1, -1], [1, -1], [1, 1], [-1, 1]];
      shell.quad(...corners.map(([a, b]) => shell.corner(place(side, a * side, b), place(side, 0, 0))));
    }
    for (const a of [-1, 1]) for (const b of [-1, 1]) shell.edge(place(-1, a, b), place(1, a, b));
  }
  return shell;
}

function sheetShell() {
  const shell = new Shell(), corners = [[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]];
  shell.quad(...corners.map((p) => shell.corner(p, [0, 0, 1])));
  corners.forEach((p, i) => shell.edge(p, corners[(i + 1) % 4]));
  return shell;
}

/* A long hole along x: half circles that are drawn out to both sides. */
function slotShell(around) {
  const shell = new Shell(), half = around / 2, all = [];
  for (let i = 0; i <= around + 1; i++) {
    const right = i <= half, w = Math.PI * ((right ? i : i - 1) / half - 0.5);
    all.push([[Math.cos(w), Math.sin(w)], [right ? 1 : -1, 0, 0]]);
  }
  all.push(all[0]);
  for (const [[c, s], e] of all) for (const z of [-1, 1]) shell.corner([c, s, z], [c, s, 0], e);
  for (let i = 0; i + 1 < all.length; i++) {
    shell.quad(2 * i, 2 * i + 2, 2 * i + 3, 2 * i + 1);
    for (const z of [-1, 1]) shell.edge([...all[i][0], z], [...all[i + 1][0], z], all[i][1], all[i + 1][1]);
  }
  return shell;
}

/* Triangles as they are, with flat normals; edges where faces meet at an angle, or where there is but one. */
function meshShell([xs, ys, zs, as, bs, cs]) {
  const shell = new Shell(), sides = new Map();
  for (let t = 0; t < as.length; t++) {
    const corners = [as[t], bs[t], cs[t]].map(Math.round);
    const [p, q, r] = corners.map((i) => [xs[i], ys[i], zs[i]]);
    const n = unit(cross(plus(q, p, -1), plus(r, p, -1)));
    // files have triangles without area
    if (!n.every(Number.isFinite)) continue;
    shell.triangles.push(...[p, q, r].map((at) => shell.corner(at, n)));
    [[0, 1, p, q], [1, 2, q, r], [2, 0, r, p]].forEach(([i, j, a, b]) => {
      const key = [corners[i], corners[j]].sort((a, b) => a - b).join();
      const other = sides.get(key);
      if (!other) sides.set(key, [n, a, b]);
      else if (dot(other[0], n) > 0.9) sides.delete(key);
    });
  }
  for (const [, a, b] of sides.values()) shell.edge(a, b);
  return shell;
}

/* The shells by kind: corners around, corners from pole to pole. Those of hollow things are seen from inside. */
const SHELLS = {
  sphere: (n, m) => lathe(arc(-Math.PI / 2, Math.PI / 2, m), n, {rims: [[1, 0]], meridians: 4}),
  block: blockShell,
  cylinder: (n) => lathe(FLAT_ENDS, n, {rims: [[1, -1], [1, 1]], meridians: 2}),
  capsule: (n, m) => lathe([...arc(-Math.PI / 2, 0, m / 2, -1), ...arc(0, Math.PI / 2, m / 2, 1)], n,
    {rims: [[1, 0, 0, -1], [1, 0, 0, 1]], meridians: 2}),
  torus: (n, m) => lathe(Array.from({length: m + 1}, (_, i) => {
    const w = 2 * Math.PI * i / m, [c, s] = [Math.cos(w), Math.sin(w)];
    return [c, s, c, s, 1, 0];
  }), n, {rims: [[1, 0, 1, 0]]}),
  sheet: sheetShell,
  bore: (n) => lathe([[1, -1, 1, 0], [1, 1, 1, 0]], n, {rims: [[1, -1], [1, 1]]}),
  socket: (n, m) => lathe(arc(-Math.PI / 2, Math.PI / 2, m), n, {rims: [[1, 0]]}),
  slot: (n) => slotShell(n),
  arrow: (n) => lathe([[0, 0, 0, -1], [0.4, 0, 0, -1], [0.4, 0, 1, 0], [0.4, 0, 1, 0, 0, 1], [1, 0, 0, -1, 0, 1],
    [1, 0, 0.95, 0.3, 0, 1], [0, 3.2, 0.95, 0.3, 0, 1]], n),
};
const HOLLOW = new Set(['bore', 'socket', 'slot']);
