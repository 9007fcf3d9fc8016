// Compiled code as the laboratory sees it: what compilers write as text becomes instructions of a few kinds,
// whatever the language, and among them is the loop in which a kernel spends its time.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace duogemm::bench {

enum class Kind {
  multiply_add,  // fused: of single precision, or those of a block on tensor cores
  local_load,
  local_store,
  global_load,
  global_store,
  copy,         // from global to local memory, past the registers
  stack_load,   // of what did not fit into registers
  stack_store,  //
  shuffle,
  barrier,
  addition,    // of single precision, also fused: how sums of tensor cores are promoted
  arithmetic,  // on addresses and counters, and moves between registers
  control,     // branches, comparisons, waiting, nothing
};
inline constexpr std::size_t kinds = 13;

struct Instruction {
  std::size_t address;  // or the place in the listing, where the language has no addresses
  Kind kind;
  int multiply_adds = 0;                // of one work-item, its share of a block, or of one vector on a CPU
  int bytes = 0;                        // that it moves, likewise
  std::optional<std::size_t> target{};  // of a branch whose target is known
  bool reuses = false;                  // SASS: an operand stays in the reuse cache for the next instruction
};

// The instructions of one kernel in the order of their addresses.
using Listing = std::vector<Instruction>;

// Each parser answers the instructions of one kernel, none when the text does not have it. What it does not
// know counts as arithmetic. PTX is as nvcc, NVRTC and NVIDIA's OpenCL write it, SASS as `cuobjdump -sass`
// and `nvdisasm`, and x86-64 as `objdump -d --no-show-raw-insn`.
Listing parse_ptx(const std::string& text, const std::string& entry);
Listing parse_sass(const std::string& text, const std::string& entry);
Listing parse_x86(const std::string& text, const std::string& function);

// NVIDIA's assembler says this of a kernel when it is asked to be verbose.
struct PtxasLog {
  std::optional<std::size_t> registers;  // of a work-item
  std::optional<std::size_t> spilled;    // bytes that are stored because there were too few registers
};

// Reads the log of NVRTC's --ptxas-options=-v or of NVIDIA's OpenCL with -cl-nv-verbose. Where it is about
// several kernels, the last one counts.
PtxasLog parse_ptxas_log(const std::string& log);

// Counts the instructions of each kind, and what they do; in a loop, in one iteration.
struct Mix {
  struct Count {
    double instructions = 0.0;
    double bytes = 0.0;
  };
  std::array<Count, kinds> counts{};
  double multiply_adds = 0.0;
  double reusing = 0.0;  // instructions that multiply and add, and keep an operand in the reuse cache

  Count& operator[](Kind kind) { return counts[static_cast<std::size_t>(kind)]; }
  const Count& operator[](Kind kind) const { return counts[static_cast<std::size_t>(kind)]; }
  double instructions() const;
  // A multiply-add that reads memory counts as an instruction once, and its bytes as the global loads'.
  void add(const Instruction& instruction, double times);
};

struct MainLoop {
  std::size_t first = 0;        // addresses of its first instruction and of the branch back
  std::size_t last = 0;         //
  double inner_trips = 1;       // how often the loop within it goes around for each of its iterations
  std::size_t longest_gap = 0;  // the most instructions between two multiply-adds
  Mix mix;                      // of one iteration, the inner loops' included
};

// The innermost loop with the most multiply-adds; or, where that one loads nothing from global memory because
// another fetches its operands, the smallest loop around it that does. multiply_adds: what a work-item does
// of them for one tile in K, which tells how often the inner loop goes around; 0 where nobody knows. Empty
// when no loop multiplies.
std::optional<MainLoop> find_main_loop(const Listing& listing, double multiply_adds);

}  // namespace duogemm::bench
