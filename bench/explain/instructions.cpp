#include "explain/instructions.h"

namespace duogemm::bench {

namespace {

struct Names {
  const char* in_files;
  const char* title;
  const char* title_on_cpu;
};

// In the order of the kinds.
constexpr std::array<Names, kinds> names = {{
    {"multiply_add", "multiply-adds", "multiply-adds"},
    {"local_load", "local loads", "local loads"},
    {"local_store", "local stores", "local stores"},
    {"global_load", "global loads", "loads"},
    {"global_store", "global stores", "stores"},
    {"copy", "copies to local", "copies to local"},
    {"stack_load", "loads of stack", "loads of stack"},
    {"stack_store", "stores to stack", "stores to stack"},
    {"shuffle", "shuffles", "shuffles"},
    {"barrier", "barriers", "barriers"},
    {"addition", "additions", "additions"},
    {"arithmetic", "address arithmetic and moves", "address arithmetic and moves"},
    {"control", "control", "control"},
}};

}  // namespace

const char* name_of(Kind kind) { return names[static_cast<std::size_t>(kind)].in_files; }

std::string title_of(Kind kind, bool cpu) {
  const Names& of = names[static_cast<std::size_t>(kind)];
  return cpu ? of.title_on_cpu : of.title;
}

double Mix::instructions() const {
  double sum = 0.0;
  for (const Count& count : counts) {
    sum += count.instructions;
  }
  return sum;
}

void Mix::add(const Instruction& instruction, double times) {
  (*this)[instruction.kind].instructions += times;
  const bool reads_memory = instruction.kind == Kind::multiply_add;
  (*this)[reads_memory ? Kind::global_load : instruction.kind].bytes += times * instruction.bytes;
  multiply_adds += times * instruction.multiply_adds;
}

}  // namespace duogemm::bench
