// OpenCL's float2, float4, float8 and float16 for CUDA C++, with its member names, operators and
// alignment.
//
// CUDA's own float2 and float4 have neither operators nor s0, lo and hi, and no wider type exists, so the
// names are taken over by macros at the end of this file. Loads and stores of a whole vector become the
// widest that the hardware has (16 bytes), because the types are aligned as OpenCL aligns them.

// CUDA's own types, for its own intrinsics and for copies.
typedef float2 duogemm_cuda_float2;
typedef float4 duogemm_cuda_float4;

// The names of each width. These are plain unions of floats, so that a half can be a member of a union
// itself.
struct alignas(8) duogemm_names2 {
  union {
    float s[2];
    duogemm_cuda_float2 pieces[1];
    struct {
      float x, y;
    };
    struct {
      float s0, s1;
    };
    struct {
      float lo, hi;
    };
  };
};

struct alignas(16) duogemm_names4 {
  union {
    float s[4];
    duogemm_cuda_float4 pieces[1];
    struct {
      float x, y, z, w;
    };
    struct {
      float s0, s1, s2, s3;
    };
    struct {
      duogemm_names2 lo, hi;
    };
  };
};

struct alignas(32) duogemm_names8 {
  union {
    float s[8];
    duogemm_cuda_float4 pieces[2];
    struct {
      float s0, s1, s2, s3, s4, s5, s6, s7;
    };
    struct {
      duogemm_names4 lo, hi;
    };
  };
};

struct alignas(64) duogemm_names16 {
  union {
    float s[16];
    duogemm_cuda_float4 pieces[4];
    struct {
      float s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, sA, sB, sC, sD, sE, sF;
    };
    struct {
      float below_sa[10], sa, sb, sc, sd, se, sf;
    };
    struct {
      duogemm_names8 lo, hi;
    };
  };
};

// The vector itself: a scalar widens to it, as OpenCL has it, and so does a half (lo, hi) of a longer one.
// Copies are made in pieces that are CUDA's own vectors: those the compiler loads and stores at once, and
// keeps as floats. Left to itself it would move our structures as 64-bit integers, and hold the floats of a
// kernel's fragments in pairs of registers that it has to take apart again. (Access through the union also
// tells it that pieces and floats are the same memory.)
#define DUOGEMM_VECTOR_COPY(from)                                                              \
  _Pragma("unroll") for (int i = 0; i < sizeof(this->pieces) / sizeof(this->pieces[0]); ++i) { \
    this->pieces[i] = from.pieces[i];                                                          \
  }

#define DUOGEMM_VECTOR_VALUE(width)                                                                          \
  struct duogemm_float##width : duogemm_names##width {                                                       \
    duogemm_float##width() = default;                                                                        \
    __device__ __forceinline__ duogemm_float##width(float scalar) {                                          \
      _Pragma("unroll") for (int i = 0; i < width; ++i) { this->s[i] = scalar; }                             \
    }                                                                                                        \
    __device__ __forceinline__ duogemm_float##width(const duogemm_names##width& half){                       \
        DUOGEMM_VECTOR_COPY(half)} __device__ __forceinline__ duogemm_float                                  \
        ##width(const duogemm_float##width& other)                                                           \
        : duogemm_names##width(){DUOGEMM_VECTOR_COPY(other)} __device__ __forceinline__ duogemm_float##width \
          &                                                                                                  \
          operator=(const duogemm_float##width& other) {                                                     \
      DUOGEMM_VECTOR_COPY(other)                                                                             \
      return *this;                                                                                          \
    }                                                                                                        \
  };

DUOGEMM_VECTOR_VALUE(2)
DUOGEMM_VECTOR_VALUE(4)
DUOGEMM_VECTOR_VALUE(8)
DUOGEMM_VECTOR_VALUE(16)

#define DUOGEMM_ELEMENTWISE(width, expression) \
  _Pragma("unroll") for (int i = 0; i < width; ++i) { result.s[i] = expression; }

#define DUOGEMM_VECTOR_OPERATOR(type, width, op)         \
  DUOGEMM_DEVICE type operator op(type a, type b) {      \
    type result;                                         \
    DUOGEMM_ELEMENTWISE(width, a.s[i] op b.s[i])         \
    return result;                                       \
  }                                                      \
  DUOGEMM_DEVICE type& operator op##=(type& a, type b) { \
    a = a op b;                                          \
    return a;                                            \
  }

#define DUOGEMM_VECTOR_FMA(type, width)                      \
  DUOGEMM_DEVICE type fma(type a, type b, type c) {          \
    type result;                                             \
    DUOGEMM_ELEMENTWISE(width, fmaf(a.s[i], b.s[i], c.s[i])) \
    return result;                                           \
  }

#define DUOGEMM_VECTOR_LOAD_STORE(type, width)                                                      \
  DUOGEMM_DEVICE type vload##width(size_t offset, const float* pointer) {                           \
    type result;                                                                                    \
    DUOGEMM_ELEMENTWISE(width, pointer[offset * width + i])                                         \
    return result;                                                                                  \
  }                                                                                                 \
  DUOGEMM_DEVICE void vstore##width(type value, size_t offset, float* pointer) {                    \
    _Pragma("unroll") for (int i = 0; i < width; ++i) { pointer[offset * width + i] = value.s[i]; } \
  }

#define DUOGEMM_VECTOR_TYPE(width)                        \
  DUOGEMM_VECTOR_OPERATOR(duogemm_float##width, width, +) \
  DUOGEMM_VECTOR_OPERATOR(duogemm_float##width, width, -) \
  DUOGEMM_VECTOR_OPERATOR(duogemm_float##width, width, *) \
  DUOGEMM_VECTOR_FMA(duogemm_float##width, width)         \
  DUOGEMM_VECTOR_LOAD_STORE(duogemm_float##width, width)

DUOGEMM_VECTOR_TYPE(2)
DUOGEMM_VECTOR_TYPE(4)
DUOGEMM_VECTOR_TYPE(8)
DUOGEMM_VECTOR_TYPE(16)

DUOGEMM_DEVICE float vload1(size_t offset, const float* pointer) { return pointer[offset]; }
DUOGEMM_DEVICE void vstore1(float value, size_t offset, float* pointer) { pointer[offset] = value; }

#undef DUOGEMM_VECTOR_TYPE
#undef DUOGEMM_VECTOR_LOAD_STORE
#undef DUOGEMM_VECTOR_FMA
#undef DUOGEMM_VECTOR_OPERATOR
#undef DUOGEMM_ELEMENTWISE
#undef DUOGEMM_VECTOR_VALUE
#undef DUOGEMM_VECTOR_COPY

#define float1 float
#define float2 duogemm_float2
#define float4 duogemm_float4
#define float8 duogemm_float8
#define float16 duogemm_float16
