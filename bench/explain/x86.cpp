#include <algorithm>
#include <regex>
#include <sstream>

#include "explain/parsers.h"

namespace duogemm::bench {
namespace {

bool starts(const std::string& text, const char* with) { return text.rfind(with, 0) == 0; }

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

// Of the widest register that an instruction names.
int vector_bytes(const std::string& operands) {
  return has(operands, "%zmm") ? 64 : has(operands, "%ymm") ? 32 : has(operands, "%xmm") ? 16 : 8;
}

// Vector instructions end in ps for packed and in ss for one single-precision value.
bool is_scalar(const std::string& opcode) {
  return opcode.size() > 2 && opcode.substr(opcode.size() - 2) == "ss";
}

int bytes_of(const std::string& opcode, const std::string& operands) {
  return is_scalar(opcode) || has(operands, "{1to") ? 4 : vector_bytes(operands);
}

bool is_control(const std::string& opcode) {
  if (starts(opcode, "j") || starts(opcode, "nop") || starts(opcode, "data16") || starts(opcode, "cs")) {
    return true;
  }
  for (const char* name : {"cmp", "test", "call", "ret", "vucomi", "ucomi", "vzeroupper", "endbr"}) {
    if (starts(opcode, name)) {
      return true;
    }
  }
  return false;
}

// AT&T's order: the last operand is written, but by comparisons and pushes.
bool writes_memory(const std::string& operands) { return !operands.empty() && operands.back() == ')'; }

Kind kind_of_access(const std::string& operands) {
  const bool stack = has(operands, "(%rsp") || has(operands, "(%rbp");
  if (writes_memory(operands)) {
    return stack ? Kind::stack_store : Kind::global_store;
  }
  return stack ? Kind::stack_load : Kind::global_load;
}

Instruction read(std::size_t address, const std::string& opcode, const std::string& operands) {
  const bool memory = has(operands, "(");
  Instruction instruction{address, Kind::arithmetic};
  if (starts(opcode, "vfmadd") || starts(opcode, "vfnmadd")) {
    const int lanes = is_scalar(opcode) ? 1 : vector_bytes(operands) / 4;
    const bool single = opcode.back() == 's' && opcode[opcode.size() - 2] != 'd';
    instruction.kind = single ? Kind::multiply_add : Kind::arithmetic;
    instruction.multiply_adds = single ? lanes : 0;
    instruction.bytes = memory ? bytes_of(opcode, operands) : 0;
  } else if (is_control(opcode)) {
    instruction.kind = Kind::control;
  } else if (memory && !starts(opcode, "lea") && !starts(opcode, "prefetch")) {
    instruction.kind = kind_of_access(operands);
    instruction.bytes = starts(opcode, "vbroadcastss") ? 4 : bytes_of(opcode, operands);
  }
  static const std::regex target(R"(^([0-9a-f]+)\b)");
  std::smatch match;
  if (starts(opcode, "j") && std::regex_search(operands, match, target)) {
    instruction.target = std::stoul(match[1], nullptr, 16);
  }
  return instruction;
}

std::string trimmed(std::string text) {
  text = text.substr(0, text.find_first_of("#<"));
  text.erase(text.find_last_not_of(" \t") + 1);
  return text;
}

}  // namespace

Listing parse_x86(const std::string& text, const std::string& function) {
  static const std::regex instruction(R"(^\s*([0-9a-f]+):\s+(?:(?:rep|lock|notrack)\s+)?(\w+)\s*(.*)$)");
  const std::string begin = "<" + function + ">:";
  Listing listing;
  bool inside = false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (line.size() > 2 && line.substr(line.size() - 2) == ">:") {
      inside = has(line, begin.c_str());
    } else if (inside && std::regex_match(line, match, instruction)) {
      listing.push_back(read(std::stoul(match[1], nullptr, 16), match[2], trimmed(match[3])));
    }
  }
  return listing;
}

}  // namespace duogemm::bench
