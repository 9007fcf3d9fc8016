// Matrices of whole numbers, so small that every sum is exact, and what is made of samples. Column-major.

// As many numbers from -5 to 5, the same for the same seed.
function wholeNumbers(count, seed) {
  const numbers = new Float32Array(count);
  let state = seed;
  for (let i = 0; i < count; ++i) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    numbers[i] = (state >>> 16) % 11 - 5;
  }
  return numbers;
}

// A matrix of rows x cols as a part of one with more of them, the rest 0; or of its transpose.
function padded(matrix, rows, cols, toRows, toCols, transposed = false) {
  if (!transposed && rows === toRows && cols === toCols) return matrix;
  const result = new Float32Array(toRows * toCols);
  for (let j = 0; j < cols; ++j) {
    for (let i = 0; i < rows; ++i) {
      result[transposed ? i * toRows + j : j * toRows + i] = matrix[j * rows + i];
    }
  }
  return result;
}

// The product of the first rows x cols of a matrix, whose columns are `ld` apart, and a vector.
function timesVector(matrix, rows, cols, ld, vector) {
  const result = new Float64Array(rows);
  for (let j = 0; j < cols; ++j) {
    for (let i = 0; i < rows; ++i) result[i] += matrix[j * ld + i] * vector[j];
  }
  return result;
}

const words = new DataView(new ArrayBuffer(8));

// a * b + c of numbers of FP32, rounded once. In double precision the product is exact. The sum is rounded to odd,
// so that rounding it again to FP32 is as rounding the exact sum.
function fusedMultiplyAdd(a, b, c) {
  const product = a * b;
  const sum = product + c;
  const part = sum - product;
  const error = (product - (sum - part)) + (c - part);
  if (error === 0) return Math.fround(sum);
  words.setFloat64(0, sum);
  const bits = words.getBigInt64(0);
  if (bits % 2n === 0n) words.setBigInt64(0, bits + ((error > 0) === (sum > 0) ? 1n : -1n));
  return Math.fround(words.getFloat64(0));
}

// These make fractions of whole numbers, so that sums are rounded.
const fractionA = x => 0.3 * x;
const fractionB = x => 0.7 * x;

// A product to compute, with what its result must be: C times two vectors of whole numbers finds any element
// that is wrong, and takes no second product of matrices.
class Problem {
  constructor(size) {
    this.size = size;
    this.alpha = 2;
    this.beta = -3;
    [this.a, this.b, this.c] = [1, 2, 3].map(seed => wholeNumbers(size * size, seed));
    this.vectors = [4, 5].map(seed => wholeNumbers(size, seed).map(x => x || 1));
    this.expected = this.vectors.map(vector => {
      const product = timesVector(this.a, size, size, size, timesVector(this.b, size, size, size, vector));
      const before = timesVector(this.c, size, size, size, vector);
      return product.map((sum, i) => this.alpha * sum + this.beta * before[i]);
    });
  }

  // Counts the rows of a result, whose columns are `ld` apart, that are wrong.
  wrongRows(result, ld) {
    const found = this.vectors.map(vector => timesVector(result, this.size, this.size, ld, vector));
    return this.expected[0].filter((_, i) => found.some((sums, v) => sums[i] !== this.expected[v][i])).length;
  }

  // Counts, of some elements of a result of fractions, how many have other bits than a chain of fused multiply-adds
  // in ascending k, and how many are beyond the error bound of docs/testing.md.
  fractionsOf(result, ld) {
    const {size, alpha, beta} = this;
    const count = Math.min(32, size);
    let otherBits = 0, beyond = 0;
    for (let each = 0; each < count; ++each) {
      const [i, j] = [Math.floor(each * size / count), (each * 97 + 5) % size];
      let chain = 0, exact = 0, magnitude = 0;
      for (let k = 0; k < size; ++k) {
        const [a, b] = [Math.fround(fractionA(this.a[k * size + i])), Math.fround(fractionB(this.b[j * size + k]))];
        chain = fusedMultiplyAdd(a, b, chain);
        exact += a * b;
        magnitude += Math.abs(a * b);
      }
      const before = this.c[j * size + i];
      const found = result[j * ld + i];
      const bound = (2 * Math.sqrt(size) + 4) * 2 ** -24 * (Math.abs(alpha) * magnitude + Math.abs(beta * before));
      otherBits += found === fusedMultiplyAdd(alpha, chain, Math.fround(beta * before)) ? 0 : 1;
      beyond += Math.abs(found - (alpha * exact + beta * before)) <= bound ? 0 : 1;
    }
    return {otherBits, beyond};
  }
}

function quantile(values, share) {
  const sorted = Array.from(values).sort((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const low = Math.floor(at);
  return sorted[low] + (at - low) * (sorted[Math.min(low + 1, sorted.length - 1)] - sorted[low]);
}

// As a result file has it: see bench/schema/README.md.
function timeOf(seconds, repeats) {
  const median = quantile(seconds, 0.5);
  const spread = (quantile(seconds, 0.75) - quantile(seconds, 0.25)) / median;
  return {median_s: median, spread, noise: 1.57 * spread / Math.sqrt(seconds.length), repeats, seconds};
}

function roundUp(size, multiple) { return Math.ceil(size / multiple) * multiple; }
