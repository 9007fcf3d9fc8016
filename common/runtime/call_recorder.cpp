#include "runtime/call_recorder.h"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "duogemm/version.h"
#include "problem/element_type.h"
#include "problem/precision.h"
#include "problem/problem.h"
#include "system/date.h"
#include "system/environment.h"
#include "system/file.h"
#include "system/paths.h"
#include "system/this_process.h"

namespace duogemm {
namespace {

using Json = nlohmann::ordered_json;

// Answers the shortest decimal number that is this float. JSON has no numbers that are not finite.
Json number(float value) {
  if (!std::isfinite(value)) {
    return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  }
  char text[32];
  double shortest = 0.0;
  std::from_chars(text, std::to_chars(text, text + sizeof text, value).ptr, shortest);
  return shortest;
}

// Members that are as they are by default are left out.
Json describe(const Sgemm& call, CallMemory memory, CallBatch batch) {
  Json found = {{"m", call.m}, {"n", call.n}, {"k", call.k}};
  const auto add = [&](bool wanted, const char* name, const Json& value) {
    if (wanted) {
      found[name] = value;
    }
  };
  const auto letter = [](Transpose op) { return op == Transpose::yes ? "T" : "N"; };
  const bool transposes = call.a_op == Transpose::yes || call.b_op == Transpose::yes;
  const bool lists = batch == CallBatch::lists;
  const bool groups = batch == CallBatch::groups;
  const bool strides = batch == CallBatch::strides && call.batch != 1;
  add(transposes, "ops", std::string(letter(call.a_op)) + letter(call.b_op));
  add(true, "lda", call.lda);
  add(true, "ldb", call.ldb);
  add(true, "ldc", call.ldc);
  add(!(call.alpha == 1.0f), "alpha", number(call.alpha));
  add(!(call.beta == 0.0f), "beta", number(call.beta));
  add(lists, "batch_by", "lists");
  add(groups, "batch_by", "groups");
  add(groups || lists || strides, "batch", call.batch);
  const bool by_rows = call.layout == Layout::row_major;
  add(strides || (groups && !by_rows), "a_stride", call.a_stride);
  add(strides || (groups && by_rows), "b_stride", call.b_stride);
  add(strides, "c_stride", call.c_stride);
  add(call.layout == Layout::row_major, "layout", "row_major");
  add(call.level != Reproducibility::run_to_run, "level", to_text(call.level));
  add(call.precision != Precision::fp32, "precision", to_text(call.precision));
  add(is_narrow(call.a_type), "a_type", to_text(call.a_type));
  add(is_narrow(call.b_type), "b_type", to_text(call.b_type));
  add(is_narrow(call.c_type), "c_type", to_text(call.c_type));
  add(true, "memory", memory == CallMemory::host ? "host" : "device");
  return found;
}

std::string head() {
  const Json head = {{"schema", "duogemm.trace/1"},
                     {"version", DUOGEMM_VERSION},
                     {"date", utc_time()},
                     {"program", program_name()},
                     {"process", process_id()}};
  return head.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// The file, of which the last line is written again as long as the same call comes: not even a process that
// is killed leaves a call out.
class CallRecorder {
 public:
  explicit CallRecorder(std::string path) : path_(std::move(path)) {}

  void add(Json call) {
    const std::lock_guard lock(mutex_);
    if (failed_ || (!file_.is_open() && !open_file())) {
      return;
    }
    if (call == last_) {
      ++times_;
    } else {
      begin_ += line_.size();
      line_.clear();
      last_ = call;
      times_ = 1;
    }
    if (times_ > 1) {
      call["times"] = times_;
    }
    write(call.dump() + "\n");
  }

  // Around a fork. The child has no part in its parent's file.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  void start_anew_in_child() {
    if (file_.is_open()) {
      file_.close();
      forked_ = true;
    }
    mutex_.unlock();
  }

 private:
  bool open_file() {
    std::string name = path_;
    const std::string process = std::to_string(process_id());
    const std::size_t place = name.find("%p");
    if (place != std::string::npos) {
      name.replace(place, 2, process);
    }
    const bool own = !forked_ || place != std::string::npos;
    const bool taken = (own && take(name)) || (!failed_ && take(name + "." + process));
    if (taken) {
      begin_ = 0;
      line_.clear();
      last_.clear();
      write(head());
    }
    return taken && !failed_;
  }

  // Answers whether the file is ours now, and empty: not when another process writes it, or none can.
  bool take(const std::string& name) {
    file_ = File::open_or_create(path_of(name));
    const std::optional<FileFacts> facts = file_.facts();
    if (facts && !facts->is_regular) {
      give_up("it is not a regular file");
    } else if (facts && !file_.lock()) {
      file_.close();
    } else if (!facts || !file_.truncate(0)) {
      give_up(std::strerror(errno));
    }
    return file_.is_open();
  }

  // In place of the last line. On a disk that is full that one stays: no line is ever there by half.
  void write(const std::string& line) {
    if (file_.write_at(begin_, line)) {
      line_ = line;
      return;
    }
    const int error = errno;
    const std::uint64_t end = begin_ + (file_.write_at(begin_, line_) ? line_.size() : 0);
    give_up(file_.truncate(end) ? std::strerror(error) : std::strerror(errno));
  }

  void give_up(const char* reason) {
    std::fprintf(stderr, "duogemm: DUOGEMM_RECORD=%s: calls are not recorded: %s\n", path_.c_str(), reason);
    failed_ = true;
    file_.close();
  }

  const std::string path_;
  std::mutex mutex_;  // of all that follows
  bool failed_ = false;
  bool forked_ = false;  // from a process that has written the file
  File file_;
  Json last_;  // call
  std::uint64_t times_ = 0;
  std::uint64_t begin_ = 0;  // of the last line
  std::string line_;         // as the file has it
};

CallRecorder* make_recorder();

// Null when nothing is to be recorded. Never destroyed: threads may still call when the process ends.
CallRecorder* recorder() {
  static CallRecorder* const only = make_recorder();
  return only;
}

CallRecorder* make_recorder() {
  const std::optional<std::filesystem::path> path = environment_path("DUOGEMM_RECORD");
  if (!path || path->empty()) {
    return nullptr;
  }
  call_around_forks([] { recorder()->lock(); }, [] { recorder()->unlock(); },
                    [] { recorder()->start_anew_in_child(); });
  return new CallRecorder(path->string());
}

}  // namespace

constinit std::atomic<bool> calls_are_recorded = true;

void record_call_now(const Sgemm& call, CallMemory memory, CallBatch batch) noexcept {
  CallRecorder* const recorder = duogemm::recorder();
  if (recorder == nullptr) {
    calls_are_recorded = false;
    return;
  }
  try {
    if (!to_column_major(call, batch, BatchBy::addresses).problem.is_empty()) {
      recorder->add(describe(call, memory, batch));
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "duogemm: a call was not recorded: %s\n", error.what());
  }
}

}  // namespace duogemm
