// The struct of a kernel's numbers: those of 64 bits first, so that its layout is the same for host and
// device.
#define DUOGEMM_NO_POINTER(type, name)
#define DUOGEMM_NO_NUMBER(name)
#define DUOGEMM_LONG_MEMBER(name) long name;
#define DUOGEMM_SINGLE_MEMBER(name) float name;
#define DUOGEMM_LONGS_FIRST(LIST, LONG, SINGLE)     \
  LIST(DUOGEMM_NO_POINTER, LONG, DUOGEMM_NO_NUMBER) \
  LIST(DUOGEMM_NO_POINTER, DUOGEMM_NO_NUMBER, SINGLE)
#define NUMBERS_OF(LIST)                                                  \
  struct LIST##_NUMBERS {                                                 \
    DUOGEMM_LONGS_FIRST(LIST, DUOGEMM_LONG_MEMBER, DUOGEMM_SINGLE_MEMBER) \
  }

// The pointers of a kernel that takes its numbers as that struct, in front of it.
#define DUOGEMM_POINTER_PARAMETER(type, name) type *name,
#define DUOGEMM_POINTERS_FIRST(LIST) LIST(DUOGEMM_POINTER_PARAMETER, DUOGEMM_NO_NUMBER, DUOGEMM_NO_NUMBER)
