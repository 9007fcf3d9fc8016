#include "device/argument_struct.h"

#include <cstring>
#include <stdexcept>
#include <string>

#include "problem/rounding.h"

namespace duogemm {

ArgumentStruct::ArgumentStruct(std::span<const Argument> arguments) {
  append<std::int64_t>(arguments);
  append<float>(arguments);
}

std::size_t ArgumentStruct::size() const { return round_up(end_, sizeof(std::int64_t)); }

template <typename Number>
void ArgumentStruct::append(std::span<const Argument> arguments) {
  for (const Argument& argument : arguments) {
    if (const Number* number = std::get_if<Number>(&argument)) {
      if (end_ + sizeof *number > bytes_.size()) {
        throw std::length_error("a kernel with more than " + std::to_string(bytes_.size()) +
                                " bytes of numbers");
      }
      std::memcpy(bytes_.data() + end_, number, sizeof *number);
      end_ += sizeof *number;
    }
  }
}

}  // namespace duogemm
