// The program tells of itself and of the devices that there are.
#include <algorithm>
#include <regex>
#include <sstream>

#include "cli/program.h"

namespace duogemm::testing {
namespace {

TEST_F(Program, Helps) {
  EXPECT_EQ(run("--help").status, 0);
  EXPECT_NE(run("ladder --help").out.find("--kernels"), std::string::npos);
}

// And not what only a programmer wants to know of options' values.
TEST_F(Program, HelpsInPlainWords) {
  for (const char* command : {"ladder", "compare", "tune", "plan", "verify", "accuracy"}) {
    const std::string help = run(std::string(command) + " --help").out;
    for (const char* unwanted : {"->", " OR {", "INT:INT", "FLOAT:FLOAT", "ENUM:"}) {
      EXPECT_EQ(help.find(unwanted), std::string::npos) << command << ": " << unwanted;
    }
  }
}

TEST_F(Program, TellsWhatItIsMadeOf) {
  const Outcome outcome = run_well("--version");
  EXPECT_EQ(outcome.err, "");
#if defined(DUOGEMM_WITH_OPENCL) && defined(DUOGEMM_WITH_CUDA)
  const std::string backend = "all";
#elif defined(DUOGEMM_WITH_CUDA)
  const std::string backend = "cuda";
#elif defined(DUOGEMM_WITH_OPENCL)
  const std::string backend = "opencl";
#else
  const std::string backend = "cpu";
#endif
  std::vector<std::string> lines = {
      "duogemm [0-9.]+ \\(commit ([0-9a-f]{4,40}|unknown)\\)", "backends: .+",
      "build switches: BACKEND=" + backend + ", USE_LDG=(ON|OFF), USE_SHUFFLE=(ON|OFF)"};
#ifdef DUOGEMM_WITH_OPENCL
  lines.insert(lines.end(), {"OpenCL headers: [0-9.]+", "OpenCL loader: .+", "OpenCL platform: .+"});
#endif
#ifdef DUOGEMM_WITH_CUDA
  lines.insert(lines.end(),
               {"CUDA toolkit: [0-9.]+", "NVRTC: ([0-9.]+|none)", "CUDA driver: (for CUDA|none:) .+"});
#endif
  for (const std::string& line : lines) {
    expect_match(outcome.out, "(^|\n)" + line + "\n");
  }
}

TEST_F(Program, NoticesThatItsOutputDoesNotArrive) {
  for (const char* arguments : {"devices", "--version", "--help", "man"}) {
    const Outcome outcome = run_shell("{ '" DUOGEMM_PROGRAM "' " + std::string(arguments) + " >/dev/full; }");
    EXPECT_EQ(outcome.status, 1) << arguments;
    EXPECT_EQ(outcome.err, "duogemm: the standard output could not be written\n");
  }
}

TEST_F(Program, ListsDevicesOfEveryRuntimeInTheBuild) {
  const Outcome outcome = run_well("devices");
  EXPECT_EQ(outcome.err, "");
#ifdef DUOGEMM_WITH_CUDA
  expect_match(outcome.out, "cuda:");
#endif
#ifdef DUOGEMM_WITH_OPENCL
  expect_match(outcome.out, "opencl:");
#endif
}

// In a terminal, nothing but a long word is longer than its lines.
TEST_F(Program, KeepsWithinTheTerminal) {
  write("list.txt", "cube 8 8 8\nbatch_of_heads_of_attention 9 7 5 TN batch=3\n");
  for (const std::string arguments :
       {"--help", "ladder --help", "devices", "plan --size 64 --top 3 --device cpu0", "diff --help",
        "compare --shapes list.txt --device cpu0 --seconds 0.0001", "verify --gemm --size 8 --device cpu0"}) {
    const Outcome outcome = run_shell("script -qec \"stty cols 60; '" DUOGEMM_PROGRAM "' " + arguments +
                                      " 2>/dev/null\" /dev/null </dev/null");
    EXPECT_EQ(outcome.status, 0) << arguments << outcome.out;
    std::istringstream lines(std::regex_replace(outcome.out, std::regex("\033\\[[0-9;]*[mK]|\r"), ""));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_TRUE(line.size() <= 60 || line.find_first_of(' ', line.find_first_not_of(' ')) == line.npos)
          << arguments << ": " << line;
    }
  }
}

// Every match of the expression's first group.
std::vector<std::string> found_in(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator each(text.begin(), text.end(), expression); each != std::sregex_iterator();
       ++each) {
    found.push_back((*each)[1]);
  }
  return found;
}

// The part of the text from one mark on, up to the next of the others.
std::string part_of(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t begin = text.find(from);
  return begin == std::string::npos ? "" : text.substr(begin, text.find(to, begin + from.size()) - begin);
}

class ProgramsPages : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    write("completion", run("completion bash").out);
  }

  // As --help lists them.
  std::vector<std::string> commands() const {
    return found_in(part_of(run("--help").out, "Subcommands:", "no end"), "\n  ([a-z]+) ");
  }
  std::vector<std::string> options(const std::string& command) const {
    std::vector<std::string> names;
    for (const std::string& line : found_in(run(command + " --help").out, "\n  (-[-a-z,]+)")) {
      const std::vector<std::string> of_line = found_in(line, "(-[-a-z]+)");
      names.insert(names.end(), of_line.begin(), of_line.end());
    }
    return names;
  }

  // Gives the words that bash offers for the last one.
  std::vector<std::string> completed(const std::vector<std::string>& words) const {
    std::string line;
    for (const std::string& word : words) {
      line += " '" + word + "'";
    }
    const Outcome outcome = run_shell(
        "bash -uc '. ./completion; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _duogemm; "
        "printf \"%s\\n\" \"${COMPREPLY[@]}\"' bash duogemm" +
        line);
    EXPECT_EQ(outcome.err, "");
    return found_in(outcome.out, "([^\n]+)\n");
  }
};

using Words = std::vector<std::string>;

std::string join_lines(const Words& words) {
  std::string lines;
  for (const std::string& word : words) {
    lines += word + "\n";
  }
  return lines;
}

TEST_F(ProgramsPages, NameEveryOptionOfEveryCommand) {
  std::string page = run("man").out;
  const std::string pages[] = {run("completion zsh").out, run("completion fish").out};
  page = std::regex_replace(page, std::regex("\\\\-"), "-");
  ASSERT_GE(commands().size(), 14u);
  for (const std::string& command : commands()) {
    const std::string section = part_of(page, "\n.SS duogemm " + command + "\n", "\n.S");
    const Words offered = completed({command, "-"});
    ASSERT_FALSE(options(command).empty()) << command;
    for (const std::string& option : options(command)) {
      EXPECT_NE(section.find("\\fB" + option + "\\fR"), std::string::npos) << command << " " << option;
      EXPECT_NE(std::find(offered.begin(), offered.end(), option), offered.end()) << command << " " << option;
      EXPECT_TRUE(matches(part_of(pages[0], "\n    " + command + ")\n", ";;"), "\n *'" + option + "\\["))
          << command << " " << option;
      const std::string fish = option[1] == '-' ? " -l " + option.substr(2) : " -s " + option.substr(1);
      EXPECT_TRUE(matches(pages[1], "__fish_seen_subcommand_from " + command + "'.*" + fish + " "))
          << command << " " << option;
    }
    EXPECT_EQ(completed({command}), Words{command});
  }
}

TEST_F(ProgramsPages, CompleteCommandsOptionsValuesAndFiles) {
  write("result one.json", "{}");
  EXPECT_EQ(completed({"re"}), (Words{"replay", "report"}));
  EXPECT_EQ(completed({"--v"}), Words{"--version"});
  EXPECT_EQ(completed({"ladder", "--no-"}), (Words{"--no-ldg", "--no-shuffle"}));
  EXPECT_EQ(completed({"ladder", "--backend", ""}), (Words{"opencl", "cuda", "cpu", "webgpu", "all"}));
  EXPECT_EQ(completed({"ladder", "--backend", "=", "c"}), (Words{"cuda", "cpu"}));
  EXPECT_EQ(completed({"verify", "--backend", ""}), (Words{"opencl", "cuda", "cpu", "webgpu"}));
  EXPECT_EQ(completed({"compare", "--against", "cuBLAS,Open"}), Words{"cuBLAS,OpenBLAS"});
  EXPECT_EQ(completed({"ladder", "--cache-config", "l"}), (Words{"local", "l1"}));
  EXPECT_EQ(completed({"ladder", "--size", ""}), Words{});
  EXPECT_EQ(completed({"ladder", "--kernels", "naive,regis"}),
            (Words{"naive,register_2d", "naive,register_wide", "naive,registers_only"}));
  write("skewed.txt", "");
  EXPECT_EQ(completed({"compare", "--shapes", "sk"}), (Words{"skinny", "skewed.txt"}));
  EXPECT_EQ(completed({"compare", "--shapes", "squares,s"}),
            (Words{"squares,skinny", "squares,small", "squares,squares"}));
  EXPECT_EQ(completed({"report", "res"}), Words{"result one.json"});
  EXPECT_EQ(completed({"report", "--o"}), Words{"--output"});
  EXPECT_EQ(completed({"ladder", "--json", "res"}), Words{"result one.json"});
  EXPECT_EQ(completed({"completion", "z"}), Words{"zsh"});
}

TEST_F(ProgramsPages, OfferTheDevicesOfThisMachine) {
  std::filesystem::create_symlink(DUOGEMM_PROGRAM, folder_ / "duogemm");
  setenv("PATH", (folder_.string() + ":" + std::getenv("PATH")).c_str(), 1);
  EXPECT_EQ(run_well("devices --names").out, join_lines(completed({"ladder", "--device", ""})));
  EXPECT_EQ(completed({"ladder", "--device", "cpu"}), Words{"cpu0"});
}

TEST_F(ProgramsPages, TellWhatTheProgramReadsAndHowItEnds) {
  const std::string page = run("man").out;
  for (const char* part :
       {"\n.SH EXIT STATUS\n.TP\n\\fB0\\fR\nAll is well.\n",
        "\n.SH ENVIRONMENT\n.TP\n\\fBDUOGEMM_DEVICE\\fR\n", "\n.TP\n\\fBDUOGEMM_KERNEL_DIR\\fR\n",
        "\n.SH FILES\n", "\n.SH EXAMPLES\n.TP\n\\fBduogemm ladder"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part;
  }
  const std::string variables = part_of(page, "\n.SH ENVIRONMENT\n", "\n.SH");
  EXPECT_EQ(variables.find('`'), std::string::npos);
  EXPECT_EQ(variables.find("]("), std::string::npos);
}

// By the shells and by what shows pages, as far as they are here.
TEST_F(ProgramsPages, AreWellFormed) {
  write("page", run("man").out);
  EXPECT_EQ(run_shell("bash -n completion").status, 0);
  for (const std::string shell : {"zsh", "fish"}) {
    write(shell, run("completion " + shell).out);
    const Outcome outcome = run_shell("{ ! command -v " + shell + " || " + shell + " -n " + shell + "; }");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
  }
  const Outcome shown = run_shell("{ ! command -v groff || groff -man -Tutf8 -ww page; }");
  EXPECT_EQ(shown.status, 0);
  EXPECT_EQ(shown.err, "");
}

}  // namespace
}  // namespace duogemm::testing
