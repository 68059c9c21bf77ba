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
var o = "button, input, select, summary, [tabindex]", s = (e) => [...e.querySelectorAll(o)].filter((e) => !e.matches(":disabled"));
function c(e, ...t) {
	let n = e.getRootNode().activeElement, r = n && n !== e && e.contains(n) ? d(n) : "", i = r ? [...e.querySelectorAll(o)].indexOf(n) : -1;
	if (e.replaceChildren(...t), !r) return;
	let a = s(e), c = a.filter((e) => d(e) === r), u = [...e.querySelectorAll(o)];
	(c.find((e) => u.indexOf(e) === i) ?? c[0] ?? a.find((e) => u.indexOf(e) >= i) ?? a[a.length - 1] ?? l(e))?.focus({ preventScroll: !0 });
}
function l(e) {
	let t = s(e.getRootNode()).filter((e) => e.checkVisibility?.() ?? !0);
	return t.find((t) => e.compareDocumentPosition(t) & Node.DOCUMENT_POSITION_FOLLOWING) ?? t[t.length - 1];
}
async function u(e) {
	try {
		return await navigator.clipboard.writeText(e), !0;
	} catch {}
	let t = i("textarea", {
		value: e,
		"aria-hidden": "true"
	}), n = document.activeElement;
	document.body.append(t), t.select();
	let r = document.execCommand("copy");
	return t.remove(), n?.focus({ preventScroll: !0 }), r;
}
var d = (e) => `${e.tagName} ${e.getAttribute("aria-label") ?? e.closest("label")?.textContent ?? e.textContent}`;
function f(e, t, n) {
	let r = i("a", {
		href: URL.createObjectURL(new Blob([e], { type: t })),
		download: n
	});
	r.click(), setTimeout(() => URL.revokeObjectURL(r.href), 1e4);
}
function p(e) {
	if (e == null || !Number.isFinite(e)) return "–";
	let t = Math.abs(e);
	return t !== 0 && (t >= 1e5 || t < .001) ? e.toExponential(2) : String(Number(e.toPrecision(4)));
}
var m = (e) => (/* @__PURE__ */ new Date(864e5 * e)).toISOString().slice(0, 10);
function h(e, t, n) {
	return n.includes(t) && e != null && Number.isFinite(e) ? m(e) : p(e);
}
var g = (e) => e.toFixed(2).replace(/^-(0\.00)$/, "$1"), _ = (e, t) => `${e.toLocaleString("en")} ${t}${e === 1 ? "" : "s"}`, v = 40, y = 255, b = 400, x = 46, S = 2;
function ee(e) {
	let t = 10 ** Math.floor(Math.log10(e)), n = e / t;
	return t * (n >= 5 ? 5 : n >= 2 ? 2 : 1);
}
function te(e, t, n) {
	if (!(n > t)) return {
		size: 1,
		low: t - .5,
		width: 1,
		step: 1
	};
	let r = Number.isInteger(t) && Number.isInteger(n);
	for (let t = 0; r && t < e.length; t++) r = Number.isNaN(e[t]) || Number.isInteger(e[t]);
	if (r && n - t < 60) return {
		size: n - t + 1,
		low: t - .5,
		width: 1,
		step: 1
	};
	let i = ee((n - t) / 200);
	return {
		size: v,
		low: t,
		width: (n - t) / v,
		step: r ? Math.max(1, i) : i
	};
}
var C = (e, t) => t.date && Number.isFinite(e) ? (/* @__PURE__ */ new Date(864e5 * e)).toISOString().slice(0, 10) : p(e), ne = class {
	box;
	values;
	onchange;
	select;
	passing = null;
	hide = !1;
	facets = [];
	failing = /* @__PURE__ */ new Uint8Array();
	n = 0;
	signature = "";
	waiting = !1;
	head = i("div", { class: "tools wrap" });
	more = i("details");
	colours = {};
	constructor(e, t, n, r) {
		this.box = e, this.values = t, this.onchange = n, this.select = r;
	}
	passes(e) {
		return !this.passing || this.passing[e] === 1;
	}
	get count() {
		let e = this.passing ? 0 : this.n;
		if (this.passing) for (let t = 0; t < this.n; t++) e += this.passing[t];
		return e;
	}
	get active() {
		return this.passing !== null;
	}
	take(e, t) {
		let n = JSON.stringify([e.rows, e.columns]);
		if (n === this.signature && !t) return;
		this.signature = n;
		let r = new Map(this.facets.map((e) => [`${e.column.kind} ${e.column.name}`, e]));
		this.n = e.rows, this.failing = new Uint8Array(this.n), this.facets = e.columns.map((e, t) => this.facet(e, t, r.get(`${e.kind} ${e.name}`)));
		let a = this.facets.filter(({ column: t }) => !t.feature || t.name === e.reliability.column), o = this.facets.filter((e) => !a.includes(e));
		if (!this.facets.length) return c(this.box, i("p", { class: "note" }, "There are no columns to filter by."));
		let s = this.more.open || !a.length || o.length < 4;
		this.more = i("details", {
			class: "facet-box",
			open: s
		}, i("summary", {}, _(o.length, "feature")), i("div", { class: "facets" }, ...o.map((e) => e.box))), c(this.box, this.head, ...a.map((e) => e.box), ...o.length ? [this.more] : []), this.settle();
	}
	repaint() {
		this.settle();
	}
	clear() {
		for (let e of this.facets) e.range = null, e.off.clear(), e.out = null;
		this.settle();
	}
	async set(e, t) {
		let n = this.facets.find(({ column: t }) => t.name === e);
		n.values || await this.load(n), t.range !== void 0 && (n.range = t.range), t.off && (n.off = new Set(t.off)), this.sift(n), this.settle();
	}
	facet(e, t, n) {
		let r = i("div", { class: "facet" }), a = i("details", { class: "facet-box" }, i("summary", {}, e.name), r), o = {
			column: e,
			at: t,
			size: 0,
			low: 0,
			width: 1,
			step: 1,
			range: n?.range ?? null,
			off: n?.off ?? /* @__PURE__ */ new Set(),
			values: null,
			bin: /* @__PURE__ */ new Uint8Array(),
			all: /* @__PURE__ */ new Uint32Array(),
			now: /* @__PURE__ */ new Uint32Array(),
			out: null,
			box: a,
			redraw: () => {}
		};
		return a.addEventListener("toggle", () => {
			a.open && !o.values && this.load(o).then(() => this.settle());
		}), (n?.box.open || o.range || o.off.size) && (a.open = n?.box.open ?? !1, this.load(o).then(() => {
			this.sift(o), this.settle();
		})), o;
	}
	async load(e) {
		let t = await this.values(e.at), { column: n } = e, r = e.box.querySelector(".facet");
		n.kind === "categories" ? e.size = (n.levels ?? []).length + 1 : Object.assign(e, te(t, n.period ? 0 : n.low ?? 0, n.period ?? n.high ?? 1)), e.bin = new Uint8Array(this.n);
		for (let r = 0; r < this.n; r++) {
			let i = t[r];
			e.bin[r] = n.kind === "categories" ? i < 0 ? e.size - 1 : i : Number.isNaN(i) ? y : Math.min(e.size - 1, Math.max(0, Math.floor((i - e.low) / e.width)));
		}
		e.all = /* @__PURE__ */ new Uint32Array(256);
		for (let t = 0; t < this.n; t++) e.all[e.bin[t]]++;
		e.values = t, e.redraw = n.kind === "categories" ? this.checks(e, r) : this.histogram(e, r);
	}
	sift(e) {
		let { range: t, off: n, values: r, bin: i } = e;
		if (!r || !t && !n.size) {
			e.out = null;
			return;
		}
		let a = new Uint8Array(this.n), [o, s] = (t ?? []).map(Math.fround);
		if (t) for (let e = 0; e < this.n; e++) a[e] = r[e] >= o && r[e] <= s ? 0 : 1;
		else for (let e = 0; e < this.n; e++) a[e] = +!!n.has(i[e]);
		e.out = a;
	}
	settle() {
		let e = this.facets.filter((e) => e.out), { failing: t } = this, n = getComputedStyle(this.box);
		for (let e of [
			"accent",
			"line",
			"veil"
		]) this.colours[e] = n.getPropertyValue(`--${e}`);
		t.fill(0);
		for (let { out: n } of e) for (let e = 0; e < this.n; e++) t[e] += n[e];
		if (this.passing = null, e.length) {
			this.passing = new Uint8Array(this.n);
			for (let e = 0; e < this.n; e++) this.passing[e] = +!t[e];
		}
		for (let e of this.facets) {
			let n = e.out !== null, r = e.range ? `${C(e.range[0], e.column)} to ${C(e.range[1], e.column)}` : e.off.size ? `${e.size - e.off.size - (e.all[e.size - 1] || e.column.kind === "numbers" ? 0 : 1)} chosen` : "";
			c(e.box.querySelector("summary"), e.column.name, ...n ? [i("span", { class: "chosen" }, r)] : []), e.values && e.box.open && (e.now = this.active ? re(e.bin, t, e.out) : e.all, e.redraw());
		}
		this.describe(), this.tell();
	}
	describe() {
		let e = i("input", {
			type: "checkbox",
			checked: this.hide,
			onchange: (e) => {
				this.hide = e.target.checked, this.tell();
			}
		});
		c(this.head, i("span", {
			class: "note",
			id: "passing",
			role: "status"
		}, this.active ? `${this.count.toLocaleString("en")} of ${_(this.n, "row")} pass` : "No filter is set."), ...this.active ? [
			i("label", { class: "note" }, e, " hide the others"),
			a("Select them", () => this.select([...this.passing.keys()].filter((e) => this.passing[e])), {
				disabled: !this.count,
				"aria-label": "Select the rows that pass"
			}),
			a("Clear filters", () => this.clear())
		] : []);
	}
	tell() {
		this.waiting || (this.waiting = !0, requestAnimationFrame(() => {
			this.waiting = !1, this.onchange();
		}));
	}
	checks(e, t) {
		let n = [...e.column.levels ?? [], ...e.all[e.size - 1] ? ["(missing)"] : []], r = (t) => {
			t(), this.sift(e), this.settle();
		}, o = n.map((t, n) => {
			let a = i("input", {
				type: "checkbox",
				onchange: () => r(() => {
					a.checked ? e.off.delete(n) : e.off.add(n);
				})
			}), o = i("span", { class: "counted" }), s = i("span", { class: "count-bar" });
			return {
				box: a,
				counted: o,
				bar: s,
				line: i("li", {}, i("label", { title: t }, a, i("span", { class: "level" }, t)), s, o)
			};
		});
		return c(t, i("div", { class: "tools" }, a("All", () => r(() => e.off.clear()), {
			class: "small",
			"aria-label": `All of ${e.column.name}`
		}), a("None", () => r(() => {
			e.off = new Set(n.keys());
		}), {
			class: "small",
			"aria-label": `None of ${e.column.name}`
		})), i("ul", {
			class: "levels",
			...n.length > 8 ? { tabIndex: 0 } : {},
			"aria-label": `Categories of ${e.column.name}`
		}, ...o.map(({ line: e }) => e))), () => {
			let t = Math.max(1, ...e.now.subarray(0, e.size));
			o.forEach(({ box: n, counted: r, bar: i, line: a }, o) => {
				n.checked = !e.off.has(o), r.textContent = e.now[o].toLocaleString("en"), i.style.setProperty("--share", `${100 * e.now[o] / t}%`), a.classList.toggle("empty", !e.now[o]);
			});
		};
	}
	histogram(e, t) {
		let { column: n } = e, r = n.period ? 0 : n.low ?? 0, o = n.period ?? n.high ?? 1, s = i("canvas", {
			class: "histogram",
			role: "img",
			width: S * b,
			height: 92
		}), l = (t) => {
			e.range = t[0] <= r && t[1] >= o ? null : t, this.sift(e), this.settle();
		}, u = (t) => i("input", {
			type: "range",
			min: String(r),
			max: String(o),
			step: "any",
			"aria-label": `${n.name}: ${t ? "largest" : "smallest"} value`,
			oninput: (n) => {
				let i = e.range ? [...e.range] : [r, o], a = Number(n.target.value);
				i[t] = d(a), l(t ? [Math.min(i[0], i[1]), i[1]] : [i[0], Math.max(i[0], i[1])]);
			},
			onkeydown: (n) => {
				let i = {
					ArrowRight: 1,
					ArrowUp: 1,
					ArrowLeft: -1,
					ArrowDown: -1,
					PageUp: 10,
					PageDown: -10
				}[n.key];
				if (!i) return;
				n.preventDefault();
				let a = e.range ? [...e.range] : [r, o];
				a[t] = Math.min(o, Math.max(r, d(a[t] + i * e.step))), l(t ? [Math.min(a[0], a[1]), a[1]] : [a[0], Math.max(a[0], a[1])]);
			}
		}), d = (t) => t <= r ? r : t >= o ? o : Number((Math.round(t / e.step) * e.step).toPrecision(12)), f = [u(0), u(1)], p = [i("span"), i("span")], m = a("All", () => {
			e.range = null, this.sift(e), this.settle();
		}, {
			class: "small",
			"aria-label": `All values of ${n.name}`
		}), h = null, g = (e) => {
			let t = s.getBoundingClientRect();
			return r + Math.min(1, Math.max(0, (e.clientX - t.left) / t.width)) * (o - r);
		};
		s.addEventListener("pointerdown", (e) => {
			s.setPointerCapture(e.pointerId), h = g(e);
		}), s.addEventListener("pointermove", (e) => {
			if (h === null) return;
			let t = g(e);
			Math.abs(t - h) > (o - r) / 100 && l([d(Math.min(h, t)), d(Math.max(h, t))]);
		});
		for (let e of ["pointerup", "pointercancel"]) s.addEventListener(e, () => {
			h = null;
		});
		return s.addEventListener("dblclick", () => m.click()), c(t, s, i("div", { class: "sliders" }, ...f), i("div", { class: "ends" }, p[0], m, p[1])), () => {
			let t = e.range ?? [r, o];
			f.forEach((e, r) => {
				e.value = String(t[r]), e.setAttribute("aria-valuetext", C(t[r], n));
			}), p.forEach((e, r) => {
				e.textContent = C(t[r], n);
			}), m.disabled = !e.range;
			let i = e.all[y] && !e.range ? `, ${_(e.all[y], "row")} without a value` : "";
			s.setAttribute("aria-label", `Histogram of ${n.name} from ${C(r, n)} to ${C(o, n)}${i}`), ie(s, e, t, [r, o], this.colours);
		};
	}
};
function re(e, t, n) {
	let r = /* @__PURE__ */ new Uint32Array(256), i = e.length;
	if (n) for (let a = 0; a < i; a++) t[a] === n[a] && r[e[a]]++;
	else for (let n = 0; n < i; n++) t[n] || r[e[n]]++;
	return r;
}
function ie(e, t, n, r, i) {
	let a = b, o = e.getContext("2d");
	o.setTransform(S, 0, 0, S, 0, 0), o.clearRect(0, 0, a, x);
	let s = [t.all, t.now].map((e) => Math.max(1, ...e.subarray(0, t.size))), c = (e) => r[1] > r[0] ? a * (e - r[0]) / (r[1] - r[0]) : e < r[0] ? 0 : a;
	[t.all, t.now].forEach((e, n) => {
		o.fillStyle = n ? i.accent : i.line;
		for (let r = 0; r < t.size; r++) {
			if (!e[r]) continue;
			let i = a * r / t.size, c = a * (r + 1) / t.size, l = Math.max(1.5, x * e[r] / s[n]);
			o.fillRect(i + (n ? .5 : 0), x - l, Math.max(1, c - i - +!!n), l);
		}
	}), o.fillStyle = i.veil, o.fillRect(0, 0, c(n[0]), x), o.fillRect(c(n[1]), 0, a - c(n[1]), x);
}
// src/search.ts
var ae = class {
	asks;
	tried;
	passes;
	on;
	matches = [];
	at = -1;
	asked = 0;
	timer = 0;
	input = i("input", {
		type: "search",
		"aria-label": "Find rows by number, name or value",
		placeholder: "Find rows",
		size: 12,
		maxLength: 200
	});
	told = i("span", {
		class: "note",
		role: "status",
		id: "found"
	});
	constructor(e, t, n, r, o) {
		this.asks = t, this.tried = n, this.passes = r, this.on = o;
		let s = a("›", () => this.step(1), { "aria-label": "Next match" }), l = i("span", {
			class: "tools",
			hidden: !0
		}, a("‹", () => this.step(-1), { "aria-label": "Match before" }), s, a("Select all", () => this.on.select(this.matches), { "aria-label": "Select all matches" }));
		this.input.addEventListener("input", () => {
			clearTimeout(this.timer), this.timer = window.setTimeout(() => void this.look(l), 160);
		}), this.input.addEventListener("keydown", (e) => {
			e.key === "Escape" ? (this.input.value = "", this.look(l)) : e.key === "Enter" && (e.preventDefault(), clearTimeout(this.timer), this.look(l).then(() => this.step(e.shiftKey ? -1 : 1)));
		}), c(e, this.input, this.told, l);
	}
	async again() {
		this.input.value.trim() && (this.last = "", await this.look(this.told.nextElementSibling));
	}
	last = "";
	answer = Promise.resolve();
	look(e) {
		let t = this.input.value.trim();
		if (t === this.last) return this.answer;
		this.last = t;
		let n = ++this.asked;
		return this.answer = this.tried(async () => {
			let r = t ? [...await this.asks.numbers(`search?text=${encodeURIComponent(t)}`)] : [];
			n === this.asked && (this.matches = r.filter((e) => this.passes(e)), this.at = -1, this.say(), e.hidden = !this.matches.length, this.on.found(this.matches));
		});
	}
	step(e) {
		let t = this.matches.length;
		t && (this.at = this.at < 0 ? e > 0 ? 0 : t - 1 : (this.at + e + t) % t, this.say(), this.on.go(this.matches[this.at]));
	}
	say() {
		let e = this.matches.length;
		this.told.textContent = this.last ? e ? this.at < 0 ? `${e.toLocaleString("en")} found` : `${(this.at + 1).toLocaleString("en")} of ${e.toLocaleString("en")}` : "no row" : "";
	}
}, oe = w(.42, 0, w(-.62, 1, [
	1,
	0,
	0,
	0,
	1,
	0,
	0,
	0,
	1
]));
function w(e, t, n) {
	let [r, i] = [Math.cos(e), Math.sin(e)], [a, o] = [(t + 1) % 3, (t + 2) % 3], s = [...n];
	for (let e = 0; e < 3; e++) s[3 * a + e] = r * n[3 * a + e] - i * n[3 * o + e], s[3 * o + e] = i * n[3 * a + e] + r * n[3 * o + e];
	return s;
}
var se = class {
	places;
	turn = oe;
	centre = [
		0,
		0,
		0
	];
	constructor(e) {
		this.places = e;
		let t = [
			0,
			0,
			0
		], n = e.length / 3, r = 0;
		for (let i = 0; i < n; i++) if (!Number.isNaN(e[3 * i])) {
			r++;
			for (let n = 0; n < 3; n++) t[n] += e[3 * i + n];
		}
		this.centre = t.map((e) => e / Math.max(1, r));
	}
	rotate(e, t) {
		this.turn = w(t, 0, w(e, 1, this.turn));
	}
	seen() {
		let e = this.places.length / 3, t = new Float32Array(2 * e), [n, r, i, a, o, s] = this.turn, [c, l, u] = this.centre, d = this.places;
		for (let f = 0; f < e; f++) {
			let e = d[3 * f] - c, p = d[3 * f + 1] - l, m = d[3 * f + 2] - u;
			t[2 * f] = n * e + r * p + i * m, t[2 * f + 1] = a * e + o * p + s * m;
		}
		return t;
	}
	depth(e) {
		let [, , , , , , t, n, r] = this.turn, i = this.places, [a, o, s] = this.centre;
		return t * (i[3 * e] - a) + n * (i[3 * e + 1] - o) + r * (i[3 * e + 2] - s);
	}
	drawing() {
		let e = this.places.length / 3, t = new Float32Array(e), n = /* @__PURE__ */ new Uint32Array(1025), r = Infinity, i = -Infinity;
		for (let n = 0; n < e; n++) {
			let e = this.depth(n);
			t[n] = e, e < r && (r = e), e > i && (i = e);
		}
		let a = i > r ? 1023 / (i - r) : 0, o = (e) => Number.isNaN(e) ? 0 : Math.floor((e - r) * a);
		for (let r = 0; r < e; r++) n[o(t[r]) + 1]++;
		for (let e = 0; e < 1024; e++) n[e + 1] += n[e];
		let s = new Uint32Array(e);
		for (let a = 0; a < e; a++) s[n[o(t[a])]++] = a, t[a] = i > r ? (t[a] - r) / (i - r) : .5;
		return {
			order: s,
			near: t
		};
	}
	direction(e, t) {
		return [
			0,
			1,
			2
		].map((n) => this.turn[n] * e + this.turn[3 + n] * t);
	}
	lift(e, t, n) {
		let r = n >= 0 ? this.depth(n) : 0, i = this.turn;
		return [
			0,
			1,
			2
		].map((n) => i[n] * e + i[3 + n] * t + i[6 + n] * r + this.centre[n]);
	}
}, T = 26, E = 6, D = 4e3, O = class {
	box;
	asks;
	ranks;
	tried;
	on;
	scope = "filter";
	order = /* @__PURE__ */ new Int32Array();
	state = null;
	selected = /* @__PURE__ */ new Set();
	passes = () => !0;
	cache = /* @__PURE__ */ new Map();
	sort = null;
	at = -1;
	marked = -1;
	asking = !1;
	waiting = !1;
	again = 0;
	later = 0;
	told = i("span", {
		class: "note",
		role: "status",
		id: "table-about"
	});
	scopes = i("select", {
		"aria-label": "Rows in the table",
		onchange: () => {
			this.scope = this.scopes.value, this.list();
		}
	}, i("option", { value: "filter" }, "rows that pass"), i("option", { value: "selection" }, "selected rows"));
	head = i("thead");
	body = i("tbody");
	grid = i("table", {
		role: "grid",
		tabIndex: 0,
		class: "rows",
		"aria-label": "Rows. Arrow keys go from row to row, Space selects the row."
	}, this.head, this.body);
	scroll = i("div", { class: "table-scroll" }, this.grid);
	constructor(e, t, n, r, a) {
		this.box = e, this.asks = t, this.ranks = n, this.tried = r, this.on = a, c(e, i("div", { class: "tools wrap" }, i("label", { class: "note" }, "Table of ", this.scopes), this.told), this.scroll), this.scroll.addEventListener("scroll", () => this.draw()), this.grid.addEventListener("keydown", (e) => this.key(e)), this.grid.addEventListener("focus", () => {
			this.at < 0 && this.order.length && this.go(0, !1);
		}), new ResizeObserver(() => this.draw()).observe(this.scroll);
	}
	get open() {
		return !this.box.hidden;
	}
	set open(e) {
		this.box.hidden = !e, e && this.list();
	}
	take(e, t) {
		let n = JSON.stringify(this.state?.columns) !== JSON.stringify(e.columns);
		this.state = e, (n || t) && this.cache.clear(), n && (this.sort = null, this.fillHead()), this.open && this.list();
	}
	rows(e, t, n) {
		this.selected = e, this.passes = t, n && (this.scope = n), clearTimeout(this.later), this.later = window.setTimeout(() => {
			this.open && this.list();
		}, 40);
	}
	mark(e) {
		this.marked = e;
		for (let t of this.body.querySelectorAll("tr[data-row]")) t.classList.toggle("marked", Number(t.dataset.row) === e);
	}
	named() {
		return [...this.cache.values()].some(({ name: e }) => e);
	}
	async list() {
		let { state: e } = this, t = ++this.again;
		e && await this.tried(async () => {
			let n = this.scope === "selection" && this.selected.size ? "selection" : "filter", r = this.sort ? await this.ranks(this.sort.path) : null;
			if (t !== this.again) return;
			let i = n === "selection" ? Int32Array.from(this.selected).sort() : Int32Array.from({ length: e.rows }, (e, t) => t);
			if (i = i.filter((e) => this.passes(e)), r) {
				let e = this.sort.down ? -1 : 1, t = (e) => +!!Number.isNaN(r[e]);
				i.sort((n, i) => t(n) - t(i) || (t(n) ? 0 : e * (r[n] - r[i])) || n - i);
			}
			this.order = i, this.scopes.value = n, this.scopes.options[1].disabled = !this.selected.size, this.told.textContent = _(i.length, "row"), this.grid.setAttribute("aria-rowcount", String(i.length + 1)), this.at = Math.min(this.at, i.length - 1), this.draw();
		});
	}
	fillHead() {
		let { columns: e } = this.state, t = [
			["Row", ""],
			["Name", "ranks"],
			...e.map((e, t) => [e.name, `ranks?at=${t}`])
		], n = new Set(e.filter((e) => e.kind === "categories").map((e) => e.name));
		this.grid.setAttribute("aria-colcount", String(t.length)), c(this.head, i("tr", {
			role: "row",
			"aria-rowindex": "1"
		}, ...t.map(([e, t]) => {
			let r = t === (this.sort?.path ?? ""), a = i("button", {
				type: "button",
				class: "sorter",
				title: `Sort by ${e}`,
				onclick: () => {
					this.sort = t ? this.sort?.path === t ? this.sort.down ? null : {
						path: t,
						down: !0
					} : {
						path: t,
						down: !1
					} : null, this.fillHead(), this.list(), [...this.head.querySelectorAll("button")].find((e) => e.dataset.path === t)?.focus();
				}
			}, e, r && t ? this.sort?.down ? " ↓" : " ↑" : "");
			a.dataset.path = t;
			let o = i("th", {
				scope: "col",
				role: "columnheader",
				"aria-sort": r && t ? this.sort?.down ? "descending" : "ascending" : "none"
			}, a);
			return t === "ranks" ? o.className = "name word" : n.has(e) && (o.className = "word"), o;
		})));
	}
	draw() {
		!this.waiting && this.open && (this.waiting = !0, requestAnimationFrame(() => {
			this.waiting = !1, this.paint();
		}));
	}
	visible() {
		let e = Math.floor((this.scroll.scrollTop - T) / T) - E, t = Math.ceil(this.scroll.clientHeight / T) + 12, n = Math.max(0, Math.min(e, this.order.length - t));
		return [n, Math.min(this.order.length, n + t)];
	}
	paint() {
		let [e, t] = this.visible(), n = [], r = this.state, a = (e) => {
			let t = i("tr", {
				class: "space",
				"aria-hidden": "true"
			}, i("td"));
			return t.style.height = `${T * e}px`, t;
		};
		e && n.push(a(e));
		for (let a = e; a < t; a++) {
			let e = this.order[a], t = this.cache.get(e), o = this.selected.has(e), s = r.columns.map((e, n) => {
				let r = t?.cells[n], a = r == null ? "–" : typeof r == "number" ? C(r, e) : r;
				return i("td", {
					role: "gridcell",
					title: a,
					class: typeof r == "number" ? "" : "word"
				}, t ? a : "…");
			}), c = i("tr", {
				role: "row",
				id: `line-${a}`,
				"aria-rowindex": String(a + 2),
				"aria-selected": String(o),
				class: `${o ? "picked" : ""} ${e === this.marked ? "marked" : ""} ${a === this.at ? "at" : ""}`,
				onpointerenter: () => this.on.mark(e),
				onclick: (t) => {
					this.at = a, this.toggle(e, t);
				}
			}, i("td", { role: "gridcell" }, `${o ? "✓ " : ""}${e}`), i("td", {
				role: "gridcell",
				class: "name word",
				title: t?.name ?? ""
			}, t?.name ?? ""), ...s);
			c.dataset.row = String(e), n.push(c);
		}
		t < this.order.length && n.push(a(this.order.length - t)), this.grid.classList.toggle("nameless", !this.named()), this.at >= e && this.at < t ? this.grid.setAttribute("aria-activedescendant", `line-${this.at}`) : this.grid.removeAttribute("aria-activedescendant"), c(this.body, ...n), this.fetch();
	}
	async fetch() {
		if (this.asking) return;
		let [e, t] = this.visible(), n = [...this.order.subarray(Math.max(0, e - 40), t + 40)].filter((e) => !this.cache.has(e));
		[...this.order.subarray(e, t)].some((e) => !this.cache.has(e)) && (this.asking = !0, await this.tried(async () => {
			try {
				this.cache.size > D && this.cache.clear();
				for (let e of (await this.asks.post("rows", { rows: n })).rows) this.cache.set(e.row, e);
				this.draw();
			} finally {
				this.asking = !1;
			}
		}));
	}
	toggle(e, t) {
		this.on.select(e, this.selected.has(e) || t.altKey ? "remove" : "add");
	}
	go(e, t = !0) {
		this.at = Math.max(0, Math.min(this.order.length - 1, e));
		let n = T * this.at, { scrollTop: r, clientHeight: i } = this.scroll;
		n < r ? this.scroll.scrollTop = n : n + 52 > r + i - T && (this.scroll.scrollTop = n + 78 - i), t && this.on.mark(this.order[this.at]), this.draw();
	}
	key(e) {
		if (e.target.tagName === "BUTTON") return;
		let t = Math.max(1, Math.floor(this.scroll.clientHeight / T) - 2), n = {
			ArrowDown: this.at + 1,
			ArrowUp: this.at - 1,
			PageDown: this.at + t,
			PageUp: this.at - t,
			Home: 0,
			End: this.order.length - 1
		};
		if (this.order.length) {
			if (e.key in n) this.go(n[e.key]);
			else if ((e.key === " " || e.key === "Enter") && this.at >= 0) this.toggle(this.order[this.at], e);
			else return;
			e.preventDefault();
		}
	}
}, ce = class {
	asks;
	kept = /* @__PURE__ */ new Map();
	constructor(e) {
		this.asks = e;
	}
	of(e) {
		let t = this.kept.get(e);
		if (t) return t;
		let n = this.asks.numbers(e);
		return this.kept.set(e, n), n.catch(() => this.kept.delete(e)), n;
	}
	forget() {
		this.kept.clear();
	}
}, k = 14;
function A(e, t, n, r) {
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
function j(e, t, n) {
	let r = t?.low ?? 0, a = t?.high ?? 1, o = e == null || a <= r ? 0 : (e - r) / (a - r), s = i("span", { class: n });
	return s.style.width = `${100 * Math.min(1, Math.max(0, o))}%`, i("span", { class: "bar" }, s);
}
function le(e, t, n) {
	let r = i("tr", {}, i("th", { scope: "col" }, "feature"), i("th", { scope: "col" }, "row"), i("th", { scope: "col" }, "place")), a = e.features.slice(0, k).map((r, a) => {
		let o = e.columns.find((e) => e.feature && e.name === r);
		return i("tr", {}, i("th", {
			scope: "row",
			title: r
		}, r), i("td", {}, t ? h(t.values[a], r, e.dates) : "", j(t?.values[a], o, "row-bar")), i("td", {}, n?.values ? h(n.values[a], r, e.dates) : "", j(n?.values?.[a], o, "place-bar")));
	}), o = e.texts.map((e, r) => i("tr", {}, i("th", {
		scope: "row",
		title: e
	}, e), i("td", {}, t?.texts[r] ?? ""), i("td", {}, n?.texts?.[r] ?? "")));
	return i("table", { class: "features" }, i("thead", {}, r), i("tbody", {}, ...a, ...o));
}
function ue(e, t, n, r) {
	let a = i("canvas", {
		width: 320,
		height: 110,
		class: "profile",
		role: "img",
		"aria-label": "Values of all features: bars are the row, the line is the place"
	}), o = a.getContext("2d"), s = [...t?.values ?? [], ...n?.values ?? []].filter(Number.isFinite), c = Math.min(0, ...s), l = Math.max(1e-12, ...s), u = (e) => 104 - 98 * (e - c) / (l - c || 1), d = e.features.length;
	return o.fillStyle = r.getPropertyValue("--line"), t?.values.forEach((e, t) => o.fillRect(320 * t / d, Math.min(u(0), u(e)), Math.max(1, 320 / d - .5), Math.abs(u(e) - u(0)))), o.strokeStyle = r.getPropertyValue("--accent"), o.beginPath(), n?.values?.forEach((e, t) => o[t ? "lineTo" : "moveTo"](320 * (t + .5) / d, u(e))), o.stroke(), i("figure", {}, a, i("figcaption", {}, `${d} features: bars are the row, the line is the place`));
}
function M(e, t, n, r) {
	let a = [];
	if (t) {
		let e = t.name ? `Row ${t.row}: ${t.name}` : `Row ${t.row}`;
		a.push(i("p", { class: "row-name" }, e));
		let n = Object.entries(t.columns).slice(0, 8);
		n.length && a.push(i("dl", {}, ...n.flatMap(([e, t]) => [i("dt", { title: e }, e), i("dd", {}, typeof t == "number" ? p(t) : String(t ?? "–"))])));
	}
	if (e.image) {
		let [r, o] = [e.image, e.range], s = [];
		t && s.push(A(t.values, r, o, "the row")), n?.values && s.push(A(n.values, r, o, "the place")), a.push(i("div", { class: "pictures" }, ...s));
	} else (t || n?.values) && a.push(e.features.length <= k ? le(e, t, n) : ue(e, t, n, r));
	if (n && n.typicality !== null) {
		let e = n.typicality < .01 ? "No rows are near: the decoded values are a guess." : `A more usual place than ${Math.round(100 * n.typicality)} % of the rows have.`;
		a.push(i("p", { class: n.typicality < .01 ? "note warn" : "note" }, e));
	}
	return a.length || a.push(i("p", { class: "note" }, "Point at the map to see the nearest row and what the model decodes at that place.")), i("div", { class: "card" }, ...a);
}
// src/colours.ts
var N = [
	"#0072b2",
	"#e69f00",
	"#009e73",
	"#cc79a7",
	"#d55e00",
	"#56b4e9",
	"#f0e442"
], de = [
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
], fe = [
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
], P = [
	154,
	154,
	154
], pe = [
	0,
	114,
	178
];
function F(e) {
	return [
		1,
		3,
		5
	].map((t) => parseInt(e.slice(t, t + 2), 16));
}
function I(e, t, n) {
	return e.map((e, r) => Math.round(e + n * (t[r] - e)));
}
function L(e) {
	let t = F(N[e % N.length]), n = Math.floor(e / N.length) % 3;
	return n === 0 ? t : I(t, n === 1 ? [
		0,
		0,
		0
	] : [
		255,
		255,
		255
	], .42);
}
function R(e, t, n) {
	let r = n ? e.length : e.length - 1, i = Math.min(Math.max(t, 0), 1) * r, a = Math.min(Math.floor(i), r - 1);
	return I(F(e[a]), F(e[(a + 1) % e.length]), i - a);
}
function z(e, t) {
	if (e.period) return R(fe, (t % e.period + e.period) % e.period / e.period, !0);
	let n = e.low ?? 0, r = e.high ?? 1;
	return R(de, r > n ? (t - n) / (r - n) : .5, !1);
}
function B(e, t, n) {
	let r = new Uint8Array(3 * n), i = [];
	if (e?.kind === "numbers") for (let t = 0; t < 256; t++) i.push(z(e, me(e, t)));
	let a = e?.levels?.map((t, n) => L(e.colours?.[n] ?? n)) ?? [];
	for (let o = 0; o < n; o++) {
		let n = pe;
		if (e && t) {
			let r = t[o];
			n = e.kind === "categories" ? r < 0 ? P : a[r] : Number.isNaN(r) ? P : i[he(e, r)];
		}
		r[3 * o] = n[0], r[3 * o + 1] = n[1], r[3 * o + 2] = n[2];
	}
	return r;
}
function V(e) {
	return e.period ? [0, e.period] : [e.low ?? 0, e.high ?? 1];
}
function me(e, t) {
	let [n, r] = V(e);
	return n + t / 255 * (r - n);
}
function he(e, t) {
	let [n, r] = V(e), i = e.period ? (t % e.period + e.period) % e.period : t;
	return Math.min(255, Math.max(0, Math.round((r > n ? (i - n) / (r - n) : .5) * 255)));
}
var H = (e) => `rgb(${e.join(",")})`, ge = 12, _e = 14, ve = {
	name: "",
	feature: !1,
	kind: "numbers",
	low: 0,
	high: 1
};
function ye(e, t) {
	let n = [0];
	for (let t = 1; t < e.length; t++) n.push(n[t - 1] + Math.hypot(e[t][0] - e[t - 1][0], e[t][1] - e[t - 1][1]));
	let r = n[n.length - 1];
	if (!(r > 0)) return [e[0]];
	let i = 1;
	return Array.from({ length: t }, (a, o) => {
		let s = r * o / (t - 1);
		for (; i < e.length - 1 && n[i] < s;) i++;
		let c = n[i] > n[i - 1] ? (s - n[i - 1]) / (n[i] - n[i - 1]) : 0, [l, u] = [e[i - 1], e[i]];
		return [l[0] + c * (u[0] - l[0]), l[1] + c * (u[1] - l[1])];
	});
}
var be = class {
	box;
	asks;
	tried;
	state;
	body;
	on;
	path = [];
	steps = [];
	places = [];
	asking = !1;
	later = !1;
	begun = 0;
	constructor(e, t, n, r, i, a) {
		this.box = e, this.asks = t, this.tried = n, this.state = r, this.body = i, this.on = a;
	}
	get end() {
		return this.path.length ? this.path[this.path.length - 1] : null;
	}
	clear() {
		this.begun++, this.path = [], this.places = [], this.steps = [], this.box.hidden = !0, c(this.box), this.on.drawn();
	}
	begin(e) {
		this.begun++, this.path = [e];
	}
	to(e) {
		this.path.push(e), this.on.drawn(), this.look();
	}
	async again() {
		this.path.length > 1 && await this.look();
	}
	async look() {
		if (this.asking) this.later = !0;
		else {
			this.asking = !0;
			try {
				do {
					this.later = !1;
					let e = ye(this.path, ge), t = this.begun;
					if (e.length < 2) return;
					await this.tried(async () => {
						let { steps: n } = await this.asks.post("walk", this.body(e));
						t === this.begun && (this.places = e, this.steps = n, this.show());
					});
				} while (this.later);
			} finally {
				this.asking = !1;
			}
		}
	}
	show() {
		let e = this.state(), t = this.steps.filter((e) => e.typicality !== null && e.typicality < .01).length, n = e.image ? this.film(e, e.image) : e.features.length > _e ? this.lines(e) : this.small(e);
		this.box.hidden = !1, c(this.box, i("div", { class: "tools" }, i("span", {
			class: "note",
			role: "status"
		}, `A walk in ${this.steps.length} steps${t ? `, ${t} of them where no rows are near` : ""}`), a("Close", () => this.clear(), {
			"aria-label": "Close the walk",
			class: "small"
		})), n), this.on.drawn();
	}
	film(e, t) {
		return i("div", { class: "film" }, ...this.steps.map((n, r) => {
			let i = a("", () => this.on.at(this.places[r]), {
				"aria-label": `Step ${r + 1}`,
				class: n.typicality !== null && n.typicality < .01 ? "frame guess" : "frame"
			});
			return i.append(A(n.values, t, e.range, `${r + 1}`)), i;
		}));
	}
	lines(e) {
		let [t, n] = [640, 120], r = i("canvas", {
			width: t,
			height: n,
			class: "profile",
			role: "img",
			"aria-label": "Values of all features: a line for each step, dark at the start"
		}), a = r.getContext("2d"), o = this.steps.flatMap((e) => e.values).filter(Number.isFinite), s = e.features.length, c = Math.min(...o), l = Math.max(...o), u = (e) => n - 4 - (n - 8) * (e - c) / (l - c || 1);
		return this.steps.forEach((e, n) => {
			a.strokeStyle = H(z(ve, .9 * n / Math.max(1, this.steps.length - 1))), a.lineWidth = 1.5, a.beginPath(), e.values.forEach((e, n) => a[n ? "lineTo" : "moveTo"](t * (n + .5) / s, u(e))), a.stroke();
		}), i("figure", {}, r, i("figcaption", {}, `${s} features, a line for each step: dark at the start, bright at the end`));
	}
	small(e) {
		let t = [
			0,
			2,
			4,
			7,
			9,
			11
		].filter((e) => e < this.steps.length), n = e.features.map((t, n) => {
			let r = this.steps.map((e) => e.values[n]), i = e.columns.find((e) => e.feature && e.name === t);
			return {
				name: t,
				k: n,
				by: (Math.max(...r) - Math.min(...r)) / ((i?.high ?? 1) - (i?.low ?? 0) || 1)
			};
		}).sort((e, t) => t.by - e.by).slice(0, 8), r = i("tr", {}, i("th", { scope: "col" }, "step"), ...t.map((e) => i("th", { scope: "col" }, String(e + 1)))), a = n.map(({ name: n, k: r }) => i("tr", {}, i("th", {
			scope: "row",
			title: n
		}, n), ...t.map((t) => i("td", {}, h(this.steps[t].values[r], n, e.dates))))), o = e.texts.map((e, n) => i("tr", {}, i("th", {
			scope: "row",
			title: e
		}, e), ...t.map((e) => i("td", {}, this.steps[e].texts?.[n] ?? "–"))));
		return i("div", {
			class: "scrolled",
			tabIndex: 0,
			role: "region",
			"aria-label": "Steps of the walk"
		}, i("table", {}, i("thead", {}, r), i("tbody", {}, ...a, ...o)));
	}
}, xe = class {
	host;
	values;
	filters;
	search;
	table;
	walk;
	space = null;
	deep = !0;
	judging = !1;
	labels = "";
	constructor(e) {
		this.host = e;
		let { source: t, scatter: n } = e, r = (t) => e.tried(t);
		this.values = new ce(t), this.filters = new ne(e.byId("filters"), (e) => this.values.of(`column?at=${e}`), () => this.sifted(), (t) => e.select(t, "replace", "selection")), this.search = new ae(e.byId("find"), t, r, (e) => this.filters.passes(e), {
			found: (e) => n.ring(e),
			go: (e) => this.go(e),
			select: (t) => e.select(t, "replace", "selection")
		}), this.table = new O(e.byId("table"), t, (e) => this.values.of(e), r, {
			mark: (e) => this.mark(e),
			select: (t, n) => e.select([t], n)
		}), this.walk = new be(e.byId("walk"), t, r, () => e.state, (e) => this.bodyOf(e), {
			drawn: () => n.follow(this.walk.path, this.walk.places),
			at: (t) => e.hover(t, -1)
		}), n.allowed = (e) => this.filters.passes(e), n.onwalk = (e, t) => this.step(e, t);
		let i = e.byId("table-open");
		i.onclick = () => {
			this.table.open = !this.table.open, i.setAttribute("aria-expanded", String(this.table.open));
		};
	}
	take(e, t) {
		let n = JSON.stringify(e.statements.filter((e) => e.kind === "label")), r = t || n !== this.labels || n !== "[]" && !t;
		this.labels = n, r && this.values.forget(), this.filters.take(e, r), this.table.take(e, r), t && this.walk.clear();
	}
	async show(e) {
		let { scatter: t, source: n, axes: r, state: i } = this.host, a = this.space?.turn;
		this.space = null, i.dims === 3 && this.deep && (this.space = new se(await n.numbers("points?x=0&y=1&z=2")), a && (this.space.turn = a)), t.onturn = this.space ? (e, t) => this.turn(e, t) : null;
		let o = this.space ? this.space.seen() : await n.numbers(`points?x=${r[0]}&y=${r[1]}`);
		t.show(o, e, this.space?.drawing() ?? null);
	}
	where(e, t) {
		let { axes: n, given: r } = this.host, i = t < 0 ? null : t;
		return this.space ? {
			place: this.space.lift(...e, t),
			row: i,
			given: r,
			x: 0,
			y: 1,
			z: 2
		} : {
			place: e,
			row: i,
			given: r,
			x: n[0],
			y: n[1]
		};
	}
	shifted(e) {
		let [t, n] = this.host.axes;
		return this.space ? {
			shift: this.space.direction(...e),
			x: 0,
			y: 1,
			z: 2
		} : {
			shift: e,
			x: t,
			y: n
		};
	}
	async judge() {
		if (!this.judging) {
			this.judging = !0;
			try {
				let e = await this.host.source.post("reliability");
				for (; e.state === "running";) this.host.say(`Computing the reliability of each row: ${Math.round(e.seconds ?? 0)} s.`), await new Promise((e) => setTimeout(e, 200)), e = await this.host.source.get("reliability");
				this.host.say(e.state === "failed" ? e.message ?? "" : "", !0), e.state === "failed" && (this.host.byId("colour").value = this.host.byId("layer").value = ""), await this.host.take(await this.host.source.get("state")), e.state === "done" && await this.host.relayer();
			} finally {
				this.judging = !1;
			}
		}
	}
	axisChoice() {
		if (this.host.state.dims !== 3) return null;
		let e = () => void this.host.tried(async () => {
			await this.show(!1), this.walk.clear(), this.host.fillAxes(), this.host.byId("layer").disabled = this.space !== null, await this.host.relayer(), this.host.byId("deep").focus();
		});
		return i("label", { class: "tool" }, i("input", {
			type: "checkbox",
			id: "deep",
			checked: this.deep,
			onchange: (t) => {
				this.deep = t.target.checked, e();
			}
		}), "3-D");
	}
	mark(e) {
		let { points: t } = this.host.scatter;
		this.host.hover([t[2 * e], t[2 * e + 1]], e);
	}
	go(e) {
		this.host.scatter.reveal(e), this.mark(e);
	}
	sifted() {
		let { host: e } = this, t = [...e.selected].filter((e) => this.filters.passes(e));
		t.length < e.selected.size ? e.select(t, "replace") : e.tried(() => e.recolour()), this.table.rows(e.selected, (e) => this.filters.passes(e)), this.search.again();
	}
	turn(e, t) {
		this.space && (this.space.rotate(e, t), this.host.scatter.place(this.space.seen(), this.space.drawing()));
	}
	step(e, t) {
		t ? (this.walk.clear(), this.walk.begin(e)) : this.walk.to(e), this.host.hover(e, this.host.scatter.near(e));
	}
	bodyOf(e) {
		let { axes: t, given: n, scatter: r } = this.host, i = r.near(e[0]);
		return this.space ? {
			places: e.map((e) => this.space.lift(...e, i)),
			row: i < 0 ? null : i,
			given: n,
			x: 0,
			y: 1,
			z: 2
		} : {
			places: e,
			row: i < 0 ? null : i,
			given: n,
			x: t[0],
			y: t[1]
		};
	}
}, U = 72, W = 12, Se = class {
	box;
	host;
	heard;
	made = "";
	updates = [];
	constructor(e, t, n) {
		this.box = e, this.host = t, this.heard = n;
	}
	take(e) {
		let t = JSON.stringify(e);
		t !== this.made && (this.made = t, this.updates = [], c(this.box, ...e.map((t) => this.control(t, e))));
		for (let e of this.updates) e();
	}
	set(e, t, n, r = !0) {
		if (n === null) this.host.given = null;
		else {
			let r = {};
			for (let e of t) r[e.name] = this.host.given?.[e.name] ?? G(e);
			this.host.given = {
				...r,
				[e.name]: n
			};
		}
		for (let e of this.updates) e();
		r ? this.heard.chosen() : this.heard.moved();
	}
	control(e, t) {
		let n = () => this.host.given?.[e.name];
		if (e.values) {
			let r = i("select", {
				id: `given-${e.name}`,
				onchange: () => this.set(e, t, r.value || null)
			}, i("option", { value: "" }, "averaged over"), ...e.values.map((e) => i("option", { value: e }, e)));
			return this.updates.push(() => {
				r.value = String(n() ?? "");
			}), i("label", { class: "given" }, `Given ${e.name} `, r);
		}
		let r = i("span", { class: "note" }), o = a("Average", () => {
			this.set(e, t, null), s.focus();
		}, { "aria-label": `Average over ${e.name} again` }), s = e.kind === "angle" ? we(e, () => Number(n() ?? G(e)), (n, r) => this.set(e, t, n, r)) : Ce(e, (n, r) => this.set(e, t, n, r));
		return this.updates.push(() => {
			let t = n(), i = Number(t ?? G(e));
			r.textContent = t === void 0 ? "averaged over" : p(i), o.hidden = t === void 0, s instanceof HTMLInputElement ? Number(s.value) !== i && (s.value = String(i)) : Te(s, i / ((e.high ?? 1) - (e.low ?? 0)), p(i)), s.setAttribute("aria-valuetext", t === void 0 ? "averaged over" : p(i));
		}), i("div", {
			class: "given",
			role: "group",
			"aria-label": `Given ${e.name}`
		}, i("span", {}, `Given ${e.name} `), s, " ", r, " ", o);
	}
}, G = (e) => e.values?.[0] ?? ((e.low ?? 0) + (e.high ?? 1)) / 2;
function Ce(e, t) {
	let n = e.low ?? 0, r = e.high ?? 1, a = i("input", {
		type: "range",
		min: String(n),
		max: String(r),
		step: String((r - n) / 200 || "any"),
		"aria-label": `Given ${e.name}`,
		oninput: () => t(Number(a.value), !1),
		onchange: () => t(Number(a.value), !0)
	});
	return a;
}
function we(e, t, n) {
	let r = (e.high ?? 1) - (e.low ?? 0), a = (e) => (e % r + r) % r, o = i("div", {
		class: "dial",
		tabIndex: 0,
		role: "slider",
		"aria-label": `Given ${e.name}`,
		"aria-valuemin": 0,
		"aria-valuemax": r
	}, i("span", { class: "hand" })), s = (e, t) => {
		let i = o.getBoundingClientRect(), s = Math.atan2(e.clientX - i.x - i.width / 2, i.y + i.height / 2 - e.clientY) / (2 * Math.PI);
		n(a(s * r), t);
	};
	return o.addEventListener("pointerdown", (e) => {
		o.setPointerCapture(e.pointerId), s(e, !1);
	}), o.addEventListener("pointermove", (e) => {
		o.hasPointerCapture(e.pointerId) && s(e, !1);
	}), o.addEventListener("pointerup", (e) => s(e, !0)), o.addEventListener("keydown", (e) => {
		let i = {
			ArrowRight: 1 / U,
			ArrowUp: 1 / U,
			ArrowLeft: -1 / U,
			ArrowDown: -1 / U,
			PageUp: 1 / W,
			PageDown: -1 / W
		};
		(e.key in i || e.key === "Home") && (e.preventDefault(), n(e.key === "Home" ? 0 : a(t() + i[e.key] * r), !0));
	}), o;
}
function Te(e, t, n) {
	e.firstElementChild.style.transform = `rotate(${t}turn)`, e.setAttribute("aria-valuenow", n);
}
// src/panels.ts
function Ee(e, t, n) {
	let r = [];
	for (let e of t.columns.slice(0, 4)) {
		let n = e.date ? m : p, a = e.range ? `${n(e.range[1])} (${n(e.range[0])} to ${n(e.range[2])})` : e.values.slice(0, 3).map(({ value: e, count: n }) => `${e} ${Math.round(100 * n / t.count)} %`).join(", ");
		r.push(i("p", { class: "note" }, `${e.name}: ${a}`));
	}
	if (e.image && t.here_mean && t.there_mean && r.push(i("div", { class: "pictures" }, A(t.here_mean, e.image, e.range, "mean of A"), A(t.there_mean, e.image, e.range, n ? "mean of B" : "mean of the rest"))), t.unknown) return i("div", {}, ...r);
	if (!t.features.length) return i("div", {}, ...r, i("p", { class: "note" }, "There is no other row to compare with."));
	let a = [
		"feature",
		"A",
		n ? "B" : "rest",
		"SD apart (95 %)",
		"FDR"
	].map((e) => i("th", { scope: "col" }, e)), o = t.features.slice(0, 10).map((t) => i("tr", { class: t.fdr > .05 ? "weak" : "" }, i("th", {
		scope: "row",
		title: t.name
	}, t.name), i("td", {}, h(t.here, t.name, e.dates)), i("td", {}, h(t.there, t.name, e.dates)), i("td", {}, `${g(t.effect)} (${g(t.low)}, ${g(t.high)})`), i("td", {}, t.fdr < .001 ? "< 0.001" : t.fdr.toFixed(3)))), s = t.after?.length ? ` after ${t.after.join(", ")}` : "", c = i("table", { class: "effects" }, i("thead", {}, i("tr", {}, ...a)), i("tbody", {}, ...o));
	return e.image ? r.push(i("details", {}, i("summary", {}, `What sets it apart${s}, pixel by pixel`), c)) : r.push(i("h3", {}, `What sets it apart${s}`), i("div", {
		class: "scrolled",
		tabIndex: 0,
		role: "region",
		"aria-label": "What sets it apart"
	}, c)), i("div", {}, ...r);
}
function De(e, t) {
	let n = t.remarks.map((e) => i("p", { class: "note warn" }, e));
	for (let r of t.rows.slice(0, 6)) if (e.image) n.push(i("div", { class: "pictures" }, A(r.now, e.image, e.range, `row ${r.row}`), A(r.then, e.image, e.range, "with what is chosen")));
	else {
		let t = r.then.map((e, t) => ({
			k: t,
			by: Math.abs(e - r.now[t])
		})).sort((e, t) => t.by - e.by).slice(0, 4);
		n.push(i("p", { class: "note" }, `Row ${r.row}: ${t.map(({ k: t }) => `${e.features[t]} ${p(r.now[t])} → ${p(r.then[t])}`).join(", ")}`));
	}
	return i("div", {}, ...n);
}
function Oe(e, t) {
	return e.maps.map((n, r) => i("li", {}, a(`Map ${n.number}`, () => t(r), { "aria-current": r === e.current ? "true" : void 0 }), i("span", { class: "note" }, n.words)));
}
function ke(e, t, n) {
	let r = (t, n, r) => i("tr", {}, i("th", {
		scope: "row",
		title: t
	}, t), ...e ? [i("td", {}, n)] : [], i("td", {}, r)), a = [r("trustworthiness", e ? e.trustworthiness.toFixed(3) : "", t.trustworthiness.toFixed(3))];
	t.rest != null && a.push(r(`trustworthiness after ${(t.after ?? []).join(", ")}`, e?.rest?.toFixed(3) ?? "–", t.rest.toFixed(3))), t.reconstruction !== null && a.push(r("reconstruction (R²)", e?.reconstruction?.toFixed(3) ?? "–", t.reconstruction.toFixed(3)));
	for (let n of t.columns) {
		let t = e?.columns.find((e) => e.name === n.name), i = n.kind === "category" ? ` (chance ${n.chance.toFixed(2)})` : " (R²)";
		a.push(r(`neighbours tell ${n.name}${i}`, t ? t.value.toFixed(3) : "–", n.value.toFixed(3)));
	}
	return i("table", { class: "measures" }, i("thead", {}, i("tr", {}, i("th", { scope: "col" }, "measure"), ...e ? [i("th", { scope: "col" }, n)] : [], i("th", { scope: "col" }, "now"))), i("tbody", {}, ...a));
}
function Ae(e, t, n, r) {
	let o = (e, r) => a(r, () => n(e), { "aria-pressed": String(t === e) }), s = e.code[t];
	return [i("div", { class: "tools" }, o("python", "Python"), o("command", "Command line"), a("Copy", () => r(s))), i("pre", {
		tabIndex: 0,
		"aria-label": "Code"
	}, i("code", {}, s))];
}
function je(e) {
	let t = e.seconds ? `, fitted in ${e.seconds.toFixed(1)} s` : "";
	return `${_(e.rows, "row")}, ${_(e.features.length + e.texts.length, "feature")}, ${e.model}${t}`;
}
// src/points.ts
var Me = "\nattribute vec2 a_from; attribute vec2 a_to; attribute vec4 a_colour; attribute float a_near;\nuniform vec2 u_offset; uniform vec2 u_scale; uniform float u_share;\nuniform float u_size;\nvarying vec4 v_colour; varying float v_size;\nvoid main() {\n  vec2 place = mix(a_from, a_to, u_share);\n  gl_Position = vec4(place * u_scale + u_offset, 0.0, 1.0);\n  v_size = u_size * (0.6 + 0.8 * a_near);\n  gl_PointSize = v_size;\n  v_colour = vec4(a_colour.rgb, a_colour.a * min(1.0, 0.4 + 1.2 * a_near));\n}", Ne = "\nprecision mediump float;\nvarying vec4 v_colour; varying float v_size;\nvoid main() {\n  float r = length(gl_PointCoord - 0.5) * v_size, edge = 0.5 * v_size;\n  float a = v_colour.a * (v_size < 3.0 ? 1.0 : 1.0 - smoothstep(edge - 1.0, edge, r));\n  gl_FragColor = vec4(v_colour.rgb * a, a);\n}";
function K(e, t, n) {
	let r = e.createShader(t);
	if (e.shaderSource(r, n), e.compileShader(r), !e.getShaderParameter(r, e.COMPILE_STATUS)) throw Error(e.getShaderInfoLog(r) ?? "shader");
	return r;
}
function Pe(e) {
	let t = e.getContext("webgl", {
		antialias: !1,
		premultipliedAlpha: !0
	});
	if (!t) return null;
	let n = t.createProgram();
	if (t.attachShader(n, K(t, t.VERTEX_SHADER, Me)), t.attachShader(n, K(t, t.FRAGMENT_SHADER, Ne)), t.bindAttribLocation(n, 0, "a_from"), t.linkProgram(n), !t.getProgramParameter(n, t.LINK_STATUS)) return null;
	t.useProgram(n), t.enable(t.BLEND), t.blendFunc(t.ONE, t.ONE_MINUS_SRC_ALPHA);
	let r = {
		from: t.createBuffer(),
		to: t.createBuffer(),
		colour: t.createBuffer(),
		near: t.createBuffer()
	}, i = t.getAttribLocation(n, "a_near");
	t.vertexAttrib1f(i, .5);
	let [a, o, s, c] = [
		"u_offset",
		"u_scale",
		"u_share",
		"u_size"
	].map((e) => t.getUniformLocation(n, e)), l = 0, u = null, d = 1, f = /* @__PURE__ */ new Map(), p = t.createBuffer(), m = t.getExtension("OES_element_index_uint") !== null, h = (e) => {
		if (e !== d) for (let t of f.values()) t(e);
		d = e;
	}, g = (e, r, i, a, o, s) => {
		let c = t.getAttribLocation(n, r);
		h(1), t.bindBuffer(t.ARRAY_BUFFER, e), t.bufferData(t.ARRAY_BUFFER, i, t.STATIC_DRAW), t.enableVertexAttribArray(c), t.vertexAttribPointer(c, a, o, s, 0, 0), f.set(r, (n) => {
			t.bindBuffer(t.ARRAY_BUFFER, e), t.vertexAttribPointer(c, a, o, s, n === 1 ? 0 : n * a * (o === t.FLOAT ? 4 : 1), 0);
		});
	};
	return {
		kind: "webgl",
		places(e, n) {
			l = n.length / 2, g(r.from, "a_from", e, 2, t.FLOAT, !1), g(r.to, "a_to", n, 2, t.FLOAT, !1);
		},
		colours(e) {
			g(r.colour, "a_colour", e, 4, t.UNSIGNED_BYTE, !0);
		},
		draw(e) {
			u = m && e ? e.order : null, e ? g(r.near, "a_near", e.near, 1, t.FLOAT, !1) : t.disableVertexAttribArray(i), u && (t.bindBuffer(t.ELEMENT_ARRAY_BUFFER, p), t.bufferData(t.ELEMENT_ARRAY_BUFFER, u, t.DYNAMIC_DRAW));
		},
		paint(n, r, i, d) {
			let f = e.width / n.width;
			h(u ? 1 : d), t.viewport(0, 0, e.width, e.height), t.clearColor(0, 0, 0, 0), t.clear(t.COLOR_BUFFER_BIT), t.uniform2f(o, 2 * n.s / n.width, 2 * n.s / n.height), t.uniform2f(a, 2 * n.ox / n.width - 1, 1 - 2 * n.oy / n.height), t.uniform1f(s, r), t.uniform1f(c, Math.max(1, i * f)), u ? t.drawElements(t.POINTS, u.length, t.UNSIGNED_INT, 0) : t.drawArrays(t.POINTS, 0, Math.floor((l - 1) / d) + 1);
		}
	};
}
function Fe(e) {
	let t = e.getContext("2d"), n = /* @__PURE__ */ new Float32Array(), r = /* @__PURE__ */ new Float32Array(), i = /* @__PURE__ */ new Uint8Array(), a = null;
	return {
		kind: "canvas",
		places(e, t) {
			n = new Float32Array(e), r = new Float32Array(t);
		},
		colours(e) {
			i = new Uint8Array(e);
		},
		draw(e) {
			a = e;
		},
		paint(o, s, c, l) {
			let { width: u, height: d } = e, f = u / o.width, p = new ImageData(u, d), m = p.data;
			for (let e = 0; e < r.length / 2; e += l) {
				let t = a ? a.order[e] : e, l = a ? a.near[t] : .5, p = Math.max(.5, c * f * (.6 + .8 * l) / 2), h = Math.ceil(p);
				if (!i[4 * t + 3]) continue;
				let g = n[2 * t] + s * (r[2 * t] - n[2 * t]), _ = n[2 * t + 1] + s * (r[2 * t + 1] - n[2 * t + 1]), v = Math.round(f * (o.ox + o.s * g)), y = Math.round(f * (o.oy - o.s * _)), b = Math.min(1, .4 + 1.2 * l) * i[4 * t + 3] / 255;
				for (let e = -h; e <= h; e++) for (let n = -h; n <= h; n++) {
					if (n * n + e * e > p * p || v + n < 0 || y + e < 0 || v + n >= u || y + e >= d) continue;
					let r = 4 * ((y + e) * u + v + n), a = m[r + 3] / 255, o = b + a * (1 - b);
					for (let e = 0; e < 3; e++) m[r + e] = (i[4 * t + e] * b + m[r + e] * a * (1 - b)) / o;
					m[r + 3] = 255 * o;
				}
			}
			t.putImageData(p, 0, 0);
		}
	};
}
function Ie(e) {
	let t = null;
	try {
		t = Pe(e);
	} catch {
		t = null;
	}
	if (t) return t;
	let n = e.cloneNode();
	return e.replaceWith(n), Fe(n);
}
// src/scatter.ts
var Le = matchMedia("(prefers-reduced-motion: reduce)"), q = 5e4, Re = .9, ze = 7, Be = 400, Ve = 3e3, He = class {
	stage;
	n = 0;
	tool = "move";
	marked = -1;
	onhover = () => {};
	onselect = () => {};
	onclear = () => {};
	onwalk = () => {};
	onturn = null;
	allowed = () => !0;
	ondrag = () => {};
	dragged = () => [];
	picked = () => !1;
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
	stale = !0;
	moved = !1;
	every = 1;
	painted = 0;
	rest = 0;
	cells = null;
	pointers = /* @__PURE__ */ new Map();
	rings = [];
	trail = [];
	stops = [];
	observer = new ResizeObserver(() => this.resize());
	constructor(e) {
		this.stage = e;
		let [t, n, r] = [...e.querySelectorAll("canvas")];
		this.painter = Ie(n), this.under = t.getContext("2d"), this.over = r.getContext("2d"), e.dataset.drawing = this.painter.kind, this.wire(r), this.observer.observe(e), addEventListener("beforeprint", this.printing), addEventListener("afterprint", this.printed), this.resize();
	}
	end() {
		this.observer.disconnect(), removeEventListener("beforeprint", this.printing), removeEventListener("afterprint", this.printed);
	}
	printing = () => {
		this.stale = !0, this.paint(), this.under.setTransform(1, 0, 0, 1, 0, 0), this.under.drawImage(this.stage.querySelectorAll("canvas")[1], 0, 0);
	};
	printed = () => this.draw();
	show(e, t, n = null) {
		let r = t && e.length === this.points.length && !Le.matches ? this.points : e;
		this.points = e, this.n = e.length / 2, this.painter.places(r, e), this.every = Math.max(1, Math.min(16, 2 ** Math.ceil(Math.log2(this.n / q)))), this.hurry(), this.painter.draw(n), this.cells = null, this.expect(e);
		let i = { ...this.view };
		if (this.moved && t || this.all(), r === e) {
			this.share = 1, this.draw();
			return;
		}
		let a = { ...this.view }, o = !this.moved, s = performance.now(), c = (e) => {
			for (let t of [
				"ox",
				"oy",
				"s"
			]) this.view[t] = i[t] + e * (a[t] - i[t]);
		}, l = (t) => {
			let n = Math.min(1, Math.max(0, t - s) / (1e3 * Re));
			this.share = n * n * (3 - 2 * n), o && !this.moved && c(this.share), this.draw(), this.points === e && (n < 1 ? requestAnimationFrame(l) : o && !this.moved && this.all());
		};
		o && c(0), this.share = 0, requestAnimationFrame(l);
	}
	expect(e) {
		(window.requestIdleCallback ?? ((e) => setTimeout(e, 500)))(() => {
			this.points === e && !this.cells && this.index();
		});
	}
	place(e, t) {
		this.points = e, this.share = 1, this.painter.places(e, e), this.painter.draw(t), this.cells = null, this.draw();
	}
	ring(e) {
		this.rings = e, this.draw(!1);
	}
	follow(e, t) {
		this.trail = e, this.stops = t, this.draw(!1);
	}
	near(e) {
		return this.pick(...this.toPage(...e));
	}
	reveal(e) {
		let [t, n] = this.placeOf(e), { width: r, height: i } = this.view;
		(t < .08 * r || n < .08 * i || t > .92 * r || n > .92 * i) && this.pan(r / 2 - t, i / 2 - n);
	}
	colours(e) {
		this.painter.colours(e), this.hurry(), this.draw();
	}
	setLayer(e, t, n = t) {
		if (this.layer = null, e) {
			let r = document.createElement("canvas");
			r.width = r.height = e.size;
			let i = r.getContext("2d"), a = i.createImageData(e.size, e.size), [o, s] = [t, n].map((e) => e.split(",").map(Number)), c = e.high - e.low || 1;
			e.values.forEach((t, n) => {
				let r = 4 * ((e.size - 1 - Math.floor(n / e.size)) * e.size + n % e.size), i = Math.min(1, Math.max(0, (t - e.low) / c)), l = e.weights ? .75 * e.weights[n] : i;
				a.data.set([...o.map((e, t) => s[t] + i * (e - s[t])), Math.round(200 * l)], r);
			}), i.putImageData(a, 0, 0), this.layer = {
				image: r,
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
		this.hurry(), r.ox = t + (r.ox - t) * e, r.oy = n + (r.oy - n) * e, r.s *= e, this.moved = !0, this.draw();
	}
	pan(e, t) {
		this.hurry(), this.view.ox += e, this.view.oy += t, this.moved = !0, this.draw();
	}
	pick(e, t, n = 16) {
		let r = this.cells ?? this.index(), [i, a] = this.toMap(e, t), o = n / this.view.s, s = (e) => Math.min(r.side - 1, Math.max(0, Math.floor((e - r.left) / r.w))), c = (e) => Math.min(r.side - 1, Math.max(0, Math.floor((e - r.bottom) / r.h))), l = -1, u = o * o;
		for (let e = c(a - o); e <= c(a + o); e++) for (let t = s(i - o); t <= s(i + o); t++) for (let n = r.start[e * r.side + t]; n < r.start[e * r.side + t + 1]; n++) {
			let e = r.index[n], t = this.points[2 * e] - i, o = this.points[2 * e + 1] - a, s = t * t + o * o;
			s < u && this.allowed(e) && (u = s, l = e);
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
			l && this.allowed(e) && n.push(e);
		}
		return n;
	}
	mark(e) {
		this.marked = e, this.draw(!1);
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
		return this.cells = {
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
		for (let n of this.stage.querySelectorAll("canvas")) {
			let [r, i] = [Math.round(e.width * t), Math.round(e.height * t)];
			n.width !== r && (n.width = r), n.height !== i && (n.height = i);
		}
		let [n, r] = [(e.width - this.view.width) / 2, (e.height - this.view.height) / 2];
		this.view.width = e.width, this.view.height = e.height, this.n && !this.moved ? this.all() : (this.view.ox += n, this.view.oy += r), this.hurry(), this.draw();
	}
	draw(e = !0) {
		this.stale ||= e, this.waiting || (this.waiting = !0, requestAnimationFrame(() => {
			this.waiting = !1, this.paint();
		}));
	}
	hurry() {
		this.n < q || (clearTimeout(this.rest), this.painted ||= performance.now(), this.rest = setTimeout(() => {
			if (this.pointers.size && !this.path) return this.hurry();
			this.painted = 0, this.draw();
		}, 250));
	}
	paint() {
		let e = performance.now(), t = e - this.painted, n = this.painted ? this.every : 1;
		this.painted && this.stale && (this.every = t > 200 ? this.every * 4 : t > 50 ? this.every * 2 : t < 20 ? this.every / 2 : this.every, this.every = Math.max(1, Math.min(16, this.every)), this.painted = e);
		let { width: r, height: i } = this.view, a = this.under.canvas.width / r;
		for (let e of this.stale ? [this.under, this.over] : [this.over]) e.setTransform(a, 0, 0, a, 0, 0), e.clearRect(0, 0, r, i);
		if (this.layer && this.stale) {
			let [e, t, n, r] = this.layer.extent, [i, a] = this.toPage(e, r);
			this.under.imageSmoothingQuality = "high", this.under.drawImage(this.layer.image, i, a, this.view.s * (t - e), this.view.s * (r - n));
		}
		this.n && this.stale && this.painter.paint(this.view, this.share, Math.max(1.5, Math.min(9, 240 / Math.sqrt(this.n))), n), this.stale = !1;
		let o = getComputedStyle(this.stage), s = o.getPropertyValue("--ink"), c = o.getPropertyValue("--accent");
		if (this.path && this.tool === "drag" ? this.paintDragged(this.path, c) : this.path && (this.over.beginPath(), this.outline(this.path).forEach(([e, t], n) => n ? this.over.lineTo(e, t) : this.over.moveTo(e, t)), this.over.closePath(), this.over.strokeStyle = c, this.over.lineWidth = 1.5, this.over.stroke(), this.over.globalAlpha = .1, this.over.fillStyle = c, this.over.fill(), this.over.globalAlpha = 1), this.share === 1 && this.annotate(s, c), this.marked >= 0 && this.marked < this.n && this.share === 1) {
			let [e, t] = this.placeOf(this.marked);
			this.over.beginPath(), this.over.arc(e, t, 9, 0, 2 * Math.PI), this.over.strokeStyle = s, this.over.lineWidth = 2, this.over.stroke();
		}
	}
	annotate(e, t) {
		let n = this.over;
		n.strokeStyle = t, n.lineWidth = this.rings.length > 60 ? 1 : 2;
		for (let e of this.rings.slice(0, Be)) {
			let [t, r] = this.placeOf(e);
			n.beginPath(), n.arc(t, r, this.rings.length > 60 ? 4.5 : 7, 0, 2 * Math.PI), n.stroke();
		}
		if (!(this.trail.length < 1)) {
			n.beginPath(), this.trail.map((e) => this.toPage(...e)).forEach(([e, t], r) => r ? n.lineTo(e, t) : n.moveTo(e, t)), n.lineWidth = 2, n.strokeStyle = e, n.stroke(), n.fillStyle = t;
			for (let e of this.stops.length ? this.stops : [this.trail[0]]) {
				let [t, r] = this.toPage(...e);
				n.beginPath(), n.arc(t, r, 3.5, 0, 2 * Math.PI), n.fill();
			}
		}
	}
	paintDragged(e, t) {
		let n = this.over, [[r, i], [a, o]] = [e[0], e[e.length - 1]], s = Math.atan2(o - i, a - r);
		n.strokeStyle = t, n.lineWidth = 1.5, n.beginPath(), n.moveTo(r, i), n.lineTo(a, o);
		for (let e of [-2.6, 2.6]) n.moveTo(a, o), n.lineTo(a + 10 * Math.cos(s + e), o + 10 * Math.sin(s + e));
		let c = 0;
		for (let e of this.dragged()) {
			if (c++ >= Ve) break;
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
			this.pointers.set(t.pointerId, n), this.tool === "walk" && this.pointers.size === 1 ? this.onwalk(this.toMap(...n), !0) : this.tool !== "move" && this.pointers.size === 1 ? this.path = [n] : t.pointerType !== "mouse" && this.hover(n, 24);
		}), e.addEventListener("pointermove", (e) => {
			let t = [e.offsetX, e.offsetY], n = this.pointers.get(e.pointerId);
			if (!n) return this.hover(t);
			if (this.path) return this.path.push(t), this.draw(!1);
			if (this.tool === "walk" && this.pointers.size === 1) return Math.hypot(t[0] - n[0], t[1] - n[1]) < ze ? void 0 : (this.pointers.set(e.pointerId, t), this.onwalk(this.toMap(...t), !1));
			if (this.pointers.size === 2) {
				let r = [...this.pointers].find(([t]) => t !== e.pointerId)[1], i = (e) => Math.max(8, Math.hypot(e[0] - r[0], e[1] - r[1]));
				this.zoom(i(t) / i(n), (t[0] + r[0]) / 2, (t[1] + r[1]) / 2);
			}
			this.onturn && this.pointers.size === 1 && !e.shiftKey ? this.onturn((t[0] - n[0]) / 140, (t[1] - n[1]) / 140) : this.pan((t[0] - n[0]) / this.pointers.size, (t[1] - n[1]) / this.pointers.size), this.pointers.set(e.pointerId, t);
		});
		let t = (e) => {
			this.pointers.delete(e.pointerId);
			let t = this.path;
			if (this.path = null, t && this.tool === "drag") {
				let [n, r] = [this.toMap(...t[0]), this.toMap(...t[t.length - 1])];
				e.type === "pointerup" && t.length > 2 && this.ondrag([r[0] - n[0], r[1] - n[1]]);
			} else t && e.type === "pointerup" && t.length > 2 && this.onselect(this.inside(this.outline(t)), Ue(e));
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
			o !== this.marked && this.allowed(o) && (this.marked < 0 || d > 0 && f <= d) && p < r && (r = p, n = o);
		}
		if (n < 0) return;
		let [o, s] = this.placeOf(n);
		(o < 0 || s < 0 || o > this.view.width || s > this.view.height) && this.pan(this.view.width / 2 - o, this.view.height / 2 - s), this.onhover([this.points[2 * n], this.points[2 * n + 1]], n);
	}
	walkOn(e, t) {
		let n = this.trail[this.trail.length - 1], [r, i] = n ? this.toPage(...n) : this.marked >= 0 ? this.placeOf(this.marked) : [this.view.width / 2, this.view.height / 2];
		n || this.onwalk(this.toMap(r, i), !0), this.onwalk(this.toMap(r + 21 * e, i + 21 * t), !1);
	}
	key(e) {
		let t = {
			ArrowLeft: [-1, 0],
			ArrowRight: [1, 0],
			ArrowUp: [0, -1],
			ArrowDown: [0, 1]
		}[e.key];
		if (t && e.shiftKey) this.step(...t);
		else if (t && this.tool === "walk") this.walkOn(...t);
		else if (t && this.onturn) this.onturn(.12 * t[0], .12 * t[1]);
		else if (t) this.pan(-40 * t[0], -40 * t[1]);
		else if (e.key === "+" || e.key === "=") this.zoom(1.4);
		else if (e.key === "-") this.zoom(1 / 1.4);
		else if (e.key === "0") this.all();
		else if (e.key === " " && this.marked >= 0 && this.allowed(this.marked)) this.onselect([this.marked], e.altKey || this.picked(this.marked) ? "remove" : "add");
		else if (e.key === "Escape") this.onclear();
		else return;
		e.preventDefault();
	}
}, Ue = (e) => e.shiftKey ? "add" : e.altKey ? "remove" : "replace", J = [
	"factor_out",
	"bring_out",
	"axis"
], We = [
	"same",
	"different",
	"label",
	"pin",
	"drop"
], Ge = class {
	host;
	editing = -1;
	filled = "";
	column = "";
	label = ["", "label"];
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
		if (e) return c(this.host.byId("say"), ...e.map((e) => i("p", { class: "note" }, e)));
		let { state: t } = this.host, { A: n, B: r } = this.host.chosen(), o = n.length > 0, s = o && r.length > 0, l = this.columns(), u = [i("div", { class: "tools wrap" }, a(s ? "A and B are the same" : "These are the same", () => this.tell({
			kind: "same",
			rows: n,
			...s ? { others: r } : {}
		}), { disabled: !t.say.same || !(s || n.length > 1) }), a("A and B differ", () => this.tell({
			kind: "different",
			rows: n,
			others: r
		}), { disabled: !t.say.different || !s }), a("Factor selection out", () => this.factorSelection(n), { disabled: !t.say.factor_out || !o }), a("Pin", () => this.tell({
			kind: "pin",
			rows: n
		}), {
			disabled: !t.say.pin || !o,
			title: t.say.move ? "The next map holds these rows where they are" : "Align the next map by these rows"
		}), a("Drop", () => this.tell({
			kind: "drop",
			rows: n
		}), {
			disabled: !t.say.drop || !o,
			title: "Fit without these rows"
		}))];
		t.say.move && u.push(this.arrows(o)), u.push(this.labelForm(n)), l.length && u.push(this.byColumn(l)), c(this.host.byId("say"), ...u);
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
		let t = () => {
			this.label = [n.value, r.value];
		}, n = i("input", {
			type: "text",
			"aria-label": "Label",
			placeholder: "label",
			value: this.label[0],
			size: 9,
			maxLength: 80,
			oninput: t
		}), r = i("input", {
			type: "text",
			"aria-label": "Column of the label",
			value: this.label[1],
			size: 7,
			maxLength: 80,
			oninput: t
		});
		return i("form", {
			class: "tools wrap",
			onsubmit: (t) => {
				t.preventDefault(), e.length && n.value && r.value && (this.label[0] = "", this.tell({
					kind: "label",
					rows: e,
					column: r.value,
					value: n.value
				}));
			}
		}, n, " in ", r, i("button", {
			type: "submit",
			disabled: !e.length
		}, "Label"));
	}
	byColumn(e) {
		let { say: t } = this.host.state, n = Y("Column", e, e.includes(this.column) ? this.column : e[0]);
		n.onchange = () => {
			this.column = n.value;
		};
		let r = () => n.value;
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
		t !== this.filled && (this.filled = t, c(this.host.byId("statements"), ...e.statements.map((t, n) => {
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
		}), l = Y("New column", this.columns(), e.column), u = e.kind === "different" || e.kind === "same" && r.length > 0, d = i("input", {
			type: "checkbox",
			disabled: !(n.length > 0 && (!u || r.length > 0))
		});
		return e.kind === "label" && o.push(s, " in ", c), J.includes(e.kind) && o.push(l), We.includes(e.kind) && o.push(i("label", {}, d, ` rows of the selection (A ${_(n.length, "row")}${u ? `, B ${_(r.length, "row")}` : ""})`)), i("form", {
			class: "tools wrap",
			"aria-label": `Edit: ${e.words}`,
			onsubmit: (i) => {
				i.preventDefault();
				let a = {};
				e.kind === "label" && Object.assign(a, {
					value: s.value,
					column: c.value
				}), J.includes(e.kind) && Object.assign(a, { column: l.value }, e.kind === "axis" ? {
					period: 0,
					...this.period(l.value)
				} : {}), d.checked && Object.assign(a, { rows: n }, u ? { others: r } : e.kind === "same" ? { others: [] } : {}), this.editing = -1, Object.keys(a).length ? this.host.act("edit", {
					at: t,
					changes: a
				}).then(() => this.fillStatements()) : this.fillStatements();
			}
		}, ...o, i("button", { type: "submit" }, "Change"), a("Cancel", () => this.edit(t)));
	}
};
function Y(e, t, n) {
	return i("select", { "aria-label": e }, ...t.map((e) => i("option", {
		value: e,
		selected: e === n
	}, e)));
}
function X(e, t, n) {
	for (let t of e.querySelectorAll(".axis")) t.remove();
	["x", "y"].forEach((r, a) => {
		let o = t[n[a]];
		o && e.append(i("span", { class: `axis ${r}` }, `${o} →`));
	});
}
// src/main.ts
var Ke = .13, Z = .06, qe = {
	density: "Shade: density of the rows",
	uncertainty: "Shade: uncertainty of the decoded values",
	reliability: "Shade: reliability of the rows, blue high and orange low"
}, Je = class {
	root;
	source;
	scatter;
	answers;
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
	previous = -1;
	watching = !1;
	telling = new Ge(this);
	controls;
	changing = !1;
	leave = new AbortController();
	constructor(e, t) {
		this.root = e, this.source = t, this.scatter = new He(this.byId("stage")), this.answers = new xe(this), this.controls = new Se(this.byId("controls"), this, {
			moved: () => this.follows(!1),
			chosen: () => this.follows(!0)
		});
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
		f(e, "text/html", `${this.state.title.replace(/[^\p{L}\p{N} _-]+/gu, "_").trim() || "map"}.html`), this.say(`One file of this view, ${(e.byteLength / 1e6).toFixed(1)} MB: it works without a server and without a network.`);
	}
	end() {
		this.leave.abort(), this.scatter.end();
	}
	get style() {
		return getComputedStyle(this.byId("stage"));
	}
	async take(e, t = !0) {
		let n = this.state, r = !n || n.maps[n.current]?.number !== e.maps[e.current].number;
		r && n && (this.previous = n.maps[n.current]?.number ?? -1), this.state = e, r && (this.given = this.given0(e)), (r || JSON.stringify(n.moved) !== JSON.stringify(e.moved)) && (await this.answers.show(t), this.row = this.here = null, this.scatter.marked >= 0 && this.hover([this.scatter.points[2 * this.scatter.marked], this.scatter.points[2 * this.scatter.marked + 1]], this.scatter.marked)), X(this.byId("stage"), this.answers.space ? [] : e.axes, this.axes), this.answers.take(e, r), this.fillControls(), this.fillLists(), await this.recolour(), r ? (this.relayer(), this.remeasure(), this.redescribe(), this.say(e.remarks.join(" "))) : JSON.stringify(n.statements) !== JSON.stringify(e.statements) && this.remeasure();
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
		c(this.byId("tools"), ...[
			["move", "Move"],
			["lasso", "Lasso"],
			["box", "Box"],
			["walk", "Walk"],
			["drag", "Drag rows"]
		].map(([e, t]) => i("label", { class: "tool" }, i("input", {
			type: "radio",
			name: "tool",
			value: e,
			checked: e === "move",
			onchange: () => {
				this.scatter.tool = e, this.byId("stage").dataset.tool = e;
			}
		}), t))), this.byId("zoom-in").onclick = () => this.scatter.zoom(1.5), this.byId("zoom-out").onclick = () => this.scatter.zoom(1 / 1.5), this.byId("zoom-all").onclick = () => this.scatter.all(), this.byId("undo").onclick = () => void this.act("undo"), this.byId("redo").onclick = () => void this.act("redo"), this.byId("save").onclick = () => void this.tried(async () => this.say(`Written: ${(await this.source.post("save")).written.join(", ")}`)), this.byId("report").onclick = () => void this.tried(async () => {
			this.say("Writing the report …"), this.say(`Written: ${(await this.source.post("report")).written.join(", ")}`);
		}), this.byId("keep").onclick = () => void this.tried(() => this.keep()), this.byId("colour").onchange = () => {
			this.values = null, this.tried(() => this.recolour());
		}, this.byId("layer").onchange = () => void this.tried(() => this.relayer()), this.scatter.onhover = (e, t) => this.hover(e, t), this.scatter.onselect = (e, t) => this.select(e, t, "selection"), this.scatter.dragged = () => this.selected, this.scatter.picked = (e) => this.selected.has(e), this.scatter.ondrag = (e) => this.carry(e), this.scatter.onclear = () => {
			this.answers.walk.clear(), this.select([], "replace");
		};
		let { signal: e } = this.leave;
		this.root.addEventListener("keydown", (e) => {
			let t = e, n = t.target instanceof HTMLInputElement && t.target.type === "text", r = t.key.toLowerCase();
			r !== "z" && r !== "y" || !t.ctrlKey && !t.metaKey || n || (t.preventDefault(), this.act(r === "y" || t.shiftKey ? "redo" : "undo"));
		}, { signal: e }), matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
			this.answers.filters.repaint(), this.tried(() => this.relayer());
		}, { signal: e }), this.byId("stage").page = this;
	}
	hover(e, t) {
		this.place = e, this.scatter.mark(t), this.answers.table.mark(t), this.asked = {
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
				let n = this.answers.where(e, t), r = t < 0 ? Promise.resolve(null) : this.row?.row === t ? Promise.resolve(this.row) : this.source.get(`row?at=${t}`);
				[this.row, this.here] = await Promise.all([r, this.state.can.decode ? this.source.post("decode", n) : Promise.resolve(null)]), c(this.byId("here"), M(this.state, this.row, this.here, this.style));
			}
		} finally {
			this.asking = !1;
		}
	}
	async recolour() {
		let e = this.byId("colour"), t = Number(e.value), n = this.state.rows;
		if (e.value === "judge") return this.answers.judge();
		this.column = e.value === "" ? null : this.state.columns[t], this.column && (this.values = await this.answers.values.of(`column?at=${t}`));
		let r = B(this.column, this.values, n), i = new Uint8Array(4 * n), a = this.selected.size + this.other.size > 0, { passing: o, hide: s } = this.answers.filters, c = n > 2e4 ? .75 : .92;
		for (let e = 0; e < n; e++) {
			let t = o !== null && !o[e];
			for (let n = 0; n < 3; n++) i[4 * e + n] = t ? P[n] : r[3 * e + n];
			i[4 * e + 3] = t ? s ? 0 : 255 * Z : 255 * (!a || this.selected.has(e) ? c : this.other.has(e) ? .55 : Ke);
		}
		this.scatter.colours(i), this.fillLegend();
	}
	fillLegend() {
		let e = this.column, t = this.byId("layer"), n = t.disabled ? void 0 : qe[t.value], r = n ? [i("span", { class: "swatch layer" }, n)] : [];
		if (!e) return c(this.byId("legend"), ...r);
		let a = (e, t) => {
			let n = i("span", { class: "dot" });
			return n.style.background = H(e), i("span", { class: "swatch" }, n, t);
		};
		if (e.kind === "categories") return c(this.byId("legend"), ...(e.legend ?? e.levels ?? []).map((e, t) => a(L(t), e)), ...r);
		let o = e.period ? 0 : e.low ?? 0, s = e.period ?? e.high ?? 1;
		c(this.byId("legend"), ...[
			0,
			.25,
			.5,
			.75,
			1
		].map((t) => a(z(e, o + t * (s - o)), (e.date ? m : p)(o + t * (s - o)))), ...r);
	}
	async relayer() {
		let e = this.byId("layer").value, t = this.scatter.window();
		if (this.fillLegend(), !e || this.answers.space) return this.scatter.setLayer(null, "");
		if (e === "reliability" && this.state.reliability.state !== "done") return this.answers.judge();
		let n = {
			kind: e,
			extent: t,
			given: this.given,
			x: this.axes[0],
			y: this.axes[1]
		}, r = (e) => this.style.getPropertyValue(e);
		this.scatter.setLayer(await this.source.post("layer", n), r(e === "uncertainty" ? "--doubt" : "--density"), r(e === "density" ? "--density" : "--doubt"));
	}
	given0(e) {
		let t = {};
		for (let n of e.controls) t[n.name] = this.given?.[n.name] ?? G(n);
		return e.controls.length && this.given ? t : null;
	}
	fillControls() {
		let e = this.state, t = this.byId("colour"), n = t.options[t.selectedIndex]?.text, r = (e, t, n) => i("option", {
			value: e,
			selected: n
		}, t), a = n === void 0 && e.columns.length && !e.columns[0].feature ? e.columns[0].name : n;
		c(t, r("", "none", !1), ...e.columns.map((e, t) => r(String(t), e.name, e.name === a)), ...e.can.reliability && e.reliability.state !== "done" ? [r("judge", e.reliability.column, e.reliability.column === a)] : []);
		let o = this.byId("layer"), s = o.value;
		c(o, r("", "none", s === ""), ...[
			"density",
			"uncertainty",
			"reliability"
		].filter((t) => e.can[t]).map((e) => r(e, e, s === e))), this.offer(["undo", "redo"]), o.disabled = this.answers.space !== null;
		for (let [t, n] of [["walk", e.can.decode], ["drag", e.say.move]]) this.byId("tools").querySelector(`label:has([value=${t}])`).hidden = !n;
		for (let t of [
			"undo",
			"redo",
			"save",
			"report",
			"keep"
		]) this.byId(t).hidden = e.kept !== void 0;
		this.fillAxes(), this.controls.take(e.controls);
	}
	offer(e) {
		let t = e.map((e) => this.byId(e)), n = t.find((e) => e === this.root.activeElement);
		t.forEach((t, n) => {
			t.disabled = !this.state.can[e[n]];
		}), n?.disabled && t.find((e) => !e.disabled)?.focus();
	}
	fillAxes() {
		if (this.state.dims <= 2) return;
		let e = this.answers.axisChoice(), t = (e) => i("select", {
			"aria-label": e ? "Vertical axis" : "Horizontal axis",
			onchange: (t) => {
				let n = Number(t.target.value);
				this.axes = e ? [this.axes[0], n] : [n, this.axes[1]], this.axes[0] !== this.axes[1] && this.tried(async () => {
					X(this.byId("stage"), this.state.axes, this.axes), await this.answers.show(!0), await this.relayer();
				});
			}
		}, ...Array.from({ length: this.state.dims }, (t, n) => i("option", {
			value: String(n),
			selected: this.axes[e] === n
		}, `z${n + 1}`)));
		c(this.byId("axes"), ...e ? [e] : [], ...this.answers.space ? [] : [
			"Axes ",
			t(0),
			t(1)
		]);
	}
	follows(e) {
		this.place && this.hover(this.place, this.scatter.marked), e && (this.tried(async () => {
			await this.relayer(), await this.answers.walk.again();
		}), this.selected.size && this.fillSelection());
	}
	select(e, t, n) {
		let r = e.filter((e) => this.answers.filters.passes(e));
		if (t === "replace") this.selected = new Set(r);
		else for (let e of r) t === "add" ? this.selected.add(e) : this.selected.delete(e);
		for (let e of this.selected) this.other.delete(e);
		this.answers.table.rows(this.selected, (e) => this.answers.filters.passes(e), n), this.tried(() => this.recolour()), this.fillSelection(), this.onselect(this.rows(this.selected));
	}
	rows(e) {
		return [...e].sort((e, t) => e - t);
	}
	fillSelection(e = null) {
		let t = this.byId("selection"), n = this.state;
		if (this.telling.fillSay(), this.telling.fillStatements(), !this.selected.size && !this.other.size) return c(t, i("p", { class: "note" }, "Draw around rows with Lasso or Box (Shift adds, Alt removes), or mark a row with the keyboard and press Space."));
		let r = () => this.copy(this.rows(this.selected).join(", "), "Row numbers copied."), o = [
			a("Clear", () => {
				this.other.clear(), this.select([], "replace");
			}),
			a("Keep as B", () => {
				this.other = this.selected, this.select([], "replace");
			}, { disabled: !this.selected.size }),
			a("CSV", () => void this.tried(() => this.download("csv", "csv")), {
				disabled: !this.selected.size,
				"aria-label": "Download the selection as CSV"
			}),
			...n.kept ? [] : [a("Parquet", () => void this.tried(() => this.download("parquet", "parquet")), {
				disabled: !this.selected.size,
				"aria-label": "Download the selection as Parquet"
			})],
			a("Numbers", () => void this.tried(() => this.download("numbers", "txt")), {
				disabled: !this.selected.size,
				"aria-label": "Download the row numbers of the selection as text"
			}),
			a("Copy numbers", r, { disabled: !this.selected.size })
		];
		n.can.counterfactual && this.given && this.selected.size && o.push(a("Show as given above", () => {
			this.changing = !this.changing, this.fillSelection();
		}, { "aria-pressed": String(this.changing) })), c(t, i("p", { id: "selected" }, `A: ${_(this.selected.size, "row")}${this.other.size ? `, B: ${_(this.other.size, "row")}` : ""}`), i("div", { class: "tools wrap" }, ...o), e ?? i("p", { class: "note" }, "…")), !e && this.selected.size && (this.changing && this.given ? this.tried(() => this.change()) : this.redescribe());
	}
	redescribe() {
		if (!this.selected.size) return;
		let e = ++this.question, t = this.rows(this.other);
		this.tried(async () => {
			let n = await this.source.post("summary", {
				rows: this.rows(this.selected),
				others: t.length ? t : null
			});
			e === this.question && this.fillSelection(Ee(this.state, n, t.length > 0));
		});
	}
	async change() {
		let e = ++this.question, t = await this.source.post("counterfactual", {
			rows: this.rows(this.selected),
			given: this.given
		});
		e === this.question && this.fillSelection(De(this.state, t));
	}
	async download(e, t) {
		f(await this.source.postForBytes("export", {
			rows: this.rows(this.selected),
			format: e
		}), "application/octet-stream", `selection.${t}`);
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
			...this.answers.shifted(e)
		};
		this.tried(async () => {
			await this.take(await this.source.post("move", t)), this.say(`${_(t.rows.length, "row")} moved. Re-fit holds them there, and the other rows find their places around them.`);
		});
	}
	fillLists() {
		let e = this.state;
		this.byId("title").textContent = e.title, this.byId("about").textContent = je(e), this.root === document && (document.title = `${e.title}: Sidelight explorer`), this.telling.fillStatements(), c(this.byId("history"), ...Oe(e, (e) => void this.act("visit", { at: e }))), this.fillCode(), this.fillRefit(e.job), this.telling.fillSay(), this.byId("selection").childElementCount || this.fillSelection(), this.byId("here").childElementCount || c(this.byId("here"), M(e, null, null, this.style));
	}
	fillCode() {
		c(this.byId("code"), ...Ae(this.state, this.code, (e) => {
			this.code = e, this.fillCode();
		}, (e) => this.copy(e, "Copied.")));
	}
	copy(e, t) {
		u(e).then((e) => this.say(e ? t : "This browser lets no page copy: mark the text and copy it.", !e));
	}
	async remeasure() {
		let { current: e, maps: t } = this.state, n = t.findIndex((e) => e.number === this.previous), r = n < 0 || n === e ? e - 1 : n;
		await this.tried(async () => {
			let [n, i] = await Promise.all([r < 0 ? Promise.resolve(null) : this.source.get(`measures?map=${r}`), this.source.get(`measures?map=${e}`)]);
			c(this.byId("measures"), ke(n, i, r < 0 ? "" : `Map ${t[r].number}`));
		});
	}
	fillRefit(e) {
		if (this.state.kept) return c(this.byId("refit"));
		let t = this.byId("refit");
		if (e.state === "running") {
			let { stage: n, stages: r, iteration: o } = e.progress, s = i("progress", {
				max: r ?? 1,
				"aria-label": "Progress of the fit"
			});
			n && (s.value = n - 1 + Math.min(.9, (o ?? 0) / 100));
			let l = n ? `stage ${n} of ${r}, iteration ${o}` : "starting";
			return c(t, s, i("p", { class: "note" }, `${e.seconds.toFixed(0)} s, ${l}`), a("Stop", () => void this.act("stop"), { id: "stop" }));
		}
		let n = [a("Re-fit", () => void this.tried(async () => {
			await this.take(await this.source.post("refit")), await this.follow();
		}), {
			class: "main",
			id: "start",
			disabled: this.state.fresh
		})];
		this.state.fresh && n.push(i("p", { class: "note" }, "The map already shows every statement that is on.")), (e.state === "failed" || e.state === "stopped") && n.push(i("p", {
			class: "note warn",
			id: "job-message"
		}, e.message)), c(t, ...n);
	}
	async follow() {
		for (;;) {
			let e = await this.source.get("job");
			if (this.leave.signal.aborted) return;
			if (e.state === "running") {
				this.fillRefit(e), await new Promise((e) => setTimeout(e, 250));
				continue;
			}
			let t = this.root.activeElement, n = this.byId("refit").contains(t);
			await this.take(await this.source.get("state")), n && (this.state.fresh ? this.byId("history").querySelector("[aria-current]") : this.byId("start"))?.focus();
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
}, Ye = ":root,:host{--paper:#f6f7f9;--card:#fff;--ink:#1c2128;--soft:#56606c;--line:#d5dae1;--accent:#00649c;--stage:#fbfcfd;--density:0, 114, 178;--doubt:213, 94, 0;--warn:#a33f00;--veil:#ffffffb8;--picked:#e3f0f8}@media (prefers-color-scheme:dark){:root,:host(:not([data-theme=light])){--paper:#12151a;--card:#1a1e25;--ink:#e6e9ee;--soft:#a3adba;--line:#343b46;--accent:#6cbdec;--stage:#15191f;--density:86, 180, 233;--doubt:230, 120, 50;--warn:#ffab70;--veil:#1a1e25bd;--picked:#1d3442}}:host([data-theme=dark]){--paper:#12151a;--card:#1a1e25;--ink:#e6e9ee;--soft:#a3adba;--line:#343b46;--accent:#6cbdec;--stage:#15191f;--density:86, 180, 233;--doubt:230, 120, 50;--warn:#ffab70;--veil:#1a1e25bd;--picked:#1d3442}*{box-sizing:border-box}[hidden]{display:none!important}html{background:var(--paper)}body,:host{background:var(--paper);color:var(--ink);margin:0;font:14px/1.45 system-ui,-apple-system,Segoe UI,Roboto,Helvetica Neue,DejaVu Sans,sans-serif;display:block;container-type:inline-size}.skip{position:absolute;left:-999px}.skip:focus{z-index:9;background:var(--card);padding:4px 10px;top:6px;left:12px}header{flex-wrap:wrap;align-items:baseline;gap:2px 14px;padding:10px 16px 6px;display:flex}header p{color:var(--soft);margin:0}.brand{color:var(--accent);letter-spacing:.03em;font-size:13px;font-weight:600}h1{overflow-wrap:anywhere;margin:0;font-size:18px;font-weight:650}h2{margin:0 0 8px;font-size:14px;font-weight:650}h3{margin:10px 0 4px;font-size:13px;font-weight:600}.buttons{gap:6px;margin-left:auto;display:flex}#notice{border:1px solid var(--line);border-left:4px solid var(--accent);background:var(--card);overflow-wrap:anywhere;border-radius:6px;margin:0 16px 8px;padding:6px 12px}#notice.warn{border-left-color:var(--warn)}main{grid-template-columns:minmax(0,1fr) 424px;gap:12px;padding:0 16px 16px;display:grid}.map{flex-direction:column;align-self:start;height:calc(100vh - 74px);min-height:420px;display:flex;position:sticky;top:8px}.toolbar{flex-wrap:wrap;align-items:center;gap:6px 12px;margin-bottom:8px;display:flex}.toolbar label{color:var(--soft)}.toolbar>.tools:last-child{margin-left:auto}.stage{background:var(--stage);border:1px solid var(--line);border-radius:8px;flex:1;min-height:300px;position:relative;overflow:hidden}.stage canvas{width:100%;height:100%;display:block;position:absolute;inset:0}#stage-overlay{cursor:crosshair;touch-action:none}.stage[data-tool=lasso] #stage-overlay,.stage[data-tool=box] #stage-overlay{cursor:cell}.stage[data-tool=drag] #stage-overlay{cursor:grab}.legend{color:var(--soft);flex-wrap:wrap;flex:none;gap:2px 12px;max-height:68px;padding-top:6px;font-size:13px;display:flex;overflow:auto}.swatch{white-space:nowrap;text-overflow:ellipsis;align-items:center;gap:5px;max-width:160px;display:inline-flex;overflow:hidden}.swatch.layer{max-width:none;margin-left:auto}.dot{border-radius:50%;flex:none;width:10px;height:10px}aside{flex-direction:column;gap:10px;min-width:0;display:flex}aside section{background:var(--card);border:1px solid var(--line);border-radius:10px;min-width:0;padding:12px 14px}.tools{align-items:center;gap:5px;display:inline-flex}.tools.wrap{flex-wrap:wrap;margin:4px 0;display:flex}select,button,input[type=text]{font:inherit;color:var(--ink);background:var(--card);border:1px solid var(--line);border-radius:7px;max-width:190px;min-height:30px;padding:3px 9px;font-size:13px}button{cursor:pointer}button:hover:enabled,select:hover{border-color:var(--accent)}button:disabled{color:var(--soft);opacity:.6;cursor:default}button.main{background:var(--accent);border-color:var(--accent);color:var(--card);font-weight:600}button.main:disabled{background:var(--card);color:var(--soft);border-color:var(--line)}button.quiet{color:var(--soft);background:0 0;border:none;padding:0 8px}button[aria-pressed=true],button[aria-current=true]{border-color:var(--accent);color:var(--accent);font-weight:600}.tool{border:1px solid var(--line);background:var(--card);cursor:pointer;border-radius:7px;align-items:center;gap:3px;min-height:30px;padding:3px 9px 3px 6px;display:inline-flex}.tool:has(:checked){border-color:var(--accent);color:var(--accent)}:focus-visible{outline:2px solid var(--accent);outline-offset:1px}.note{color:var(--soft);overflow-wrap:anywhere;margin:3px 0;font-size:13px}.note.warn{color:var(--warn)}.given{margin-bottom:6px;display:block}div.given{flex-wrap:wrap;align-items:center;gap:2px 6px;display:flex}.dial{border:2px solid var(--line);background:var(--card);cursor:grab;touch-action:none;border-radius:50%;width:46px;height:46px;position:relative}.hand{background:var(--accent);transform-origin:bottom;pointer-events:none;width:2px;height:18px;margin-left:-1px;position:absolute;bottom:50%;left:50%}.row-name{overflow-wrap:anywhere;margin:0 0 4px;font-weight:600}dl{grid-template-columns:auto 1fr;gap:1px 10px;margin:0 0 6px;display:grid}dt{color:var(--soft);text-overflow:ellipsis;white-space:nowrap;max-width:120px;overflow:hidden}dd{overflow-wrap:anywhere;margin:0}.pictures{gap:12px;margin:4px 0;display:flex}figure{margin:0}figcaption{color:var(--soft);font-size:12px}.pictures canvas{width:128px;image-rendering:pixelated;border:1px solid var(--line);border-radius:5px;display:block}.profile{width:100%;display:block}table{border-collapse:collapse;font-variant-numeric:tabular-nums;width:100%;font-size:12.5px}th,td{text-align:right;border-bottom:1px solid var(--line);padding:2px 4px;font-weight:400}th[scope=row]{text-align:left;color:var(--soft);text-overflow:ellipsis;white-space:nowrap;max-width:150px;overflow:hidden}.measures th[scope=row]{white-space:normal}thead th{color:var(--soft);font-size:12px}thead th:first-child{text-align:left}.scrolled{max-height:236px;overflow:auto}summary{cursor:pointer;font-size:13px}.effects{font-size:12px}.effects th,.effects td{white-space:nowrap;padding:2px 3px}tr.weak td,tr.weak th{color:var(--soft);font-style:italic}.bar{background:var(--line);border-radius:2px;height:3px;display:block}.bar span{background:var(--soft);border-radius:2px;height:3px;display:block}.bar .place-bar{background:var(--accent)}ol{margin:6px 0;padding:0;list-style:none}#statements .stated,#history li{align-items:center;gap:8px;padding:2px 0;display:flex}.axis{pointer-events:none;color:var(--ink);text-overflow:ellipsis;white-space:nowrap;background:var(--stage);border-radius:4px;max-width:60%;padding:0 4px;font-size:13px;font-weight:600;position:absolute;overflow:hidden}.axis.x{bottom:6px;right:10px}.axis.y{writing-mode:vertical-rl;max-width:none;max-height:60%;top:10px;left:8px;transform:rotate(180deg)}#statements label{overflow-wrap:anywhere;flex:1}#statements li.off label{color:var(--soft);text-decoration:line-through}progress{width:100%;accent-color:var(--accent)}pre{background:var(--stage);border:1px solid var(--line);border-radius:7px;max-height:260px;margin:6px 0 0;padding:8px 10px;font-size:12px;overflow:auto}button.small{min-height:24px;padding:0 8px;font-size:12px}input[type=search]{font:inherit;color:var(--ink);background:var(--card);border:1px solid var(--line);border-radius:7px;width:128px;min-height:30px;padding:3px 9px;font-size:13px}::placeholder{color:var(--soft);opacity:1}.toolbar .tools{flex-wrap:wrap}#find .note{white-space:nowrap;margin:0}#passing{flex-basis:100%}.facet-box{border-top:1px solid var(--line)}.facet-box>summary{overflow-wrap:anywhere;padding:5px 0}.facet-box .chosen{float:right;color:var(--accent);padding-left:8px;font-size:12px;font-weight:600}.facets{padding-left:12px}.facet{padding:2px 0 10px}.histogram{cursor:ew-resize;touch-action:pan-y;border-bottom:1px solid var(--line);width:100%;height:46px;display:block}.sliders{height:22px;position:relative}.sliders input{pointer-events:none;appearance:none;background:0 0;width:calc(100% + 16px);height:22px;margin:0;position:absolute;inset:0 -8px}.sliders input::-webkit-slider-runnable-track{background:0 0;height:22px}.sliders input::-moz-range-track{background:0 0}.sliders input::-webkit-slider-thumb{appearance:none;pointer-events:auto;background:var(--card);border:3px solid var(--accent);cursor:ew-resize;border-radius:50%;width:16px;height:16px;margin-top:3px}.sliders input::-moz-range-thumb{pointer-events:auto;background:var(--card);border:3px solid var(--accent);cursor:ew-resize;border-radius:50%;width:10px;height:10px}.ends{color:var(--soft);font-variant-numeric:tabular-nums;justify-content:space-between;align-items:center;font-size:12px;display:flex}.levels{max-height:214px;margin:6px 0 0;padding:0;list-style:none;overflow:auto}.levels li{grid-template-columns:minmax(0,1fr) 84px 58px;align-items:center;gap:8px;min-height:24px;display:grid}.levels label{align-items:center;gap:6px;min-width:0;display:flex}.level{text-overflow:ellipsis;white-space:nowrap;overflow:hidden}.levels .empty .level,.levels .empty .counted{color:var(--soft)}.count-bar{background:linear-gradient(var(--accent), var(--accent)) left / var(--share,0%) 100% no-repeat, var(--line);border-radius:3px;height:6px}.counted{text-align:right;font-variant-numeric:tabular-nums;font-size:12px}.table,.walk{background:var(--card);border:1px solid var(--line);border-radius:8px;flex:none;min-width:0;margin-top:8px;padding:6px 10px}.walk .scrolled{max-height:150px}.table-scroll{border-top:1px solid var(--line);height:190px;position:relative;overflow:auto}.rows{border-collapse:separate;border-spacing:0;width:auto;min-width:100%}.rows thead th{background:var(--card);z-index:1;height:26px;padding:0;position:sticky;top:0}.rows td{text-overflow:ellipsis;white-space:nowrap;cursor:pointer;max-width:190px;height:26px;padding:0 8px;overflow:hidden}.rows .word{text-align:left}.rows .space td{border:none;height:auto;padding:0}.rows.nameless .name{display:none}.rows tr.picked td{background:var(--picked)}.rows tr.marked td,.rows tbody tr:hover td{background:color-mix(in srgb, var(--accent) 16%, var(--card))}.rows:focus-visible tr.at td{box-shadow:inset 0 2px var(--accent), inset 0 -2px var(--accent)}.rows:focus-visible{outline:none}.table-scroll:has(.rows:focus-visible){outline:2px solid var(--accent);outline-offset:1px}.sorter{text-overflow:ellipsis;white-space:nowrap;max-width:190px;min-height:26px;color:var(--soft);width:100%;text-align:inherit;background:0 0;border:none;padding:0 8px;font-size:12px;font-weight:600;overflow:hidden}.film{gap:4px;padding:4px 0 2px;display:flex;overflow-x:auto}.frame{background:0 0;border-color:#0000;flex:1 0 46px;min-width:0;max-width:92px;padding:2px}.frame canvas{width:100%;image-rendering:pixelated;border-radius:4px;display:block}.frame figcaption{text-align:center}.frame.guess{border:1px dashed var(--warn)}.frame.guess canvas{opacity:.6}@container (width<=900px){main{grid-template-columns:minmax(0,1fr);padding:0 8px 12px}header{padding:8px 10px 4px}.map{height:auto;position:static}.stage{flex:none;height:62vh;min-height:300px}#stage-overlay{touch-action:pan-y}.stage:not([data-tool=move])[data-tool] #stage-overlay{touch-action:none}}:host{border:1px solid var(--line);border-radius:10px;overflow:hidden}:host .map{height:600px;position:static}:host aside{max-height:600px;overflow-y:auto}@container (width<=900px){:host .map{height:auto}:host .stage{height:380px}:host aside{max-height:420px}}@media print{.stage canvas{object-fit:contain}}", Xe = 12e4;
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
				}, Xe);
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
function Ze({ model: e, el: n }) {
	let r = document.createElement("div"), i = r.attachShadow({ mode: "open" }), a = new CSSStyleSheet(), o = Q(e);
	a.replaceSync(Ye), i.adoptedStyleSheets = [a], i.append(...new DOMParser().parseFromString("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<title>Sidelight explorer</title>\n<link rel=\"icon\" href=\"data:,\">\n<script type=\"module\" src=\"/src/served.ts\"><\/script>\n</head>\n<body>\n<a class=\"skip\" href=\"#stage-overlay\">To the map</a>\n<header>\n<p class=\"brand\">Sidelight explorer</p>\n<h1 id=\"title\"></h1>\n<p id=\"about\"></p>\n<div class=\"buttons\">\n<button type=\"button\" id=\"undo\" aria-keyshortcuts=\"Control+Z\">Undo</button>\n<button type=\"button\" id=\"redo\" aria-keyshortcuts=\"Control+Y\">Redo</button>\n<button type=\"button\" id=\"save\" title=\"Model and session, into the folder of this explorer\">Save</button>\n<button type=\"button\" id=\"report\" title=\"The report of this map, into the same folder\">Report</button>\n<button type=\"button\" id=\"keep\" title=\"One HTML file of this view, which works offline\">Export</button>\n</div>\n</header>\n<p id=\"notice\" role=\"status\" aria-live=\"polite\" hidden></p>\n<main>\n<section class=\"map\" aria-label=\"Map\">\n<div class=\"toolbar\" role=\"toolbar\" aria-label=\"Map\">\n<div class=\"tools\" id=\"tools\" role=\"radiogroup\" aria-label=\"Dragging\"></div>\n<label>Colour <select id=\"colour\"></select></label>\n<label>Layer <select id=\"layer\"></select></label>\n<span id=\"axes\" class=\"tools\"></span>\n<div class=\"tools\">\n<div class=\"tools\" id=\"find\" role=\"search\"></div>\n<button type=\"button\" id=\"table-open\" aria-expanded=\"false\" aria-controls=\"table\">Table</button>\n</div>\n<div class=\"tools\">\n<button type=\"button\" id=\"zoom-in\" aria-label=\"Zoom in\">+</button>\n<button type=\"button\" id=\"zoom-out\" aria-label=\"Zoom out\">−</button>\n<button type=\"button\" id=\"zoom-all\">All</button>\n</div>\n</div>\n<div class=\"stage\" id=\"stage\">\n<canvas id=\"stage-under\"></canvas><canvas id=\"stage-points\"></canvas><canvas id=\"stage-overlay\" tabindex=\"0\" role=\"application\"\naria-label=\"Map of the rows. Arrow keys with Shift go from row to row, Space selects the row or leaves it out, arrow keys move the map, turn it in three dimensions or walk with the tool Walk, plus and minus zoom, Escape clears the selection.\"\naria-describedby=\"here-title\"></canvas>\n</div>\n<div id=\"legend\" class=\"legend\"></div>\n<div id=\"walk\" class=\"walk\" hidden></div>\n<div id=\"table\" class=\"table\" hidden></div>\n</section>\n<aside>\n<section aria-labelledby=\"here-title\">\n<h2 id=\"here-title\">Here</h2>\n<div id=\"controls\"></div>\n<div id=\"here\"></div>\n</section>\n<section aria-labelledby=\"selection-title\">\n<h2 id=\"selection-title\">Selection</h2>\n<div id=\"selection\"></div>\n</section>\n<section aria-labelledby=\"filters-title\">\n<h2 id=\"filters-title\">Filter</h2>\n<div id=\"filters\"></div>\n</section>\n<section aria-labelledby=\"say-title\">\n<h2 id=\"say-title\">Say</h2>\n<div id=\"say\"></div>\n<ol id=\"statements\" aria-label=\"Statements\"></ol>\n<div id=\"refit\"></div>\n</section>\n<section aria-labelledby=\"history-title\">\n<h2 id=\"history-title\">Maps</h2>\n<ol id=\"history\" aria-label=\"Maps so far\"></ol>\n<div id=\"measures\"></div>\n</section>\n<section aria-labelledby=\"code-title\">\n<h2 id=\"code-title\">The same in code</h2>\n<div id=\"code\"></div>\n</section>\n</aside>\n</main>\n</body>\n</html>\n", "text/html").body.children), i.querySelector(".skip")?.remove();
	let s = document.body.dataset.jpThemeLight;
	s && (r.dataset.theme = s === "true" ? "light" : "dark"), n.append(r);
	let c = new Je(i, new t(o));
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
var Qe = { render: Ze };
export { Qe as default, Q as kernel };
