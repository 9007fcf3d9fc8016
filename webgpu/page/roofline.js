// A roofline from the measured peak and bandwidth, as SVG: each rung at what its work-group computes for each
// byte that it gets from beyond it.

function flopsPerByte(variant) {
  const [m, n] = variant.tile;
  return 2 * m * n / (4 * (m + n));
}

function svgElement(tag, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

// Both axes are logarithmic. points: {label, x, y}.
function drawRoofline(svg, peak, bandwidth, points) {
  const [width, height, left, bottom] = [640, 360, 60, 44];
  const ridge = peak / (bandwidth / 1e9);
  const xs = [...points.map(point => point.x), ridge];
  const ys = [...points.map(point => point.y), peak];
  const range = values => [Math.log10(Math.min(...values)) - 0.3, Math.log10(Math.max(...values)) + 0.3];
  const [[x0, x1], [y0, y1]] = [range(xs), range(ys)];
  const px = x => left + (Math.log10(x) - x0) / (x1 - x0) * (width - left - 12);
  const py = y => height - bottom - (Math.log10(y) - y0) / (y1 - y0) * (height - bottom - 12);
  svg.replaceChildren();
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const tick = (low, high) => {
    const values = [];
    for (let power = Math.floor(low); power <= high; ++power) {
      for (const digit of [1, 2, 5]) {
        const value = digit * 10 ** power;
        if (Math.log10(value) > low && Math.log10(value) < high) values.push(value);
      }
    }
    return values.length > 8 ? values.filter(value => Number.isInteger(Math.log10(value))) : values;
  };
  const number = value => value.toLocaleString("en", {maximumSignificantDigits: 3});
  for (const x of tick(x0, x1)) {
    svg.append(svgElement("line", {x1: px(x), x2: px(x), y1: 12, y2: height - bottom, class: "grid"}),
               svgElement("text", {x: px(x), y: height - bottom + 16, "text-anchor": "middle"}, number(x)));
  }
  for (const y of tick(y0, y1)) {
    svg.append(svgElement("line", {x1: left, x2: width - 12, y1: py(y), y2: py(y), class: "grid"}),
               svgElement("text", {x: left - 6, y: py(y) + 4, "text-anchor": "end"}, number(y)));
  }
  const slope = x => bandwidth / 1e9 * x;
  const from = Math.max(10 ** x0, 10 ** y0 / (bandwidth / 1e9));
  const roof = [[from, slope(from)], [ridge, peak], [10 ** x1, peak]].map(([x, y]) => `${px(x)},${py(y)}`).join(" ");
  const [centre, end] = [{"text-anchor": "middle"}, {"text-anchor": "end"}];
  svg.append(svgElement("polyline", {points: roof, class: "roof"}),
             svgElement("text", {x: width - 16, y: py(peak) - 6, ...end}, `measured peak: ${number(peak)} GFLOP/s`),
             svgElement("text", {x: px(from) + 8, y: py(slope(from)) - 2}, `memory: ${number(bandwidth / 1e9)} GB/s`),
             svgElement("text", {x: (width + left) / 2, y: height - 6, ...centre}, "FLOP for each byte that a work-group gets from beyond it"));
  // Rungs of one tile stand on a line: labels that would cover each other are joined, the fastest first.
  const labels = [];
  for (const {label, x, y} of [...points].sort((a, b) => b.y - a.y)) {
    svg.append(svgElement("circle", {cx: px(x), cy: py(y), r: 4, class: "point"}));
    const near = labels.find(other => Math.abs(other.x - px(x)) < 1 && Math.abs(other.y - py(y)) < 13);
    if (near) near.text.textContent += `, ${label}`;
    else {
      const text = svgElement("text", {x: px(x) + 8, y: py(y) + 4}, label);
      labels.push({x: px(x), y: py(y), text});
      svg.append(text);
    }
  }
  const words = points.map(({label, x, y}) => `Rung ${label}: ${number(y)} GFLOP/s at ${number(x)} FLOP per byte`);
  svg.setAttribute("aria-label", [`Roofline: peak ${number(peak)} GFLOP/s, memory ${number(bandwidth / 1e9)} GB/s`, ...words].join(". "));
}
