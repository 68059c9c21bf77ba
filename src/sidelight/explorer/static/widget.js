// index.html?raw
var e = class extends Error {}, t = class {
	channel;
	constructor(e) {
		this.channel = e;
	}
	async get(e) {
		return r(await this.asked("GET", e));
	}
	async numbers(e) {
		return new Float32Array(await this.asked("GET", e));
	}
	async post(e, t = {}) {
		return r(await this.asked("POST", e, t));
	}
	async postForText(e, t) {
		return n(await this.asked("POST", e, t));
	}
	async postForBytes(e, t) {
		return this.asked("POST", e, t);
	}
	watch(e) {
		return this.channel.watch(e);
	}
	async asked(t, n, i = {}) {
		let { status: a, bytes: o } = await this.channel.ask(t, n, i);
		if (a >= 200 && a < 300) return o;
		let s = `The answer was ${a}.`;
		try {
			s = r(o).error;
		} catch {}
		throw new e(s);
	}
}, n = (e) => new TextDecoder().decode(e), r = (e) => JSON.parse(n(e));
// src/dom.ts
function i(e, t = {}, ...n) {
	let r = document.createElement(e);
	for (let [e, n] of Object.entries(t)) n !== void 0 && n !== !1 && (e === "class" ? r.className = String(n) : e.startsWith("on") ? r.addEventListener(e.slice(2), n) : e.includes("-") || e === "role" || e === "for" ? r.setAttribute(e, String(n)) : r[e] = n);
	return r.append(...n), r;
}
function a(e, t, n = {}) {
	return i("button", {
		type: "button",
		onclick: t,
		...n
	}, e);
}
function o(e, ...t) {
	e.replaceChildren(...t);
}
function s(e, t, n) {
	let r = i("a", {
		href: URL.createObjectURL(new Blob([e], { type: t })),
		download: n
	});
	r.click(), setTimeout(() => URL.revokeObjectURL(r.href), 1e4);
}
function c(e) {
	if (e == null || !Number.isFinite(e)) return "–";
	let t = Math.abs(e);
	return t !== 0 && (t >= 1e5 || t < .001) ? e.toExponential(2) : String(Number(e.toPrecision(4)));
}
function l(e, t, n) {
	return !n.includes(t) || e == null || !Number.isFinite(e) ? c(e) : (/* @__PURE__ */ new Date(864e5 * e)).toISOString().slice(0, 10);
}
var u = (e, t) => `${e.toLocaleString("en")} ${t}${e === 1 ? "" : "s"}`, d = 14;
function f(e, t, n, r) {
	let [a, o] = t, s = i("canvas", {
		width: o,
		height: a,
		role: "img",
		"aria-label": r
	}), c = s.getContext("2d"), l = c.createImageData(o, a), u = n[1] - n[0] || 1;
	return e.forEach((e, t) => {
		let r = Math.round(255 * Math.min(1, Math.max(0, (e - n[0]) / u)));
		l.data.set([
			r,
			r,
			r,
			255
		], 4 * t);
	}), c.putImageData(l, 0, 0), i("figure", {}, s, i("figcaption", {}, r));
}
function p(e, t, n) {
	let r = t?.low ?? 0, a = t?.high ?? 1, o = e === void 0 || a <= r ? 0 : (e - r) / (a - r), s = i("span", { class: n });
	return s.style.width = `${100 * Math.min(1, Math.max(0, o))}%`, i("span", { class: "bar" }, s);
}
function m(e, t, n) {
	let r = i("tr", {}, i("th", { scope: "col" }, ""), i("th", { scope: "col" }, "row"), i("th", { scope: "col" }, "place")), a = e.features.slice(0, d).map((r, a) => {
		let o = e.columns.find((e) => e.feature && e.name === r);
		return i("tr", {}, i("th", {
			scope: "row",
			title: r
		}, r), i("td", {}, t ? l(t.values[a], r, e.dates) : "", p(t?.values[a], o, "row-bar")), i("td", {}, n?.values ? l(n.values[a], r, e.dates) : "", p(n?.values?.[a], o, "place-bar")));
	}), o = e.texts.map((e, r) => i("tr", {}, i("th", {
		scope: "row",
		title: e
	}, e), i("td", {}, t?.texts[r] ?? ""), i("td", {}, n?.texts?.[r] ?? "")));
	return i("table", { class: "features" }, i("thead", {}, r), i("tbody", {}, ...a, ...o));
}
function h(e, t, n, r) {
	let a = i("canvas", {
		width: 320,
		height: 110,
		class: "profile",
		role: "img",
		"aria-label": "Values of all features: bars are the row, the line is the place"
	}), o = a.getContext("2d"), s = [...t?.values ?? [], ...n?.values ?? []].filter(Number.isFinite), c = Math.min(0, ...s), l = Math.max(1e-12, ...s), u = (e) => 104 - 98 * (e - c) / (l - c || 1), d = e.features.length;
	return o.fillStyle = r.getPropertyValue("--line"), t?.values.forEach((e, t) => o.fillRect(320 * t / d, Math.min(u(0), u(e)), Math.max(1, 320 / d - .5), Math.abs(u(e) - u(0)))), o.strokeStyle = r.getPropertyValue("--accent"), o.beginPath(), n?.values?.forEach((e, t) => o[t ? "lineTo" : "moveTo"](320 * (t + .5) / d, u(e))), o.stroke(), i("figure", {}, a, i("figcaption", {}, `${d} features: bars are the row, the line is the place`));
}
function g(e, t, n, r) {
	let a = [];
	if (t) {
		let e = t.name ? `Row ${t.row}: ${t.name}` : `Row ${t.row}`;
		a.push(i("p", { class: "row-name" }, e));
		let n = Object.entries(t.columns).slice(0, 8);
		n.length && a.push(i("dl", {}, ...n.flatMap(([e, t]) => [i("dt", { title: e }, e), i("dd", {}, typeof t == "number" ? c(t) : String(t ?? "–"))])));
	}
	if (e.image) {
		let [r, o] = [e.image, e.range], s = [];
		t && s.push(f(t.values, r, o, "the row")), n?.values && s.push(f(n.values, r, o, "the place")), a.push(i("div", { class: "pictures" }, ...s));
	} else (t || n?.values) && a.push(e.features.length <= d ? m(e, t, n) : h(e, t, n, r));
	if (n && n.typicality !== null) {
		let e = n.typicality < .01 ? "No rows are near: what is decoded here is a guess." : `More usual than ${Math.round(100 * n.typicality)} % of the rows' places.`;
		a.push(i("p", { class: n.typicality < .01 ? "note warn" : "note" }, e));
	}
	return a.length || a.push(i("p", { class: "note" }, "Point at the map: the row, and what the model makes of the place.")), i("div", { class: "card" }, ...a);
}
// src/colours.ts
var _ = [
	"#0072b2",
	"#e69f00",
	"#009e73",
	"#cc79a7",
	"#d55e00",
	"#56b4e9",
	"#f0e442"
], v = [
	"#440154",
	"#482878",
	"#3e4989",
	"#31688e",
	"#26828e",
	"#1f9e89",
	"#35b779",
	"#6ece58",
	"#b5de2b",
	"#fde725"
], y = [
	"#e69d12",
	"#b7ac00",
	"#69ac3c",
	"#06976d",
	"#007a7a",
	"#006581",
	"#0053a5",
	"#5546af",
	"#8c47a8",
	"#c05296",
	"#e86777",
	"#f8834a"
], b = [
	154,
	154,
	154
], x = [
	0,
	114,
	178
];
function S(e) {
	return [
		1,
		3,
		5
	].map((t) => parseInt(e.slice(t, t + 2), 16));
}
function C(e, t, n) {
	return e.map((e, r) => Math.round(e + n * (t[r] - e)));
}
function w(e) {
	let t = S(_[e % _.length]), n = Math.floor(e / _.length) % 3;
	return n === 0 ? t : C(t, n === 1 ? [
		0,
		0,
		0
	] : [
		255,
		255,
		255
	], .42);
}
function T(e, t, n) {
	let r = n ? e.length : e.length - 1, i = Math.min(Math.max(t, 0), 1) * r, a = Math.min(Math.floor(i), r - 1);
	return C(S(e[a]), S(e[(a + 1) % e.length]), i - a);
}
function E(e, t) {
	if (e.period) return T(y, (t % e.period + e.period) % e.period / e.period, !0);
	let n = e.low ?? 0, r = e.high ?? 1;
	return T(v, r > n ? (t - n) / (r - n) : .5, !1);
}
function D(e, t, n) {
	let r = new Uint8Array(3 * n), i = [];
	if (e?.kind === "numbers") for (let t = 0; t < 256; t++) i.push(E(e, k(e, t)));
	let a = e?.levels?.map((e, t) => w(t)) ?? [];
	for (let o = 0; o < n; o++) {
		let n = x;
		if (e && t) {
			let r = t[o];
			n = e.kind === "categories" ? r < 0 ? b : a[r] : Number.isNaN(r) ? b : i[ee(e, r)];
		}
		r[3 * o] = n[0], r[3 * o + 1] = n[1], r[3 * o + 2] = n[2];
	}
	return r;
}
function O(e) {
	return e.period ? [0, e.period] : [e.low ?? 0, e.high ?? 1];
}
function k(e, t) {
	let [n, r] = O(e);
	return n + t / 255 * (r - n);
}
function ee(e, t) {
	let [n, r] = O(e), i = e.period ? (t % e.period + e.period) % e.period : t;
	return Math.min(255, Math.max(0, Math.round((r > n ? (i - n) / (r - n) : .5) * 255)));
}
var te = (e) => `rgb(${e.join(",")})`;
// src/panels.ts
function A(e, t, n) {
	let r = [];
	for (let e of t.columns.slice(0, 4)) {
		let n = e.range ? `${c(e.range[1])} (${c(e.range[0])} to ${c(e.range[2])})` : e.values.slice(0, 3).map(({ value: e, count: n }) => `${e} ${Math.round(100 * n / t.count)} %`).join(", ");
		r.push(i("p", { class: "note" }, `${e.name}: ${n}`));
	}
	if (e.image && t.here_mean && t.there_mean && r.push(i("div", { class: "pictures" }, f(t.here_mean, e.image, e.range, "mean of A"), f(t.there_mean, e.image, e.range, n ? "mean of B" : "mean of the rest"))), t.kept) return i("div", {}, ...r);
	if (!t.features.length) return i("div", {}, ...r, i("p", { class: "note" }, "There is no other row to compare with."));
	let a = [
		"",
		"A",
		n ? "B" : "rest",
		"SD apart (95 %)",
		"FDR"
	].map((e) => i("th", { scope: "col" }, e)), o = t.features.slice(0, 10).map((t) => i("tr", { class: t.fdr > .05 ? "weak" : "" }, i("th", {
		scope: "row",
		title: t.name
	}, t.name), i("td", {}, l(t.here, t.name, e.dates)), i("td", {}, l(t.there, t.name, e.dates)), i("td", {}, `${t.effect.toFixed(2)} (${t.low.toFixed(2)}, ${t.high.toFixed(2)})`), i("td", {}, t.fdr < .001 ? "< 0.001" : t.fdr.toFixed(3)))), s = t.after?.length ? ` after ${t.after.join(", ")}` : "", u = i("table", { class: "effects" }, i("thead", {}, i("tr", {}, ...a)), i("tbody", {}, ...o));
	return e.image ? r.push(i("details", {}, i("summary", {}, `What sets it apart${s}, pixel by pixel`), u)) : r.push(i("h3", {}, `What sets it apart${s}`), i("div", {
		class: "scrolled",
		tabIndex: 0,
		role: "region",
		"aria-label": "What sets it apart"
	}, u)), i("div", {}, ...r);
}
function j(e, t) {
	let n = t.remarks.map((e) => i("p", { class: "note warn" }, e));
	for (let r of t.rows.slice(0, 6)) if (e.image) n.push(i("div", { class: "pictures" }, f(r.now, e.image, e.range, `row ${r.row}`), f(r.then, e.image, e.range, "with what is chosen")));
	else {
		let t = r.then.map((e, t) => ({
			k: t,
			by: Math.abs(e - r.now[t])
		})).sort((e, t) => t.by - e.by).slice(0, 4);
		n.push(i("p", { class: "note" }, `Row ${r.row}: ${t.map(({ k: t }) => `${e.features[t]} ${c(r.now[t])} → ${c(r.then[t])}`).join(", ")}`));
	}
	return i("div", {}, ...n);
}
function M(e, t) {
	return e.maps.map((n, r) => i("li", {}, a(`Map ${n.number}`, () => t(r), { "aria-current": r === e.current ? "true" : void 0 }), i("span", { class: "note" }, n.words)));
}
function N(e, t) {
	let n = (t, n, r) => i("tr", {}, i("th", {
		scope: "row",
		title: t
	}, t), ...e ? [i("td", {}, n)] : [], i("td", {}, r)), r = [n("trustworthiness", e ? e.trustworthiness.toFixed(3) : "", t.trustworthiness.toFixed(3))];
	t.reconstruction !== null && r.push(n("reconstruction (R²)", e?.reconstruction?.toFixed(3) ?? "–", t.reconstruction.toFixed(3)));
	for (let i of t.columns) {
		let t = e?.columns.find((e) => e.name === i.name), a = i.kind === "category" ? ` (chance ${i.chance.toFixed(2)})` : " (R²)";
		r.push(n(`neighbours tell ${i.name}${a}`, t ? t.value.toFixed(3) : "–", i.value.toFixed(3)));
	}
	return i("table", { class: "measures" }, i("thead", {}, i("tr", {}, i("th", {}), ...e ? [i("th", { scope: "col" }, "before")] : [], i("th", { scope: "col" }, "now"))), i("tbody", {}, ...r));
}
function P(e, t, n, r) {
	let o = (e, r) => a(r, () => n(e), { "aria-pressed": String(t === e) }), s = e.code[t];
	return [i("div", { class: "tools" }, o("python", "Python"), o("command", "Command line"), a("Copy", () => r(s))), i("pre", {
		tabIndex: 0,
		"aria-label": "Code"
	}, i("code", {}, s))];
}
function F(e) {
	let t = e.seconds ? `, fitted in ${e.seconds.toFixed(1)} s` : "";
	return `${u(e.rows, "row")}, ${u(e.features.length + e.texts.length, "feature")}, ${e.model}${t}`;
}
// src/points.ts
var I = "\nattribute vec2 a_from; attribute vec2 a_to; attribute vec4 a_colour;\nuniform vec2 u_offset; uniform vec2 u_scale; uniform float u_share;\nuniform mediump float u_size; // as precise as in the other shader, or the two do not link\nvarying vec4 v_colour;\nvoid main() {\n  vec2 place = mix(a_from, a_to, u_share);\n  gl_Position = vec4(place * u_scale + u_offset, 0.0, 1.0);\n  gl_PointSize = u_size;\n  v_colour = a_colour;\n}", L = "\nprecision mediump float;\nvarying vec4 v_colour; uniform mediump float u_size;\nvoid main() {\n  float r = length(gl_PointCoord - 0.5) * u_size, edge = 0.5 * u_size;\n  float a = v_colour.a * (u_size < 3.0 ? 1.0 : 1.0 - smoothstep(edge - 1.0, edge, r));\n  gl_FragColor = vec4(v_colour.rgb * a, a);\n}";
function R(e, t, n) {
	let r = e.createShader(t);
	if (e.shaderSource(r, n), e.compileShader(r), !e.getShaderParameter(r, e.COMPILE_STATUS)) throw Error(e.getShaderInfoLog(r) ?? "shader");
	return r;
}
function z(e) {
	let t = e.getContext("webgl", {
		antialias: !1,
		premultipliedAlpha: !0
	});
	if (!t) return null;
	let n = t.createProgram();
	if (t.attachShader(n, R(t, t.VERTEX_SHADER, I)), t.attachShader(n, R(t, t.FRAGMENT_SHADER, L)), t.linkProgram(n), !t.getProgramParameter(n, t.LINK_STATUS)) return null;
	t.useProgram(n), t.enable(t.BLEND), t.blendFunc(t.ONE, t.ONE_MINUS_SRC_ALPHA);
	let r = {
		from: t.createBuffer(),
		to: t.createBuffer(),
		colour: t.createBuffer()
	}, [i, a, o, s] = [
		"u_offset",
		"u_scale",
		"u_share",
		"u_size"
	].map((e) => t.getUniformLocation(n, e)), c = 0, l = (e, r, i, a, o, s) => {
		let c = t.getAttribLocation(n, r);
		t.bindBuffer(t.ARRAY_BUFFER, e), t.bufferData(t.ARRAY_BUFFER, i, t.STATIC_DRAW), t.enableVertexAttribArray(c), t.vertexAttribPointer(c, a, o, s, 0, 0);
	};
	return {
		kind: "webgl",
		places(e, n) {
			c = n.length / 2, l(r.from, "a_from", e, 2, t.FLOAT, !1), l(r.to, "a_to", n, 2, t.FLOAT, !1);
		},
		colours(e) {
			l(r.colour, "a_colour", e, 4, t.UNSIGNED_BYTE, !0);
		},
		paint(n, r, l) {
			let u = e.width / n.width;
			t.viewport(0, 0, e.width, e.height), t.clearColor(0, 0, 0, 0), t.clear(t.COLOR_BUFFER_BIT), t.uniform2f(a, 2 * n.s / n.width, 2 * n.s / n.height), t.uniform2f(i, 2 * n.ox / n.width - 1, 1 - 2 * n.oy / n.height), t.uniform1f(o, r), t.uniform1f(s, Math.max(1, l * u)), t.drawArrays(t.POINTS, 0, c);
		}
	};
}
function B(e) {
	let t = e.getContext("2d"), n = /* @__PURE__ */ new Float32Array(), r = /* @__PURE__ */ new Float32Array(), i = /* @__PURE__ */ new Uint8Array();
	return {
		kind: "canvas",
		places(e, t) {
			n = new Float32Array(e), r = new Float32Array(t);
		},
		colours(e) {
			i = new Uint8Array(e);
		},
		paint(a, o, s) {
			let { width: c, height: l } = e, u = c / a.width, d = Math.max(.5, s * u / 2), f = Math.ceil(d), p = new ImageData(c, l), m = p.data;
			for (let e = 0; e < r.length / 2; e++) {
				let t = n[2 * e] + o * (r[2 * e] - n[2 * e]), s = n[2 * e + 1] + o * (r[2 * e + 1] - n[2 * e + 1]), p = Math.round(u * (a.ox + a.s * t)), h = Math.round(u * (a.oy - a.s * s)), g = i[4 * e + 3] / 255;
				for (let t = -f; t <= f; t++) for (let n = -f; n <= f; n++) {
					if (n * n + t * t > d * d || p + n < 0 || h + t < 0 || p + n >= c || h + t >= l) continue;
					let r = 4 * ((h + t) * c + p + n), a = m[r + 3] / 255, o = g + a * (1 - g);
					for (let t = 0; t < 3; t++) m[r + t] = (i[4 * e + t] * g + m[r + t] * a * (1 - g)) / o;
					m[r + 3] = 255 * o;
				}
			}
			t.putImageData(p, 0, 0);
		}
	};
}
function V(e) {
	let t = null;
	try {
		t = z(e);
	} catch {
		t = null;
	}
	if (t) return t;
	let n = e.cloneNode();
	return e.replaceWith(n), B(n);
}
// src/scatter.ts
var H = matchMedia("(prefers-reduced-motion: reduce)"), U = .9, W = 3e3, G = class {
	stage;
	n = 0;
	tool = "move";
	marked = -1;
	onhover = () => {};
	onselect = () => {};
	onclear = () => {};
	ondrag = () => {};
	dragged = () => [];
	view = {
		ox: 0,
		oy: 0,
		s: 1,
		width: 1,
		height: 1
	};
	points = /* @__PURE__ */ new Float32Array();
	painter;
	under;
	over;
	layer = null;
	path = null;
	share = 1;
	waiting = !1;
	moved = !1;
	cells = null;
	pointers = /* @__PURE__ */ new Map();
	observer = new ResizeObserver(() => this.resize());
	constructor(e) {
		this.stage = e;
		let [t, n, r] = [...e.querySelectorAll("canvas")];
		this.painter = V(n), this.under = t.getContext("2d"), this.over = r.getContext("2d"), e.dataset.drawing = this.painter.kind, this.wire(r), this.observer.observe(e), this.resize();
	}
	end() {
		this.observer.disconnect();
	}
	show(e, t) {
		let n = t && e.length === this.points.length && !H.matches ? this.points : e;
		this.points = e, this.n = e.length / 2, this.painter.places(n, e), this.index();
		let r = { ...this.view };
		if (this.moved && t || this.all(), n === e) {
			this.share = 1, this.draw();
			return;
		}
		let i = { ...this.view }, a = !this.moved, o = performance.now(), s = (e) => {
			for (let t of [
				"ox",
				"oy",
				"s"
			]) this.view[t] = r[t] + e * (i[t] - r[t]);
		}, c = (t) => {
			let n = Math.min(1, Math.max(0, t - o) / (1e3 * U));
			this.share = n * n * (3 - 2 * n), a && !this.moved && s(this.share), this.draw(), this.points === e && (n < 1 ? requestAnimationFrame(c) : a && !this.moved && this.all());
		};
		a && s(0), this.share = 0, requestAnimationFrame(c);
	}
	colours(e) {
		this.painter.colours(e), this.draw();
	}
	setLayer(e, t) {
		if (this.layer = null, e) {
			let n = document.createElement("canvas");
			n.width = n.height = e.size;
			let r = n.getContext("2d"), i = r.createImageData(e.size, e.size), [a, o, s] = t.split(",").map(Number), c = e.high - e.low || 1;
			e.values.forEach((t, n) => {
				let r = 4 * ((e.size - 1 - Math.floor(n / e.size)) * e.size + n % e.size);
				i.data.set([
					a,
					o,
					s,
					Math.round(200 * (t - e.low) / c)
				], r);
			}), r.putImageData(i, 0, 0), this.layer = {
				image: n,
				extent: e.extent
			};
		}
		this.draw();
	}
	extent(e = .06) {
		let [t, n, r, i] = [
			Infinity,
			-Infinity,
			Infinity,
			-Infinity
		];
		for (let e = 0; e < this.n; e++) {
			let a = this.points[2 * e], o = this.points[2 * e + 1];
			Number.isNaN(a) || Number.isNaN(o) || (t = Math.min(t, a), n = Math.max(n, a), r = Math.min(r, o), i = Math.max(i, o));
		}
		if (t > n) return [
			0,
			1,
			0,
			1
		];
		let a = e * Math.max(n - t, i - r, 1e-9);
		return [
			t - a,
			n + a,
			r - a,
			i + a
		];
	}
	window() {
		let [e, t, n, r] = this.extent(), { width: i, height: a } = this.view, o = Math.min(i / (t - e), a / (r - n)), s = (e + t) / 2, c = (n + r) / 2;
		return [
			s - .75 * i / o,
			s + .75 * i / o,
			c - .75 * a / o,
			c + .75 * a / o
		];
	}
	all() {
		let [e, t, n, r] = this.extent(), { width: i, height: a } = this.view, o = Math.min(i / (t - e), a / (r - n));
		Object.assign(this.view, {
			s: o,
			ox: i / 2 - o * (e + t) / 2,
			oy: a / 2 + o * (n + r) / 2
		}), this.moved = !1, this.draw();
	}
	seen() {
		let [e, t] = this.toMap(0, 0), [n, r] = this.toMap(this.view.width, this.view.height);
		return [
			e,
			n,
			r,
			t
		];
	}
	see([e, t, n, r]) {
		let { width: i, height: a } = this.view, o = Math.min(i / (t - e), a / (r - n));
		!Number.isFinite(o) || o <= 0 || (Object.assign(this.view, {
			s: o,
			ox: i / 2 - o * (e + t) / 2,
			oy: a / 2 + o * (n + r) / 2
		}), this.moved = !0, this.draw());
	}
	toPage(e, t) {
		return [this.view.ox + this.view.s * e, this.view.oy - this.view.s * t];
	}
	toMap(e, t) {
		return [(e - this.view.ox) / this.view.s, (this.view.oy - t) / this.view.s];
	}
	placeOf(e) {
		return this.toPage(this.points[2 * e], this.points[2 * e + 1]);
	}
	zoom(e, t = this.view.width / 2, n = this.view.height / 2) {
		let r = this.view;
		r.ox = t + (r.ox - t) * e, r.oy = n + (r.oy - n) * e, r.s *= e, this.moved = !0, this.draw();
	}
	pan(e, t) {
		this.view.ox += e, this.view.oy += t, this.moved = !0, this.draw();
	}
	pick(e, t, n = 16) {
		let r = this.cells;
		if (!r) return -1;
		let [i, a] = this.toMap(e, t), o = n / this.view.s, s = (e) => Math.min(r.side - 1, Math.max(0, Math.floor((e - r.left) / r.w))), c = (e) => Math.min(r.side - 1, Math.max(0, Math.floor((e - r.bottom) / r.h))), l = -1, u = o * o;
		for (let e = c(a - o); e <= c(a + o); e++) for (let t = s(i - o); t <= s(i + o); t++) for (let n = r.start[e * r.side + t]; n < r.start[e * r.side + t + 1]; n++) {
			let e = r.index[n], t = this.points[2 * e] - i, o = this.points[2 * e + 1] - a, s = t * t + o * o;
			s < u && (u = s, l = e);
		}
		return l;
	}
	inside(e) {
		let t = e.map(([e, t]) => this.toMap(e, t)), n = [], r = t.map(([e]) => e), i = t.map(([, e]) => e), [a, o, s, c] = [
			Math.min(...r),
			Math.max(...r),
			Math.min(...i),
			Math.max(...i)
		];
		for (let e = 0; e < this.n; e++) {
			let r = this.points[2 * e], i = this.points[2 * e + 1];
			if (!(r >= a && r <= o && i >= s && i <= c)) continue;
			let l = !1;
			for (let e = 0, n = t.length - 1; e < t.length; n = e++) {
				let [a, o] = t[e], [s, c] = t[n];
				o > i != c > i && r < (s - a) * (i - o) / (c - o) + a && (l = !l);
			}
			l && n.push(e);
		}
		return n;
	}
	mark(e) {
		this.marked = e, this.draw();
	}
	index() {
		let [e, t, n, r] = this.extent(0), i = Math.max(1, Math.min(1024, Math.ceil(Math.sqrt(this.n / 2)))), a = (t - e) / i || 1, o = (r - n) / i || 1, s = new Int32Array(i * i + 1), c = new Int32Array(this.n).fill(-1);
		for (let t = 0; t < this.n; t++) {
			let r = this.points[2 * t], l = this.points[2 * t + 1];
			Number.isNaN(r) || Number.isNaN(l) || (c[t] = Math.min(i - 1, Math.floor((l - n) / o)) * i + Math.min(i - 1, Math.floor((r - e) / a)), s[c[t] + 1]++);
		}
		for (let e = 0; e < i * i; e++) s[e + 1] += s[e];
		let l = new Int32Array(s[i * i]), u = s.slice();
		for (let e = 0; e < this.n; e++) c[e] >= 0 && (l[u[c[e]]++] = e);
		this.cells = {
			index: l,
			start: s,
			side: i,
			left: e,
			bottom: n,
			w: a,
			h: o
		};
	}
	resize() {
		let e = this.stage.getBoundingClientRect(), t = Math.min(2, devicePixelRatio || 1);
		if (!e.width || !e.height) return;
		for (let n of this.stage.querySelectorAll("canvas")) n.width = Math.round(e.width * t), n.height = Math.round(e.height * t);
		let [n, r] = [(e.width - this.view.width) / 2, (e.height - this.view.height) / 2];
		this.view.width = e.width, this.view.height = e.height, this.n && !this.moved ? this.all() : (this.view.ox += n, this.view.oy += r), this.draw();
	}
	draw() {
		this.waiting || (this.waiting = !0, requestAnimationFrame(() => {
			this.waiting = !1, this.paint();
		}));
	}
	paint() {
		let { width: e, height: t } = this.view, n = this.under.canvas.width / e;
		for (let r of [this.under, this.over]) r.setTransform(n, 0, 0, n, 0, 0), r.clearRect(0, 0, e, t);
		if (this.layer) {
			let [e, t, n, r] = this.layer.extent, [i, a] = this.toPage(e, r);
			this.under.imageSmoothingQuality = "high", this.under.drawImage(this.layer.image, i, a, this.view.s * (t - e), this.view.s * (r - n));
		}
		this.n && this.painter.paint(this.view, this.share, Math.max(1.5, Math.min(9, 240 / Math.sqrt(this.n))));
		let r = getComputedStyle(this.stage), i = r.getPropertyValue("--ink"), a = r.getPropertyValue("--accent");
		if (this.path && this.tool === "drag" ? this.paintDragged(this.path, a) : this.path && (this.over.beginPath(), this.outline(this.path).forEach(([e, t], n) => n ? this.over.lineTo(e, t) : this.over.moveTo(e, t)), this.over.closePath(), this.over.strokeStyle = a, this.over.lineWidth = 1.5, this.over.stroke(), this.over.globalAlpha = .1, this.over.fillStyle = a, this.over.fill(), this.over.globalAlpha = 1), this.marked >= 0 && this.marked < this.n && this.share === 1) {
			let [e, t] = this.placeOf(this.marked);
			this.over.beginPath(), this.over.arc(e, t, 9, 0, 2 * Math.PI), this.over.strokeStyle = i, this.over.lineWidth = 2, this.over.stroke();
		}
	}
	paintDragged(e, t) {
		let n = this.over, [[r, i], [a, o]] = [e[0], e[e.length - 1]], s = Math.atan2(o - i, a - r);
		n.strokeStyle = t, n.lineWidth = 1.5, n.beginPath(), n.moveTo(r, i), n.lineTo(a, o);
		for (let e of [-2.6, 2.6]) n.moveTo(a, o), n.lineTo(a + 10 * Math.cos(s + e), o + 10 * Math.sin(s + e));
		let c = 0;
		for (let e of this.dragged()) {
			if (c++ >= W) break;
			let [t, s] = this.placeOf(e);
			n.moveTo(t + a - r + 4, s + o - i), n.arc(t + a - r, s + o - i, 4, 0, 2 * Math.PI);
		}
		n.stroke();
	}
	outline(e) {
		if (this.tool !== "box") return e;
		let [[t, n], [r, i]] = [e[0], e[e.length - 1]];
		return [
			[t, n],
			[r, n],
			[r, i],
			[t, i]
		];
	}
	wire(e) {
		e.addEventListener("pointerdown", (t) => {
			e.setPointerCapture(t.pointerId);
			let n = [t.offsetX, t.offsetY];
			this.pointers.set(t.pointerId, n), this.tool !== "move" && this.pointers.size === 1 ? this.path = [n] : t.pointerType !== "mouse" && this.hover(n, 24);
		}), e.addEventListener("pointermove", (e) => {
			let t = [e.offsetX, e.offsetY], n = this.pointers.get(e.pointerId);
			if (!n) return this.hover(t);
			if (this.path) return this.path.push(t), this.draw();
			if (this.pointers.size === 2) {
				let r = [...this.pointers].find(([t]) => t !== e.pointerId)[1], i = (e) => Math.max(8, Math.hypot(e[0] - r[0], e[1] - r[1]));
				this.zoom(i(t) / i(n), (t[0] + r[0]) / 2, (t[1] + r[1]) / 2);
			}
			this.pan((t[0] - n[0]) / this.pointers.size, (t[1] - n[1]) / this.pointers.size), this.pointers.set(e.pointerId, t);
		});
		let t = (e) => {
			this.pointers.delete(e.pointerId);
			let t = this.path;
			if (this.path = null, t && this.tool === "drag") {
				let [n, r] = [this.toMap(...t[0]), this.toMap(...t[t.length - 1])];
				e.type === "pointerup" && t.length > 2 && this.ondrag([r[0] - n[0], r[1] - n[1]]);
			} else t && e.type === "pointerup" && t.length > 2 && this.onselect(this.inside(this.outline(t)), K(e));
			this.draw();
		};
		e.addEventListener("pointerup", t), e.addEventListener("pointercancel", t), e.addEventListener("dblclick", (e) => this.zoom(2, e.offsetX, e.offsetY)), e.addEventListener("wheel", (e) => {
			e.preventDefault(), this.zoom(Math.exp(-Math.max(-120, Math.min(120, e.deltaY)) * .0022), e.offsetX, e.offsetY);
		}, { passive: !1 }), e.addEventListener("keydown", (e) => this.key(e));
	}
	hover(e, t = 16) {
		this.onhover(this.toMap(...e), this.pick(...e, t));
	}
	step(e, t) {
		let n = -1, r = Infinity, [i, a] = this.marked < 0 ? [this.view.width / 2, this.view.height / 2] : this.placeOf(this.marked);
		for (let o = 0; o < this.n; o++) {
			let [s, c] = this.placeOf(o), l = s - i, u = c - a, d = l * e + u * t, f = Math.abs(l * t) + Math.abs(u * e), p = this.marked < 0 ? l * l + u * u : d + 2 * f;
			o !== this.marked && (this.marked < 0 || d > 0 && f <= d) && p < r && (r = p, n = o);
		}
		if (n < 0) return;
		let [o, s] = this.placeOf(n);
		(o < 0 || s < 0 || o > this.view.width || s > this.view.height) && this.pan(this.view.width / 2 - o, this.view.height / 2 - s), this.onhover([this.points[2 * n], this.points[2 * n + 1]], n);
	}
	key(e) {
		let t = {
			ArrowLeft: [-1, 0],
			ArrowRight: [1, 0],
			ArrowUp: [0, -1],
			ArrowDown: [0, 1]
		}[e.key];
		if (t && e.shiftKey) this.step(...t);
		else if (t) this.pan(-40 * t[0], -40 * t[1]);
		else if (e.key === "+" || e.key === "=") this.zoom(1.4);
		else if (e.key === "-") this.zoom(1 / 1.4);
		else if (e.key === "0") this.all();
		else if (e.key === " " && this.marked >= 0) this.onselect([this.marked], e.altKey ? "remove" : "add");
		else if (e.key === "Escape") this.onclear();
		else return;
		e.preventDefault();
	}
}, K = (e) => e.shiftKey ? "add" : e.altKey ? "remove" : "replace", q = [
	"factor_out",
	"bring_out",
	"axis"
], J = [
	"same",
	"different",
	"label",
	"pin",
	"drop"
], Y = class {
	host;
	editing = -1;
	filled = "";
	constructor(e) {
		this.host = e;
	}
	tell(...e) {
		this.host.act("say", { statements: e });
	}
	columns() {
		return this.host.state.columns.filter((e) => !e.feature).map((e) => e.name);
	}
	fillSay() {
		let { kept: e } = this.host.state;
		if (e) return o(this.host.byId("say"), ...e.map((e) => i("p", { class: "note" }, e)));
		let { state: t } = this.host, { A: n, B: r } = this.host.chosen(), s = n.length > 0, c = s && r.length > 0, l = this.columns(), u = [i("div", { class: "tools wrap" }, a(c ? "A and B are the same" : "These are the same", () => this.tell({
			kind: "same",
			rows: n,
			...c ? { others: r } : {}
		}), { disabled: !t.say.same || !(c || n.length > 1) }), a("A and B differ", () => this.tell({
			kind: "different",
			rows: n,
			others: r
		}), { disabled: !t.say.different || !c }), a("Factor selection out", () => this.factorSelection(n), { disabled: !t.say.factor_out || !s }), a("Pin", () => this.tell({
			kind: "pin",
			rows: n
		}), {
			disabled: !t.say.pin || !s,
			title: t.say.move ? "The next map holds these rows where they are" : "Align the next map by these rows"
		}), a("Drop", () => this.tell({
			kind: "drop",
			rows: n
		}), {
			disabled: !t.say.drop || !s,
			title: "Fit without these rows"
		}))];
		t.say.move && u.push(this.arrows(s)), u.push(this.labelForm(n)), l.length && u.push(this.byColumn(l)), o(this.host.byId("say"), ...u);
	}
	arrows(e) {
		return i("div", {
			class: "tools wrap",
			role: "group",
			"aria-label": "Move the selection"
		}, i("span", { class: "note" }, "Move"), ...[
			[
				"←",
				"left",
				-1,
				0
			],
			[
				"→",
				"right",
				1,
				0
			],
			[
				"↑",
				"up",
				0,
				1
			],
			[
				"↓",
				"down",
				0,
				-1
			]
		].map(([t, n, r, i]) => a(t, () => this.host.shift(r / 12, i / 12), {
			disabled: !e,
			"aria-label": `Move the selection ${n}`
		})));
	}
	labelForm(e) {
		let t = i("input", {
			type: "text",
			"aria-label": "Label",
			placeholder: "label",
			size: 9,
			maxLength: 80
		}), n = i("input", {
			type: "text",
			"aria-label": "Column of the label",
			value: "label",
			size: 7,
			maxLength: 80
		});
		return i("form", {
			class: "tools wrap",
			onsubmit: (r) => {
				r.preventDefault(), e.length && t.value && n.value && this.tell({
					kind: "label",
					rows: e,
					column: n.value,
					value: t.value
				});
			}
		}, t, " in ", n, i("button", {
			type: "submit",
			disabled: !e.length
		}, "Label"));
	}
	byColumn(e) {
		let { say: t } = this.host.state, n = X("Column", e, e[0]), r = () => n.value;
		return i("div", { class: "tools wrap" }, n, a("Factor out", () => this.tell({
			kind: "factor_out",
			column: r()
		}), {
			disabled: !t.factor_out,
			title: "This is known: show the rest"
		}), a("Bring out", () => this.tell({
			kind: "bring_out",
			column: r()
		}), {
			disabled: !t.bring_out,
			title: "Rows that are equal there should be near"
		}), a("Show on an axis", () => this.tell({
			kind: "axis",
			column: r(),
			...this.period(r())
		}), {
			disabled: !t.axis,
			title: "Let an axis of the map show it"
		}));
	}
	period(e) {
		let t = this.host.state.columns.find((t) => !t.feature && t.name === e)?.period;
		return t ? { period: t } : {};
	}
	factorSelection(e) {
		let { state: t } = this.host, n = new Set(e), r = Array.from({ length: t.rows }, (e, t) => t).filter((e) => !n.has(e)), i = new Set(t.columns.map((e) => e.name)), a = 1;
		for (; i.has(`selection ${a}`);) a++;
		let o = `selection ${a}`;
		this.tell({
			kind: "label",
			rows: e,
			column: o,
			value: "in"
		}, {
			kind: "label",
			rows: r,
			column: o,
			value: "out"
		}, {
			kind: "factor_out",
			column: o
		});
	}
	fillStatements() {
		let { state: e } = this.host;
		this.editing >= e.statements.length && (this.editing = -1);
		let t = JSON.stringify([
			e.statements,
			this.editing,
			this.editing < 0 ? null : this.host.chosen()
		]);
		t !== this.filled && (this.filled = t, o(this.host.byId("statements"), ...e.statements.map((t, n) => {
			let r = [i("label", {}, i("input", {
				type: "checkbox",
				checked: t.on,
				disabled: e.kept !== void 0,
				onchange: () => void this.host.act("switch", { at: n })
			}), ` ${t.words}`)];
			e.kept === void 0 && t.kind !== "move" && r.push(a("Edit", () => this.edit(n), {
				"aria-label": `Edit: ${t.words}`,
				class: "quiet",
				"aria-expanded": String(this.editing === n)
			})), e.kept === void 0 && r.push(a("×", () => {
				this.editing = -1, this.host.act("forget", { at: n });
			}, {
				"aria-label": `Forget: ${t.words}`,
				class: "quiet"
			}));
			let o = [i("div", { class: "stated" }, ...r)];
			return this.editing === n && o.push(this.editor(t, n)), i("li", { class: t.on ? "" : "off" }, ...o);
		})));
	}
	edit(e) {
		this.editing = this.editing === e ? -1 : e, this.fillStatements(), this.host.byId("statements").querySelector("form input, form select")?.focus();
	}
	editor(e, t) {
		let { A: n, B: r } = this.host.chosen(), o = [], s = i("input", {
			type: "text",
			"aria-label": "New label",
			value: e.value,
			size: 9,
			maxLength: 80
		}), c = i("input", {
			type: "text",
			"aria-label": "New column of the label",
			value: e.column,
			size: 7,
			maxLength: 80
		}), l = X("New column", this.columns(), e.column), d = e.kind === "different" || e.kind === "same" && r.length > 0, f = i("input", {
			type: "checkbox",
			disabled: !(n.length > 0 && (!d || r.length > 0))
		});
		return e.kind === "label" && o.push(s, " in ", c), q.includes(e.kind) && o.push(l), J.includes(e.kind) && o.push(i("label", {}, f, ` rows of the selection (A ${u(n.length, "row")}${d ? `, B ${u(r.length, "row")}` : ""})`)), i("form", {
			class: "tools wrap",
			"aria-label": `Edit: ${e.words}`,
			onsubmit: (i) => {
				i.preventDefault();
				let a = {};
				e.kind === "label" && Object.assign(a, {
					value: s.value,
					column: c.value
				}), q.includes(e.kind) && Object.assign(a, { column: l.value }, e.kind === "axis" ? {
					period: 0,
					...this.period(l.value)
				} : {}), f.checked && Object.assign(a, { rows: n }, d ? { others: r } : e.kind === "same" ? { others: [] } : {}), this.editing = -1, Object.keys(a).length ? this.host.act("edit", {
					at: t,
					changes: a
				}).then(() => this.fillStatements()) : this.fillStatements();
			}
		}, ...o, i("button", { type: "submit" }, "Change"), a("Cancel", () => this.edit(t)));
	}
};
function X(e, t, n) {
	return i("select", { "aria-label": e }, ...t.map((e) => i("option", {
		value: e,
		selected: e === n
	}, e)));
}
function Z(e, t, n) {
	for (let t of e.querySelectorAll(".axis")) t.remove();
	["x", "y"].forEach((r, a) => {
		let o = t[n[a]];
		o && e.append(i("span", { class: `axis ${r}` }, `${o} →`));
	});
}
// src/main.ts
var ne = .13, re = class {
	root;
	source;
	scatter;
	state;
	axes = [0, 1];
	given = null;
	selected = /* @__PURE__ */ new Set();
	other = /* @__PURE__ */ new Set();
	onselect = () => {};
	column = null;
	values = null;
	row = null;
	here = null;
	place = null;
	asking = !1;
	asked = null;
	code = "python";
	question = 0;
	watching = !1;
	telling = new Y(this);
	leave = new AbortController();
	constructor(e, t) {
		this.root = e, this.source = t, this.scatter = new G(this.byId("stage"));
	}
	byId(e) {
		return this.root.getElementById(e);
	}
	async start(e) {
		this.wire(), e && ([this.axes, this.given] = [[e.x, e.y], e.given]), await this.take(await this.source.get("state"), !1), e && await this.tried(() => this.show(e)), this.byId("stage").dataset.ready = "yes";
		let t = this.source.watch(() => void this.watch());
		this.leave.signal.addEventListener("abort", t), this.state.job.state === "running" && this.follow();
	}
	view() {
		let e = this.byId("colour");
		return {
			colour: e.value === "" ? null : this.state.columns[Number(e.value)].name,
			layer: this.byId("layer").value,
			x: this.axes[0],
			y: this.axes[1],
			window: this.scatter.seen(),
			rows: this.rows(this.selected),
			others: this.rows(this.other),
			given: this.given
		};
	}
	async show(e) {
		let t = this.byId("colour"), n = this.byId("layer"), r = this.state.columns.findIndex((t) => t.name === e.colour);
		t.value = r < 0 ? "" : String(r), n.value = this.state.can[e.layer] ? e.layer : "", this.other = new Set(e.others), e.rows.length + e.others.length ? this.select(e.rows, "replace") : await this.recolour(), await this.relayer(), e.window && this.scatter.see(e.window);
	}
	async keep() {
		this.say("Writing one file of this view …");
		let e = await this.source.postForBytes("page", { view: this.view() });
		s(e, "text/html", `${this.state.title.replace(/[^\p{L}\p{N} _-]+/gu, "_").trim() || "map"}.html`), this.say(`One file of this view, ${(e.byteLength / 1e6).toFixed(1)} MB: it works without a server and without a network.`);
	}
	end() {
		this.leave.abort(), this.scatter.end();
	}
	get style() {
		return getComputedStyle(this.byId("stage"));
	}
	async take(e, t = !0) {
		let n = this.state, r = !n || n.maps[n.current]?.number !== e.maps[e.current].number;
		this.state = e, r && (this.given = this.given0(e)), (r || JSON.stringify(n.moved) !== JSON.stringify(e.moved)) && (this.scatter.show(await this.source.numbers(`points?x=${this.axes[0]}&y=${this.axes[1]}`), t), this.row = this.here = null, this.scatter.marked >= 0 && this.hover([this.scatter.points[2 * this.scatter.marked], this.scatter.points[2 * this.scatter.marked + 1]], this.scatter.marked)), Z(this.byId("stage"), e.axes, this.axes), this.fillControls(), this.fillLists(), await this.recolour(), r ? (this.relayer(), this.remeasure(), this.redescribe(), this.say(e.remarks.join(" "))) : JSON.stringify(n.statements) !== JSON.stringify(e.statements) && this.remeasure();
	}
	async act(e, t = {}) {
		await this.tried(async () => this.take(await this.source.post(e, t)));
	}
	async tried(t) {
		try {
			await t();
		} catch (t) {
			if (!(t instanceof e)) throw t;
			this.say(t.message, !0);
		}
	}
	say(e, t = !1) {
		let n = this.byId("notice");
		n.textContent = e, n.hidden = !e, n.classList.toggle("warn", t);
	}
	wire() {
		o(this.byId("tools"), ...[
			["move", "Move"],
			["lasso", "Lasso"],
			["box", "Box"],
			["drag", "Drag rows"]
		].map(([e, t]) => i("label", { class: "tool" }, i("input", {
			type: "radio",
			name: "tool",
			value: e,
			checked: e === "move",
			onchange: () => {
				this.scatter.tool = e, this.byId("stage").dataset.tool = e;
			}
		}), t))), this.byId("zoom-in").onclick = () => this.scatter.zoom(1.5), this.byId("zoom-out").onclick = () => this.scatter.zoom(1 / 1.5), this.byId("zoom-all").onclick = () => this.scatter.all(), this.byId("undo").onclick = () => void this.act("undo"), this.byId("redo").onclick = () => void this.act("redo"), this.byId("save").onclick = () => void this.tried(async () => this.say(`Written: ${(await this.source.post("save")).written.join(", ")}`)), this.byId("keep").onclick = () => void this.tried(() => this.keep()), this.byId("colour").onchange = () => {
			this.values = null, this.tried(() => this.recolour());
		}, this.byId("layer").onchange = () => void this.tried(() => this.relayer()), this.scatter.onhover = (e, t) => this.hover(e, t), this.scatter.onselect = (e, t) => this.select(e, t), this.scatter.dragged = () => this.selected, this.scatter.ondrag = (e) => this.carry(e), this.scatter.onclear = () => this.select([], "replace");
		let { signal: e } = this.leave;
		this.root.addEventListener("keydown", (e) => {
			let t = e, n = t.target instanceof HTMLInputElement && t.target.type === "text", r = t.key.toLowerCase();
			r !== "z" && r !== "y" || !t.ctrlKey && !t.metaKey || n || (t.preventDefault(), this.act(r === "y" || t.shiftKey ? "redo" : "undo"));
		}, { signal: e }), matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => void this.tried(() => this.relayer()), { signal: e }), this.byId("stage").page = this;
	}
	hover(e, t) {
		this.place = e, this.scatter.mark(t), this.asked = {
			place: e,
			row: t
		}, this.asking || this.tried(() => this.ask());
	}
	async ask() {
		this.asking = !0;
		try {
			for (; this.asked;) {
				let { place: e, row: t } = this.asked;
				this.asked = null;
				let n = {
					place: e,
					row: t < 0 ? null : t,
					given: this.given,
					x: this.axes[0],
					y: this.axes[1]
				}, r = t < 0 ? Promise.resolve(null) : this.row?.row === t ? Promise.resolve(this.row) : this.source.get(`row?at=${t}`);
				[this.row, this.here] = await Promise.all([r, this.state.can.decode ? this.source.post("decode", n) : Promise.resolve(null)]), o(this.byId("here"), g(this.state, this.row, this.here, this.style));
			}
		} finally {
			this.asking = !1;
		}
	}
	async recolour() {
		let e = this.byId("colour"), t = Number(e.value), n = this.state.rows;
		this.column = e.value === "" ? null : this.state.columns[t], this.column && (this.values = await this.source.numbers(`column?at=${t}`));
		let r = D(this.column, this.values, n), i = new Uint8Array(4 * n), a = this.selected.size + this.other.size > 0, o = n > 2e4 ? .75 : .92;
		for (let e = 0; e < n; e++) i.set(r.subarray(3 * e, 3 * e + 3), 4 * e), i[4 * e + 3] = Math.round(255 * (!a || this.selected.has(e) ? o : this.other.has(e) ? .55 : ne));
		this.scatter.colours(i), this.fillLegend();
	}
	fillLegend() {
		let e = this.column;
		if (!e) return o(this.byId("legend"));
		let t = (e, t) => {
			let n = i("span", { class: "dot" });
			return n.style.background = te(e), i("span", { class: "swatch" }, n, t);
		};
		if (e.kind === "categories") return o(this.byId("legend"), ...(e.levels ?? []).slice(0, 24).map((e, n) => t(w(n), e)));
		let n = e.period ? 0 : e.low ?? 0, r = e.period ?? e.high ?? 1;
		o(this.byId("legend"), ...[
			0,
			.25,
			.5,
			.75,
			1
		].map((i) => t(E(e, n + i * (r - n)), c(n + i * (r - n)))));
	}
	async relayer() {
		let e = this.byId("layer").value, t = this.scatter.window();
		if (!e) return this.scatter.setLayer(null, "");
		let n = {
			kind: e,
			extent: t,
			given: this.given,
			x: this.axes[0],
			y: this.axes[1]
		};
		this.scatter.setLayer(await this.source.post("layer", n), this.style.getPropertyValue(e === "density" ? "--density" : "--doubt"));
	}
	given0(e) {
		let t = {};
		for (let n of e.controls) t[n.name] = this.given?.[n.name] ?? (n.values ? n.values[0] : ((n.low ?? 0) + (n.high ?? 1)) / 2);
		return e.controls.length && this.given ? t : null;
	}
	fillControls() {
		let e = this.state, t = this.byId("colour"), n = t.options[t.selectedIndex]?.text, r = (e, t, n) => i("option", {
			value: e,
			selected: n
		}, t), a = n === void 0 && e.columns.length && !e.columns[0].feature ? e.columns[0].name : n;
		o(t, r("", "none", !1), ...e.columns.map((e, t) => r(String(t), e.name, e.name === a)));
		let s = this.byId("layer"), c = s.value;
		o(s, r("", "none", c === ""), ...["density", "uncertainty"].filter((t) => e.can[t]).map((e) => r(e, e, c === e)));
		for (let t of ["undo", "redo"]) this.byId(t).disabled = !e.can[t];
		for (let t of [
			"undo",
			"redo",
			"save",
			"keep"
		]) this.byId(t).hidden = e.kept !== void 0;
		this.fillAxes(), this.fillGiven();
	}
	fillAxes() {
		if (this.state.dims <= 2) return;
		let e = (e) => i("select", {
			"aria-label": e ? "Vertical axis" : "Horizontal axis",
			onchange: (t) => {
				let n = Number(t.target.value);
				this.axes = e ? [this.axes[0], n] : [n, this.axes[1]], this.axes[0] !== this.axes[1] && this.tried(async () => {
					Z(this.byId("stage"), this.state.axes, this.axes), this.scatter.show(await this.source.numbers(`points?x=${this.axes[0]}&y=${this.axes[1]}`), !0), await this.relayer();
				});
			}
		}, ...Array.from({ length: this.state.dims }, (t, n) => i("option", {
			value: String(n),
			selected: this.axes[e] === n
		}, `z${n + 1}`)));
		o(this.byId("axes"), "Axes ", e(0), e(1));
	}
	fillGiven() {
		let e = this.state, t = this.byId("controls");
		if (!e.controls.length) return o(t);
		let n = () => {
			this.tried(async () => {
				this.place && this.hover(this.place, this.scatter.marked), await this.relayer();
			});
		};
		o(t, ...e.controls.map((e) => {
			let t = this.given?.[e.name], r = (t) => {
				this.given = {
					...this.given ?? this.chosenFirst(),
					[e.name]: t
				}, this.fillGiven(), n();
			}, a = e.values ? i("select", {
				id: `given-${e.name}`,
				onchange: (e) => {
					let t = e.target.value;
					t ? r(t) : (this.given = null, this.fillGiven(), n());
				}
			}, i("option", {
				value: "",
				selected: t === void 0
			}, "averaged over"), ...e.values.map((e) => i("option", {
				value: e,
				selected: e === t
			}, e))) : i("input", {
				type: "range",
				min: String(e.low),
				max: String(e.high),
				step: "any",
				value: String(t ?? ((e.low ?? 0) + (e.high ?? 1)) / 2),
				onchange: (e) => r(Number(e.target.value))
			});
			return i("label", { class: "given" }, `Given ${e.name} `, a, e.values ? "" : t === void 0 ? " averaged over" : ` ${c(Number(t))}`);
		}));
	}
	chosenFirst() {
		let e = {};
		for (let t of this.state.controls) e[t.name] = t.values ? t.values[0] : ((t.low ?? 0) + (t.high ?? 1)) / 2;
		return e;
	}
	select(e, t) {
		if (t === "replace") this.selected = new Set(e);
		else for (let n of e) t === "add" ? this.selected.add(n) : this.selected.delete(n);
		for (let e of this.selected) this.other.delete(e);
		this.tried(() => this.recolour()), this.fillSelection(), this.onselect(this.rows(this.selected));
	}
	rows(e) {
		return [...e].sort((e, t) => e - t);
	}
	fillSelection(e = null) {
		let t = this.byId("selection"), n = this.state;
		if (this.telling.fillSay(), this.telling.fillStatements(), !this.selected.size && !this.other.size) return o(t, i("p", { class: "note" }, "Draw around rows with Lasso or Box (Shift adds, Alt removes), or mark a row with the keyboard and press Space."));
		let r = [
			a("Clear", () => {
				this.other.clear(), this.select([], "replace");
			}),
			a("Keep as B", () => {
				this.other = this.selected, this.select([], "replace");
			}, { disabled: !this.selected.size }),
			a("CSV", () => void this.tried(() => this.download()), {
				disabled: !this.selected.size,
				"aria-label": "Download the selection as CSV"
			}),
			a("Copy numbers", () => void navigator.clipboard.writeText(this.rows(this.selected).join(", ")).then(() => this.say("Row numbers copied.")), { disabled: !this.selected.size })
		];
		n.can.counterfactual && this.given && this.selected.size && r.push(a("With what is given above", () => void this.tried(() => this.change()))), o(t, i("p", { id: "selected" }, `A: ${u(this.selected.size, "row")}${this.other.size ? `, B: ${u(this.other.size, "row")}` : ""}`), i("div", { class: "tools wrap" }, ...r), e ?? i("p", { class: "note" }, "…")), !e && this.selected.size && this.redescribe();
	}
	redescribe() {
		if (!this.selected.size) return;
		let e = ++this.question, t = this.rows(this.other);
		this.tried(async () => {
			let n = await this.source.post("summary", {
				rows: this.rows(this.selected),
				others: t.length ? t : null
			});
			e === this.question && this.fillSelection(A(this.state, n, t.length > 0));
		});
	}
	async change() {
		let e = await this.source.post("counterfactual", {
			rows: this.rows(this.selected),
			given: this.given
		});
		this.fillSelection(j(this.state, e));
	}
	async download() {
		s(await this.source.postForText("export", { rows: this.rows(this.selected) }), "text/csv", "selection.csv");
	}
	chosen() {
		return {
			A: this.rows(this.selected),
			B: this.rows(this.other)
		};
	}
	shift(e, t) {
		let [n, r] = this.scatter.extent(), i = r - n;
		this.carry([e * i, t * i]);
	}
	carry(e) {
		if (!this.selected.size) return this.say("Select the rows that should be elsewhere, then drag them.");
		let t = {
			rows: this.rows(this.selected),
			shift: e,
			x: this.axes[0],
			y: this.axes[1]
		};
		this.tried(async () => {
			await this.take(await this.source.post("move", t)), this.say(`${u(t.rows.length, "row")} moved. Re-fit holds them there, and the other rows find their places around them.`);
		});
	}
	fillLists() {
		let e = this.state;
		this.byId("title").textContent = e.title, this.byId("about").textContent = F(e), this.root === document && (document.title = `${e.title}: Sidelight explorer`), this.telling.fillStatements(), o(this.byId("history"), ...M(e, (e) => void this.act("visit", { at: e }))), this.fillCode(), this.fillRefit(e.job), this.telling.fillSay(), this.byId("selection").childElementCount || this.fillSelection(), this.byId("here").childElementCount || o(this.byId("here"), g(e, null, null, this.style));
	}
	fillCode() {
		o(this.byId("code"), ...P(this.state, this.code, (e) => {
			this.code = e, this.fillCode();
		}, (e) => void navigator.clipboard.writeText(e).then(() => this.say("Copied."))));
	}
	async remeasure() {
		let { current: e } = this.state;
		await this.tried(async () => {
			let [t, n] = await Promise.all([e > 0 ? this.source.get(`measures?map=${e - 1}`) : Promise.resolve(null), this.source.get(`measures?map=${e}`)]);
			o(this.byId("measures"), N(t, n));
		});
	}
	fillRefit(e) {
		if (this.state.kept) return o(this.byId("refit"));
		let t = this.byId("refit");
		if (e.state === "running") {
			let { stage: n, stages: r, iteration: s } = e.progress, c = i("progress", {
				max: r ?? 1,
				"aria-label": "Progress of the fit"
			});
			n && (c.value = n - 1 + Math.min(.9, (s ?? 0) / 100));
			let l = n ? `stage ${n} of ${r}, iteration ${s}` : "starting";
			return o(t, c, i("p", { class: "note" }, `${e.seconds.toFixed(0)} s, ${l}`), a("Stop", () => void this.act("stop"), { id: "stop" }));
		}
		let n = [a("Re-fit", () => void this.tried(async () => {
			await this.take(await this.source.post("refit")), await this.follow();
		}), {
			class: "main",
			id: "start",
			disabled: this.state.fresh
		})];
		this.state.fresh && n.push(i("p", { class: "note" }, "The map is of the statements that are on.")), (e.state === "failed" || e.state === "stopped") && n.push(i("p", {
			class: "note warn",
			id: "job-message"
		}, e.message)), o(t, ...n);
	}
	async follow() {
		for (;;) {
			let e = await this.source.get("job");
			if (this.leave.signal.aborted) return;
			if (e.state === "running") {
				this.fillRefit(e), await new Promise((e) => setTimeout(e, 250));
				continue;
			}
			let t = this.root.activeElement, n = t === document.body || this.byId("refit").contains(t);
			await this.take(await this.source.get("state")), n && this.byId("start").focus();
			return;
		}
	}
	async watch() {
		if (!(document.hidden || this.watching || this.state.job.state === "running")) {
			this.watching = !0;
			try {
				await this.tried(async () => {
					let e = await this.source.get("job");
					e.version === this.state.version ? e.state === "running" && (this.state.job = e, await this.follow()) : await this.take(await this.source.get("state"));
				});
			} finally {
				this.watching = !1;
			}
		}
	}
}, ie = ":root,:host{--paper:#f6f7f9;--card:#fff;--ink:#1c2128;--soft:#56606c;--line:#d5dae1;--accent:#00649c;--stage:#fbfcfd;--density:0, 114, 178;--doubt:213, 94, 0;--warn:#a33f00}@media (prefers-color-scheme:dark){:root,:host(:not([data-theme=light])){--paper:#12151a;--card:#1a1e25;--ink:#e6e9ee;--soft:#a3adba;--line:#343b46;--accent:#6cbdec;--stage:#15191f;--density:86, 180, 233;--doubt:230, 120, 50;--warn:#ffab70}}:host([data-theme=dark]){--paper:#12151a;--card:#1a1e25;--ink:#e6e9ee;--soft:#a3adba;--line:#343b46;--accent:#6cbdec;--stage:#15191f;--density:86, 180, 233;--doubt:230, 120, 50;--warn:#ffab70}*{box-sizing:border-box}[hidden]{display:none!important}html{background:var(--paper)}body,:host{background:var(--paper);color:var(--ink);margin:0;font:14px/1.45 system-ui,-apple-system,Segoe UI,Roboto,Helvetica Neue,DejaVu Sans,sans-serif;display:block;container-type:inline-size}.skip{position:absolute;left:-999px}.skip:focus{z-index:9;background:var(--card);padding:4px 10px;top:6px;left:12px}header{flex-wrap:wrap;align-items:baseline;gap:2px 14px;padding:10px 16px 6px;display:flex}header p{color:var(--soft);margin:0}.brand{color:var(--accent);letter-spacing:.03em;font-size:13px;font-weight:600}h1{overflow-wrap:anywhere;margin:0;font-size:18px;font-weight:650}h2{margin:0 0 8px;font-size:14px;font-weight:650}h3{margin:10px 0 4px;font-size:13px;font-weight:600}.buttons{gap:6px;margin-left:auto;display:flex}#notice{border:1px solid var(--line);border-left:4px solid var(--accent);background:var(--card);overflow-wrap:anywhere;border-radius:6px;margin:0 16px 8px;padding:6px 12px}#notice.warn{border-left-color:var(--warn)}main{grid-template-columns:minmax(0,1fr) 424px;gap:12px;padding:0 16px 16px;display:grid}.map{flex-direction:column;align-self:start;height:calc(100vh - 74px);min-height:420px;display:flex;position:sticky;top:8px}.toolbar{flex-wrap:wrap;align-items:center;gap:6px 12px;margin-bottom:8px;display:flex}.toolbar label{color:var(--soft)}.toolbar>.tools:last-child{margin-left:auto}.stage{background:var(--stage);border:1px solid var(--line);border-radius:8px;flex:1;min-height:300px;position:relative;overflow:hidden}.stage canvas{width:100%;height:100%;display:block;position:absolute;inset:0}#stage-overlay{cursor:crosshair;touch-action:none}.stage[data-tool=lasso] #stage-overlay,.stage[data-tool=box] #stage-overlay{cursor:cell}.stage[data-tool=drag] #stage-overlay{cursor:grab}.legend{color:var(--soft);flex-wrap:wrap;gap:2px 12px;max-height:68px;padding-top:6px;font-size:13px;display:flex;overflow:auto}.swatch{white-space:nowrap;text-overflow:ellipsis;align-items:center;gap:5px;max-width:160px;display:inline-flex;overflow:hidden}.dot{border-radius:50%;flex:none;width:10px;height:10px}aside{flex-direction:column;gap:10px;min-width:0;display:flex}aside section{background:var(--card);border:1px solid var(--line);border-radius:10px;min-width:0;padding:12px 14px}.tools{align-items:center;gap:5px;display:inline-flex}.tools.wrap{flex-wrap:wrap;margin:4px 0;display:flex}select,button,input[type=text]{font:inherit;color:var(--ink);background:var(--card);border:1px solid var(--line);border-radius:7px;max-width:190px;min-height:30px;padding:3px 9px;font-size:13px}button{cursor:pointer}button:hover:enabled,select:hover{border-color:var(--accent)}button:disabled{color:var(--soft);opacity:.6;cursor:default}button.main{background:var(--accent);border-color:var(--accent);color:var(--card);font-weight:600}button.main:disabled{background:var(--card);color:var(--soft);border-color:var(--line)}button.quiet{color:var(--soft);background:0 0;border:none;padding:0 8px}button[aria-pressed=true],button[aria-current=true]{border-color:var(--accent);color:var(--accent);font-weight:600}.tool{border:1px solid var(--line);background:var(--card);cursor:pointer;border-radius:7px;align-items:center;gap:3px;min-height:30px;padding:3px 9px 3px 6px;display:inline-flex}.tool:has(:checked){border-color:var(--accent);color:var(--accent)}:focus-visible{outline:2px solid var(--accent);outline-offset:1px}.note{color:var(--soft);overflow-wrap:anywhere;margin:3px 0;font-size:13px}.note.warn{color:var(--warn)}.given{margin-bottom:6px;display:block}.row-name{overflow-wrap:anywhere;margin:0 0 4px;font-weight:600}dl{grid-template-columns:auto 1fr;gap:1px 10px;margin:0 0 6px;display:grid}dt{color:var(--soft);text-overflow:ellipsis;white-space:nowrap;max-width:120px;overflow:hidden}dd{overflow-wrap:anywhere;margin:0}.pictures{gap:12px;margin:4px 0;display:flex}figure{margin:0}figcaption{color:var(--soft);font-size:12px}.pictures canvas{width:128px;image-rendering:pixelated;border:1px solid var(--line);border-radius:5px;display:block}.profile{width:100%;display:block}table{border-collapse:collapse;font-variant-numeric:tabular-nums;width:100%;font-size:12.5px}th,td{text-align:right;border-bottom:1px solid var(--line);padding:2px 4px;font-weight:400}th[scope=row]{text-align:left;color:var(--soft);text-overflow:ellipsis;white-space:nowrap;max-width:150px;overflow:hidden}.measures th[scope=row]{white-space:normal}thead th{color:var(--soft);font-size:12px}.scrolled{max-height:236px;overflow:auto}summary{cursor:pointer;font-size:13px}.effects{font-size:12px}.effects th,.effects td{white-space:nowrap;padding:2px 3px}tr.weak{opacity:.6}.bar{background:var(--line);border-radius:2px;height:3px;display:block}.bar span{background:var(--soft);border-radius:2px;height:3px;display:block}.bar .place-bar{background:var(--accent)}ol{margin:6px 0;padding:0;list-style:none}#statements .stated,#history li{align-items:center;gap:8px;padding:2px 0;display:flex}.axis{pointer-events:none;color:var(--ink);text-overflow:ellipsis;white-space:nowrap;background:var(--stage);border-radius:4px;max-width:60%;padding:0 4px;font-size:13px;font-weight:600;position:absolute;overflow:hidden}.axis.x{bottom:6px;right:10px}.axis.y{writing-mode:vertical-rl;max-width:none;max-height:60%;top:10px;left:8px;transform:rotate(180deg)}#statements label{overflow-wrap:anywhere;flex:1}#statements li.off label{color:var(--soft);text-decoration:line-through}progress{width:100%;accent-color:var(--accent)}pre{background:var(--stage);border:1px solid var(--line);border-radius:7px;max-height:260px;margin:6px 0 0;padding:8px 10px;font-size:12px;overflow:auto}@container (width<=900px){main{grid-template-columns:minmax(0,1fr);padding:0 8px 12px}header{padding:8px 10px 4px}.map{height:auto;position:static}.stage{flex:none;height:62vh;min-height:300px}#stage-overlay{touch-action:pan-y}.stage:not([data-tool=move])[data-tool] #stage-overlay{touch-action:none}}:host{border:1px solid var(--line);border-radius:10px;overflow:hidden}:host .map{height:600px;position:static}:host aside{max-height:600px;overflow-y:auto}@container (width<=900px){:host .map{height:auto}:host .stage{height:380px}:host aside{max-height:420px}}", ae = 12e4;
function Q(t) {
	let n = /* @__PURE__ */ new Map(), r = Array.from(crypto.getRandomValues(/* @__PURE__ */ new Uint32Array(2)), (e) => e.toString(36)).join("-"), i = 0, a = (e, t) => {
		let r = e.id === void 0 ? void 0 : n.get(e.id), i = t?.[0];
		if (!r || !i) return;
		let a = i instanceof ArrayBuffer ? i : i.buffer.slice(i.byteOffset, i.byteOffset + i.byteLength);
		r({
			status: e.status ?? 500,
			bytes: a
		});
	};
	return t.on("msg:custom", a), {
		ask(a, o, s) {
			let c = `${r}-${++i}`;
			return new Promise((r, i) => {
				let l = setTimeout(() => {
					n.delete(c), i(new e("The kernel does not answer. It is busy, or was restarted: then run the cell again."));
				}, ae);
				n.set(c, (e) => {
					clearTimeout(l), n.delete(c), r(e);
				}), t.send({
					id: c,
					method: a,
					path: o,
					said: s
				});
			});
		},
		watch(e) {
			return t.on("change:version", e), () => t.off("change:version", e);
		},
		end() {
			t.off("msg:custom", a);
		}
	};
}
function $(e) {
	let t = e?.rows;
	return t ? Array.from({ length: t.byteLength / 4 }, (e, n) => t.getInt32(4 * n, !0)) : [];
}
function oe({ model: e, el: n }) {
	let r = document.createElement("div"), i = r.attachShadow({ mode: "open" }), a = new CSSStyleSheet(), o = Q(e);
	a.replaceSync(ie), i.adoptedStyleSheets = [a], i.append(...new DOMParser().parseFromString("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<title>Sidelight explorer</title>\n<link rel=\"icon\" href=\"data:,\">\n<script type=\"module\" src=\"/src/served.ts\"><\/script>\n</head>\n<body>\n<a class=\"skip\" href=\"#stage-overlay\">To the map</a>\n<header>\n<p class=\"brand\">Sidelight explorer</p>\n<h1 id=\"title\"></h1>\n<p id=\"about\"></p>\n<div class=\"buttons\">\n<button type=\"button\" id=\"undo\" aria-keyshortcuts=\"Control+Z\">Undo</button>\n<button type=\"button\" id=\"redo\" aria-keyshortcuts=\"Control+Y\">Redo</button>\n<button type=\"button\" id=\"save\">Save</button>\n<button type=\"button\" id=\"keep\" title=\"One HTML file of this view, which works offline\">Export</button>\n</div>\n</header>\n<p id=\"notice\" role=\"status\" aria-live=\"polite\" hidden></p>\n<main>\n<section class=\"map\" aria-label=\"Map\">\n<div class=\"toolbar\" role=\"toolbar\" aria-label=\"Map\">\n<div class=\"tools\" id=\"tools\" role=\"radiogroup\" aria-label=\"Dragging\"></div>\n<label>Colour <select id=\"colour\"></select></label>\n<label>Layer <select id=\"layer\"></select></label>\n<span id=\"axes\"></span>\n<div class=\"tools\">\n<button type=\"button\" id=\"zoom-in\" aria-label=\"Zoom in\">+</button>\n<button type=\"button\" id=\"zoom-out\" aria-label=\"Zoom out\">−</button>\n<button type=\"button\" id=\"zoom-all\">All</button>\n</div>\n</div>\n<div class=\"stage\" id=\"stage\">\n<canvas id=\"stage-under\"></canvas><canvas id=\"stage-points\"></canvas><canvas id=\"stage-overlay\" tabindex=\"0\" role=\"application\"\naria-label=\"Map of the rows. Arrow keys with Shift go from row to row, Space selects the row, arrow keys move the map, plus and minus zoom, Escape clears the selection.\"\naria-describedby=\"here-title\"></canvas>\n</div>\n<div id=\"legend\" class=\"legend\"></div>\n</section>\n<aside>\n<section aria-labelledby=\"here-title\">\n<h2 id=\"here-title\">Here</h2>\n<div id=\"controls\"></div>\n<div id=\"here\"></div>\n</section>\n<section aria-labelledby=\"selection-title\">\n<h2 id=\"selection-title\">Selection</h2>\n<div id=\"selection\"></div>\n</section>\n<section aria-labelledby=\"say-title\">\n<h2 id=\"say-title\">Say</h2>\n<div id=\"say\"></div>\n<ol id=\"statements\" aria-label=\"Statements\"></ol>\n<div id=\"refit\"></div>\n</section>\n<section aria-labelledby=\"history-title\">\n<h2 id=\"history-title\">Maps</h2>\n<ol id=\"history\" aria-label=\"Maps so far\"></ol>\n<div id=\"measures\"></div>\n</section>\n<section aria-labelledby=\"code-title\">\n<h2 id=\"code-title\">The same in code</h2>\n<div id=\"code\"></div>\n</section>\n</aside>\n</main>\n</body>\n</html>\n", "text/html").body.children), i.querySelector(".skip")?.remove();
	let s = document.body.dataset.jpThemeLight;
	s && (r.dataset.theme = s === "true" ? "light" : "dark"), n.append(r);
	let c = new re(i, new t(o));
	c.onselect = (t) => {
		let n = new DataView(new Int32Array(t).buffer);
		e.set("selection", { rows: n }), e.save_changes();
	};
	let l = () => {
		let t = $(e.get("selection"));
		(t.length !== c.selected.size || t.some((e) => !c.selected.has(e))) && c.select(t, "replace");
	};
	return e.on("change:selection", l), c.start().then(() => {
		$(e.get("selection")).length && l();
	}), r.addEventListener("keydown", (e) => e.stopPropagation()), () => {
		e.off("change:selection", l), c.end(), o.end();
	};
}
var se = { render: oe };
export { se as default, Q as kernel };
