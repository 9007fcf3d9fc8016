#include "explain/instructions.h"

#include <algorithm>

namespace duogemm::bench {

const char* name_of(Kind kind) {
  static constexpr std::array<const char*, kinds> names = {
      "multiply_add", "local_load", "local_store", "global_load", "global_store", "copy",   "stack_load",
      "stack_store",  "shuffle",    "barrier",     "addition",    "arithmetic",   "control"};
  return names[static_cast<std::size_t>(kind)];
}

void link(Listing& listing, const Branches& branches, const Labels& labels) {
  for (const auto& [from, label] : branches) {
    if (const auto found = labels.find(label); found != labels.end()) {
      listing[from].target = found->second;
    }
  }
}

void tell_additions(Listing& listing) {
  constexpr int of_tensor_cores = 32;  // at least
  const auto multiplies_blocks = [](const Instruction& each) {
    return each.multiply_adds >= of_tensor_cores;
  };
  if (std::none_of(listing.begin(), listing.end(), multiplies_blocks)) {
    return;
  }
  for (Instruction& each : listing) {
    if (each.kind == Kind::multiply_add && !multiplies_blocks(each)) {
      each.kind = Kind::addition;
      each.multiply_adds = 0;
    }
  }
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
