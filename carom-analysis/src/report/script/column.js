/* A curve's numbers with a pyramid of minima and maxima, so that any zoom shows what is in the data. */

const BLOCK = 8;

/* First place in sorted `a` that is not below x; first that is above x. */
function lower(a, x) {
  let i = 0, j = a.length;
  while (i < j) {
    const m = (i + j) >> 1;
    if (a[m] < x) i = m + 1; else j = m;
  }
  return i;
}
function upper(a, x) {
  let i = 0, j = a.length;
  while (i < j) {
    const m = (i + j) >> 1;
    if (a[m] <= x) i = m + 1; else j = m;
  }
  return i;
}

class Column {
  constructor(values) {
    this.v = values;
    this.levels = null;
  }

  /* Blocks of 8, of 64, ...: built when first asked for. NaN is skipped by the comparisons. */
  build() {
    this.levels = [];
    let [low, high] = [this.v, this.v];
    while (low.length > 2 * BLOCK) {
      const count = Math.ceil(low.length / BLOCK);
      const [a, b] = [new Float64Array(count).fill(Infinity), new Float64Array(count).fill(-Infinity)];
      for (let i = 0; i < low.length; i++) {
        const k = (i / BLOCK) | 0;
        if (low[i] < a[k]) a[k] = low[i];
        if (high[i] > b[k]) b[k] = high[i];
      }
      this.levels.push([a, b]);
      [low, high] = [a, b];
    }
  }

  /* Smallest and largest finite value of rows i to j (without j). */
  range(i, j) {
    if (!this.levels) this.build();
    let [low, high] = [Infinity, -Infinity];
    const see = ([a, b], k) => {
      if (a[k] < low) low = a[k];
      if (b[k] > high) high = b[k];
    };
    let level = [this.v, this.v], depth = 0;
    while (i < j) {
      if (depth >= this.levels.length || j - i < 2 * BLOCK) {
        while (i < j) see(level, i++);
        break;
      }
      // ends that are no whole blocks, then the blocks themselves
      while (i % BLOCK) see(level, i++);
      while (j % BLOCK) see(level, --j);
      level = this.levels[depth++];
      [i, j] = [i / BLOCK, j / BLOCK];
    }
    return [low, high];
  }

  /* Smallest positive value of rows i to j, for logarithmic axes. */
  positive(i, j) {
    const [low] = this.range(i, j);
    if (low > 0) return low;
    let least = Infinity;
    for (let k = i; k < j; k++) if (this.v[k] > 0 && this.v[k] < least) least = this.v[k];
    return least;
  }
}

/* Equal times: rows before and after an impact have the same bits. */
const isJump = (t, i) => i > 0 && t[i] === t[i - 1];

/* A curve of the page: x, y, style. Sorted curves are functions of x; others are paths or clouds. */
class Curve {
  constructor(data, columns, thinned) {
    Object.assign(this, data);
    [this.X, this.Y] = [columns[data.x], columns[data.y]];
    this.block = thinned[data.y] || 1;
    this.markers = data.style === 'markers' || data.style === 'lines-and-markers';
    this.joined = data.style !== 'markers' && data.style !== 'stems';
  }

  get sorted() {
    if (this.isSorted === undefined) {
      const x = this.X.v;
      this.isSorted = true;
      for (let i = 1; i < x.length && this.isSorted; i++) if (!(x[i] >= x[i - 1])) this.isSorted = false;
    }
    return this.isSorted;
  }

  /* Rows after a jump, found once. */
  jumpRows() {
    if (!this.jumpList) {
      const [t, v] = [this.X.v, this.Y.v];
      this.jumpList = [];
      if (this.jumps) for (let i = 1; i < t.length; i++) if (isJump(t, i) && v[i] !== v[i - 1]) this.jumpList.push(i);
    }
    return this.jumpList;
  }

  /* Rows that matter between two abscissae: one more at each side, for the lines that leave. */
  rows(a, b) {
    const n = this.X.v.length;
    if (!this.sorted) return [0, n];
    return [Math.max(0, lower(this.X.v, a) - 1), Math.min(n, upper(this.X.v, b) + 1)];
  }

  /* Value at x; at a jump the values before and after; none outside. */
  at(x) {
    const [t, v] = [this.X.v, this.Y.v];
    const slack = 1e-12 * (t[t.length - 1] - t[0]);
    const i = upper(t, x + slack) - 1;
    if (i < 0 || (i === t.length - 1 && x > t[i] + slack)) return [];
    if (this.jumps && isJump(t, i) && Math.abs(t[i] - x) <= slack) {
      let first = i - 1;
      while (isJump(t, first)) first--;
      return [v[first], v[i]];
    }
    if (i === t.length - 1 || Math.abs(t[i] - x) <= slack) return [v[i]];
    if (this.style === 'steps') return [v[i]];
    if (this.style === 'means') return [v[i + 1]];
    const width = t[i + 1] - t[i];
    return [width > 0 ? v[i] + (v[i + 1] - v[i]) * (x - t[i]) / width : v[i + 1]];
  }

  /* The last point at or before x, for stems. */
  last(x) {
    const i = upper(this.X.v, x + 1e-12 * Math.abs(x)) - 1;
    return i < 0 ? null : [this.X.v[i], this.Y.v[i]];
  }
}
