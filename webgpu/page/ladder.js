// Runs rungs: brings the operands to where a kernel wants them, launches it, checks the result, takes the time.

class Ladder {
  constructor(data, gpu, size) {
    this.data = data;
    this.gpu = gpu;
    this.problem = new Problem(size);
  }

  // Tells what a setting of a rung did: {wrong, otherBits, beyond, time, gflops, supportSteps}, or {unsupported}. Throws DeviceLost, or
  // what the device says against it.
  async run(rung, variant, timed) {
    const refusal = this.refusal(rung, variant);
    if (refusal) return {unsupported: refusal};
    return this.gpu.withBuffers(buffer => this.runChecked(rung, variant, this.operands(rung, variant, buffer), timed));
  }

  refusal(rung, variant) {
    if (rung.for_cpus && !this.gpu.isSoftware) return "a CPU, of which a work-item has a core to itself";
    const bytes = 4 * this.problem.size ** 2 * variant.splits;
    const {maxStorageBufferBindingSize: most} = this.gpu.limits;
    const sums = bytes > most ? `${kib(bytes)} for partial sums; a buffer has at most ${kib(most)} here` : "";
    return this.gpu.refusal(variant) || sums;
  }

  operands(rung, variant, buffer) {
    const {size, a, b, c} = this.problem;
    const [m, n, k] = variant.multiples.map(multiple => roundUp(size, multiple));
    const [rows, cols] = rung.stores_any_size ? [size, size] : [m, n];
    const bytes = 4 * rows * cols;
    const left = padded(a, size, size, m, k);
    const right = rung.transposed_b ? padded(b, size, size, n, k, true) : padded(b, size, size, k, n);
    const before = padded(c, size, size, rows, cols);
    return {
      rows, cols, k, bytes, left, right, before, a: buffer(left), b: buffer(right), c: buffer(bytes, GPUBufferUsage.COPY_SRC),
      partial: variant.splits > 1 ? [buffer(bytes * variant.splits), buffer(before)] : [],
    };
  }

  async runChecked(rung, variant, operands, timed) {
    const {size} = this.problem;
    const steps = await this.steps(rung, variant, operands);
    const wrong = this.problem.wrongRows(await this.resultOf(steps, operands), operands.rows);
    const {queue} = this.gpu.device;
    queue.writeBuffer(operands.a, 0, operands.left.map(fractionA));
    queue.writeBuffer(operands.b, 0, operands.right.map(fractionB));
    const checked = {wrong, ...this.problem.fractionsOf(await this.resultOf(steps, operands), operands.rows)};
    if (!timed) return checked;
    const time = await this.gpu.time(steps);
    return {...checked, time, gflops: 2 * size ** 3 / time.median_s / 1e9, supportSteps: steps.length - 1};
  }

  async resultOf(steps, operands) {
    this.gpu.device.queue.writeBuffer(operands.c, 0, operands.before);
    await this.gpu.seconds(steps, 1);
    return this.gpu.read(operands.c, operands.bytes);
  }

  // The multiplication, and what adds up the splits of k.
  async steps(rung, variant, {rows, cols, k, a, b, c, partial}) {
    const {alpha, beta} = this.problem;
    const groups = [Math.ceil(rows / variant.tile[0]), Math.ceil(cols / variant.tile[1]), variant.groups_z];
    // A column-major product is the row-major product of the operands exchanged, in the same memory.
    const [m, n, left, right] = rung.row_major ? [cols, rows, b, a] : [rows, cols, a, b];
    const values = {M: m, N: n, K: k, alpha, beta};
    if (variant.splits === 1) return [await this.gpu.step(variant, values, [left, right, c], groups)];
    const [sums, before] = partial;
    const steps = [await this.gpu.step(variant, {...values, alpha: 1, beta: 0}, [left, right, sums], groups)];
    const {reduce} = this.data.supporting;
    const items = reduce.work_items[0];
    // A work-item adds up one element. A large product has more than a step may have, so that each step takes some rows.
    const most = Math.floor(this.gpu.limits.maxComputeWorkgroupsPerDimension * items / cols);
    const height = Math.ceil(rows / Math.ceil(rows / most));
    for (let first = 0; first < rows; first += height) {
      const layout = matrix => ({[`${matrix}_offset`]: first, [`${matrix}_ld`]: rows, [`${matrix}_stride`]: 0});
      const part = Math.min(height, rows - first);
      steps.push(await this.gpu.step(reduce, {M: part, N: cols, splits: variant.splits, p_offset: first, ldp: rows, batch: 1, alpha, beta,
                                              ...layout("c"), ...layout("d")},
                                     [sums, before, c], [Math.ceil(part * cols / items), 1, 1]));
    }
    return steps;
  }
}

// Measures multiply-adds in registers alone, in 10^9 operations per second.
async function measurePeak(data, gpu, buffer) {
  const shader = data.supporting.peak;
  const flopsPerRound = 2 * 128;
  const groups = gpu.isSoftware ? 16 : 2048;
  const items = groups * shader.work_items[0];
  const out = buffer(4 * items);
  const withRounds = async rounds => [await gpu.step(shader, {rounds, factor: 0.999, addend: 0.001}, [out], [groups, 1, 1])];
  let rounds = 16;
  for (let seconds = 0; seconds < 5e-3 && rounds < 2 ** 20;) {
    rounds *= 4;
    const steps = await withRounds(rounds);
    await gpu.seconds(steps, 1);
    seconds = await gpu.seconds(steps, 1);
  }
  const time = await gpu.time(await withRounds(rounds));
  return flopsPerRound * rounds * items / time.median_s / 1e9;
}

// Measures the bytes per second that the device reads of more memory than a cache holds.
async function measureBandwidth(data, gpu, buffer) {
  const shader = data.supporting.bandwidth;
  const bytes = Math.min((gpu.isSoftware ? 32 : 512) * 2 ** 20, gpu.limits.maxStorageBufferBindingSize);
  const [vectors, groups] = [bytes / 16, gpu.isSoftware ? 64 : 1024];
  const items = groups * shader.work_items[0];
  const rounds = Math.floor(vectors / items);
  const [from, out] = [buffer(bytes), buffer(4 * items)];
  const steps = [await gpu.step(shader, {vectors, rounds, start: 1, shift: items}, [from, out], [groups, 1, 1])];
  await gpu.seconds(steps, 1);
  const time = await gpu.time(steps);
  return 16 * rounds * items / time.median_s;
}
