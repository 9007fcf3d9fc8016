#include <regex>
#include <sstream>

#include "explain/parsers.h"

namespace duogemm::bench {
namespace {

bool starts(const std::string& text, const char* with) { return text.rfind(with, 0) == 0; }

bool has(const std::string& opcode, const char* part) { return opcode.find(part) != std::string::npos; }

// Of "ld.shared.v4.f32": 16.
int bytes_of(const std::string& opcode) {
  static const std::regex width(R"(\.[busf](8|16|32|64|128)\b)");
  std::smatch match;
  const int bytes = std::regex_search(opcode, match, width) ? std::stoi(match[1]) / 8 : 4;
  return bytes * (has(opcode, ".v4") ? 4 : has(opcode, ".v2") ? 2 : 1);
}

Kind kind_of_load(const std::string& opcode) {
  return has(opcode, ".shared")  ? Kind::local_load
         : has(opcode, ".local") ? Kind::stack_load
         : has(opcode, ".param") ? Kind::arithmetic
                                 : Kind::global_load;
}

Kind kind_of_store(const std::string& opcode) {
  return has(opcode, ".shared")  ? Kind::local_store
         : has(opcode, ".local") ? Kind::stack_store
                                 : Kind::global_store;
}

Kind kind_of(const std::string& opcode) {
  if (starts(opcode, "mma.sync.") || starts(opcode, "wgmma.mma_async.") ||
      (starts(opcode, "fma.") && has(opcode, ".f32"))) {
    return Kind::multiply_add;
  }
  if (starts(opcode, "ld.") || starts(opcode, "ldu.") || starts(opcode, "ldmatrix.")) {
    return kind_of_load(opcode);
  }
  if (starts(opcode, "st.")) {
    return kind_of_store(opcode);
  }
  if (starts(opcode, "add.") && has(opcode, ".f32")) {
    return Kind::addition;
  }
  if (starts(opcode, "cp.async.bulk.shared")) {
    return Kind::copy;
  }
  if (starts(opcode, "cp.async.c") && has(opcode, ".shared") && has(opcode, ".global")) {
    return Kind::copy;
  }
  if (starts(opcode, "shfl.")) {
    return Kind::shuffle;
  }
  if (starts(opcode, "bar.") || starts(opcode, "barrier.")) {
    return Kind::barrier;
  }
  for (const char* control : {"bra", "setp.", "ret", "exit", "call", "cp.async.", "bar.warp", "trap"}) {
    if (starts(opcode, control)) {
      return Kind::control;
    }
  }
  return Kind::arithmetic;
}

// Of a copy the bytes are its third operand: "cp.async.cg.shared.global [%r1], [%rd1], 16;".
int bytes_copied(const std::string& line) {
  static const std::regex size(R"(\],\s*(\d+)\s*[,;])");
  std::smatch match;
  return std::regex_search(line, match, size) ? std::stoi(match[1]) : 0;
}

// A warp's product of 16 x 8 x 16 is "mma.sync.aligned.m16n8k16", and that of four warps "wgmma.mma_async"
// with the like behind it.
int multiply_adds_of(const std::string& opcode) {
  static const std::regex block(R"(\.m(\d+)n(\d+)k(\d+)\b)");
  std::smatch match;
  if (std::regex_search(opcode, match, block)) {
    const int work_items = starts(opcode, "wgmma.") ? 128 : 32;
    return std::stoi(match[1]) * std::stoi(match[2]) * std::stoi(match[3]) / work_items;
  }
  return has(opcode, ".f32x2") ? 2 : 1;
}

class Reader {
 public:
  void line(const std::string& text) {
    static const std::regex label(R"(^\s*([$\w]+):\s*$)");
    static const std::regex instruction(R"(^\s*(?:@!?%\w+\s+)?([a-z][\w.:]*)\b(.*);)");
    std::smatch match;
    if (std::regex_match(text, match, label)) {
      labels_[match[1]] = listing_.size();
    } else if (const std::size_t block = text.find("{.reg "); block != std::string::npos) {
      statements(text.substr(block + 1));  // of inline PTX
    } else if (std::regex_search(text, match, instruction)) {
      add(match[1], match[2], text);
    }
  }

  Listing finish() {
    link(listing_, branches_, labels_);
    tell_additions(listing_);
    return std::move(listing_);
  }

 private:
  void statements(const std::string& text) {
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ';');) {
      if (part.find_first_not_of(" \t.{}") != std::string::npos) {
        line(part + ";");
      }
    }
  }

  void add(const std::string& opcode, const std::string& operands, const std::string& text) {
    Instruction instruction{listing_.size(), kind_of(opcode)};
    if (instruction.kind == Kind::multiply_add) {
      instruction.multiply_adds = multiply_adds_of(opcode);
    } else if (instruction.kind == Kind::copy) {
      instruction.bytes = bytes_copied(text);
    } else if (instruction.kind < Kind::shuffle) {
      instruction.bytes = bytes_of(opcode);
    }
    if (starts(opcode, "bra")) {
      static const std::regex target(R"([$\w]+)");
      std::smatch match;
      if (std::regex_search(operands, match, target)) {
        branches_.emplace_back(listing_.size(), match[0]);
      }
    }
    listing_.push_back(instruction);
  }

  Listing listing_;
  Labels labels_;
  Branches branches_;
};

}  // namespace

Listing parse_ptx(const std::string& text, const std::string& entry) {
  const std::regex begin(R"(\.entry\s+)" + entry + R"(\b)");
  Reader reader;
  bool inside = false;
  int depth = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line = line.substr(0, line.find("//"));
    inside = inside || std::regex_search(line, begin);
    if (!inside || starts(line, ".")) {
      continue;
    }
    if (line.find_first_not_of(" \t{}") == std::string::npos) {  // blocks; braces around vectors have company
      depth += line.find('{') != std::string::npos ? 1 : line.find('}') != std::string::npos ? -1 : 0;
      if (depth == 0 && line.find('}') != std::string::npos) {
        break;
      }
      continue;
    }
    reader.line(line);
  }
  return reader.finish();
}

}  // namespace duogemm::bench
