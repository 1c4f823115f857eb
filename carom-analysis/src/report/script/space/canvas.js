/* Programs and buffers of WebGL2. */

const PLACES = ['p', 'n', 'e', 'place', 'q', 'scale', 'tint', 'from', 'to', 'width'];

function makeProgram(gl, vertex, fragment) {
  const program = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  PLACES.forEach((name, i) => gl.bindAttribLocation(program, i, name));
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) {
    const logs = gl.getAttachedShaders(program).map((shader) => gl.getShaderInfoLog(shader));
    throw new Error(`a program of the graphics card: ${gl.getProgramInfoLog(program)} ${logs.join(' ')}`);
  }
  const at = {};
  for (let i = 0; i < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); i++) {
    const {name} = gl.getActiveUniform(program, i);
    at[name] = gl.getUniformLocation(program, name);
  }
  return {program, at};
}

/* Sets numbers by name: arrays of 16 are matrices. */
function setAll(gl, {program, at}, values) {
  gl.useProgram(program);
  for (const [name, value] of Object.entries(values)) {
    if (!(name in at)) continue;
    if (name === 'map') gl.uniform1i(at[name], value);
    else if (typeof value === 'number') gl.uniform1f(at[name], value);
    else if (value.length === 16) gl.uniformMatrix4fv(at[name], false, value);
    else gl[`uniform${value.length}fv`](at[name], value);
  }
}

/* Attributes of a buffer: [name, numbers] one after the other; instanced ones advance once per instance. */
function attributes(gl, layout, instanced) {
  const stride = 4 * layout.reduce((sum, [, count]) => sum + count, 0);
  let offset = 0;
  for (const [name, count] of layout) {
    const at = PLACES.indexOf(name);
    gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(at, count, gl.FLOAT, false, stride, offset);
    gl.vertexAttribDivisor(at, instanced ? 1 : 0);
    offset += 4 * count;
  }
}

const INSTANCE = [['place', 3], ['q', 4], ['scale', 4], ['tint', 4]];
const INSTANCE_SIZE = 15;

/* Triangles and edges of a shell with room for instances. */
class Batch {
  constructor(gl, shell) {
    this.gl = gl;
    this.data = new Float32Array(0);
    this.count = 0;
    this.buffer = gl.createBuffer();
    const filled = (target, numbers) => {
      gl.bindBuffer(target, gl.createBuffer());
      gl.bufferData(target, numbers, gl.STATIC_DRAW);
    };
    this.faces = gl.createVertexArray();
    gl.bindVertexArray(this.faces);
    filled(gl.ARRAY_BUFFER, new Float32Array(shell.corners));
    attributes(gl, [['p', 3], ['n', 3], ['e', 3]], false);
    filled(gl.ELEMENT_ARRAY_BUFFER, new Uint32Array(shell.triangles));
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    attributes(gl, INSTANCE, true);
    this.indices = shell.triangles.length;
    this.lines = gl.createVertexArray();
    gl.bindVertexArray(this.lines);
    filled(gl.ARRAY_BUFFER, new Float32Array(shell.edges));
    attributes(gl, [['p', 3], ['e', 3]], false);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    attributes(gl, INSTANCE, true);
    this.points = shell.edges.length / 6;
    gl.bindVertexArray(null);
  }

  clear() {
    this.count = 0;
  }

  add([x, y, z], q, scale, out, [r, g, b], alpha = 1) {
    if ((this.count + 1) * INSTANCE_SIZE > this.data.length) {
      const wider = new Float32Array(Math.max(16 * INSTANCE_SIZE, 2 * this.data.length));
      wider.set(this.data);
      this.data = wider;
    }
    const d = this.data;
    let at = this.count++ * INSTANCE_SIZE;
    d[at++] = x; d[at++] = y; d[at++] = z;
    d[at++] = q[1]; d[at++] = q[2]; d[at++] = q[3]; d[at++] = q[0];
    d[at++] = scale[0]; d[at++] = scale[1]; d[at++] = scale[2]; d[at++] = out;
    d[at++] = r; d[at++] = g; d[at++] = b; d[at++] = alpha;
  }

  upload() {
    const {gl} = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, this.data.subarray(0, this.count * INSTANCE_SIZE), gl.DYNAMIC_DRAW);
  }

  drawFaces() {
    if (!this.count) return;
    this.gl.bindVertexArray(this.faces);
    this.gl.drawElementsInstanced(this.gl.TRIANGLES, this.indices, this.gl.UNSIGNED_INT, 0, this.count);
  }

  drawEdges() {
    if (!this.count || !this.points) return;
    this.gl.bindVertexArray(this.lines);
    this.gl.drawArraysInstanced(this.gl.LINES, 0, this.points, this.count);
  }
}

/* Lines of a width in pixels. */
class Ribbons {
  constructor(gl) {
    this.gl = gl;
    this.numbers = [];
    this.array = gl.createVertexArray();
    gl.bindVertexArray(this.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([0, -1, 1, -1, 0, 1, 1, 1]), gl.STATIC_DRAW);
    attributes(gl, [['p', 2]], false);
    this.buffer = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    attributes(gl, [['from', 3], ['to', 3], ['tint', 4], ['width', 3]], true);
    gl.bindVertexArray(null);
  }

  clear() {
    this.numbers.length = 0;
  }

  add(from, to, [r, g, b], width, start = 1, end = 1) {
    this.numbers.push(...from, ...to, r, g, b, 1, width / 2, start, end);
  }

  draw() {
    const {gl} = this;
    if (!this.numbers.length) return;
    gl.bindVertexArray(this.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(this.numbers), gl.DYNAMIC_DRAW);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, this.numbers.length / 13);
  }
}
