/* The packed block becomes columns; store.rs writes what is read here and says how exact it is. */

async function inflate(text) {
  const packed = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/* Reads bytes from the start; `at` moves on. */
class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  /* Seven bits per byte, the lowest first. Sums, not shifts: integers have up to 50 bits. */
  varint() {
    const bytes = this.bytes;
    let x = 0, factor = 1, byte;
    do {
      byte = bytes[this.at++];
      x += (byte & 127) * factor;
      factor *= 128;
    } while (byte > 127);
    return x;
  }

  take(length) {
    this.at += length;
    return this.bytes.slice(this.at - length, this.at).buffer;
  }
}

function readColumn(reader, coding) {
  if (coding.kind === 'double') return new Float64Array(reader.take(8 * coding.n));
  if (coding.kind === 'single') return Float64Array.from(new Float32Array(reader.take(4 * coding.n)));
  return readIntegers(reader, coding);
}

function readIntegers(reader, {n, e = 0, order = 0}) {
  const gaps = Array.from({length: reader.varint()}, () => [reader.varint(), reader.varint()]);
  const values = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    const x = reader.varint();
    values[i] = x % 2 ? -(x + 1) / 2 : x / 2;
  }
  for (let k = 0; k < order; k++) for (let i = 1; i < n; i++) values[i] += values[i - 1];
  const unit = 2 ** e;
  for (let i = 0; i < n; i++) values[i] *= unit;
  let start = 0;
  for (const [since, length] of gaps) {
    start += since;
    values.fill(NaN, start, start + length);
    start += length;
  }
  return values;
}

async function decode(meta) {
  const reader = new Reader(await inflate($('#data').textContent));
  return meta.columns.map((coding) => readColumn(reader, coding));
}
