#include <algorithm>
#include <regex>
#include <sstream>

#include "explain/parsers.h"

namespace duogemm::bench {
namespace {

bool starts(const std::string& text, const char* with) { return text.rfind(with, 0) == 0; }

bool has(const std::string& opcode, const char* part) { return opcode.find(part) != std::string::npos; }

// Of "LDS.U.128": 16. Without a width it is a word.
int bytes_of(const std::string& opcode) {
  if (starts(opcode, "UBLKCP")) {
    return 0;  // as many as a register says
  }
  return has(opcode, ".128") ? 16 : has(opcode, ".64") ? 8 : has(opcode, "16") ? 2 : has(opcode, "8") ? 1 : 4;
}

Kind kind_of(const std::string& opcode) {
  // The longer ones before those that they begin with.
  static const std::pair<const char*, Kind> beginnings[] = {
      {"HMMA", Kind::multiply_add}, {"HGMMA", Kind::multiply_add}, {"FFMA", Kind::multiply_add},
      {"FADD", Kind::addition},     {"UBLKCP", Kind::copy},        {"LDGDEPBAR", Kind::control},
      {"LDGSTS", Kind::copy},       {"LDSM", Kind::local_load},    {"LDS", Kind::local_load},
      {"STS", Kind::local_store},   {"LDG", Kind::global_load},    {"STG", Kind::global_store},
      {"LDL", Kind::stack_load},    {"STL", Kind::stack_store},    {"SHFL", Kind::shuffle},
      {"BAR", Kind::barrier},       {"TEX", Kind::global_load},    {"BRA", Kind::control},
      {"BSYNC", Kind::control},     {"BSSY", Kind::control},       {"BREAK", Kind::control},
      {"ISETP", Kind::control},     {"UISETP", Kind::control},     {"FSETP", Kind::control},
      {"PLOP3", Kind::control},     {"EXIT", Kind::control},       {"NOP", Kind::control},
      {"DEPBAR", Kind::control},    {"WARPSYNC", Kind::control},   {"SSY", Kind::control},
      {"SYNC", Kind::control},      {"RET", Kind::control},        {"CALL", Kind::control},
      {"YIELD", Kind::control},     {"SYNCS", Kind::control},      {"WARPGROUP", Kind::control},
  };
  for (const auto& [beginning, kind] : beginnings) {
    if (starts(opcode, beginning)) {
      return kind;
    }
  }
  // Pre-Volta disassemblers write a generic load as "LD", and a read-only one as "LDG.CI" or "LD.E".
  return starts(opcode, "LD.")   ? Kind::global_load
         : starts(opcode, "ST.") ? Kind::global_store
                                 : Kind::arithmetic;
}

// A warp's product of 16 x 8 x 16 is "HMMA.16816", and one of 16 x 8 x 8 "HMMA.1688"; four warps' product is
// "HGMMA.64x128x16".
int multiply_adds_of(const std::string& opcode) {
  static const std::regex warpgroup(R"(^HGMMA\.(\d+)x(\d+)x(\d+))");
  std::smatch match;
  if (std::regex_search(opcode, match, warpgroup)) {
    return std::stoi(match[1]) * std::stoi(match[2]) * std::stoi(match[3]) / 128;
  }
  return starts(opcode, "HMMA.16816") ? 64 : starts(opcode, "HMMA") ? 32 : starts(opcode, "FFMA2") ? 2 : 1;
}

class Reader {
 public:
  void line(const std::string& text) {
    // nvdisasm has labels; in cuobjdump's text, branches name addresses.
    static const std::regex label(R"(^\s*(\.L_\w+):\s*$)");
    static const std::regex instruction(
        R"(^\s*/\*([0-9a-f]{4,})\*/\s+\{?\s*(?:@!?U?P\w+\s+)?([A-Z][\w.]*)\s*(.*?);)");
    std::smatch match;
    if (std::regex_match(text, match, label)) {
      pending_.push_back(match[1]);
    } else if (std::regex_search(text, match, instruction)) {
      add(std::stoul(match[1], nullptr, 16), match[2], match[3]);
    }
  }

  Listing finish() {
    link(listing_, branches_, labels_);
    tell_additions(listing_);
    return std::move(listing_);
  }

 private:
  void add(std::size_t address, const std::string& opcode, const std::string& operands) {
    for (const std::string& label : pending_) {
      labels_[label] = address;
    }
    pending_.clear();
    Instruction instruction{address, kind_of(opcode)};
    if (instruction.kind == Kind::multiply_add) {
      instruction.multiply_adds = multiply_adds_of(opcode);
    } else if (instruction.kind < Kind::shuffle) {
      instruction.bytes = bytes_of(opcode);
    }
    if (starts(opcode, "BRA")) {
      note_target(instruction, operands);
    }
    listing_.push_back(instruction);
  }

  void note_target(Instruction& instruction, const std::string& operands) {
    static const std::regex address(R"(\b0x([0-9a-f]+)\s*$)");
    static const std::regex label(R"(\((\.L_\w+)\))");
    std::smatch match;
    if (std::regex_search(operands, match, address)) {
      instruction.target = std::stoul(match[1], nullptr, 16);
    } else if (std::regex_search(operands, match, label)) {
      branches_.emplace_back(listing_.size(), match[1]);
    }
  }

  Listing listing_;
  std::vector<std::string> pending_;  // labels of the next instruction
  Labels labels_;
  Branches branches_;
};

}  // namespace

Listing parse_sass(const std::string& text, const std::string& entry) {
  const std::regex begin(R"(Function\s*:\s*(\S+)|^//-+\s*\.text\.(\S+))");
  Reader reader;
  bool inside = false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_search(line, match, begin)) {
      inside = match[1] == entry || match[2] == entry;
    } else if (inside) {
      reader.line(line);
    }
  }
  return reader.finish();
}

}  // namespace duogemm::bench
