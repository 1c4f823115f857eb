/* Reactions at a time: impulses of the latest impacts, fading while one watches, and forces of contacts that last. */

const MOST_ARROWS = 400;

class Pushes {
  constructor(data, columns, scene) {
    const values = (column) => columns[column].v;
    this.scene = scene;
    [this.impactTimes, ...this.impacts] = data.impacts.map(values);
    this.forceTimes = values(data.forces.times);
    this.starts = values(data.forces.starts);
    this.forces = data.forces.columns.map(values);
    this.mostImpulse = this.most(this.impacts);
    this.mostForce = this.most(this.forces);
  }

  get any() {
    return this.impactTimes.length > 0 || this.forces[0].length > 0;
  }

  most([, , , , x, y, z]) {
    let most = 0;
    for (let i = 0; i < x.length; i++) most = Math.max(most, Math.hypot(x[i], y[i], z[i]));
    return most;
  }

  push([contact, x, y, z, a, b, c], i) {
    const at = this.scene.lifted([x[i], y[i], z[i]]), vector = this.scene.lifted([a[i], b[i], c[i]]);
    return {contact: contact[i], at, vector, size: norm(vector)};
  }

  /* The latest impulse of each contact, with the part of its time that has gone. */
  impulses(t) {
    const found = [], seen = new Set();
    const fade = FADE * time.speed;
    for (let i = upper(this.impactTimes, t + time.slack) - 1; i >= 0 && found.length < MOST_ARROWS; i--) {
      const age = Math.max(0, t - this.impactTimes[i]) / fade;
      if (age >= 1) break;
      const push = this.push(this.impacts, i);
      if (!seen.has(push.contact)) found.push({...push, age, part: push.size / (this.mostImpulse || 1)});
      seen.add(push.contact);
    }
    return found;
  }

  /* Forces hold over a step, at whose end they stand. */
  lasting(t) {
    const k = lower(this.forceTimes, t - time.slack);
    if (k >= this.forceTimes.length) return [];
    const found = [];
    const [from, to] = [Math.round(this.starts[k]), Math.round(this.starts[k + 1])];
    for (let i = from; i < Math.min(to, from + MOST_ARROWS); i++) {
      const push = this.push(this.forces, i);
      if (push.size > 0) found.push({...push, part: push.size / this.mostForce});
    }
    return found;
  }
}
