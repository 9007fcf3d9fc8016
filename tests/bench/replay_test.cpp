// Traces, and their replay from the first call on.
#include "replay/replay.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "files.h"
#include "output/json.h"
#include "refusal.h"
#include "replay/trace.h"
#include "system/temporary_directory.h"

namespace duogemm::testing {
namespace {

using namespace bench;

const std::string head = R"({"schema":"duogemm.trace/1","about":"a test"})"
                         "\n";

TEST(Trace, IsReadAsColumnMajorCallsWithTheirUsualMembers) {
  const Trace trace =
      parse_trace(head + R"({"m":2,"n":3,"k":4,"times":5})"
                         "\n"
                         R"({"m":3,"n":2,"k":4,"layout":"row_major","memory":"host","alpha":"nan"})"
                         "\n"
                         R"({"m":2,"n":3,"k":4})"
                         "\n"
                         R"({"m":2,"n":3,"k":4,"ops":"TN","batch":7,"a_stride":0,"beta":0.1})"
                         "\n"
                         R"({"m":2,"n":3,"k":4,"ldc":9,"batch":7,"batch_by":"lists","precision":"bf16x6"})"
                         "\n",
                  "folder/some.jsonl");
  EXPECT_EQ(trace.name, "some");
  EXPECT_EQ(trace.about, "a test");
  EXPECT_EQ(trace.call_count(), 9);
  ASSERT_EQ(trace.calls.size(), 4u);
  ASSERT_EQ(trace.steps.size(), 5u);
  EXPECT_EQ(trace.steps[0].times, 5);
  EXPECT_EQ(trace.steps[2].call, 0u);
  const Problem& plain = trace.calls[0].problem;
  EXPECT_EQ((std::vector{plain.m, plain.n, plain.k, plain.lda, plain.ldb, plain.ldc}),
            (std::vector<std::int64_t>{2, 3, 4, 2, 4, 2}));
  const Problem& by_rows = trace.calls[1].problem;
  EXPECT_EQ((std::vector{by_rows.m, by_rows.n, by_rows.k, by_rows.lda, by_rows.ldb, by_rows.ldc}),
            (std::vector<std::int64_t>{2, 3, 4, 2, 4, 2}));
  EXPECT_TRUE(std::isnan(by_rows.alpha));
  EXPECT_EQ(trace.calls[1].memory, CallMemory::host);
  const Problem& batch = trace.calls[2].problem;
  EXPECT_EQ(batch.a_op, Transpose::yes);
  EXPECT_EQ((std::vector{batch.lda, batch.a_stride, batch.b_stride, batch.c_stride}),
            (std::vector<std::int64_t>{4, 0, 12, 6}));
  EXPECT_EQ(batch.beta, 0.1f);
  const Problem& lists = trace.calls[3].problem;
  EXPECT_EQ(trace.calls[3].batch, CallBatch::lists);
  EXPECT_EQ(lists.precision, Precision::bf16x6);
  EXPECT_EQ(plain.precision, Precision::fp32);
  EXPECT_EQ((std::vector{lists.a_stride, lists.b_stride, lists.c_stride}),
            (std::vector<std::int64_t>{8, 12, 20}));
}

// Three groups of seven rows, or columns, become a batch of three rows each.
TEST(Trace, HasEqualGroups) {
  const Trace trace =
      parse_trace(head + R"({"m":7,"n":2,"k":4,"batch":3,"batch_by":"groups","layout":"row_major"})"
                         "\n"
                         R"({"m":2,"n":7,"k":4,"ops":"NT","ldb":9,"batch":3,"batch_by":"groups"})"
                         "\n",
                  "some.jsonl");
  ASSERT_EQ(trace.calls.size(), 2u);
  for (const TraceCall& call : trace.calls) {
    const Problem& p = call.problem;
    EXPECT_EQ(call.batch, CallBatch::strides);
    EXPECT_EQ((std::vector{p.m, p.n, p.k, p.batch, p.a_stride, p.c_stride}),
              (std::vector<std::int64_t>{2, 3, 4, 3, 8, 6}));
    EXPECT_EQ(p.b_stride, p.b_op == Transpose::yes ? 3 : 12);
  }
  const std::string too_large =
      R"({"m":1099511627776,"n":2,"k":4,"ldc":1099511627776,"batch":1,"batch_by":"groups","layout":"row_major"})";
  EXPECT_THROW(parse_trace(head + too_large + "\n", "some.jsonl"), Error);
}

TEST(Trace, IsPermittedAnotherPrecisionButForItsChains) {
  Trace trace = parse_trace(head + R"({"m":2,"n":3,"k":4})"
                                   "\n"
                                   R"({"m":2,"n":3,"k":4,"level":"everywhere"})"
                                   "\n",
                            "some.jsonl");
  trace.permit(Precision::f16x3);
  EXPECT_EQ(trace.calls[0].problem.precision, Precision::f16x3);
  EXPECT_EQ(trace.calls[1].problem.precision, Precision::fp32);
}

TEST(Trace, TakesFp32ForOtherElements) {
  const Trace trace =
      parse_trace(head + R"({"m":2,"n":3,"k":4,"a_type":"bf16","c_type":"fp16"})", "some.jsonl");
  EXPECT_EQ(trace.calls[0].problem.a_type, ElementType::fp32);
  EXPECT_EQ(trace.calls[0].problem.c_type, ElementType::fp32);
}

std::string refusal_of(const std::string& text) {
  return refusal([&] { parse_trace(text, "some.jsonl"); });
}

TEST(Trace, IsRefusedWithTheLineAndTheReason) {
  const std::string good = "{\"m\":2,\"n\":3,\"k\":4}\n";
  const std::pair<std::string, std::string> bad[] = {
      {R"({"m":2,"n":3,"k")", "this is no JSON from column 17 on"},
      {R"([2,3,4])", "this is no JSON object, but [2,3,4]"},
      {R"({"m":2,"n":3})", "the member 'k' is missing"},
      {R"({"m":2,"n":3,"k":null})", "k is null"},
      {R"({"m":2.5,"n":3,"k":4})", "m is 2.5; it must be a whole number"},
      {R"({"m":2,"n":3,"k":4,"lda":1})", "lda is 1"},
      {R"({"m":2,"n":3,"k":4,"precision":"tf32"})", "precision is 'tf32'; it must be fp32, bf16x6 or f16x3"},
      {R"({"m":2,"n":3,"k":4,"precision":"f16x3","level":"everywhere"})",
       "precision is f16x3; it must be fp32 at the level everywhere"},
      {R"({"m":2,"n":3,"k":4,"b_type":"fp8"})", "b_type is \"fp8\"; it must be fp32 or bf16 or fp16"},
      {R"({"m":2,"n":3,"k":4,"ops":"NC"})", "ops is \"NC\"; it must be NN or NT or TN or TT"},
      {R"({"m":2,"n":3,"k":4,"alpha":"one"})", "alpha is \"one\"; it must be a number"},
      {R"({"m":2,"n":3,"k":4,"times":0})", "times is 0; it must be at least 1"},
      {R"({"m":2,"n":3,"k":4,"times":20000001})", "the calls are more than 20000000"},
      {R"({"m":2,"n":3,"k":4,"size":5})", "there is no member \"size\" of a call"},
      {R"({"m":0,"n":3,"k":4})", "this call changes nothing"},
      {R"({"m":9000000000000000000,"n":9000000000000000000,"k":4})", "c reaches beyond 2^60 elements"},
      {"", "this is no JSON from column 1 on"},
      {R"({"m":18446744073709551615,"n":3,"k":4})",
       "m is 18446744073709551615; it must be a whole number of 64 bits"},
      {R"({"m":2,"n":3,"k":4,"alpha":1e40})", "alpha is 1e+40; it must be a number from -3.40282e+38 to"},
      {R"({"m":2,"n":3,"k":4,"alpha":1e999})", "this JSON has a number that is too large"},
      {R"({"m":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}",
       "this JSON is nested deeper than 64 levels"},
  };
  for (const auto& [line, reason] : bad) {
    const std::string said = refusal_of(head + good + line + "\n");
    EXPECT_TRUE(said.starts_with("some.jsonl:3: " + reason)) << line << " -> " << said;
  }
  EXPECT_EQ(refusal_of(R"({"schema":"duogemm.trace/2"})"),
            "some.jsonl:1: the schema is \"duogemm.trace/2\"; it must be \"duogemm.trace/1\"");
  EXPECT_EQ(refusal_of(good), "some.jsonl:1: the schema is null; it must be \"duogemm.trace/1\"");
  EXPECT_EQ(refusal_of(head), "some.jsonl: there is no call in this trace");
}

// As a program that was ended, or a full disk, leaves it.
TEST(Trace, IsReadAsFarAsItsLinesAreWhole) {
  const std::string calls =
      "{\"m\":2,\"n\":3,\"k\":4,\"times\":12}\n{\"m\":3,\"n\":3,\"k\":4,\"times\":12}\n";
  const std::size_t first = head.size() + calls.find('\n');
  const std::string text = head + calls;
  for (std::size_t length = first; length <= text.size(); ++length) {
    const Trace trace = parse_trace(text.substr(0, length), "some.jsonl");
    const bool both = length + 1 >= text.size();  // or without the end of the last line
    EXPECT_EQ(trace.call_count(), both ? 24 : 12) << length;
    EXPECT_EQ(trace.breaks_off, !both && length > first + 1) << length;
  }
  EXPECT_EQ(refusal_of(text.substr(0, first - 1)), "some.jsonl: there is no call in this trace");
  EXPECT_TRUE(refusal_of(head.substr(0, head.size() / 2)).starts_with("some.jsonl:1: this is no JSON"));
}

TEST(Trace, NeedsMemoryForItsLargestMatrices) {
  DeviceInfo device;
  device.backend = "opencl";
  device.kind = DeviceKind::gpu;
  device.slice_alignment = 4;
  device.memory_bytes = std::size_t{1} << 30;
  device.max_allocation_bytes = device.memory_bytes;
  const auto fits = [&](const std::string& sizes) {
    const std::string said = refusal(
        [&] { require_memory(parse_trace(head + "{" + sizes + "}\n", "some"), device, CallMemory::device); },
        Status::out_of_memory);
    EXPECT_TRUE(said == "accepted" || said.find("some") != std::string::npos) << said;
    return said == "accepted";
  };
  EXPECT_TRUE(fits(R"("m":5000,"n":5000,"k":5000)"));
  EXPECT_FALSE(fits(R"("m":8000,"n":8000,"k":8000)"));
  device.max_allocation_bytes = std::size_t{90} << 20;
  EXPECT_FALSE(fits(R"("m":5000,"n":5000,"k":5000)"));
}

void expect_good(const std::filesystem::path& file) {
  const Trace trace = load_trace(file);
  EXPECT_FALSE(trace.about.empty()) << file;
  EXPECT_GT(trace.call_count(), 50) << file;
}

TEST(Trace, OfThisRepositoryAreAllGood) {
  const std::filesystem::path traces = std::filesystem::path(DUOGEMM_SOURCE) / "bench" / "traces";
  expect_good(traces / "numpy.jsonl");
  const TemporaryDirectory folder;
  const std::string command =
      "python3 '" + (traces / "make.py").string() + "' '" + folder.path().string() + "'";
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(files_in(folder.path()).size(), 9u);
  for (const auto& file : files_in(folder.path())) {
    expect_good(file);
  }
}

// The program, in a folder of its own.
class Replay : public ::testing::Test {
 protected:
  int run(const std::string& arguments) const {
    const std::string command = "cd '" + folder_.path().string() +
                                "' && DUOGEMM_RECORD=not_this '" DUOGEMM_PROGRAM "' replay " + arguments +
                                " >stdout.txt 2>stderr.txt";
    return WEXITSTATUS(std::system(command.c_str()));
  }
  std::string errors() const { return contents_of(folder_.path() / "stderr.txt"); }
  std::string output() const { return contents_of(folder_.path() / "stdout.txt"); }
  void write_trace(const std::string& calls) const {
    overwrite(folder_.path() / "trace.jsonl", head + calls);
  }

  void expect_complete_report(const std::string& where) const {
    const Json json = Json::parse(contents_of(folder_.path() / "out.json"));
    EXPECT_EQ(json.at("schema"), "duogemm.replay/1");
    const Json& trace = json.at("traces").at(0);
    EXPECT_EQ(trace.at("through"), where);
    EXPECT_EQ(trace.at("calls"), 6);
    EXPECT_EQ(trace.at("different"), 3);
    EXPECT_EQ(trace.at("ok"), true);
    EXPECT_EQ(trace.at("ours").at("checked"), 3);
    for (const char* pass : {"first", "disk", "again"}) {
      EXPECT_GT(trace.at("ours").at(pass).at("wall_s"), 0.0) << pass;
    }
    EXPECT_LT(trace.at("ours").at("disk").at("wall_s"), trace.at("ours").at("first").at("wall_s"));
    if (!trace.at("other").is_null()) {
      EXPECT_EQ(trace.at("other").at("checked"), 3);
      EXPECT_GT(trace.at("other").at("again").at("wall_s"), 0.0);
    }
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "not_this"));
  }

  const TemporaryDirectory folder_;
};

TEST_F(Replay, RunsATraceOnADeviceAndOnPlainArraysBesideTheOtherLibrary) {
  write_trace(
      "{\"m\":33,\"n\":17,\"k\":20,\"beta\":0.5,\"times\":4}\n"
      "{\"m\":33,\"n\":17,\"k\":20,\"alpha\":2,\"batch\":3}\n"
      "{\"m\":33,\"n\":17,\"k\":20,\"batch\":2,\"batch_by\":\"lists\"}\n");
  if (run("trace.jsonl --json out.json") == 2 && errors().find("device was found") != std::string::npos) {
    GTEST_SKIP() << errors();
  }
  EXPECT_EQ(errors(), "");
  expect_complete_report("device");
  EXPECT_NE(output().find("first, programs on disk"), std::string::npos);
  EXPECT_EQ(run("trace.jsonl --through host --warm --json out.json"), 0) << errors();
  expect_complete_report("host");
  const Json warmed =
      Json::parse(contents_of(folder_.path() / "out.json")).at("traces").at(0).at("ours").at("warmed");
  EXPECT_GT(warmed.at("wall_s"), 0.0);
  EXPECT_GT(warmed.at("warms_s").at(0), 0.0);
  EXPECT_NE(output().find("first, after warm()"), std::string::npos);
}

TEST_F(Replay, SaysThatATraceBreaksOff) {
  write_trace("{\"m\":3,\"n\":1,\"k\":2}\n{\"m\":3,\"n\":");
  const int status = run("trace.jsonl --through host --against none --json out.json");
  if (errors().find("device was found") != std::string::npos) {
    GTEST_SKIP() << errors();
  }
  EXPECT_EQ(status, 0);
  EXPECT_EQ(errors(), "duogemm: trace.jsonl: its last line breaks off, and is left out\n");
  const Json json = Json::parse(contents_of(folder_.path() / "out.json"));
  EXPECT_EQ(json.at("traces").at(0).at("calls"), 1);
}

TEST_F(Replay, RefusesWhatItCannotReplayInOneLine) {
  write_trace(R"({"m":2,"n":3,"k":4,"memory":"host"}
{"m":2,"n":3,"k":4,"memory":"device"})");
  const std::pair<std::string, std::string> bad[] = {
      {"none.jsonl", "none.jsonl: there is no such file"},
      {"trace.jsonl", "say --through"},
      {"trace.jsonl --through disk", "--through"},
      {"trace.jsonl --through host --against CLBlast",
       "only OpenBLAS, MKL, BLIS, oneDNN work on the host's memory"},
      {"trace.jsonl --through host --json no/folder.json", "there is no folder no"},
      {"trace.jsonl --against Eigen", "--against"},
  };
  for (const auto& [arguments, reason] : bad) {
    const int status = run(arguments);
    if (errors().find("no device was found") != std::string::npos) {
      GTEST_SKIP() << errors();
    }
    EXPECT_EQ(status, 2) << arguments;
    EXPECT_NE(errors().find(reason), std::string::npos) << arguments << " -> " << errors();
    const std::string said = errors();
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  }
  write_trace(R"({"m":1000000,"n":1000000,"k":1000000})");
  EXPECT_EQ(run("trace.jsonl --through host"), 2);
  EXPECT_NE(errors().find("of the machine's memory"), std::string::npos) << errors();
}

}  // namespace
}  // namespace duogemm::testing
