// compat/tensor_cores.h for the host.
#define LOCAL_ADDRESS(pointer) duogemm::emulation::local_address(pointer)
#define DYNAMIC_LOCAL(type, name, length, alignment) alignas(alignment) static type name[length]

#define EMULATED_NAME(what, term) duogemm::emulation::what##_##term
#define EMULATED(what, term) EMULATED_NAME(what, term)
#define PACK(term, first, second) (EMULATED(bits_of, term)(first) | EMULATED(bits_of, term)(second) << 16)
#define FIRST(term, pair) EMULATED(value_of, term)((pair)&0xffffu)
#define SECOND(term, pair) EMULATED(value_of, term)((pair) >> 16)

#define LOAD_FRAGMENT(fragment, from) duogemm::emulation::load_fragment(fragment, from)
#define MULTIPLY_BLOCK(term, c, a, b) duogemm::emulation::multiply_block(EMULATED(value_of, term), c, a, b)
#define SUB_GROUP_BARRIER() duogemm::emulation::sub_group_barrier()
#define ANY_IN_SUB_GROUP(condition) duogemm::emulation::any_in_sub_group(condition)
#define SUB_GROUP_MAX(value) duogemm::emulation::sub_group_max(value)
#define DEVICE_FENCE()
#define ATOMIC_INCREMENT(counter) ((*(counter))++)
