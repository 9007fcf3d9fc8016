// The visitor's device: buffers, shaders, and how long they take.

class DeviceLost extends Error {}

// Lets the browser do what it has to do. A hidden tab has timers, but no frames.
function aTurn() { return new Promise(done => setTimeout(done, 0)); }

class Gpu {
  // Throws an Error with a sentence for the visitor where there is no device.
  static async open() {
    if (!navigator.gpu) {
      throw Error(isSecureContext
        ? "This browser has no WebGPU. Chrome, Edge, Firefox and Safari have it in their newest versions."
        : "A browser has WebGPU only for pages that come by https or from a file: this one came by http.");
    }
    const adapter = await navigator.gpu.requestAdapter({powerPreference: "high-performance"});
    if (!adapter) throw Error("This browser has WebGPU, but no device for it.");
    const wanted = ["maxComputeWorkgroupStorageSize", "maxComputeInvocationsPerWorkgroup", "maxStorageBufferBindingSize", "maxBufferSize"];
    const device = await adapter.requestDevice({
      requiredLimits: Object.fromEntries(wanted.map(limit => [limit, adapter.limits[limit]])),
      requiredFeatures: adapter.features.has("subgroups") ? ["subgroups"] : [],
    });
    return new Gpu(adapter, device);
  }

  constructor(adapter, device) {
    this.device = device;
    this.info = adapter.info;
    this.limits = device.limits;
    this.compiled = new Map();  // by the text of the shader
    this.isSoftware = Boolean(this.info.isFallbackAdapter ?? adapter.isFallbackAdapter) || /swiftshader|llvmpipe|lavapipe/i.test(this.name);
    this.lost = device.lost.then(loss => {
      this.isLost = true;
      throw new DeviceLost("the device was lost" + (loss.message ? `: ${loss.message}` : ""));
    });
    this.lost.catch(() => {});
  }

  get name() {
    const {description, vendor, architecture, device} = this.info;
    return description || [vendor, architecture, device].filter(Boolean).join(" ") || "a GPU that the browser does not name";
  }

  // Waits for a promise, unless the device is lost before: many would wait for ever then.
  async unlessLost(promise) { return Promise.race([promise, this.lost]); }

  // Runs `work`, and throws what the device says against any of it.
  async checked(work) {
    const scopes = ["validation", "out-of-memory", "internal"];
    scopes.forEach(scope => this.device.pushErrorScope(scope));
    let result, failure;
    try { result = await work(); } catch (error) { failure = error; }
    for (const _ of scopes) {
      const error = await this.unlessLost(this.device.popErrorScope());
      failure ??= error && Error(error.message);
    }
    if (failure) throw failure;
    return result;
  }

  buffer(content, usage = 0) {
    const bytes = typeof content === "number" ? content : content.byteLength;
    const buffer = this.device.createBuffer({size: bytes, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST | usage});
    if (bytes !== content) this.device.queue.writeBuffer(buffer, 0, content);
    return buffer;
  }

  // Runs `work` as `checked` does, with a function that makes buffers. They are destroyed when it ends, however it ends.
  async withBuffers(work) {
    const buffers = [];
    const make = (...asked) => {
      const buffer = this.buffer(...asked);
      buffers.push(buffer);
      return buffer;
    };
    try {
      return await this.checked(() => work(make));
    } finally {
      buffers.forEach(buffer => buffer.destroy());
    }
  }

  // Why the device cannot run a shader; empty if it can.
  refusal(shader) {
    const items = shader.work_items.reduce((product, size) => product * size);
    const {maxComputeInvocationsPerWorkgroup: mostItems, maxComputeWorkgroupStorageSize: mostBytes} = this.limits;
    if (items > mostItems) return `a work-group of ${items} work-items; this device has at most ${mostItems}`;
    if (shader.local_bytes > mostBytes) return `${kib(shader.local_bytes)} of local memory; this device has ${kib(mostBytes)}`;
    if (shader.sub_groups && !this.device.features.has("subgroups")) return "sub-groups, which this device or browser has not";
    const least = this.info.subgroupMinSize ?? 1;
    return shader.sub_groups && least % shader.sub_group_multiple !== 0
      ? `sub-groups of a multiple of ${shader.sub_group_multiple} work-items; here they may have ${least}` : "";
  }

  // A step that enqueues the shader.
  async step(shader, values, buffers, groups) {
    const {layout, pipeline} = this.compiled.get(shader.wgsl) ?? await this.compile(shader);
    const entries = [this.numbers(shader, values), ...buffers].map((buffer, binding) => ({binding, resource: {buffer}}));
    const group = this.device.createBindGroup({layout, entries});
    return pass => {
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, group);
      pass.dispatchWorkgroups(...groups);
    };
  }

  // The layout is spelled out: "auto" leaves out what a kernel does not use.
  async compile(shader) {
    const module = this.device.createShaderModule({code: shader.wgsl});
    const {messages} = await this.unlessLost(module.getCompilationInfo());
    const error = messages.find(message => message.type === "error");
    if (error) throw Error(`the shader's line ${error.lineNum}: ${error.message}`);
    const kinds = ["uniform", ...shader.buffers.map(buffer => buffer.written ? "storage" : "read-only-storage")];
    const layout = this.device.createBindGroupLayout({
      entries: kinds.map((type, binding) => ({binding, visibility: GPUShaderStage.COMPUTE, buffer: {type}})),
    });
    const pipeline = await this.unlessLost(this.device.createComputePipelineAsync({
      layout: this.device.createPipelineLayout({bindGroupLayouts: [layout]}), compute: {module, entryPoint: shader.name},
    }));
    this.compiled.set(shader.wgsl, {layout, pipeline});
    return {layout, pipeline};
  }

  numbers(shader, values) {
    const content = new DataView(new ArrayBuffer(roundUp(4 * shader.numbers.length, 16)));
    shader.numbers.forEach(({name, real}, i) => {
      if (!(name in values)) throw Error(`the shader's number ${name} has no value`);
      if (real) content.setFloat32(4 * i, values[name], true);
      else content.setInt32(4 * i, values[name], true);
    });
    return this.buffer(content.buffer, GPUBufferUsage.UNIFORM);
  }

  // Measures the seconds that the steps take, one after the other, `repeats` times.
  async seconds(steps, repeats) {
    const encoder = this.device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    for (let i = 0; i < repeats; ++i) steps.forEach(step => step(pass));
    pass.end();
    const begin = performance.now();
    this.device.queue.submit([encoder.finish()]);
    await this.unlessLost(this.device.queue.onSubmittedWorkDone());
    return (performance.now() - begin) / 1000;
  }

  // Takes samples of one execution. A sample has as many as fill 20 ms: a browser's clock ticks in tenths of one.
  async time(steps, {least = 5, most = 15, sample = 0.02, budget = 0.6} = {}) {
    const once = await this.seconds(steps, 1);
    const repeats = Math.max(1, Math.min(1000, Math.ceil(sample / once)));
    const samples = [];
    for (let spent = 0; samples.length < least || (samples.length < most && spent < budget); spent += samples.at(-1) * repeats) {
      samples.push(Math.max(await this.seconds(steps, repeats), 1e-6) / repeats);
    }
    return timeOf(samples, repeats);
  }

  async read(buffer, bytes) {
    const copy = this.device.createBuffer({size: bytes, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST});
    const encoder = this.device.createCommandEncoder();
    encoder.copyBufferToBuffer(buffer, 0, copy, 0, bytes);
    this.device.queue.submit([encoder.finish()]);
    try {
      await this.unlessLost(copy.mapAsync(GPUMapMode.READ));
      return new Float32Array(copy.getMappedRange().slice(0));
    } finally {
      copy.destroy();
    }
  }
}

function kib(bytes) { return `${(bytes / 1024).toLocaleString("en", {maximumFractionDigits: 1})} KiB`; }
