// What the visitor sees and does. window.page is for tests, which drive it as a visitor would.

const $ = id => document.getElementById(id);

function make(tag, attributes = {}, ...content) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...content);
  return element;
}

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}

function speedText(gflops) { return gflops >= 100 ? Math.round(gflops).toLocaleString("en") : gflops.toPrecision(gflops >= 1 ? 3 : 2); }

// "TSM=64", or all tunables of the page's own setting.
function settingText(variant, own) {
  const different = Object.entries(variant.tunables).filter(([name, value]) => variant === own || own.tunables[name] !== value);
  return different.map(([name, value]) => `${name}=${value}`).join(" ");
}

function isRight(result) { return result.wrong === 0 && result.beyond === 0; }

function factsOf({work_items: [x, y, z], local_bytes: bytes}) {
  const items = x * y * z === 1 ? "1 work-item" : `${[x, y, z].filter((size, i) => i === 0 || size > 1).join(" × ")} work-items`;
  return `${items}, ${bytes ? kib(bytes) : "nothing"} in local memory`;
}

function title(rung) { return rung.rung === "nv" ? "For comparison" : `Rung ${rung.rung}`; }

// --- A rung ------------------------------------------------------------------------------------------------

class RungView {
  constructor(rung, runAlone, compare) {
    this.rung = rung;
    this.result = null;
    const heading = `rung-${rung.rung}`;
    this.setting = make("select", {"aria-label": `Setting of ${title(rung)}`});
    this.button = make("button", {type: "button", disabled: "", "aria-label": `Run ${title(rung)} alone`}, "Run");
    this.facts = make("span", {class: "soft"});
    this.outcome = make("p", {class: "outcome"});
    this.bar = make("div", {class: "bar", "aria-hidden": "true"});
    this.details = make("details", {}, make("summary", {}, "Why, and the code"));
    this.element = make("li", {class: "rung", "aria-labelledby": heading},
      make("h2", {id: heading}, make("span", {class: "label"}, title(rung)), ` ${rung.idea}`),
      make("div", {class: "choice"}, this.setting, this.button, this.facts),
      this.outcome, make("div", {class: "track"}, this.bar), this.details);
    const variants = rung.variants ?? [];
    for (const variant of variants) this.setting.append(make("option", {}, settingText(variant, variants[0])));
    this.setting.addEventListener("change", () => { this.show(null); compare(); });
    this.button.addEventListener("click", () => runAlone(this));
    this.details.addEventListener("toggle", () => { if (this.details.open && !this.code) this.fill(); });
    if (rung.unsupported) {
      this.setting.hidden = this.button.hidden = true;
      this.result = {unsupported: rung.unsupported};
    }
    this.show(this.result);
  }

  get variant() { return this.rung.variants?.[this.setting.selectedIndex]; }

  // A result that is not right has no speed.
  get gflops() { return this.result && isRight(this.result) ? this.result.gflops ?? 0 : 0; }

  // The result of the setting that is chosen; null before it ran.
  show(result, before = null, most = 0) {
    this.result = result;
    const {variant} = this;
    if (variant) this.facts.textContent = factsOf(variant);
    const {words, look} = this.outcomeOf(result);
    this.outcome.className = `outcome ${look}`;
    this.outcome.textContent = words;
    if (this.gflops && before) {
      this.outcome.append(make("span", {class: "soft"}, `, ${(this.gflops / before).toPrecision(3)} times the rung before`));
    }
    this.bar.style.width = most ? `${100 * this.gflops / most}%` : "0";
    if (this.wgsl && variant) this.wgsl.textContent = variant.wgsl;
  }

  outcomeOf(result) {
    if (!result) return {words: "not run yet", look: "soft"};
    if (result.running) return {words: "running …", look: "soft"};
    if (result.unsupported) return {words: `does not run here: it needs ${result.unsupported}`, look: "soft"};
    if (result.error) return {words: `failed: ${result.error}`, look: "bad"};
    if (result.wrong) return {words: `WRONG: ${result.wrong.toLocaleString("en")} rows of C are not what they must be`, look: "bad"};
    if (result.beyond) return {words: `WRONG: of fractions, ${result.beyond} elements of a few are beyond the error bound`, look: "bad"};
    const speed = result.gflops ? `, ${speedText(result.gflops)} GFLOP/s ± ${(50 * result.time.spread).toFixed(1)}%` : "";
    return {words: `right${result.otherBits ? "" : " to the bit"}${speed}`, look: "good"};
  }

  // The prose and the code, when they are first asked for.
  fill() {
    const {rung} = this;
    this.code = make("div", {class: "code"}, ...this.prose());
    const block = text => make("pre", {tabindex: "0"}, text);
    if (rung.excerpts.length) this.code.append(make("h3", {}, "The lines that matter"));
    rung.excerpts.forEach(({title, text}) => this.code.append(make("p", {class: "soft"}, title), block(text)));
    if (rung.tunables.length) {
      this.code.append(make("h3", {}, "Tunables"),
        make("ul", {}, ...rung.tunables.map(({name, meaning}) => make("li", {}, make("code", {}, name), `: ${meaning}`))));
    }
    for (const file of rung.files) this.code.append(make("details", {}, make("summary", {}, file.path), block(file.text)));
    if (this.variant) {
      this.wgsl = block(this.variant.wgsl);
      this.code.append(make("details", {}, make("summary", {}, "The same as WGSL, for the setting that is chosen"), this.wgsl));
    }
    this.details.append(this.code);
  }

  // Makes paragraphs of the file's first comment. Pictures in it keep their lines.
  prose() {
    const paragraphs = this.rung.comment.slice(1).join("\n").split("\n\n").filter(Boolean);
    return paragraphs.map(text => make(/^ {2}/m.test(text) ? "pre" : "p", {}, text));
  }
}

// --- The ladder --------------------------------------------------------------------------------------------

class Page {
  constructor(data) {
    this.data = data;
    this.state = "starting";
    this.complaints = [];  // about what was to be measured besides rungs
    this.rungs = data.rungs.map(rung => new RungView(rung, view => this.run([view]), () => this.compare()));
    $("rungs").append(...this.rungs.map(view => view.element));
    $("version").textContent = `duogemm ${data.version}`;
    $("run").addEventListener("click", () => this.run(this.rungs));
    $("stop").addEventListener("click", () => { this.stopped = true; this.say("stopping after this rung …"); });
    $("save").addEventListener("click", () => this.save());
  }

  say(text) { $("status").textContent = text; }

  set busy(busy) {
    $("run").disabled = $("size").disabled = busy;
    $("stop").disabled = !busy;
    for (const view of this.rungs) view.button.disabled = view.setting.disabled = busy;
  }

  async open() {
    try {
      this.gpu = await Gpu.open();
    } catch (error) {
      this.gpu = null;
      this.state = "no device";
      $("device").textContent = error.message;
      $("device").className = "bad";
      return;
    }
    const {name, limits, isSoftware} = this.gpu;
    $("device").className = "";
    $("device").textContent = `${name}${isSoftware ? " (a CPU plays the GPU)" : ""}: at most ` +
      `${limits.maxComputeInvocationsPerWorkgroup} work-items and ${kib(limits.maxComputeWorkgroupStorageSize)} of local memory in a work-group, ` +
      `buffers of ${Math.floor(limits.maxStorageBufferBindingSize / 2 ** 20)} MiB`;
    if (isSoftware && !this.ran) $("size").value = "256";
    if (this.state !== "running") {
      this.state = "ready";
      this.busy = false;
    }
  }

  // Rungs one after the other. What one cannot do is said in its row, and the next goes on.
  async run(views, timed = true) {
    const size = Number($("size").value);
    if (this.size !== size) this.rungs.forEach(view => view.show(view.rung.unsupported ? view.result : null));
    Object.assign(this, {state: "running", stopped: false, size, ran: true, complaints: []});
    this.busy = true;
    try {
      await this.runAll(views, timed);
      this.say(this.stopped ? "stopped" : this.summary());
    } catch (error) {
      this.say(error.message);
    } finally {
      this.state = this.stopped ? "stopped" : this.gpu ? "done" : "no device";
      this.busy = false;
    }
  }

  async runAll(views, timed) {
    this.say("preparing matrices …");
    await aTurn();
    let ladder = null;
    for (const view of views) {
      if (this.stopped) break;
      if (view.rung.unsupported) continue;
      if (!this.gpu || this.gpu.isLost) await this.open();
      if (!this.gpu) break;
      if (ladder?.gpu !== this.gpu) ladder = new Ladder(this.data, this.gpu, this.size);
      view.show({running: true});
      this.say(`${title(view.rung)} …`);
      view.show(await this.resultOf(ladder, view, timed));
      this.compare();
    }
    if (timed && !this.stopped && this.gpu && views.length > 1) await this.measureRoofs();
    this.compare();
    $("save").disabled = !this.gpu || !this.results().length;
  }

  async resultOf(ladder, view, timed) {
    try {
      return await ladder.run(view.rung, view.variant, timed);
    } catch (error) {
      await aTurn();  // isLost may be set only after what was lost with the device has failed
      return {error: error.message};
    }
  }

  async measureRoofs() {
    for (const [roof, measure] of Object.entries({peak: measurePeak, bandwidth: measureBandwidth})) {
      this.say(`measuring ${roof} …`);
      this[roof] = null;
      try {
        this[roof] = await this.gpu.withBuffers(buffer => measure(this.data, this.gpu, buffer));
      } catch (error) {
        this.complaints.push(`; the ${roof} is not known: ${error.message}`);
      }
    }
  }

  results() { return this.rungs.filter(view => view.gflops); }

  // Bars, factors against the rung before that ran, and the roofline.
  compare() {
    const most = Math.max(0, ...this.results().map(view => view.gflops));
    let before = null;
    for (const view of this.rungs) {
      const counts = view.rung.rung !== "nv";
      view.show(view.result, counts ? before : null, most);
      if (counts && view.gflops) before = view.gflops;
    }
    const points = this.results().map(view => ({label: view.rung.rung, x: flopsPerByte(view.variant), y: view.gflops}));
    $("roofline").hidden = !(this.peak && this.bandwidth && points.length);
    if (!$("roofline").hidden) drawRoofline($("roofs"), this.peak, this.bandwidth, points);
  }

  summary() {
    const wrong = this.rungs.filter(view => view.result && !view.result.unsupported && !isRight(view.result)).length;
    const best = this.results().filter(view => view.rung.rung !== "nv").sort((a, b) => b.gflops - a.gflops)[0];
    const speed = best ? `; the fastest is ${title(best.rung)} with ${speedText(best.gflops)} GFLOP/s` : "";
    return [wrong ? `${wrong} did not give the right result` : "all that ran are right", speed, ...this.complaints].join("");
  }

  // A result file as `duogemm ladder --json` writes it, for `duogemm report`.
  document() {
    const {gpu, size, peak, bandwidth} = this;
    const rows = this.rungs.filter(view => view.result?.unsupported || view.result?.gflops).map(({rung, variant, result}) => {
      const head = {rung: rung.rung, kernel: rung.kernel, idea: rung.idea, tunables: variant?.tunables ?? {}};
      return result.unsupported ? {...head, unsupported: result.unsupported} : {
        ...head, gflops: result.gflops, ok: isRight(result), error_per_bound: null, different_bits: result.otherBits, overwritten: null,
        support_steps: result.supportSteps, flops_per_byte: flopsPerByte(variant), time: result.time, multiply_time: null,
      };
    });
    const {vendor, architecture} = gpu.info;
    const device = {
      backend: "webgpu", name: gpu.name, vendor, platform: "WebGPU", driver: architecture, runtime: browserName(), compute_capability: 0,
      compute_units: 0, max_clock_mhz: 0, memory_bytes: 0, local_bytes: gpu.limits.maxComputeWorkgroupStorageSize,
    };
    return {
      schema: "duogemm.ladder/1", version: this.data.version, date: new Date().toISOString().replace(/\.\d+/, ""), cache_preference: "none",
      bank_bytes: 0, runs: [{
        device, m: size, n: size, k: size, peak_gflops: peak ?? 0, ...(bandwidth ? {bandwidth: {cache: null, memory: bandwidth}} : {}),
        gpu_before: null, gpu_after: null, warnings: ["times are of the multiplication alone: operands were padded and transposed before"],
        rows, reference: null,
      }],
    };
  }

  save() {
    const link = make("a", {download: "ladder_webgpu.json",
      href: URL.createObjectURL(new Blob([JSON.stringify(this.document(), null, 1) + "\n"], {type: "application/json"}))});
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);  // some browsers read it only after the click
  }
}

// "Chromium 156".
function browserName() {
  const brand = navigator.userAgentData?.brands.find(({brand}) => !/not.*brand/i.test(brand));
  if (brand) return `${brand.brand} ${brand.version}`;
  return navigator.userAgent.match(/(Firefox|Version)\/\d+/)?.[0].replace("/", " ") ?? "a browser";
}

async function start() {
  try {
    window.page = new Page(await unpacked($("data").textContent));
  } catch (error) {  // DecompressionStream came before WebGPU
    $("device").textContent = `This browser is too old for this page: ${error.message}`;
    return;
  }
  await window.page.open();
}

window.addEventListener("DOMContentLoaded", start);
