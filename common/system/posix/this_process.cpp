#include "system/this_process.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

namespace duogemm {

long process_id() { return getpid(); }

bool threads_run_at_exit() { return true; }

void* memory_shared_by_forks(std::size_t bytes) {
  void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? new std::byte[bytes]() : pages;
}

void call_around_forks(void (*before)(), void (*in_parent)(), void (*in_child)()) {
  pthread_atfork(before, in_parent, in_child);
}

}  // namespace duogemm
