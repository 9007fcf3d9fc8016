// A work-item's sums before the first product.
FUNCTION void
set_to_zero(float* sums, const int count) {
#pragma unroll
  for (int i = 0; i < count; ++i) {
    sums[i] = 0.0f;
  }
}
