/* Programs of the graphics card. All lengths are those of the model, moved so that the middle of what is seen is near
   the origin. */

/* Corners of an instance: scaled, drawn out, turned and moved. */
const PLACED = `#version 300 es
precision highp float;
in vec3 p, n, e;
in vec3 place; in vec4 q; in vec4 scale; in vec4 tint;
vec3 turned(vec3 v) { vec3 t = 2. * cross(q.xyz, v); return v + q.w * t + cross(q.xyz, t); }
vec3 world() { return place + turned(p * scale.xyz + e * scale.w); }`;

const SOLID_VERTEX = PLACED + `
uniform mat4 view, light;
out vec3 x, normal; out vec4 seen, ink;
void main() {
  x = world();
  vec3 s = max(scale.xyz, vec3(1e-6 * max(scale.x, max(scale.y, scale.z))));
  normal = turned(n / s);
  seen = light * vec4(x, 1.);
  ink = tint;
  gl_Position = view * vec4(x, 1.);
}`;

/* Nine looks at the map of the light; outside of it nothing is in shadow. */
const LIT = `#version 300 es
precision highp float; precision highp sampler2DShadow;
uniform sampler2DShadow map;
uniform vec3 eye, sun, sky, ground;
uniform float shadow, texel;
float lit(vec4 s, float bias) {
  vec3 at = s.xyz / s.w * .5 + .5;
  if (shadow < .5 || any(lessThan(at, vec3(0.))) || any(greaterThan(at, vec3(1.)))) return 1.;
  float sum = 0.;
  for (int i = -1; i <= 1; i++) for (int j = -1; j <= 1; j++)
    sum += texture(map, vec3(at.xy + vec2(i, j) * 1.2 * texel, at.z - bias));
  return sum / 9.;
}`;

const SOLID_FRAGMENT = LIT + `
in vec3 x, normal; in vec4 seen, ink;
uniform float plain;
out vec4 colour;
void main() {
  vec3 n = normalize(normal), v = normalize(eye - x);
  if (dot(n, v) < 0.) n = -n;
  float direct = max(dot(n, sun), 0.) * lit(seen, .004);
  vec3 around = mix(ground, sky, n.z * .5 + .5);
  float rim = pow(1. - max(dot(n, v), 0.), 3.);
  float gloss = pow(max(dot(n, normalize(sun + v)), 0.), 40.) * .14 * direct;
  vec3 c = ink.rgb * (around + .56 * direct) * (1. - .18 * rim) + gloss;
  colour = vec4(mix(c, ink.rgb, plain), ink.a);
}`;

const SHADE_VERTEX = PLACED + `
uniform mat4 view;
void main() { gl_Position = view * vec4(world(), 1.); }`;
const SHADE_FRAGMENT = `#version 300 es
precision highp float;
void main() {}`;

const EDGE_VERTEX = `#version 300 es
precision highp float;
in vec3 p, e;
in vec3 place; in vec4 q; in vec4 scale; in vec4 tint;
uniform mat4 view; uniform float push;
vec3 turned(vec3 v) { vec3 t = 2. * cross(q.xyz, v); return v + q.w * t + cross(q.xyz, t); }
void main() {
  gl_Position = view * vec4(place + turned(p * scale.xyz + e * scale.w), 1.);
  gl_Position.z -= push * gl_Position.w;
}`;
const EDGE_FRAGMENT = `#version 300 es
precision highp float;
uniform vec4 ink; out vec4 colour;
void main() { colour = ink; }`;

/* A plane with a grid of two widths, which fades away from the middle and where lines would be too close. */
const FLOOR_VERTEX = `#version 300 es
precision highp float;
in vec3 p;
uniform mat4 view, light; uniform vec4 q; uniform vec3 place; uniform vec2 shift; uniform float span;
out vec3 x; out vec2 at; out vec4 seen;
vec3 turned(vec3 v) { vec3 t = 2. * cross(q.xyz, v); return v + q.w * t + cross(q.xyz, t); }
void main() {
  at = shift + p.xy * span;
  x = place + turned(vec3(at, 0.));
  seen = light * vec4(x, 1.);
  gl_Position = view * vec4(x, 1.);
}`;
const FLOOR_FRAGMENT = LIT + `
in vec3 x; in vec2 at; in vec4 seen;
uniform vec3 base, line; uniform vec2 middle, shift, origin; uniform float reach, span, cell, dim, solid, under, tone;
out vec4 colour;
float grid(vec2 p, float width) {
  vec2 f = fwidth(p), d = abs(fract(p - .5) - .5) / f;
  return (1. - min(min(d.x, d.y) / width, 1.)) * (1. - smoothstep(.25, .6, max(f.x, f.y)));
}
void main() {
  float far = smoothstep(.45, 1., max(length(at - middle) / reach, length(at - shift) / span));
  float s = mix(dim, 1., lit(seen, .0012));
  vec2 p = (at - origin) / cell;
  float lines = max(.35 * grid(p * 10., 1.), .85 * grid(p, 1.25));
  vec3 c = mix(base * s * tone, line * tone, lines);
  float a = mix(max(lines, 1. - s), 1., solid) * (1. - far) * under;
  if (a < .02) discard;
  colour = vec4(c * a, a);
}`;

/* Lines of a width in pixels, between two points; they fade from end to end. */
const RIBBON_VERTEX = `#version 300 es
precision highp float;
in vec2 p;
in vec3 from, to; in vec4 tint; in vec3 width;
uniform mat4 view; uniform vec2 pixel;
out vec4 ink;
void main() {
  vec4 a = view * vec4(from, 1.), b = view * vec4(to, 1.);
  vec2 d = (b.xy / b.w - a.xy / a.w) / pixel;
  d = length(d) > 1e-4 ? normalize(d) : vec2(1., 0.);
  gl_Position = mix(a, b, p.x);
  gl_Position.xy += vec2(-d.y, d.x) * p.y * width.x * pixel * gl_Position.w;
  float alpha = tint.a * mix(width.y, width.z, p.x);
  ink = vec4(tint.rgb * alpha, alpha);
}`;
const RIBBON_FRAGMENT = `#version 300 es
precision highp float;
in vec4 ink; out vec4 colour;
void main() { colour = ink; }`;
