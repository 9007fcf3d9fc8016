#include <cstdlib>

#include "explain/explain.h"
#include "families/kernel_source.h"
#include "runtime/executor.h"
#include "support/tools.h"
#include "system/files.h"

namespace duogemm::bench {
namespace {

bool is_pocl(const DeviceInfo& info) { return info.platform == "Portable Computing Language"; }

void run_once(const Plan& plan, const Problem& problem, Device& device, Queue& queue,
              ProgramCache& programs) {
  const BlankOperands operands(problem, device);
  SelfContainedPlan(plan, device, programs).enqueue(queue, operands.places());
  queue.finish();
}

// The text that a tool makes of a file.
std::string text_of(const std::filesystem::path& tool, std::vector<std::string> arguments,
                    const std::filesystem::path& file) {
  arguments.push_back(file);
  const ToolResult result = run_tool(tool, arguments, ToolErrors::drop);
  return result.status == 0 ? result.out : std::string();
}

std::string disassemble(const std::string& cubin) {
  const TemporaryDirectory folder;
  const std::filesystem::path file = folder.path() / "kernel.cubin";
  write_file(file, cubin);
  if (const auto tool = find_tool("cuobjdump")) {
    return text_of(*tool, {"-sass"}, file);
  }
  const auto tool = find_tool("nvdisasm");
  return tool ? text_of(*tool, {"-c"}, file) : std::string();
}

void add_nvidia(Artefacts& result, const std::string& entry) {
  result.log = parse_ptxas_log(result.facts.log);
  result.files.emplace_back("ptx", result.facts.ptx);
  if (!result.facts.cubin.empty()) {
    result.files.emplace_back("cubin", result.facts.cubin);
  }
  const std::string sass = result.facts.cubin.empty() ? "" : disassemble(result.facts.cubin);
  if (!sass.empty()) {
    result.files.emplace_back("sass", sass);
    result.language = "SASS";
    result.listing = parse_sass(sass, entry);
    return;
  }
  result.language = "PTX";
  result.listing = parse_ptx(result.facts.ptx, entry);
  result.missing = result.facts.cubin.empty()
                       ? "no SASS: this runtime hands out PTX only"
                       : "no SASS: neither cuobjdump nor nvdisasm (of the CUDA Toolkit) is installed";
}

void add_pocl(Artefacts& result, const std::string& entry, const std::set<std::filesystem::path>& libraries) {
  const auto tool = find_tool("objdump");
  if (!tool || libraries.empty()) {
    result.missing = tool ? "no assembly: PoCL's cache has no library of this kernel"
                          : "no assembly: objdump (package binutils) is not installed";
    return;
  }
  const std::string text = text_of(*tool, {"-d", "--no-show-raw-insn"}, *libraries.begin());
  result.files.emplace_back("s", text);
  if (text.find("elf64-x86-64") == std::string::npos) {
    result.missing = "the assembly is not x86-64, the only one of a CPU that is read (--dump writes it)";
    return;
  }
  result.language = "x86-64";
  result.listing = parse_x86(text, "_pocl_kernel_" + entry + "_workgroup");
}

// As compiled: what the compiler is told besides is said at the top.
std::string source_of(const Step& step, const Device& device) {
  const Defines defines(step.kernel->tunables.begin(), step.kernel->tunables.end());
  return "// " + device.build_options({step.kernel->spec->name, {}, defines, false}) + "\n" +
         kernel_text(step.kernel->spec->path);
}

}  // namespace

PoclCache::PoclCache() { setenv("POCL_CACHE_DIR", folder_.path().c_str(), 1); }

std::set<std::filesystem::path> PoclCache::fresh(const std::string& kernel) {
  std::set<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
    if (entry.path().filename() == kernel + ".so" && known_.insert(entry.path()).second) {
      found.insert(entry.path());
    }
  }
  return found;
}

Artefacts artefacts_of(const Plan& plan, const Problem& problem, Device& device, Queue* queue,
                       PoclCache& pocl) {
  const Step& step = plan.steps[plan.multiply];
  ProgramCache programs(device, DiskCache({}));
  const std::shared_ptr<const Kernel> kernel = programs.get(*step.kernel);
  Artefacts result;
  result.facts = kernel->facts(step.geometry.local);
  result.files.emplace_back("cl", source_of(step, device));
  if (device.info().is_nvidia()) {
    add_nvidia(result, step.kernel->spec->name);
  } else if (is_pocl(device.info())) {
    pocl.fresh(step.kernel->spec->name);
    run_once(plan, problem, device, *queue, programs);
    add_pocl(result, step.kernel->spec->name, pocl.fresh(step.kernel->spec->name));
  } else {
    result.missing = "no instructions: only CUDA, NVIDIA's OpenCL and PoCL hand out what they compile";
  }
  return result;
}

}  // namespace duogemm::bench
