// Draws what a report shows in motion: the model on a canvas, charts over time, the x-t diagram, and one moment that
// runs through all of them. The page gives the data as JSON (percuss/_report.py): numbers are quantised
// and in base 64. Nothing is fetched.
"use strict";
(() => {
  const $ = (name) => document.getElementById(name);
  const read = (name) => ($(name) ? JSON.parse($(name).textContent) : null);
  const unpack = (text, Kind) => new Kind(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const prefixes = { "-12": "p", "-9": "n", "-6": "µ", "-3": "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T" };

  // A power of ten for numbers up to `largest`, and the unit with the prefix that says it: 0.002 m -> 1e-3, "mm".
  const scaled = (largest, unit) => {
    let power = largest > 0 && isFinite(largest) ? 3 * Math.floor(Math.log10(largest * 1.0001) / 3) : 0;
    if (largest >= 0.1 && largest < 1e4 && power <= 3) power = 0;
    if (power === 0) return [1, unit];
    if (/^(s|m|N|J|Pa|Hz|rad|W)(\b|$)/.test(unit) && prefixes[power] !== undefined && !/^m\^/.test(unit))
      return [10 ** power, prefixes[power] + unit];
    const digits = [...String(power)].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c])).join("");
    return [10 ** power, "10" + digits + (unit ? " " + unit : "")];
  };
  const digits = (x, count) => {
    const text = Number(x).toPrecision(count);
    return /e/.test(text) ? String(Number(text)) : text.replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
  };
  const say = (x, unit, largest) => {
    const [factor, name] = scaled(largest === undefined ? Math.abs(x) : largest, unit);
    return digits(x / factor, 4) + (name ? "\u00a0" + name : "");
  };
  // Round values between low and high, about `count` of them.
  const ticks = (low, high, count) => {
    const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((k) => k * power >= rough * 0.999);
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
    return found;
  };

  // The moment that is shown: whoever shows it is in `listeners`.
  const scene = read("scene-data"), listeners = [];
  const clock = { frame: scene ? scene.start : 0, time: scene ? scene.times[scene.start] : null };
  const show = () => listeners.forEach((listener) => listener());
  const goto = (frame) => {
    clock.frame = Math.max(0, Math.min(scene.times.length - 1, frame));
    clock.time = scene.times[clock.frame];
    show();
  };
  // The frame nearest to a time.
  const seek = (time) => {
    if (!scene) { clock.time = time; return show(); }
    let best = 0;
    scene.times.forEach((t, i) => { if (Math.abs(t - time) < Math.abs(scene.times[best] - time)) best = i; });
    goto(best);
  };

  // Charts

  const make = (tag, attributes, parent, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const name in attributes) element.setAttribute(name, attributes[name]);
    if (text !== undefined) element.textContent = text;
    if (parent) parent.append(element);
    return element;
  };
  const W = 480, H = 270, TOP = 12, RIGHT = 466, BOTTOM = 224;

  // Axes in an SVG: gives the functions from values to places.
  const axes = (svg, x, y) => {
    const [fx, xunit] = scaled(Math.max(Math.abs(x.low), Math.abs(x.high)), x.unit);
    const [fy, yunit] = scaled(Math.max(Math.abs(y.low), Math.abs(y.high)), y.unit);
    const yticks = ticks(y.low / fy, y.high / fy, 5).map((v) => [v, digits(v, 6)]);
    const left = 32 + 8 * Math.max(...yticks.map(([, text]) => text.length));
    const px = (v) => left + (v - x.low) / (x.high - x.low || 1) * (RIGHT - left);
    const py = (v) => BOTTOM - (v - y.low) / (y.high - y.low || 1) * (BOTTOM - TOP);
    for (const v of ticks(x.low / fx, x.high / fx, 5)) {
      const at = px(v * fx);
      make("line", { class: "grid", x1: at, x2: at, y1: TOP, y2: BOTTOM }, svg);
      make("text", { x: Math.min(at, 462), y: BOTTOM + 17, "text-anchor": "middle" }, svg, digits(v, 6));
    }
    for (const [v, text] of yticks) {
      make("line", { class: "grid", x1: left, x2: RIGHT, y1: py(v * fy), y2: py(v * fy) }, svg);
      make("text", { x: left - 5, y: py(v * fy) + 4.5, "text-anchor": "end" }, svg, text);
    }
    const name = (axis, unit) => axis.name + (unit ? " [" + unit + "]" : "");
    make("path", { class: "axis", d: `M${left},${TOP}V${BOTTOM}H${RIGHT}` }, svg);
    make("text", { x: (left + RIGHT) / 2, y: H - 8, "text-anchor": "middle" }, svg, name(x, xunit));
    make("text", { transform: `translate(13 ${(TOP + BOTTOM) / 2}) rotate(-90)`, "text-anchor": "middle" }, svg,
      name(y, yunit));
    return { px, py, left, time: (at) => x.low + (at - left) / (RIGHT - left) * (x.high - x.low) };
  };

  // Clicks and drags in a drawing of width W move the moment; `when` gives the time of a place.
  const follow = (element, when) => {
    const move = (event) => {
      const box = element.getBoundingClientRect();
      seek(when((event.clientX - box.left) / box.width * W, (event.clientY - box.top) / box.height));
    };
    element.addEventListener("pointerdown", (event) => { stop(); move(event); });
    element.addEventListener("pointermove", (event) => { if (event.buttons & 1) move(event); });
  };

  // Figures whose axes are known, in parts of their width and height, get a cursor in each.
  for (const frame of document.querySelectorAll("[data-axes]")) {
    const axes = JSON.parse(frame.dataset.axes), within = (x, low, high) => x >= low && x <= high;
    if (!axes.length) continue;
    follow(frame, (x, y) => {
      const [left, right, bottom, top, low, high, is_across] =
        axes.find((a) => within(x / W, a[0], a[1]) && within(1 - y, a[2], a[3])) || axes[0];
      const part = is_across ? (x / W - left) / (right - left) : (1 - y - bottom) / (top - bottom);
      return low + (high - low) * part;
    });
    for (const [left, right, bottom, top, low, high, is_across] of axes) {
      const line = document.createElement("div");
      line.className = "line";
      frame.append(line);
      listeners.push(() => {
        const part = (clock.time - low) / (high - low), of = (x) => 100 * x + "%";
        line.style.cssText = !within(part, 0, 1) ? "display:none" : is_across
          ? `left:${of(left + part * (right - left))};top:${of(1 - top)};height:${of(top - bottom)};width:0`
          : `top:${of(1 - bottom - part * (top - bottom))};left:${of(left)};width:${of(right - left)};height:0`;
      });
    }
  }
  for (const element of document.querySelectorAll("[data-t]"))
    element.addEventListener("click", () => { stop(); seek(Number(element.dataset.t)); });

  // Playing

  let timer = 0;
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    if ($("play")) $("play").textContent = "▶ play";
  };
  if (!scene) { show(); return; }

  // The model

  const is_modes = scene.kind === "modes";
  const reference = unpack(scene.reference, Float32Array), cells = unpack(scene.cells, Uint32Array);
  const radius = scene.radius ? unpack(scene.radius, Float32Array) : null;
  const npoint = reference.length / 3, ncell = cells.length / 2;
  const vectors = (v) => (v ? { ...v, data: unpack(v.data, Uint16Array) } : null);
  const u = vectors(scene.u), w = vectors(scene.w);
  const fields = scene.fields.map((field) => ({ ...field, data: unpack(field.data, Uint8Array) }));
  const palettes = [scene.signed, scene.positive].map((text) => unpack(text, Uint8Array));
  const solid = scene.solid ? { points: unpack(scene.solid.points, Float32Array), faces: scene.solid.faces } : null;
  const carried = scene.carried ? { faces: scene.carried.faces, points: vectors(scene.carried.points) } : null;
  const centre = scene.low.map((x, k) => (x + scene.high[k]) / 2);
  const size = Math.hypot(...scene.low.map((x, k) => scene.high[k] - x)) || 1;
  let field = fields.length ? 0 : -1, scale = scene.scale, phase = 0;

  // Adds `factor` times the vectors of a frame to the points.
  const add = (points, v, frame, factor) => {
    if (!v) return;
    const n = v.axes.length, count = points.length / 3, first = frame * count * n;
    v.axes.forEach((axis, k) => {
      const step = (v.high[k] - v.low[k]) / 65535 * factor, low = v.low[k] * factor;
      for (let i = 0; i < count; i++) points[3 * i + axis] += low + step * v.data[first + n * i + k];
    });
  };
  const places = (frame) => {
    const points = Float64Array.from(reference);
    add(points, u, frame, scale * (is_modes ? Math.cos(phase) : 1));
    add(points, w, frame, -scale * (is_modes ? Math.sin(phase) : 0));
    return points;
  };

  // The camera: right, up, zoom and shift; towards the eye is right x up.
  const camera = {};
  const canvas = $("body"), context = canvas.getContext("2d");
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const project = (x, y, z) => {
    const d = [x - centre[0], y - centre[1], z - centre[2]];
    const on = (a) => a[0] * d[0] + a[1] * d[1] + a[2] * d[2];
    return [camera.x + camera.zoom * on(camera.right), camera.y - camera.zoom * on(camera.up), on(camera.towards)];
  };
  const spans = (axis) => scene.low.reduce((sum, x, k) => sum + Math.abs(axis[k]) * (scene.high[k] - x), 0);
  const fit = () => {
    const wide = canvas.clientWidth, high = canvas.clientHeight, margin = scene.kind === "run" ? 0.9 : 0.74;
    Object.assign(camera, { right: scene.right, up: scene.up, towards: cross(scene.right, scene.up) });
    camera.zoom = margin * Math.min(wide / (spans(camera.right) || size), high / (spans(camera.up) || 0.1 * size));
    camera.x = wide / 2;
    camera.y = high / 2;
  };
  const rotate = (dx, dy) => {
    const turn = (a, b, angle) => a.map((x, k) => Math.cos(angle) * x + Math.sin(angle) * b[k]);
    const { right, up, towards } = camera;
    camera.right = turn(right, towards, -dx);
    const back = cross(camera.right, up);
    camera.up = turn(up, back, dy);
    camera.towards = cross(camera.right, camera.up);
  };

  const shade = (rgb, factor) => {
    const mix = (x) => Math.round(factor <= 1 ? x * factor : 255 - (255 - x) * (2 - factor));
    return `rgb(${mix(rgb[0])},${mix(rgb[1])},${mix(rgb[2])})`;
  };
  const cell_colour = (frame, cell) => {
    if (field < 0) return [70, 110, 160];
    const f = fields[field], a = cells[2 * cell], b = cells[2 * cell + 1];
    const value = f.points ? (f.data[frame * npoint + a] + f.data[frame * npoint + b]) / 2 : f.data[frame * ncell + cell];
    const table = palettes[f.low < 0 ? 0 : 1], at = 3 * Math.round(value);
    return [table[at], table[at + 1], table[at + 2]];
  };

  // Polygons with their depths, for the list that is drawn from the back.
  const add_faces = (list, points, faces, fill, line) => {
    for (let i = 0; i < faces.length; i += faces[i] + 1) {
      const corners = [];
      for (let k = 1; k <= faces[i]; k++) {
        const p = 3 * faces[i + k];
        corners.push(project(points[p], points[p + 1], points[p + 2]));
      }
      const depth = corners.reduce((sum, c) => sum + c[2], 0) / corners.length;
      list.push([depth - 1e3 * size, () => {
        context.beginPath();
        corners.forEach((c, k) => (k ? context.lineTo(c[0], c[1]) : context.moveTo(c[0], c[1])));
        context.closePath();
        context.fillStyle = fill;
        context.fill();
        context.strokeStyle = line;
        context.lineWidth = 1;
        context.stroke();
      }]);
    }
  };
  const stroke = (a, b, width, style) => {
    context.beginPath();
    context.moveTo(a[0], a[1]);
    context.lineTo(b[0], b[1]);
    context.lineWidth = width;
    context.strokeStyle = style;
    context.stroke();
  };
  const disc = (p, r, style, line) => {
    context.beginPath();
    context.arc(p[0], p[1], r, 0, 7);
    context.fillStyle = style;
    context.fill();
    if (line) { context.strokeStyle = line; context.lineWidth = 1; context.stroke(); }
  };

  // Of both ends of each cell: 0 the end of a body, which is flat; 1 it goes straight on; 2 a corner, which is round.
  const end_kinds = () => {
    const kinds = new Uint8Array(2 * ncell), at = new Map();
    const along = (c) => [0, 1, 2].map((k) => reference[3 * cells[2 * c + 1] + k] - reference[3 * cells[2 * c] + k]);
    for (let i = 0; i < 2 * ncell; i++) at.set(cells[i], [...(at.get(cells[i]) || []), i >> 1]);
    for (let i = 0; i < 2 * ncell; i++) {
      const others = at.get(cells[i]).filter((c) => c !== i >> 1), d = along(i >> 1);
      const is_smooth = others.length === 1 && others.every((c) => {
        const e = along(c), dot = d[0] * e[0] + d[1] * e[1] + d[2] * e[2];
        return Math.abs(dot) > 0.9 * Math.hypot(...d) * Math.hypot(...e);
      });
      kinds[i] = others.length === 0 ? 0 : is_smooth ? 1 : 2;
    }
    return kinds;
  };
  // One cell as a tube: layer 0 is its dark edge, 1 its body, 2 its light; those of a plane model go over one another.
  const layers = ncell < 5000 ? [[0.72, 1], [1, 0.72], [1.35, 0.25]] : [[1, 1]];
  const caps = end_kinds();
  const draw_cell = (points, cell, rgb, from, to) => {
    const a = points[cells[2 * cell]], b = points[cells[2 * cell + 1]];
    const r = radius ? Math.max(radius[cells[2 * cell]], radius[cells[2 * cell + 1]]) * camera.zoom : 0;
    if (cells[2 * cell] === cells[2 * cell + 1])
      return from === 0 && disc(a, Math.max(r, 5), shade(rgb, 1), shade(rgb, 0.5));
    const width = Math.max(2 * r, scene.thin), long = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1;
    const reach = 0.4 / long, c = [b[0] + reach * (b[0] - a[0]), b[1] + reach * (b[1] - a[1])];
    context.lineCap = width < 6 ? "round" : "butt";
    for (let k = from; k < (width < 4 ? Math.min(to, 1) : to); k++) {
      const style = shade(rgb, width < 4 ? 1 : layers[k][0]);
      stroke(a, c, layers[k][1] * width, style);
      if (width >= 6 && long > 0.5 * width)
        [a, b].forEach((end, e) => { if (caps[2 * cell + e] > (scene.flat ? 0 : 1)) disc(end, layers[k][1] * width / 2, style); });
    }
  };
  const draw_arrow = (row, ink) => {
    const force = Math.hypot(row[3], row[4], row[5]), length = 0.16 * Math.min(canvas.clientWidth, 2 * canvas.clientHeight);
    const tip = project(row[0], row[1], row[2]);
    const tail = project(...[0, 1, 2].map((k) => row[k] - row[k + 3] / force * size * 0.2));
    const away = [tail[0] - tip[0], tail[1] - tip[1]], seen = Math.hypot(...away), full = 0.2 * size * camera.zoom;
    if (seen < 0.02 * full) return disc(tip, 4, ink);
    const share = Math.max(force / scene.arrows.largest, 0.12) * length * Math.min(1, seen / full) / seen;
    const from = [tip[0] + share * away[0], tip[1] + share * away[1]], unit = away.map((x) => x / seen);
    context.lineCap = "butt";
    stroke(from, [tip[0] + 7 * unit[0], tip[1] + 7 * unit[1]], 2.5, ink);
    context.beginPath();
    context.moveTo(tip[0], tip[1]);
    context.lineTo(tip[0] + 10 * unit[0] - 4.5 * unit[1], tip[1] + 10 * unit[1] + 4.5 * unit[0]);
    context.lineTo(tip[0] + 10 * unit[0] + 4.5 * unit[1], tip[1] + 10 * unit[1] - 4.5 * unit[0]);
    context.fillStyle = ink;
    context.fill();
  };

  const paint = () => {
    const ratio = window.devicePixelRatio || 1, frame = clock.frame, list = [];
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
    const all = places(frame), points = new Array(npoint);
    for (let i = 0; i < npoint; i++) points[i] = project(all[3 * i], all[3 * i + 1], all[3 * i + 2]);
    const soft = colour("--soft"), fill = colour("--solid");
    if (solid) add_faces(list, solid.points, solid.faces, fill, soft);
    if (carried) {
      const moved = new Float64Array(carried.points.data.length / carried.points.axes.length / scene.times.length * 3);
      add(moved, carried.points, frame, 1);
      add_faces(list, moved, carried.faces, fill, "transparent");
    }
    if (scene.kind !== "run") {
      context.setLineDash([4, 4]);
      for (let c = 0; c < ncell; c++) {
        const [a, b] = [cells[2 * c], cells[2 * c + 1]].map((p) => project(...reference.subarray(3 * p, 3 * p + 3)));
        stroke(a, b, 1, soft);
      }
      context.setLineDash([]);
    }
    const colours = Array.from({ length: ncell }, (_, c) => cell_colour(frame, c));
    for (let c = 0; c < (scene.flat ? 0 : ncell); c++)
      list.push([points[cells[2 * c]][2] + points[cells[2 * c + 1]][2],
        () => draw_cell(points, c, colours[c], 0, layers.length)]);
    list.sort((a, b) => a[0] - b[0]).forEach(([, put]) => put());
    for (let k = 0; k < (scene.flat ? layers.length : 0); k++)
      for (let c = 0; c < ncell; c++) draw_cell(points, c, colours[c], k, k + 1);
    if (scale === 1) for (const row of scene.arrows.at[frame] || []) draw_arrow(row, colour("--force"));
    $("when").textContent = is_modes ? "mode " + scene.times[frame] + (scene.names[frame] ? ": " + scene.names[frame] : "")
      : (scene.kind === "statics" ? "load factor " + digits(clock.time, 5)
        : "t = " + say(clock.time, "s", scene.times[scene.times.length - 1])) +
        `, ${is_modes ? "" : "frame "}${frame + 1} of ${scene.times.length}`;
    $("slider").value = frame;
    $("slider").setAttribute("aria-valuetext", $("when").textContent);
    const push = Math.max(0, ...(scene.arrows.at[frame] || []).map((r) => Math.hypot(r[3], r[4], r[5])));
    $("push").textContent = !scene.arrows.largest ? "" : scale !== 1 ? "arrows only at true scale"
      : push ? `largest arrow ${say(push, scene.arrows.unit)}` : "no contact force";
  };
  listeners.push(paint);

  // The colour scale below the canvas.
  const paint_scale = () => {
    const f = fields[field];
    $("scale").hidden = !f;
    if (!f) return;
    const table = palettes[f.low < 0 ? 0 : 1], stops = [];
    for (let i = 0; i < 256; i += 15) stops.push(`rgb(${table[3 * i]},${table[3 * i + 1]},${table[3 * i + 2]})`);
    $("ramp").style.background = `linear-gradient(to right,${stops.join()})`;
    const [factor, unit] = scaled(f.high, f.unit);
    $("ends").replaceChildren(...[0, 0.25, 0.5, 0.75, 1].map((part) => {
      const span = document.createElement("span");
      span.textContent = digits((f.low + part * (f.high - f.low)) / factor, 3);
      return span;
    }));
    $("what").textContent = f.name + (unit ? " [" + unit + "]" : "") +
      (f.largest ? ", largest " + digits(f.largest / factor, 3) : "");
  };

  // The x-t diagram of straight models: place across, time upwards, as coloured as the model.
  const paint_xt = () => {
    const plate = $("xt");
    if (!plate || !scene.straight) return;
    const axis = scene.straight - 1, f = fields[field], times = scene.times, last = times.length - 1;
    plate.querySelectorAll("svg,canvas").forEach((old) => old.remove());
    const image = document.createElement("canvas"), svg = make("svg", { viewBox: `0 0 ${W} ${H}`, role: "img" });
    make("title", {}, svg, "Places of the bodies over time, coloured by " + f.name);
    const x = { name: "xyz"[axis], unit: "m", low: scene.low[axis], high: scene.high[axis] };
    const place = axes(svg, x, { name: "time", unit: "s", low: times[0], high: times[last] });
    image.width = 2 * W;
    image.height = 2 * H;
    const pen = image.getContext("2d");
    pen.scale(2, 2);
    let before = null;
    for (let i = 0; i <= last; i++) {
      const points = Float64Array.from(reference);
      add(points, u, i, 1);
      const across = Float64Array.from({ length: npoint }, (_, k) => place.px(points[3 * k + axis]));
      const y0 = place.py(times[i - 1]), y1 = place.py(times[i]);
      for (let c = 0; before && c < ncell; c++) {
        const a = cells[2 * c], b = cells[2 * c + 1], more = across[b] > across[a] ? 0.3 : -0.3;
        pen.fillStyle = shade(cell_colour(i, c), 1);
        pen.beginPath();
        pen.moveTo(before[a], y0 + 0.3);
        pen.lineTo(before[b] + more, y0 + 0.3);
        pen.lineTo(across[b] + more, y1);
        pen.lineTo(across[a], y1);
        pen.fill();
      }
      before = across;
    }
    plate.append(image, svg);
    const cursor = make("line", { class: "cursor", x1: place.left, x2: RIGHT }, svg);
    paint_xt.move = () => ["y1", "y2"].forEach((name) => cursor.setAttribute(name, place.py(clock.time)));
    paint_xt.when = (across, part) =>
      times[0] + (BOTTOM - part * H) / (BOTTOM - TOP) * (times[last] - times[0]);
    paint_xt.move();
  };
  if ($("xt") && scene.straight) {
    follow($("xt"), (x, part) => paint_xt.when(x, part));
    listeners.push(() => paint_xt.move && paint_xt.move());
  }

  // Controls

  const play = () => {
    if (timer) return stop();
    if (!is_modes && clock.frame === scene.times.length - 1) goto(0);
    $("play").textContent = "⏸ pause";
    const rate = Math.min(60, Math.max(5, scene.times.length / 8)) * Number($("speed").value);
    timer = setInterval(() => {
      if (is_modes) { phase += 0.12 * Number($("speed").value); return paint(); }
      if (clock.frame === scene.times.length - 1) return stop();
      goto(clock.frame + 1);
    }, is_modes ? 33 : 1000 / rate);
  };
  const option = (list, value, text) => list.add(new Option(text, value));
  fields.forEach((f, k) => option($("field"), k, f.name));
  option($("field"), -1, "no colours");
  $("field").value = field;
  [...new Set([1, scene.scale, 10, 100, 1000])].sort((a, b) => a - b).forEach((k) => option($("times"), k, "× " + k));
  $("times").value = scene.scale;
  $("slider").max = scene.times.length - 1;
  $("slider").addEventListener("input", () => { if (!is_modes) stop(); goto(Number($("slider").value)); });
  $("play").addEventListener("click", play);
  $("speed").addEventListener("change", () => { if (timer) { stop(); play(); } });
  $("field").addEventListener("change", () => { field = Number($("field").value); paint_scale(); paint(); if (field >= 0) paint_xt(); });
  $("times").addEventListener("change", () => { scale = Number($("times").value); paint(); });
  $("reset").addEventListener("click", () => { fit(); paint(); });
  $("player").addEventListener("keydown", (event) => {
    if (["SELECT", "BUTTON"].includes(event.target.tagName)) return;
    const last = scene.times.length - 1;
    const to = { ArrowLeft: clock.frame - 1, ArrowRight: clock.frame + 1, Home: 0, End: last,
      PageUp: clock.frame - 10, PageDown: clock.frame + 10 }[event.key];
    if (event.key === " ") play();
    else if (to !== undefined) { if (!is_modes) stop(); goto(to); }
    else return;
    event.preventDefault();
  });
  canvas.addEventListener("pointerdown", (event) => canvas.setPointerCapture(event.pointerId));
  canvas.addEventListener("pointermove", (event) => {
    if (!(event.buttons & 3)) return;
    if (scene.flat || event.shiftKey || event.buttons & 2) { camera.x += event.movementX; camera.y += event.movementY; }
    else rotate(event.movementX * 0.01, event.movementY * 0.01);
    paint();
  });
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("dblclick", () => { fit(); paint(); });
  canvas.addEventListener("wheel", (event) => {
    const factor = Math.exp(-0.0015 * event.deltaY), box = canvas.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    camera.x = x + factor * (camera.x - x);
    camera.y = y + factor * (camera.y - y);
    camera.zoom *= factor;
    paint();
    event.preventDefault();
  }, { passive: false });

  let width = 0;
  const resize = () => {
    if (canvas.clientWidth === width) return;
    width = canvas.clientWidth;
    const ratio = window.devicePixelRatio || 1, shape = spans(scene.up) / (spans(scene.right) || size);
    canvas.style.height = Math.round(width * Math.min(Math.max(shape + 0.06, 0.16), 0.62)) + "px";
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(canvas.clientHeight * ratio);
    fit();
    paint();
  };
  new ResizeObserver(resize).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
  resize();
  paint_scale();
  paint_xt();
  show();
})();
