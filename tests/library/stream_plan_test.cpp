// In which blocks operands go through a device's memory, and what happens on the way when the device fails.
// Nothing here needs a device.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <map>
#include <new>
#include <set>
#include <system_error>
#include <thread>
#include <tuple>

#include "check/inputs.h"
#include "check/oracle.h"
#include "device/memory_limit.h"
#include "devices.h"
#include "draw.h"
#include "fake_device.h"
#include "host_memory/host_call.h"
#include "refusal.h"

namespace duogemm::testing {
namespace {

constexpr std::size_t no_limit = std::numeric_limits<std::int64_t>::max();

std::size_t no_workspace(const Problem&) { return 0; }

Blocks blocks_for(const Problem& problem, std::size_t bytes) {
  return choose_blocks(problem, {bytes, no_limit}, no_workspace);
}

bool same(const Window& a, const Window& b) {
  return std::tie(a.member, a.members, a.row, a.rows, a.col, a.cols) ==
         std::tie(b.member, b.members, b.row, b.rows, b.col, b.cols);
}

// Goes through a plan as slowly as its rules allow, and looks at what is in each place when it is used.
class Rehearsal {
 public:
  Rehearsal(const Problem& problem, const StreamPlan& plan) : p_(problem), plan_(plan) {
    for (std::size_t step = 0; step < plan.steps.size(); ++step) {
      rehearse(step);
    }
    EXPECT_EQ(next_upload_, plan.uploads.size());
    EXPECT_EQ(next_download_, plan.downloads.size());
    EXPECT_EQ(elements_, p_.m * p_.n * p_.batch);
  }

 private:
  void rehearse(std::size_t number) {
    const StreamStep& step = plan_.steps[number];
    for (; next_upload_ < step.uploads; ++next_upload_) {
      const Upload& upload = plan_.uploads[next_upload_];
      EXPECT_LE(upload.after_steps, number) << "waits for what waits for it";
      EXPECT_LT(upload.slot, plan_.blocks.slots[upload.operand]);
      EXPECT_LE(upload.window.floats(), plan_.blocks.slot_floats[upload.operand]);
      expect_free(upload.operand, upload.slot, upload.after_steps, upload.after_download);
      places_[{upload.operand, upload.slot}] = upload.window;
    }
    const Problem& product = plan_.problems[step.problem];
    const Download& download = plan_.downloads[next_download_];
    const Window& c = download.window;
    EXPECT_EQ(std::tie(product.m, product.n, product.batch), std::tie(c.rows, c.cols, c.members));
    EXPECT_EQ(step.slots[2], download.slot);
    if (depth_ == 0) {
      expect_free(2, step.slots[2], 0, step.after_download);
      EXPECT_EQ(product.beta, p_.beta);
      EXPECT_TRUE(p_.beta == 0.0f || same(places_[{2, step.slots[2]}], c));
    } else {
      EXPECT_EQ(product.beta, 1.0f);
      EXPECT_EQ(p_.level, Reproducibility::run_to_run);
    }
    if (p_.multiplies()) {
      expect_operands(step, product, c);
    }
    last_use_[{0, step.slots[0]}] = last_use_[{1, step.slots[1]}] = number + 1;
    depth_ += product.k;
    if (depth_ == p_.k) {
      EXPECT_EQ(download.after_steps, number + 1);
      downloaded_from_[download.slot] = next_download_++;
      elements_ += c.floats();
      depth_ = 0;
    }
  }

  // The rows of A and the columns of B that belong to the block of C, from `depth_` on.
  void expect_operands(const StreamStep& step, const Problem& product, const Window& c) {
    const auto stored = [](Transpose op, std::int64_t members, std::int64_t count, std::int64_t row,
                           std::int64_t rows, std::int64_t col, std::int64_t cols) {
      return op == Transpose::no ? Window{members, count, row, rows, col, cols}
                                 : Window{members, count, col, cols, row, rows};
    };
    const bool shares_a = product.a_stride == 0 && p_.a_stride == 0;
    const bool shares_b = product.b_stride == 0 && p_.b_stride == 0;
    const Window a =
        stored(p_.a_op, shares_a ? 0 : c.member, shares_a ? 1 : c.members, c.row, c.rows, depth_, product.k);
    const Window b =
        stored(p_.b_op, shares_b ? 0 : c.member, shares_b ? 1 : c.members, depth_, product.k, c.col, c.cols);
    EXPECT_TRUE(same(places_[{0, step.slots[0]}], a));
    EXPECT_TRUE(same(places_[{1, step.slots[1]}], b));
  }

  void expect_free(std::size_t operand, std::int64_t slot, std::size_t after_steps,
                   std::optional<std::size_t> after_download) {
    if (operand < 2) {
      EXPECT_GE(after_steps, (last_use_[{operand, slot}]));
    } else if (downloaded_from_.contains(slot)) {
      EXPECT_EQ(after_download, downloaded_from_[slot]);
    }
  }

  const Problem& p_;
  const StreamPlan& plan_;
  std::map<std::pair<std::size_t, std::int64_t>, Window> places_;
  std::map<std::pair<std::size_t, std::int64_t>, std::size_t> last_use_;
  std::map<std::int64_t, std::size_t> downloaded_from_;
  std::size_t next_upload_ = 0, next_download_ = 0;
  std::int64_t depth_ = 0;  // of k, done for the block of C at work
  std::int64_t elements_ = 0;
};

Problem random_sizes(Draw& draw) {
  Problem p = problem_of(draw.between(1, 300), draw.between(1, 300), draw.between(1, 300),
                         draw.one_of({"NN", "NT", "TN", "TT"}), 0, draw.one_of({1, 1, 2, 3, 5}));
  p.alpha = draw.one_of({0.0f, 1.5f, 1.5f, 1.5f});
  p.beta = draw.one_of({0.0f, 0.5f});
  p.level = draw.one_of({Reproducibility::run_to_run, Reproducibility::everywhere});
  p.a_stride *= draw.between(0, 1);
  p.b_stride *= draw.between(0, 1);
  return p;
}

TEST(StreamPlans, BringEachBlockInTimeAndKeepToTheMemory) {
  Draw draw(7);
  for (int i = 0; i < 400; ++i) {
    const Problem p = random_sizes(draw);
    const std::size_t bytes = std::size_t{80'000} << draw.between(0, 5);
    SCOPED_TRACE(std::to_string(p.m) + " " + std::to_string(p.n) + " " + std::to_string(p.k) + " batch " +
                 std::to_string(p.batch) + " in " + std::to_string(bytes));
    const Blocks blocks = blocks_for(p, bytes);
    EXPECT_LE(blocks.bytes(), bytes);
    Rehearsal(p, plan_stream(p, blocks));
  }
}

TEST(StreamPlans, CopyLittleInLittleMemory) {
  Problem p = Problem::packed(32768, 32768, 32768);
  const std::size_t four = std::size_t{4} << 30;
  const Blocks split = blocks_for(p, four);
  EXPECT_LT(plan_stream(p, split).copied_bytes(), 25e9) << "the matrices have 12.9e9";
  p.level = Reproducibility::everywhere;
  const Blocks whole = blocks_for(p, four);
  EXPECT_EQ(whole.k, p.k);
  EXPECT_LT(plan_stream(p, whole).copied_bytes(), 25e9);
  p.level = Reproducibility::run_to_run;
  EXPECT_LT(blocks_for(p, four / 4).k, p.k);
  EXPECT_EQ(blocks_for(p, 16 * four).k, p.k) << "where all operands fit, k is never split";
}

TEST(StreamPlans, CopyEachOperandOnceWhereAllFit) {
  const Problem p = Problem::packed(8192, 8192, 8192, 1.0f, 2.0f);
  const StreamPlan plan = plan_stream(p, blocks_for(p, std::size_t{4} << 30));
  EXPECT_GT(plan.steps.size(), 1u) << "so that copies and products overlap";
  EXPECT_EQ(plan.copied_bytes(), 4u * 4 * 8192 * 8192);
}

TEST(StreamPlans, SayWhatTheSmallestNeed) {
  Problem p = Problem::packed(1000, 1000, 100'000);
  const auto exhausted = [&](std::size_t bytes) {
    return refusal([&] { blocks_for(p, bytes); }, Status::out_of_memory);
  };
  EXPECT_EQ(exhausted(5000),
            "the product needs 6144 bytes of device memory for its smallest blocks; it may take 5000");
  EXPECT_EQ(exhausted(6144), "accepted");
  p.level = Reproducibility::everywhere;
  EXPECT_EQ(
      exhausted(1 << 20),
      "the product needs 25602048 bytes of device memory for its smallest blocks, which have all of k at "
      "the level everywhere; it may take 1048576");
  EXPECT_EQ(exhausted(25602048), "accepted");
}

TEST(MemoryLimit, IsANumberOfBytes) {
  EXPECT_EQ(parse_bytes("1", "x"), 1u);
  EXPECT_EQ(parse_bytes("3K", "x"), 3u << 10);
  EXPECT_EQ(parse_bytes("512M", "x"), 512u << 20);
  EXPECT_EQ(parse_bytes("4G", "x"), std::size_t{4} << 30);
  for (const char* wrong : {"", "0", "0G", "-1", "4T", "4 G", "4GB", "G", "1.5G", "9223372036854775808",
                            "9007199254740992K", "99999999999999999999"}) {
    EXPECT_EQ(refusal([&] { parse_bytes(wrong, "DUOGEMM_DEVICE_MEMORY"); }),
              std::string("DUOGEMM_DEVICE_MEMORY '") + wrong +
                  "': expected a number of bytes from 1 to 2^63 - 1, with K, M or G for powers of 1024 or "
                  "without, such as 512M");
  }
}

// --- On a device in memory -------------------------------------------------------------------------------

// Goes in many pieces and several threads.
constexpr CopyOptions many_pieces{.piece_floats = 400, .bytes_for_threads = 0, .threads = 3};
constexpr CopyOptions one_thread{.piece_floats = 400};

class FakeCall {
 public:
  FakeCall(Faults& faults, std::size_t limit, const CopyOptions& options)
      : runtime_(std::make_unique<FakeDevice>(faults), DiskCache({})),
        call_(multiply_copies(runtime_, limit, options)) {}

  void multiply(const HostProblem& host, std::vector<float>& c, const ProgressListener& progress = {}) {
    call_->multiply(host.problem, {.a = host.a.data(), .b = host.b.data(), .c = c.data()}, progress);
  }

 private:
  Runtime runtime_;
  std::unique_ptr<HostCall> call_;
};

HostProblem in_blocks() {
  Problem p = Problem::packed(50, 60, 70, 2.0f, 0.5f);
  p.lda += 3;
  p.ldb += 1;
  p.ldc += 5;
  return random_problem(p, Distribution::integers, 1);
}

// Bands of the columns of C that are between its windows stay as they are.
void expect_gaps_untouched(const HostProblem& host, const std::vector<float>& c) {
  const Problem& p = host.problem;
  for (std::int64_t i = 0; i < p.c_extent(); ++i) {
    if (i % p.ldc >= p.m) {
      const auto at = static_cast<std::size_t>(i);
      ASSERT_EQ(std::bit_cast<std::uint32_t>(c[at]), std::bit_cast<std::uint32_t>(host.c[at]));
    }
  }
}

class Streams : public ::testing::TestWithParam<CopyOptions> {};

// Whatever it throws, also what the library itself would make an Error of.
TEST_P(Streams, EndWithWhatTheirListenerThrows) {
  Faults faults;
  {
    FakeCall call(faults, 20'000, GetParam());
    const HostProblem host = in_blocks();
    std::vector<float> c = host.c;
    EXPECT_THROW(call.multiply(host, c, [](const CallProgress&) { throw std::bad_alloc(); }), std::bad_alloc);
    const auto fail = [](const CallProgress&) { throw std::system_error(EIO, std::generic_category()); };
    EXPECT_THROW(call.multiply(host, c, fail), std::system_error);
    c = host.c;
    call.multiply(host, c);
    EXPECT_TRUE(Oracle(host.problem, host.a, host.b, host.c).compare(c).ok());
  }
  EXPECT_EQ(faults.live_buffers + faults.live_others, 0);
}

TEST_P(Streams, AllocateNothingOnADeviceThatIsRefused) {
  Faults faults{.refusal = "wrong results"};
  FakeCall call(faults, 20'000, GetParam());
  const HostProblem host = in_blocks();
  std::vector<float> c = host.c;
  EXPECT_THROW(call.multiply(host, c), Error);
  EXPECT_EQ(faults.allocations, 0);
}

// Every operation in turn fails, and from every operation on the device is lost: the call throws, nothing
// outside of C was written, nothing is left over, and the next call is right.
TEST_P(Streams, SurviveAnyFailure) {
  const HostProblem host = in_blocks();
  const Oracle oracle(host.problem, host.a, host.b, host.c);
  std::set<Operation> failed;
  for (const bool lost : {false, true}) {
    for (int n = 1;; ++n) {
      SCOPED_TRACE("operation " + std::to_string(n));
      Faults faults;
      (lost ? faults.lost_from : faults.fails_at) = n;
      {
        std::vector<float> c = host.c;
        std::optional<FakeCall> call;
        const auto multiply = [&] {
          if (!call) {
            call.emplace(faults, 20'000, GetParam());
          }
          call->multiply(host, c);
        };
        try {
          multiply();
        } catch (const Error&) {
          EXPECT_TRUE(faults.failed);
        }
        expect_gaps_untouched(host, c);
        if (!faults.failed) {
          EXPECT_TRUE(oracle.compare(c).ok());
          break;
        }
        failed.insert(*faults.failed);
        if (faults.failed == Operation::allocate) {
          EXPECT_EQ(0, std::memcmp(c.data(), host.c.data(), sizeof(float) * c.size())) << "C is untouched";
        }
        if (!lost) {
          c = host.c;
          multiply();
          EXPECT_TRUE(oracle.compare(c).ok());
        }
      }
      EXPECT_EQ(faults.live_buffers + faults.live_others, 0);
    }
  }
  EXPECT_EQ(failed, (std::set{Operation::create_queue, Operation::allocate, Operation::compile,
                              Operation::write, Operation::launch, Operation::read, Operation::finish}));
}

INSTANTIATE_TEST_SUITE_P(Threads, Streams, ::testing::Values(one_thread, many_pieces),
                         [](const auto& info) { return info.param.threads == 0 ? "none" : "three"; });

// Calls in several blocks and in one, from several threads: memory stays within the limit.
TEST(StreamMemory, IsSharedByCalls) {
  Faults faults;
  FakeCall call(faults, 40'000, many_pieces);
  std::vector<std::jthread> threads;
  for (std::uint32_t t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 20; ++round) {
        const std::int64_t size = t % 2 == 0 ? 20 : 70;
        const HostProblem host = random_problem(Problem::packed(size, size, size), Distribution::integers, t);
        std::vector<float> c = host.c;
        call.multiply(host, c);
        EXPECT_TRUE(Oracle(host.problem, host.a, host.b, host.c).compare(c).ok());
      }
    });
  }
  threads.clear();
  EXPECT_LE(faults.most_bytes, 40'000u);
}

}  // namespace
}  // namespace duogemm::testing
