#include "replay/trace.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <tuple>

#include "problem/precision.h"
#include "problem/rounding.h"
#include "support/format.h"
#include "system/files.h"
#include "system/parse_json.h"
#include "system/paths.h"
#include "system/reject.h"

namespace duogemm::bench {
namespace {

constexpr const char* trace_schema = "duogemm.trace/1";

// Takes the members of a call's object, each once; none may be left.
class Members {
 public:
  explicit Members(Json object) : object_(std::move(object)) {}

  std::int64_t integer(const std::string& name, std::optional<std::int64_t> usual = {}) {
    const Json value = take(name, !usual);
    return value.is_null() ? *usual : integer_of(value, name);
  }

  float scalar(const std::string& name, float usual) {
    const Json value = take(name, false);
    if (value.is_null()) {
      return usual;
    }
    if (value.is_number()) {
      constexpr double most = std::numeric_limits<float>::max();
      return static_cast<float>(number_of(value, name, -most, most));
    }
    constexpr float infinity = std::numeric_limits<float>::infinity();
    for (const auto& [text, number] :
         {std::pair("nan", std::nanf("")), {"inf", infinity}, {"-inf", -infinity}}) {
      if (value == text) {
        return number;
      }
    }
    reject(name + " is " + brief(value) + R"(; it must be a number, "nan", "inf" or "-inf")");
  }

  // Which of the words, the first of which is meant when nothing is said.
  std::size_t word(const std::string& name, const std::vector<std::string>& words) {
    const Json value = take(name, false);
    if (value.is_null()) {
      return 0;
    }
    const auto found = std::ranges::find_if(words, [&](const std::string& word) { return value == word; });
    if (found == words.end()) {
      reject(name + " is " + brief(value) + "; it must be " + join(words, " or "));
    }
    return static_cast<std::size_t>(found - words.begin());
  }

  Precision precision() {
    const Json value = take("precision", false);
    return value.is_null()
               ? Precision::fp32
               : parse_precision("precision", value.is_string() ? value.get<std::string>() : brief(value));
  }

  void require_none_left() const {
    if (!object_.empty()) {
      reject("there is no member " + brief(object_.begin().key()) + " of a call");
    }
  }

 private:
  Json take(const std::string& name, bool required) {
    const auto found = object_.find(name);
    if (found == object_.end()) {
      if (required) {
        reject("the member '" + name + "' is missing");
      }
      return nullptr;
    }
    Json value = std::move(*found);
    object_.erase(found);
    if (value.is_null()) {
      reject(name + " is null");
    }
    return value;
  }

  Json object_;
};

Json parse_object(const std::string& line) {
  Json object = parse_json(line);
  if (!object.is_object()) {
    reject("this is no JSON object, but " + brief(object));
  }
  return object;
}

// A stride for matrices that the program's lists had anywhere: none of them begins inside another.
std::int64_t list_stride(std::int64_t rows, std::int64_t cols, std::int64_t ld) {
  return round_up(std::max<std::int64_t>(ld * (cols - 1) + rows, 1), std::int64_t{4});
}

// Sizes that were read may be any: a stride that is too large is refused later.
std::int64_t stride_over(std::int64_t ld, std::int64_t count) {
  std::int64_t size = 0;
  return __builtin_mul_overflow(ld, count, &size) ? std::numeric_limits<std::int64_t>::max() : size;
}

// Leading dimensions, and strides: as small as they can be where nothing is said.
void read_places(Members& members, Sgemm& request) {
  const auto read = [&](const std::string& name, bool transposed, std::int64_t rows, std::int64_t cols,
                        std::int64_t& ld, std::int64_t& stride) {
    const bool by_columns = transposed == (request.layout == Layout::row_major);
    ld = members.integer("ld" + name, std::max<std::int64_t>(by_columns ? rows : cols, 1));
    stride = members.integer(name + "_stride", stride_over(ld, by_columns ? cols : rows));
  };
  read("a", request.a_op == Transpose::yes, request.m, request.k, request.lda, request.a_stride);
  read("b", request.b_op == Transpose::yes, request.k, request.n, request.ldb, request.b_stride);
  read("c", false, request.m, request.n, request.ldc, request.c_stride);
}

// The program alone knew how long its groups were. A replay has a batch of products of the same size, which
// stand where the groups would.
void cut_into_equal_groups(Sgemm& request) {
  if (request.batch < 1) {
    return;
  }
  const bool by_rows = request.layout == Layout::row_major;
  std::int64_t& size = by_rows ? request.m : request.n;
  size = ceil_div(size, request.batch);
  std::int64_t& stride = by_rows ? request.a_stride : request.b_stride;
  const bool transposed = (by_rows ? request.a_op : request.b_op) == Transpose::yes;
  stride = transposed ? size : stride_over(by_rows ? request.lda : request.ldb, size);
  request.c_stride = stride_over(request.ldc, size);
}

// A call, and how many times it comes in a row.
std::pair<TraceCall, std::int64_t> parse_call(const std::string& text) {
  Members members(parse_object(text));
  Sgemm request;
  request.m = members.integer("m");
  request.n = members.integer("n");
  request.k = members.integer("k");
  const std::size_t ops = members.word("ops", {"NN", "NT", "TN", "TT"});
  request.a_op = ops >= 2 ? Transpose::yes : Transpose::no;
  request.b_op = ops % 2 == 1 ? Transpose::yes : Transpose::no;
  request.alpha = members.scalar("alpha", 1.0f);
  request.beta = members.scalar("beta", 0.0f);
  request.batch = members.integer("batch", 1);
  request.layout =
      members.word("layout", {"column_major", "row_major"}) == 1 ? Layout::row_major : Layout::column_major;
  request.level = levels[members.word("level", {"run_to_run", "everywhere", "batch_invariant"})];
  request.precision = members.precision();
  for (const char* const type : {"a_type", "b_type", "c_type"}) {  // every library is given FP32
    members.word(type, {"fp32", "bf16", "fp16"});
  }
  read_places(members, request);
  const auto batch_by = static_cast<CallBatch>(members.word("batch_by", {"strides", "lists", "groups"}));
  if (batch_by == CallBatch::groups) {
    cut_into_equal_groups(request);
  }
  const bool lists = batch_by == CallBatch::lists;
  const bool host = members.word("memory", {"device", "host"}) == 1;
  const std::int64_t times = members.integer("times", 1);
  members.require_none_left();
  if (times < 1) {
    reject("times is " + std::to_string(times) + "; it must be at least 1");
  }
  Problem problem = to_column_major(request, lists ? BatchBy::addresses : BatchBy::strides).problem;
  if (lists) {
    problem.a_stride = list_stride(problem.a_rows(), problem.a_cols(), problem.lda);
    problem.b_stride = list_stride(problem.b_rows(), problem.b_cols(), problem.ldb);
    problem.c_stride = list_stride(problem.m, problem.n, problem.ldc);
    problem.batch_by = BatchBy::strides;
    validate(problem);
  }
  if (problem.is_empty()) {
    reject("this call changes nothing");
  }
  return {
      {problem, host ? CallMemory::host : CallMemory::device, lists ? CallBatch::lists : CallBatch::strides},
      times};
}

std::string parse_head(const std::string& text) {
  const Json head = parse_object(text);
  const Json found = head.value("schema", Json());
  if (found != trace_schema) {
    reject("the schema is " + brief(found) + "; it must be \"" + trace_schema + "\"");
  }
  const auto about = head.find("about");
  return about != head.end() && about->is_string() ? about->get<std::string>() : "";
}

// Two calls that differ at most in how often they come have the same. A NaN is equal to itself by its bits.
auto identity_of(const TraceCall& call) {
  const Problem& p = call.problem;
  return std::tuple(p.m, p.n, p.k, p.lda, p.ldb, p.ldc, p.batch, p.a_stride, p.b_stride, p.c_stride,
                    std::bit_cast<std::uint32_t>(p.alpha), std::bit_cast<std::uint32_t>(p.beta), p.a_op,
                    p.b_op, p.level, p.precision, call.memory, call.batch);
}

// Says whether a line is there, and after it the beginning of another: the program was ended, or the disk
// was full.
bool breaks_off(const std::string& text) {
  const std::size_t end = text.rfind('\n');
  return end != std::string::npos && end + 1 < text.size() &&
         !Json::accept(text.begin() + static_cast<std::ptrdiff_t>(end) + 1, text.end());
}

}  // namespace

std::int64_t Trace::call_count() const {
  std::int64_t count = 0;
  for (const TraceStep& step : steps) {
    count += step.times;
  }
  return count;
}

double Trace::flops() const {
  double sum = 0.0;
  for (const TraceStep& step : steps) {
    sum += calls[step.call].problem.flops() * static_cast<double>(step.times);
  }
  return sum;
}

void Trace::permit(Precision precision) {
  for (TraceCall& call : calls) {
    if (call.problem.level != Reproducibility::everywhere) {
      call.problem.precision = precision;
    }
  }
}

Trace parse_trace(const std::string& text, const std::string& file) {
  Trace trace;
  trace.name = path_of(file).stem().string();
  trace.breaks_off = breaks_off(text);
  std::map<decltype(identity_of({})), std::size_t> known;
  std::istringstream lines(trace.breaks_off ? text.substr(0, text.rfind('\n')) : text);
  std::int64_t count = 0;
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    try {
      if (number == 1) {
        trace.about = parse_head(line);
        continue;
      }
      const auto [call, times] = parse_call(line);
      if (times > most_calls - count) {
        reject("the calls are more than " + std::to_string(most_calls));
      }
      count += times;
      const auto [place, is_new] = known.emplace(identity_of(call), trace.calls.size());
      if (is_new) {
        trace.calls.push_back(call);
      }
      trace.steps.push_back({place->second, times});
    } catch (const Error& error) {
      reject(file + ":" + std::to_string(number) + ": " + error.what());
    }
  }
  if (trace.steps.empty()) {
    reject(file + ": there is no call in this trace");
  }
  return trace;
}

Trace load_trace(const std::string& file) { return parse_trace(read_file_or_reject(path_of(file)), file); }

}  // namespace duogemm::bench
