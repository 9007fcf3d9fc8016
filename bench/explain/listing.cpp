#include "explain/listing.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "support/pattern.h"

namespace duogemm::bench {
namespace {

// The instructions from the target of a backward branch to the branch, by their places in the listing.
struct Loop {
  std::size_t begin;
  std::size_t end;  // one after the last
  Mix mix = {};

  std::size_t size() const { return end - begin; }
  bool holds(const Loop& other) const {
    return begin <= other.begin && other.end <= end && size() > other.size();
  }
  bool fetches() const {
    return mix[Kind::global_load].instructions + mix[Kind::global_load].bytes + mix[Kind::copy].instructions >
           0.0;
  }
};

void add(Mix& mix, const Listing& listing, const Loop& loop, double times) {
  for (std::size_t i = loop.begin; i < loop.end; ++i) {
    mix.add(listing[i], times);
  }
}

std::vector<Loop> loops_of(const Listing& listing) {
  std::vector<Loop> loops;
  for (std::size_t i = 0; i < listing.size(); ++i) {
    const std::optional<std::size_t>& target = listing[i].target;
    if (target && *target <= listing[i].address && *target >= listing.front().address) {
      const auto begin = std::ranges::lower_bound(listing, *target, {}, &Instruction::address);
      loops.push_back({static_cast<std::size_t>(begin - listing.begin()), i + 1});
      add(loops.back().mix, listing, loops.back(), 1.0);
    }
  }
  return loops;
}

// The multiply-adds of a loop times their share of its instructions, which is small in loops that update C.
double weight(const Loop& loop) {
  return loop.mix.multiply_adds * loop.mix.multiply_adds / loop.mix.instructions();
}

// Null when no loop multiplies.
const Loop* heaviest_innermost(const std::vector<Loop>& loops) {
  const Loop* best = nullptr;
  for (const Loop& loop : loops) {
    const bool is_innermost = std::ranges::none_of(
        loops, [&](const Loop& other) { return loop.holds(other) && other.mix.multiply_adds > 0.0; });
    if (is_innermost && weight(loop) > (best ? weight(*best) : 0.0)) {
      best = &loop;
    }
  }
  return best;
}

const Loop* smallest_fetching_around(const Loop& inner, const std::vector<Loop>& loops) {
  const Loop* best = nullptr;
  for (const Loop& loop : loops) {
    if (loop.holds(inner) && loop.fetches() && (!best || loop.size() < best->size())) {
      best = &loop;
    }
  }
  return best;
}

// Twice around, because the last multiply-add and the first one have a gap between them, too.
std::size_t longest_gap(const Listing& listing, const Loop& loop) {
  std::size_t longest = 0, gap = 0;
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = loop.begin; i < loop.end; ++i) {
      gap = listing[i].kind == Kind::multiply_add ? 0 : gap + 1;
      longest = std::max(longest, gap);
    }
  }
  return longest;
}

// Opcodes, with a space after them, in which the pattern is found are of the kind.
struct Opcodes {
  Kind kind;
  Pattern pattern;
};

struct Language {
  Pattern kernel;       // in the line with which a kernel begins: its name, in whichever group matches
  Pattern label;        // a line that names the next instruction
  Pattern instruction;  // address, which may be missing, opcode and operands
  Pattern branch;       // in a branch: the address, in hexadecimal, or the label to which it leads
  char separator;       // between the instructions of a line; 0 where a line has one
  std::vector<Opcodes> opcodes;  // the first that applies counts
  // The kind of what is not among them.
  Kind (*other)(const std::string& operands);
  // They are those of one work-item, its share of a block, or of one vector on a CPU.
  int (*multiply_adds)(const std::string& opcode, const std::string& operands);
  // An access moves so, and a multiply-add reads, this many bytes.
  int (*bytes)(Kind kind, const std::string& opcode, const std::string& operands);
};

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

// The first group of the pattern in the text as a number; 0 where it is not there.
int number_in(const std::string& text, const Pattern& pattern) {
  const std::vector<std::string> found = pattern.find(text);
  return found.empty() ? 0 : std::stoi(found[1]);
}

// The multiply-adds of a block for each of the work-items that share it; 0 when the opcode names none.
int share_of_block(const std::string& opcode, const Pattern& sizes, int work_items) {
  const std::vector<std::string> found = sizes.find(opcode);
  return found.empty() ? 0 : std::stoi(found[1]) * std::stoi(found[2]) * std::stoi(found[3]) / work_items;
}

Kind arithmetic(const std::string&) { return Kind::arithmetic; }

// A warp's product of 16 x 8 x 16 is "mma.sync.aligned.m16n8k16", and that of four warps "wgmma.mma_async"
// followed by the like.
int ptx_multiply_adds(const std::string& opcode, const std::string&) {
  static const Pattern block(R"(\.m(\d+)n(\d+)k(\d+)\b)");
  const int share = share_of_block(opcode, block, opcode.starts_with("wgmma.") ? 128 : 32);
  return share > 0 ? share : has(opcode, ".f32x2") ? 2 : 1;
}

// 16 for "ld.shared.v4.f32". Of a copy it is the third operand: "cp.async.cg.shared.global [%r1], [%rd1],
// 16".
int ptx_bytes(Kind kind, const std::string& opcode, const std::string& operands) {
  static const Pattern size(R"(\],\s*(\d+)\s*(?:,|$))");
  static const Pattern width(R"(\.[busf](8|16|32|64|128)\b)");
  if (kind == Kind::multiply_add) {
    return 0;
  }
  if (kind == Kind::copy) {
    return number_in(operands, size);
  }
  const int bits = number_in(opcode, width);
  return (bits > 0 ? bits / 8 : 4) * (has(opcode, ".v4") ? 4 : has(opcode, ".v2") ? 2 : 1);
}

const Language& ptx() {
  static const Language language = {
      .kernel = R"(\.entry\s+(\w+)|(\.func)\b)",
      .label = R"(^\s*([$\w]+):\s*$)",
      .instruction = R"(^[\s{}]*()(?:@!?%\w+\s+)?([a-z][\w.:]*)\b(.*))",
      .branch = R"(^bra\S*\s+()([$\w]+))",
      .separator = ';',
      .opcodes = {{Kind::multiply_add, R"(^(mma\.sync|wgmma\.mma_async)\.|^fma\..*\.f32)"},
                  {Kind::local_load, R"(^(ldu?|ldmatrix)\..*\bshared)"},
                  {Kind::stack_load, R"(^ldu?\..*\blocal)"},
                  {Kind::arithmetic, R"(^ldu?\..*\bparam)"},
                  {Kind::global_load, R"(^ldu?\.)"},
                  {Kind::local_store, R"(^st\..*\bshared)"},
                  {Kind::stack_store, R"(^st\..*\blocal)"},
                  {Kind::global_store, R"(^st\.)"},
                  {Kind::addition, R"(^add\..*\.f32)"},
                  {Kind::copy, R"(^cp\.async\.(bulk\.shared|c.*\.global))"},
                  {Kind::shuffle, R"(^shfl\.)"},
                  {Kind::barrier, R"(^bar(rier)?\.)"},
                  {Kind::control, R"(^(bra|setp\.|ret|exit|call|cp\.async\.|trap))"}},
      .other = arithmetic,
      .multiply_adds = ptx_multiply_adds,
      .bytes = ptx_bytes};
  return language;
}

// A warp's product of 16 x 8 x 16 is "HMMA.16816", and one of 16 x 8 x 8 "HMMA.1688"; four warps' product is
// "HGMMA.64x128x16".
int sass_multiply_adds(const std::string& opcode, const std::string&) {
  static const Pattern block(R"(^HGMMA\.(\d+)x(\d+)x(\d+))");
  const int share = share_of_block(opcode, block, 128);
  return share > 0                          ? share
         : opcode.starts_with("HMMA.16816") ? 64
         : opcode.starts_with("HMMA")       ? 32
         : opcode.starts_with("FFMA2")      ? 2
                                            : 1;
}

// 16 for "LDS.U.128". Without a width it is a word. Of a bulk copy a register says it.
int sass_bytes(Kind kind, const std::string& opcode, const std::string&) {
  if (kind == Kind::multiply_add || opcode.starts_with("UBLKCP")) {
    return 0;
  }
  return has(opcode, ".128") ? 16 : has(opcode, ".64") ? 8 : has(opcode, "16") ? 2 : has(opcode, "8") ? 1 : 4;
}

// nvdisasm writes labels; in cuobjdump's text branches name addresses. Disassemblers for devices before Volta
// write a generic load as "LD", and a read-only one as "LDG.CI" or "LD.E".
const Language& sass() {
  static const Language language = {
      .kernel = R"(Function\s*:\s*(\S+)|^//-+\s*\.text\.(\S+))",
      .label = R"(^\s*(\.L_\w+):\s*$)",
      .instruction = R"(^\s*/\*([0-9a-f]{4,})\*/\s+\{?\s*(?:@!?U?P\w+\s+)?([A-Z][\w.]*)\s*(.*?);)",
      .branch = R"(^BRA.*(?:\b0x([0-9a-f]+)\s*$|\((\.L_\w+)\)))",
      .separator = 0,
      .opcodes = {{Kind::multiply_add, "^(HMMA|HGMMA|FFMA)"},
                  {Kind::addition, "^FADD"},
                  {Kind::control, "^LDGDEPBAR"},
                  {Kind::copy, "^(UBLKCP|LDGSTS)"},
                  {Kind::local_load, "^LDS"},
                  {Kind::local_store, "^STS"},
                  {Kind::global_load, R"(^(LDG|LD\.|TEX))"},
                  {Kind::global_store, R"(^(STG|ST\.))"},
                  {Kind::stack_load, "^LDL"},
                  {Kind::stack_store, "^STL"},
                  {Kind::shuffle, "^SHFL"},
                  {Kind::barrier, "^BAR"},
                  {Kind::control, "^(BRA|BSYNC|BSSY|BREAK|SSY|SYNC|WARPSYNC|WARPGROUP|DEPBAR|YIELD|NOP)"},
                  {Kind::control, "^(U?ISETP|FSETP|PLOP3|EXIT|RET|CALL)"}},
      .other = arithmetic,
      .multiply_adds = sass_multiply_adds,
      .bytes = sass_bytes};
  return language;
}

// Vector instructions end in ps for packed and in ss for one single-precision value.
bool is_scalar(const std::string& opcode) { return opcode.ends_with("ss"); }

// The widest register that an instruction names counts.
int vector_bytes(const std::string& operands) {
  return has(operands, "%zmm") ? 64 : has(operands, "%ymm") ? 32 : has(operands, "%xmm") ? 16 : 8;
}

// AT&T's order: the last operand is written.
Kind x86_access(const std::string& operands) {
  if (!has(operands, "(")) {
    return Kind::arithmetic;
  }
  const bool stack = has(operands, "(%rsp") || has(operands, "(%rbp");
  return operands.ends_with(')') ? (stack ? Kind::stack_store : Kind::global_store)
                                 : (stack ? Kind::stack_load : Kind::global_load);
}

int x86_multiply_adds(const std::string& opcode, const std::string& operands) {
  return is_scalar(opcode) ? 1 : vector_bytes(operands) / 4;
}

int x86_bytes(Kind, const std::string& opcode, const std::string& operands) {
  const bool one_value = is_scalar(opcode) || has(operands, "{1to");
  return !has(operands, "(") ? 0 : one_value ? 4 : vector_bytes(operands);
}

const Language& x86() {
  static const Language language = {
      .kernel = R"(<([^>]*)>:$)",
      .label = R"(^(\.L\w+):$)",
      .instruction = R"(^\s*([0-9a-f]+):\s+(?:(?:rep|lock|notrack)\s+)?(\w+)\s*([^#<]*?)\s*(?:[#<].*)?$)",
      .branch = R"(^j\w*\s+([0-9a-f]+)\b)",
      .separator = 0,
      .opcodes = {{Kind::multiply_add, "^vfn?madd.*[ps]s "},
                  {Kind::arithmetic, "^(vfn?madd|lea|prefetch)"},
                  {Kind::control, "^(j|nop|data16|cs|cmp|test|call|ret|v?ucomi|vzeroupper|endbr)"}},
      .other = x86_access,
      .multiply_adds = x86_multiply_adds,
      .bytes = x86_bytes};
  return language;
}

// Multiply-adds of single precision add to what tensor cores, where there are any, have multiplied.
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

Kind kind_of(const Language& language, const std::string& opcode, const std::string& operands) {
  const auto found = std::ranges::find_if(
      language.opcodes, [&](const Opcodes& opcodes) { return opcodes.pattern.is_in(opcode + " "); });
  return found == language.opcodes.end() ? language.other(operands) : found->kind;
}

// address: its place in the listing, where the language has no addresses.
Instruction read_instruction(const Language& language, const std::vector<std::string>& match,
                             std::size_t address) {
  const std::string& opcode = match[2];
  const std::string& operands = match[3];
  Instruction instruction{!match[1].empty() ? std::stoul(match[1], nullptr, 16) : address,
                          kind_of(language, opcode, operands)};
  if (instruction.kind == Kind::multiply_add) {
    instruction.multiply_adds = language.multiply_adds(opcode, operands);
    instruction.reuses = has(operands, ".reuse");
  }
  if (instruction.kind < Kind::shuffle) {
    instruction.bytes = language.bytes(instruction.kind, opcode, operands);
  }
  return instruction;
}

Listing parse(const Language& language, const std::string& text, const std::string& kernel) {
  Listing listing;
  std::vector<std::string> pending;                           // labels of the next instruction
  std::map<std::string, std::size_t> labels;                  // their addresses
  std::vector<std::pair<std::size_t, std::string>> branches;  // which instruction leads to which label
  bool inside = false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (const std::vector<std::string> begins = language.kernel.find(line); !begins.empty()) {
      inside = std::find(begins.begin() + 1, begins.end(), kernel) != begins.end();
      continue;
    }
    const char separator = language.separator;
    std::istringstream parts(separator == 0 ? line : line.substr(0, line.find("//")));
    for (std::string part; inside && std::getline(parts, part, separator == 0 ? '\n' : separator);) {
      if (const std::vector<std::string> label = language.label.find(part); !label.empty()) {
        pending.push_back(label[1]);
        continue;
      }
      const bool is_whole = separator == 0 || !parts.eof();
      if (!is_whole) {
        continue;
      }
      const std::vector<std::string> match = language.instruction.find(part);
      if (match.empty()) {
        continue;
      }
      Instruction& instruction = listing.emplace_back(read_instruction(language, match, listing.size()));
      for (const std::string& label : pending) {
        labels[label] = instruction.address;
      }
      pending.clear();
      if (instruction.kind != Kind::control) {
        continue;
      }
      const std::vector<std::string> target = language.branch.find(match[2] + " " + match[3]);
      if (target.empty()) {
        continue;
      }
      if (!target[1].empty()) {
        instruction.target = std::stoul(target[1], nullptr, 16);
      } else {
        branches.emplace_back(listing.size() - 1, target[2]);
      }
    }
  }
  for (const auto& [from, label] : branches) {
    if (const auto found = labels.find(label); found != labels.end()) {
      listing[from].target = found->second;
    }
  }
  tell_additions(listing);
  return listing;
}

// The last of all.
std::optional<std::size_t> last_number(const std::string& log, const char* pattern) {
  const std::vector<std::vector<std::string>> found = Pattern(pattern).find_all(log);
  return found.empty() ? std::nullopt : std::optional<std::size_t>(std::stoul(found.back()[1]));
}

}  // namespace

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
  reusing += instruction.reuses && instruction.kind == Kind::multiply_add ? times : 0.0;
}

std::optional<MainLoop> find_main_loop(const Listing& listing, double multiply_adds) {
  const std::vector<Loop> loops = loops_of(listing);
  const Loop* inner = heaviest_innermost(loops);
  if (!inner) {
    return std::nullopt;
  }
  const Loop* outer = inner->fetches() ? nullptr : smallest_fetching_around(*inner, loops);
  const Loop& whole = outer ? *outer : *inner;
  MainLoop result{.first = listing[whole.begin].address,
                  .last = listing[whole.end - 1].address,
                  .longest_gap = longest_gap(listing, whole),
                  .mix = whole.mix};
  if (outer) {
    const double inside = inner->mix.multiply_adds;
    const double trips = (multiply_adds - (outer->mix.multiply_adds - inside)) / inside;
    if (trips >= 1.0 && trips == std::floor(trips)) {  // else the numbers do not come out even
      result.inner_trips = trips;
      add(result.mix, listing, *inner, trips - 1.0);
    }
  }
  return result;
}

Listing parse_ptx(const std::string& text, const std::string& entry) { return parse(ptx(), text, entry); }

Listing parse_sass(const std::string& text, const std::string& entry) { return parse(sass(), text, entry); }

Listing parse_x86(const std::string& text, const std::string& function) {
  return parse(x86(), text, function);
}

PtxasLog parse_ptxas_log(const std::string& log) {
  return {last_number(log, R"(Used (\d+) registers)"), last_number(log, R"((\d+) bytes spill stores)")};
}

}  // namespace duogemm::bench
