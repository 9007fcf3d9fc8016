// compat/tensor_cores.h for the host.
#include <bit>

#define LOCAL_ADDRESS(pointer) duogemm::emulation::local_address(pointer)
#define LARGE_LOCAL(type, name, length, alignment) alignas(alignment) static type name[length]

#define AS_FLOAT(bits) std::bit_cast<float>(bits)
#define AS_UINT(value) std::bit_cast<uint>(value)
#define EMULATED_NAME(what, piece) duogemm::emulation::what##_##piece
#define EMULATED(what, piece) EMULATED_NAME(what, piece)
#define PACK(piece, first, second) (EMULATED(bits_of, piece)(first) | EMULATED(bits_of, piece)(second) << 16)
#define FIRST(piece, pair) EMULATED(value_of, piece)((pair)&0xffffu)
#define SECOND(piece, pair) EMULATED(value_of, piece)((pair) >> 16)

#define LOAD_FRAGMENT(fragment, from) duogemm::emulation::load_fragment(fragment, from)
#define MULTIPLY_BLOCK(piece, c, a, b) duogemm::emulation::multiply_block(EMULATED(value_of, piece), c, a, b)
#define ANY_IN_SUB_GROUP(condition) duogemm::emulation::any_in_sub_group(condition)
#define SUB_GROUP_MAX(value) duogemm::emulation::sub_group_max(value)
#define DEVICE_FENCE()
#define ATOMIC_INCREMENT(counter) ((*(counter))++)
