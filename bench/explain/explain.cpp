#include "explain/explain.h"

#include <algorithm>
#include <cstdlib>

#include "device/device_selection.h"
#include "families/kernel_source.h"
#include "ladder/ladder.h"
#include "problem/precision.h"
#include "rungs/rungs.h"
#include "runtime/executor.h"
#include "system/environment.h"
#include "system/files.h"
#include "system/tools.h"

namespace duogemm::bench {
namespace {

void run_once(const Plan& plan, const Problem& problem, Device& device, Queue& queue,
              ProgramCache& programs) {
  const BlankOperands operands(problem, device);
  SelfContainedPlan(plan, device, programs).enqueue(queue, operands.places());
  queue.finish();
}

// The text that a tool makes of a file.
std::string text_of(const std::filesystem::path& tool, std::vector<std::string> arguments,
                    const std::filesystem::path& file) {
  arguments.push_back(file.string());
  const ToolResult result = run_tool(tool, arguments, ToolErrors::drop);
  return result.status == 0 ? result.out : std::string();
}

std::string disassemble(const std::string& cubin) {
  const TemporaryDirectory folder;
  const std::filesystem::path file = folder.path() / "kernel.cubin";
  write_file(file, cubin);
  const char* const toolkit = "/usr/local/cuda/bin";
  if (const auto tool = find_tool("cuobjdump", toolkit)) {
    return text_of(*tool, {"-sass"}, file);
  }
  const auto tool = find_tool("nvdisasm", toolkit);
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

// Reads the `function` that a kernel for a CPU is in its shared library.
void add_x86(Artefacts& result, const std::string& function, const std::filesystem::path& library) {
  const auto tool = find_tool("objdump");
  if (!tool) {
    result.missing = "no assembly: objdump (package binutils) is not installed";
    return;
  }
  const std::string text = text_of(*tool, {"-d", "--no-show-raw-insn"}, library);
  result.files.emplace_back("s", text);
  if (text.find("elf64-x86-64") == std::string::npos) {
    result.missing = "the assembly is not x86-64, the only one of a CPU that is read (--dump writes it)";
    return;
  }
  result.language = "x86-64";
  result.listing = parse_x86(text, function);
}

void add_pocl(Artefacts& result, const std::string& entry, const std::set<std::filesystem::path>& libraries) {
  if (libraries.empty()) {
    result.missing = "no assembly: PoCL's cache has no library of this kernel";
    return;
  }
  add_x86(result, "_pocl_kernel_" + entry + "_workgroup", *libraries.begin());
}

void add_cpu(Artefacts& result, const std::string& library) {
  if (library.empty()) {
    result.missing = "no assembly: the kernel was compiled with duogemm";
    return;
  }
  const TemporaryDirectory folder;
  write_file(folder.path() / "kernel.so", library);
  add_x86(result, "duogemm_entry", folder.path() / "kernel.so");
}

// As compiled: what the compiler is told besides is said at the top.
std::string source_of(const Step& step, const Device& device) {
  const Defines defines(step.kernel->tunables.begin(), step.kernel->tunables.end());
  return "// " + device.build_options({step.kernel->spec->name, {}, defines, false}) + "\n" +
         kernel_text(step.kernel->spec->path);
}

// Takes the step of a plan that multiplies, compiled by a device that was opened to explain. On PoCL, which
// compiles a kernel when it is first launched, the plan runs once. queue: null for a device that is absent.
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
  } else if (device.info().platform == "Portable Computing Language") {
    pocl.fresh(step.kernel->spec->name);
    run_once(plan, problem, device, *queue, programs);
    add_pocl(result, step.kernel->spec->name, pocl.fresh(step.kernel->spec->name));
  } else if (device.info().backend == "cpu") {
    add_cpu(result, kernel->binary());
  } else if (!result.facts.wgsl.empty()) {
    result.files.emplace_back("wgsl", result.facts.wgsl);
    result.missing = "no instructions: WebGPU hands out the shader alone, which --dump writes";
  } else {
    result.missing = "no instructions: this runtime does not hand out what it compiles";
  }
  return result;
}

// Counts the products of BF16 or FP16 for each of FP32.
int products_of(const LadderSetting& setting) {
  if (const Rung* rung = as_rung(*setting.spec)) {
    return rung->bf16_products;
  }
  return setting.spec->family->multiplies_in(Precision::fp32) ? 0 : duogemm::products_of(setting.precision);
}

Explanation explain_one(const LadderSetting& setting, Device& device, Queue* queue, const Shape& shape,
                        PoclCache& pocl) {
  const Problem problem = Problem::packed(shape.m, shape.n, shape.k);
  const Plan plan = plan_setting(setting, problem, device.info());
  const Step& step = plan.steps[plan.multiply];
  Explanation result{.setting = setting, .device = device.info(), .problem = shape};
  if (setting.planned) {
    result.setting.spec = step.kernel->spec;
  }
  result.tunables = step.kernel->tunables;
  result.local = step.geometry.local;
  result.tile = tile_of(plan, shape);
  result.artefacts = artefacts_of(plan, problem, device, queue, pocl);
  result.local_bytes = result.artefacts.facts.local_bytes.value_or(step.kernel->local_bytes);
  const std::size_t work_items = result.local[0] * result.local[1] * result.local[2];
  const Multiples& tile = result.tile;
  result.loop = find_main_loop(result.artefacts.listing, static_cast<double>(tile.m * tile.n * tile.k) /
                                                             static_cast<double>(work_items));
  result.products = products_of(result.setting);
  const Multiprocessor* unit = multiprocessor_of(device.info().compute_capability);
  if (unit && result.artefacts.registers()) {
    result.occupancy = occupancy(*unit, work_items, *result.artefacts.registers(), result.local_bytes);
  }
  return result;
}

// With what the device was measured to do. Operands that a cache keeps from one execution to the next are not
// held up by the memory.
void add_roofline(Explanation& explanation, double peak, Bandwidth bandwidth, bool cold) {
  if (!explanation.loop) {
    return;
  }
  if (!cold && bytes_of(explanation.problem) <= static_cast<double>(explanation.device.cache_bytes)) {
    bandwidth.memory = 0.0;
  }
  explanation.roofline = roofline(explanation.loop->mix, explanation.problem, explanation.tile,
                                  {peak, bandwidth, multiprocessor_of(explanation.device.compute_capability),
                                   explanation.device.vector_floats},
                                  explanation.products);
}

void explain_absent(const ExplainRequest& request, PoclCache& pocl, ExplainReport& report) {
  const Backend* cuda = find_backend("cuda");
  if (cuda == nullptr) {
    throw Error(Status::unsupported,
                "--arch: this build has no CUDA, which alone compiles for devices that are not there");
  }
  const std::unique_ptr<Device> device = cuda->absent(*request.absent);
  for (const LadderSetting& setting : request.settings) {
    report.explanations.push_back(explain_one(setting, *device, nullptr, *request.shape, pocl));
    add_roofline(report.explanations.back(), 0.0, {}, request.cold);
  }
}

// Tells everything but the measured speed.
std::vector<Explanation> explain_on(const ChosenDevice& chosen, const ExplainRequest& request,
                                    PoclCache& pocl, Progress& progress) {
  const std::unique_ptr<Device> device = chosen.backend->open(chosen.index, {.explain = true});
  const std::unique_ptr<Queue> queue = device->create_queue();
  std::vector<Explanation> explanations;
  Parts parts(request.settings.size());
  for (const LadderSetting& setting : request.settings) {
    progress.show(parts.next() + device->info().backend + ": " + setting.spec->name + ": compiling");
    try {
      explanations.push_back(explain_one(setting, *device, queue.get(), *request.shape, pocl));
    } catch (const Error& error) {
      throw Error(error.status(), setting.spec->name + ": " +
                                      (error.status() == Status::unsupported ? "needs " : "") + error.what());
    }
  }
  return explanations;
}

// A step takes what the plan up to it takes longer than the plan up to the one before.
std::vector<StepTime> step_times(const Row& row) {
  std::vector<StepTime> times;
  double before = 0.0;
  for (std::size_t i = 0; !row.first_steps.empty() && i < row.launched.size(); ++i) {
    const Samples& samples = i < row.first_steps.size() ? row.first_steps[i] : row.samples;
    if (samples.seconds.empty()) {
      return {};  // the run was interrupted
    }
    times.push_back({row.launched[i], std::max(samples.median() - before, 0.0)});
    before = samples.median();
  }
  return times;
}

}  // namespace

PoclCache::PoclCache() { set_environment("POCL_CACHE_DIR", folder_.path().string()); }

std::set<std::filesystem::path> PoclCache::fresh(const std::string& kernel) {
  std::set<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
    if (entry.path().filename() == kernel + ".so" && known_.insert(entry.path()).second) {
      found.insert(entry.path());
    }
  }
  return found;
}

double Explanation::speed() const {
  return measured.seconds.empty() ? 0.0 : problem.flops() / measured.median();
}

std::string Explanation::name() const { return name_of(setting); }

ExplainReport explain(const ExplainRequest& request, PoclCache& pocl, Progress& progress) {
  ExplainReport report;
  if (request.absent) {
    explain_absent(request, pocl, report);
    return report;
  }
  LadderRequest ladder = request;
  ladder.device_options.explain = true;
  ladder.each_step = true;
  require_ladder_memory(ladder, *ladder.shape);
  std::vector<std::vector<Explanation>> by_device;
  for (const ChosenDevice& chosen : request.devices) {
    by_device.push_back(explain_on(chosen, request, pocl, progress));
  }
  report.runs = run_ladder(ladder, progress);
  for (std::size_t s = 0; s < request.settings.size(); ++s) {
    for (std::size_t d = 0; d < by_device.size(); ++d) {
      Explanation& explanation = by_device[d][s];
      const Row& row = report.runs[d].rows[s];
      explanation.measured = row.multiply.seconds.empty() ? row.samples : row.multiply;
      explanation.step_times = step_times(row);
      add_roofline(explanation, report.runs[d].peak, report.runs[d].bandwidth, request.cold);
      report.explanations.push_back(std::move(explanation));
    }
  }
  return report;
}

}  // namespace duogemm::bench
