/* Numbers for people: few digits, SI prefixes, a true minus sign. */

const minus = (text) => text.replace(/^-/, '\u2212').replace(/e-/, 'e\u2212').replace(/e\+/, 'e');

/* At most `digits` significant digits. */
function num(x, digits = 5) {
  if (x == null || Number.isNaN(x)) return '\u2013';
  if (x === 0) return '0';
  const size = Math.abs(x);
  if (size >= 1e6 || size < 1e-4) {
    return minus(x.toExponential(Math.min(3, digits - 1)).replace(/\.?0+e/, 'e'));
  }
  return minus(String(Number(x.toPrecision(digits))));
}

/* A fixed number of decimals, without a negative zero. */
const fixed = (x, decimals) => minus((Math.abs(x) < 0.5 * 10 ** -decimals ? 0 : x).toFixed(decimals));

const grouped = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, '\u2009');

const PREFIXES = [[1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, ''], [1e-3, 'm'],
  [1e-6, '\u00b5'], [1e-9, 'n'], [1e-12, 'p']];
const PREFIXED = new Set(['m', 's', 'N', 'J', 'W', 'V', 'A', 'Pa', 'N s', 'm/s', 'F', 'H', 'C', 'Wb', 'Hz']);

/* Factor and unit for values up to `largest`: [1e-3, 'mm']. */
function scaleFor(unit, largest) {
  if (!PREFIXED.has(unit) || !(largest > 0)) return [1, unit];
  // 0.4 m reads better than 400 mm, and 1 mm than 999.99 \u00b5m
  for (const [factor, prefix] of PREFIXES) {
    if (largest >= 0.9995 * factor * (factor === 1 && unit[0] === 'm' ? 0.1 : 1)) return [factor, prefix + unit];
  }
  return [1, unit];
}

/* A single value with its unit: ['2.52', 'mJ']. */
function si(x, unit, digits = 4) {
  const [factor, scaled] = scaleFor(unit, Math.abs(x));
  return [num(x / factor, digits), scaled];
}
