// The error of products in each precision, and of other libraries', in units of the last place of what was
// added up.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "check/inputs.h"
#include "runner/row.h"
#include "support/device_choice.h"
#include "support/progress.h"

namespace duogemm::bench {

struct AccuracyRequest {
  ChosenDevice device;
  std::vector<Precision> precisions;
  std::vector<InputClass> inputs;
  std::vector<std::int64_t> ks;
  std::int64_t size;   // M and N
  bool timed = false;  // how long each product takes is measured, too
};

// A kind of input at a length of sums. In its rows, errors are |C - C64| / (2^-24 |A||B|) over the elements
// that were computed anew; infinite where one is not finite.
struct AccuracyRow {
  InputClass input;
  std::int64_t k;
  std::size_t elements;        // computed anew
  double bound;                // 2 sqrt(k) + 4
  std::vector<Row> rows = {};  // ours in each precision, and then each other library
  std::string fault = {};      // what is wrong with ours; empty when nothing is
};

struct AccuracyReport {
  DeviceInfo device;
  std::int64_t size = 0;
  std::vector<Precision> precisions;
  std::vector<Peer> others = {};
  std::vector<AccuracyRow> rows = {};
  bool interrupted = false;

  bool ok() const;
};

// From this many products on, other precisions than fp32 must come close to cuBLAS's FP32: to its error times
// `worst_ratio`, or to `always_good`, whichever is larger.
inline constexpr std::int64_t least_compared_k = 64;
inline constexpr double worst_ratio = 1.25;
inline constexpr double always_good = 3.0;

// Says what is wrong with a row whose errors are known.
std::string fault_of(const AccuracyRow& row, const std::vector<Precision>& precisions);

// Calls `after_row` when a row is there. A run that is interrupted ends with the rows that were done. Throws
// out_of_memory before it begins where the largest product does not fit.
AccuracyReport run_accuracy(const AccuracyRequest& request, Progress& progress,
                            const std::function<void(const AccuracyReport&)>& after_row);

}  // namespace duogemm::bench
