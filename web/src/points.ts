// Draws points: WebGL, or a canvas where there is none. It knows places and colours, nothing of rows' meaning.

export interface View { ox: number; oy: number; s: number; width: number; height: number }

// Rows in the order in which they are drawn, and how near they are to the eye (0 to 1): near ones are larger and fuller.
export interface Drawing { order: Uint32Array; near: Float32Array }

export interface Painter {
  kind: "webgl" | "canvas";
  places(from: Float32Array, to: Float32Array): void;
  colours(rgba: Uint8Array): void;
  draw(how: Drawing | null): void; // null: as they come, all of one size
  paint(view: View, share: number, size: number, every: number): void; // of all points, every so many-th
}

const VERTEX = `
attribute vec2 a_from; attribute vec2 a_to; attribute vec4 a_colour; attribute float a_near;
uniform vec2 u_offset; uniform vec2 u_scale; uniform float u_share;
uniform float u_size;
varying vec4 v_colour; varying float v_size;
void main() {
  vec2 place = mix(a_from, a_to, u_share);
  gl_Position = vec4(place * u_scale + u_offset, 0.0, 1.0);
  v_size = u_size * (0.6 + 0.8 * a_near);
  gl_PointSize = v_size;
  v_colour = vec4(a_colour.rgb, a_colour.a * min(1.0, 0.4 + 1.2 * a_near));
}`;
const FRAGMENT = `
precision mediump float;
varying vec4 v_colour; varying float v_size;
void main() {
  float r = length(gl_PointCoord - 0.5) * v_size, edge = 0.5 * v_size;
  float a = v_colour.a * (v_size < 3.0 ? 1.0 : 1.0 - smoothstep(edge - 1.0, edge, r));
  gl_FragColor = vec4(v_colour.rgb * a, a);
}`;

function shader(gl: WebGLRenderingContext, kind: number, source: string): WebGLShader {
  const made = gl.createShader(kind)!;
  gl.shaderSource(made, source);
  gl.compileShader(made);
  if (!gl.getShaderParameter(made, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(made) ?? "shader");
  return made;
}

function webgl(canvas: HTMLCanvasElement): Painter | null {
  const gl = canvas.getContext("webgl", { antialias: false, premultipliedAlpha: true });
  if (!gl) return null;
  const program = gl.createProgram()!;
  gl.attachShader(program, shader(gl, gl.VERTEX_SHADER, VERTEX));
  gl.attachShader(program, shader(gl, gl.FRAGMENT_SHADER, FRAGMENT));
  gl.bindAttribLocation(program, 0, "a_from"); // the first attribute should be one that is always an array
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) return null;
  gl.useProgram(program);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  const buffers = { from: gl.createBuffer(), to: gl.createBuffer(), colour: gl.createBuffer(), near: gl.createBuffer() };
  const nearAt = gl.getAttribLocation(program, "a_near");
  gl.vertexAttrib1f(nearAt, 0.5); // of maps of two dimensions
  const uniform = (name: string) => gl.getUniformLocation(program, name);
  const [offset, scale, share_, size_] = ["u_offset", "u_scale", "u_share", "u_size"].map(uniform);
  let n = 0, drawn: Uint32Array | null = null, step = 1;
  const pointers = new Map<string, (every: number) => void>();
  const indices = gl.createBuffer(), ordered = gl.getExtension("OES_element_index_uint") !== null;
  // No second copy: the same buffers are read in larger strides.
  const stride = (every: number): void => {
    if (every !== step) for (const set of pointers.values()) set(every);
    step = every;
  };
  const put = (buffer: WebGLBuffer | null, name: string, data: BufferSource, parts: number, kind: number, scaled: boolean) => {
    const at = gl.getAttribLocation(program, name);
    stride(1);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(at, parts, kind, scaled, 0, 0);
    pointers.set(name, (every) => { gl.bindBuffer(gl.ARRAY_BUFFER, buffer); gl.vertexAttribPointer(at, parts, kind, scaled, every === 1 ? 0 : every * parts * (kind === gl.FLOAT ? 4 : 1), 0); });
  };
  return {
    kind: "webgl",
    places(from, to) {
      n = to.length / 2;
      put(buffers.from, "a_from", from as BufferSource, 2, gl.FLOAT, false);
      put(buffers.to, "a_to", to as BufferSource, 2, gl.FLOAT, false);
    },
    colours(rgba) { put(buffers.colour, "a_colour", rgba as BufferSource, 4, gl.UNSIGNED_BYTE, true); },
    draw(how) {
      drawn = ordered && how ? how.order : null;
      if (how) put(buffers.near, "a_near", how.near as BufferSource, 1, gl.FLOAT, false);
      else gl.disableVertexAttribArray(nearAt);
      if (!drawn) return;
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, indices);
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, drawn as BufferSource, gl.DYNAMIC_DRAW);
    },
    paint(view, share, size, every) {
      const ratio = canvas.width / view.width;
      stride(drawn ? 1 : every);
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.uniform2f(scale, (2 * view.s) / view.width, (2 * view.s) / view.height);
      gl.uniform2f(offset, (2 * view.ox) / view.width - 1, 1 - (2 * view.oy) / view.height);
      gl.uniform1f(share_, share);
      gl.uniform1f(size_, Math.max(1, size * ratio));
      if (drawn) gl.drawElements(gl.POINTS, drawn.length, gl.UNSIGNED_INT, 0);
      else gl.drawArrays(gl.POINTS, 0, Math.floor((n - 1) / every) + 1);
    },
  };
}

// Small squares set in memory: no graphics card draws stamps faster without one.
function plain(canvas: HTMLCanvasElement): Painter {
  const context = canvas.getContext("2d")!;
  let from = new Float32Array(), to = new Float32Array(), colour = new Uint8Array(), drawn: Drawing | null = null;
  return {
    kind: "canvas",
    places(a, b) { from = new Float32Array(a); to = new Float32Array(b); },
    colours(rgba) { colour = new Uint8Array(rgba); },
    draw(how) { drawn = how; },
    paint(view, share, size, every) {
      const { width, height } = canvas, ratio = width / view.width;
      const image = new ImageData(width, height), data = image.data;
      for (let k = 0; k < to.length / 2; k += every) {
        const i = drawn ? drawn.order[k] : k, near = drawn ? drawn.near[i] : 0.5;
        const r = Math.max(0.5, (size * ratio * (0.6 + 0.8 * near)) / 2), reach = Math.ceil(r);
        if (!colour[4 * i + 3]) continue;
        const u = from[2 * i] + share * (to[2 * i] - from[2 * i]), v = from[2 * i + 1] + share * (to[2 * i + 1] - from[2 * i + 1]);
        const x = Math.round(ratio * (view.ox + view.s * u)), y = Math.round(ratio * (view.oy - view.s * v)), a = (Math.min(1, 0.4 + 1.2 * near) * colour[4 * i + 3]) / 255;
        for (let dy = -reach; dy <= reach; dy++) for (let dx = -reach; dx <= reach; dx++) {
          if (dx * dx + dy * dy > r * r || x + dx < 0 || y + dy < 0 || x + dx >= width || y + dy >= height) continue;
          const at = 4 * ((y + dy) * width + x + dx), under = data[at + 3] / 255, over = a + under * (1 - a);
          for (let k = 0; k < 3; k++) data[at + k] = (colour[4 * i + k] * a + data[at + k] * under * (1 - a)) / over;
          data[at + 3] = 255 * over;
        }
      }
      context.putImageData(image, 0, 0);
    },
  };
}

export function painter(canvas: HTMLCanvasElement): Painter {
  let found: Painter | null = null;
  try { found = webgl(canvas); } catch { found = null; }
  if (found) return found;
  // A canvas that once was asked for WebGL may refuse another context, so another one takes its place.
  const fresh = canvas.cloneNode() as HTMLCanvasElement;
  canvas.replaceWith(fresh);
  return plain(fresh);
}
