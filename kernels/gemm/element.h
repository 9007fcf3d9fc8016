// Elements of matrices that may be stored in 16 bits, as the `type` in a kernel's struct says: FP32, BF16 or
// FP16. A pointer to a matrix is one to floats all the same.

enum { FP32_ELEMENTS = 0, BF16_ELEMENTS = 1, FP16_ELEMENTS = 2 };

FUNCTION float
float_of_bits(const uint bits, const int type) {
  if (type == BF16_ELEMENTS) {
    return AS_FLOAT(bits << 16);
  }
  const uint magnitude = bits & 0x7fffu;
  const uint exponent = magnitude < 0x7c00u ? 112u << 23 : 224u << 23;  // of infinities and NaNs, too
  const float value =
      magnitude < 0x400u ? (float)magnitude * 0x1p-24f : AS_FLOAT((magnitude << 13) + exponent);
  return bits < 0x8000u ? value : -value;
}

// Rounds to nearest, ties to even. A NaN stays one.
FUNCTION uint
bits_of_float(const float value, const int type) {
  const uint bits = AS_UINT(value);
  const uint magnitude = bits & 0x7fffffffu;
  const uint sign = bits >> 31 << 15;
  if (type == BF16_ELEMENTS) {
    const uint rounded = (magnitude + 0x7fffu + (magnitude >> 16 & 1u)) >> 16;
    return sign | (magnitude > 0x7f800000u ? magnitude >> 16 | 0x40u : rounded);
  }
  if (magnitude > 0x7f800000u) {
    return sign | 0x7e00u | (magnitude >> 13 & 0x1ffu);
  }
  if (magnitude >= 0x477ff000u) {  // rounded to 2^16, which FP16 does not have
    return sign | 0x7c00u;
  }
  if (magnitude < 113u << 23) {  // the last bit of 0.5 is FP16's smallest number
    return sign | (AS_UINT(AS_FLOAT(magnitude) + 0.5f) - AS_UINT(0.5f));
  }
  return sign | (magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
}

FUNCTION float
load_element(const __global float* matrix, const long element, const int type) {
  return type == FP32_ELEMENTS ? matrix[element]
                               : float_of_bits(((const __global ushort*)matrix)[element], type);
}
FUNCTION void
store_element(__global float* matrix, const long element, const int type, const float value) {
  if (type == FP32_ELEMENTS) {
    matrix[element] = value;
  } else {
    ((__global ushort*)matrix)[element] = (ushort)bits_of_float(value, type);
  }
}

// Where a member of a batch begins, in elements, as MEMBER says it of floats.
#define MEMBER_ELEMENT(base, layout, table, member, type)                              \
  ((layout).offset + ((table) == 0 ? (member) * (layout).stride                        \
                                   : (table)[member] >> ((base) != 0               ? 0 \
                                                         : (type) == FP32_ELEMENTS ? 2 \
                                                                                   : 1)))
