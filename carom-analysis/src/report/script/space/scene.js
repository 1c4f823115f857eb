/* What there is: bodies with solids, where they are at a time, how far they get. All is turned so that up is z. */

/* Balls that a part lies between, in axes of its body: none of what has no end; of a hole its middle counts. */
function ballsOf(part) {
  const {kind, scale: [a, b, c], out} = part;
  const put = (p, r) => [plus(part.at, rotate(part.turn, p)), r];
  const corners = (x, y, z) => [0, 1, 2, 3, 4, 5, 6, 7].map((k) =>
    put([k & 1 ? x : -x, k & 2 ? y : -y, k & 4 ? z : -z], 0));
  switch (kind) {
    case 'plane': return [];
    case 'bore': return [put([0, 0, 0], a)];
    case 'capsule': return [put([0, 0, out], a), put([0, 0, -out], a)];
    case 'torus': return corners(a + out, a + out, c);
    case 'slot': return corners(a + out, b, c);
    case 'mesh': {
      const least = (x) => x.reduce((a, b) => Math.min(a, b)), most = (x) => x.reduce((a, b) => Math.max(a, b));
      const points = part.points.slice(0, 3), [low, high] = [points.map(least), points.map(most)];
      return [0, 1, 2, 3, 4, 5, 6, 7].map((k) => put([0, 1, 2].map((i) => (k >> i & 1 ? high : low)[i]), 0));
    }
    case 'sphere': return a === b && b === c ? [put([0, 0, 0], a)] : corners(a, b, c);
    default: return corners(a, b, c);
  }
}

class SpaceScene {
  constructor(data, columns) {
    this.lift = between(unit(data.up), [0, 0, 1]);
    this.times = columns[data.times].v;
    const n = this.times.length;
    const poses = data.stacked ? (k) => data.poses[0].map((column) => columns[column].v.subarray(k * n, (k + 1) * n))
      : (k) => data.poses[k].map((column) => columns[column].v);
    this.parts = data.parts.map((part) => ({...part, points: part.points?.map((column) => columns[column].v)}));
    this.parts.forEach((part, i) => {
      part.number = i;
      part.radius = Math.max(...part.scale) + part.out;
      if (part.points) part.radius = Math.max(...ballsOf(part).map(([at]) => norm(plus(at, part.at, -1))));
    });
    let moving = 0;
    const own = (parts) => parts.map((part) => this.parts[part]);
    this.bodies = data.bodies.map(([name, colour, moves, parts, trail], number) =>
      ({name, colour, number, parts: own(parts), trail, pose: moves ? poses(moving++) : null}));
    this.joints = data.joints.map(([name, kind, [body, at], parts]) =>
      ({name, kind, body: this.bodies[body], at, parts: own(parts)}));
    this.links = data.links.map((ends) => ends.map(([body, at]) => ({body: this.bodies[body], at})));
    this.thinned = Math.max(1, ...data.poses.flat().map((column) => meta.thinned[column] ?? 1));
    const planes = (body) => body.parts.filter((part) => part.kind === 'plane').map((part) => ({body, part}));
    this.planes = this.bodies.flatMap(planes);
    this.still = {p: [0, 0, 0], q: this.lift};
    this.measure();
  }

  /* Place and turn of a body; nothing where its numbers end. */
  pose(body, [i, s]) {
    if (!body.pose) return this.still;
    const c = body.pose, at = (k) => s > 0 ? c[k][i] + (c[k][i + 1] - c[k][i]) * s : c[k][i];
    const p = [at(0), at(1), at(2)];
    let q = [c[3][i], c[4][i], c[5][i], c[6][i]];
    if (s > 0) q = slerp(q, [c[3][i + 1], c[4][i + 1], c[5][i + 1], c[6][i + 1]], s);
    if (!Number.isFinite(p[0] + p[1] + p[2] + q[0] + q[1] + q[2] + q[3])) return null;
    return {p: rotate(this.lift, p), q: multiply(this.lift, q)};
  }

  /* A point of a body. */
  point(body, at, frame) {
    const pose = this.pose(body, frame);
    return pose && plus(pose.p, rotate(pose.q, at));
  }

  /* A point or a vector of the space as it is drawn. */
  lifted(v) {
    return rotate(this.lift, v);
  }

  frame(t) {
    return frameAt(this.times, t);
  }

  /* The box that holds everything at all times, without what has no end. */
  measure() {
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    const include = (p, r) => {
      for (let k = 0; k < 3; k++) {
        if (p[k] - r < low[k]) low[k] = p[k] - r;
        if (p[k] + r > high[k]) high[k] = p[k] + r;
      }
    };
    // bounds of a long run are looked for at some of its frames
    const step = Math.max(1, Math.floor(this.times.length / 1000));
    for (const body of this.bodies) {
      body.balls = body.parts.flatMap(ballsOf);
      body.radius = Math.max(0, ...body.balls.map(([at, r]) => norm(at) + r));
      for (let i = 0; i < (body.pose ? this.times.length : 1); i += step) {
        const pose = this.pose(body, [i, 0]);
        if (pose) for (const [at, r] of body.balls) include(plus(pose.p, rotate(pose.q, at)), r);
      }
    }
    const fixed = this.bodies.filter((body) => !body.pose).flatMap((body) => body.parts);
    for (const part of new Set(fixed.filter((part) => part.kind === 'bore'))) this.lengthen(part);
    for (const joint of this.joints) {
      const at = this.times.length ? this.point(joint.body, joint.at, [0, 0]) : null;
      if (at) include(at, 0);
    }
    if (!(low[0] <= high[0])) [low, high].forEach((box, side) => box.fill(side ? 1 : -1));
    const size = Math.max(...high.map((x, k) => x - low[k])) || 1;
    this.box = {low: low.map((x) => x - 1e-3 * size), high: high.map((x) => x + 1e-3 * size)};
    this.reach = Math.hypot(...high.map((x, k) => x - low[k])) / 2 || 1;
    this.middle = low.map((x, k) => (x + high[k]) / 2);
  }

  /* A hole in the ground has no end: it is drawn as far as bodies get that stay in it. */
  lengthen(part) {
    const axis = rotate(this.lift, rotate(part.turn, [0, 0, 1])), middle = rotate(this.lift, part.at);
    let [low, high] = [Infinity, -Infinity];
    for (const body of this.bodies.filter((body) => body.pose)) {
      const along = [], step = Math.max(1, Math.floor(this.times.length / 500));
      for (let i = 0; i < this.times.length; i += step) {
        const pose = this.pose(body, [i, 0]), d = pose && plus(pose.p, middle, -1), s = pose && dot(d, axis);
        if (!pose || norm(plus(d, axis, -s)) > part.scale[0]) break;
        along.push(s);
      }
      if (along.length < Math.ceil(this.times.length / step)) continue;
      for (const s of along) [low, high] = [Math.min(low, s - body.radius), Math.max(high, s + body.radius)];
    }
    if (!(low <= high)) return;
    part.at = plus(part.at, rotate(part.turn, [0, 0, 1]), (low + high) / 2);
    part.scale = [part.scale[0], part.scale[1], (high - low) / 2 + part.scale[0]];
  }

  /* Planes, each with its turn and place; a grid below everything where no plane lies below. */
  floors(frame) {
    const floors = [];
    for (const {body, part} of this.planes) {
      const pose = this.pose(body, frame);
      if (pose) floors.push({p: plus(pose.p, rotate(pose.q, part.at)), q: multiply(pose.q, part.turn), solid: 1});
    }
    if (!floors.some(({q}) => rotate(q, [0, 0, 1])[2] > 0.3)) {
      floors.push({p: [0, 0, this.box.low[2]], q: [1, 0, 0, 0], solid: 0});
    }
    return floors;
  }
}
