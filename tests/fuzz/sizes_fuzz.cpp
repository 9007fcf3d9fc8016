// A libFuzzer target: problems, offsets and workspaces of any size for the entry points on OpenCL's memory,
// and for the planner of a GPU. Buffers are small: what does not fit into them must be refused, and what fits
// must work. However large the problem is, there is a plan, or the device or its memory is said not to do; an
// overflow is seen by UndefinedBehaviorSanitizer. (tests/sizes_test.cpp has CUDA's entry points, which tell
// what is wrong without a device.)
#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <vector>

#include "api/c_api.h"
#include "duogemm/opencl.h"
#include "opencl_api.h"
#include "opencl_devices.h"
#include "plan/lower.h"
#include "problem_bytes.h"

namespace duogemm::fuzz {
namespace {

constexpr std::size_t buffer_elements = 64;
constexpr std::size_t table_members = 8;
constexpr std::size_t workspace_bytes = 4096;

struct Caller {
  explicit Caller(const cl::Device& device)
      : context(device),
        queue(context, device),
        alignment(std::max<std::size_t>(device.getInfo<CL_DEVICE_MEM_BASE_ADDR_ALIGN>() / 8, 256)) {}

  template <typename T>
  cl::Buffer buffer(std::size_t count) const {
    std::vector<T> zeros(count);
    return cl::Buffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(T) * count, zeros.data());
  }

  cl::Context context;
  cl::CommandQueue queue;
  std::size_t alignment;  // of workspaces
  cl::Buffer a = buffer<float>(buffer_elements);
  cl::Buffer b = buffer<float>(buffer_elements);
  cl::Buffer c = buffer<float>(buffer_elements);
  cl::Buffer table = buffer<cl_long>(table_members);
  cl::Buffer workspace = buffer<char>(workspace_bytes);
};

std::optional<Caller>& caller() {
  static std::optional<Caller>& only = *new std::optional<Caller>;  // outlives the driver's own end
  return only;
}

// A GPU that runs as many work-groups as one likes, so that nothing but memory is short.
const Planner& endless_gpu() {
  static const Planner planner([] {
    DeviceInfo info;
    info.kind = DeviceKind::gpu;
    info.compute_units = 132;
    info.clock_mhz = 1980;
    info.local_bytes = 48 << 10;
    info.max_work_group = 1024;
    info.max_groups.fill(std::numeric_limits<std::size_t>::max());
    return info;
  }());
  return planner;
}

// Mostly small, and around the largest number now and then.
std::size_t offset(Bytes& bytes) {
  const std::uint8_t choice = bytes.next();
  return choice < 160 ? choice % 8 : choice < 200 ? 60 + choice % 8 : static_cast<std::size_t>(bytes.any());
}

struct Offsets {
  std::size_t a, b, c, workspace, workspace_bytes;
};

void expect(bool truth, const char* what, const duogemm_problem& p, const Offsets& offsets) {
  if (!truth) {
    std::fprintf(stderr, "offsets %zu, %zu and %zu, workspace of %zu bytes from byte %zu\n", offsets.a,
                 offsets.b, offsets.c, offsets.workspace_bytes, offsets.workspace);
  }
  require(truth, what, p);
}

bool is_refused(duogemm_status status) {
  return status == DUOGEMM_INVALID_ARGUMENT && duogemm_last_error()[0] != '\0';
}

bool fits(std::size_t offset, Wide extent) { return Wide{offset} + extent <= Wide{buffer_elements}; }

// What the call with the problem's strides must answer, given that the problem itself is valid.
bool matrices_fit(const Reading& reading, const Offsets& offsets, std::int64_t batch) {
  return fits(offsets.c, reading.c.extent(batch)) &&
         (!reading.multiplies ||
          (fits(offsets.a, reading.a.extent(batch)) && fits(offsets.b, reading.b.extent(batch))));
}

void check_strided(const duogemm_problem& p, const Offsets& at, bool is_valid, bool is_empty,
                   bool matrices_fit) {
  Caller& on = *caller();
  const duogemm_status plain =
      duogemm_opencl_sgemm(on.queue(), &p, on.a(), at.a, on.b(), at.b, on.c(), at.c, 0, nullptr, nullptr);
  const bool is_right = is_valid && (is_empty || matrices_fit);
  expect(is_right ? plain == DUOGEMM_SUCCESS : is_refused(plain), "a call on buffers", p, at);
  const bool workspace_fits = at.workspace <= workspace_bytes &&
                              at.workspace_bytes <= workspace_bytes - at.workspace &&
                              at.workspace % on.alignment == 0;
  const duogemm_status lent =
      duogemm_opencl_sgemm_with_workspace(on.queue(), &p, on.a(), at.a, on.b(), at.b, on.c(), at.c, 0,
                                          nullptr, nullptr, on.workspace(), at.workspace, at.workspace_bytes);
  expect(is_right && (is_empty || workspace_fits) ? lent == DUOGEMM_SUCCESS : is_refused(lent),
         "a call with a workspace", p, at);
}

// Of members that all begin at `at`, because tables are full of zeros.
void check_listed(const duogemm_problem& p, const Offsets& at, bool is_valid, const Reading& reading) {
  Caller& on = *caller();
  const bool fits_lists = p.batch <= static_cast<std::int64_t>(table_members) && fits(at.c, 0) &&
                          (!reading.multiplies || (fits(at.a, 0) && fits(at.b, 0)));
  const bool is_right = is_valid && (reading.is_empty || fits_lists);
  if (is_right && !reading.is_empty && !matrices_fit(reading, at, 1)) {
    return;  // the caller's tables would lead out of the buffers, which nobody promises to see
  }
  const duogemm_status status =
      duogemm_opencl_sgemm_batched(on.queue(), &p, on.a(), at.a, on.table(), on.b(), at.b, on.table(), on.c(),
                                   at.c, on.table(), 0, nullptr, nullptr);
  expect(is_right ? status == DUOGEMM_SUCCESS : is_refused(status), "a call with tables", p, at);
}

bool has_a_plan_or_a_reason(duogemm_status status) {
  return status == DUOGEMM_SUCCESS || status == DUOGEMM_UNSUPPORTED || status == DUOGEMM_OUT_OF_MEMORY;
}

void check_workspace_queries(const duogemm_problem& p, const Offsets& at, bool strided_is_valid,
                             bool listed_is_valid) {
  std::size_t bytes = 0;
  const duogemm_status strided = duogemm_opencl_sgemm_workspace_bytes(caller()->queue(), &p, &bytes);
  expect(strided_is_valid ? has_a_plan_or_a_reason(strided) : is_refused(strided), "a workspace's size", p,
         at);
  const duogemm_status listed = duogemm_opencl_sgemm_batched_workspace_bytes(caller()->queue(), &p, &bytes);
  expect(listed_is_valid ? has_a_plan_or_a_reason(listed) : is_refused(listed),
         "a workspace's size for lists", p, at);
  const duogemm_status planned = call_from_c(&p, [](const Sgemm& request) {
    lay_out_workspaces(plan_sgemm(to_column_major(request).problem, endless_gpu()), endless_gpu().device());
  });
  expect(strided_is_valid ? has_a_plan_or_a_reason(planned) : is_refused(planned), "a GPU's plan", p, at);
}

}  // namespace
}  // namespace duogemm::fuzz

// Ends with 77 where there is no device.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const std::vector<cl::Device> devices = duogemm::opencl::find_devices();
  if (devices.empty()) {
    std::fprintf(stderr, "skipped: no opencl device was found\n");
    std::_Exit(77);
  }
  duogemm::fuzz::caller().emplace(devices.front());
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace duogemm::fuzz;
  Bytes bytes(data, size, true);
  const Offsets at{offset(bytes), offset(bytes), offset(bytes), offset(bytes) * 64, offset(bytes)};
  const duogemm_problem p = decode(bytes);
  duogemm_problem member = p;  // whose strides do not count
  member.a_stride = member.b_stride = 0;
  member.c_stride = 1;
  if (!enumerators_are_valid(p)) {
    check_strided(p, at, false, false, false);
    check_workspace_queries(p, at, false, false);
    return 0;
  }
  const Reading reading(p);
  const Reading listed(member);
  const bool is_valid =
      numbers_are_valid(p, reading) && !reaches_too_far(p, reading) && !results_overlap(p, reading);
  const bool listed_is_valid = numbers_are_valid(member, listed) && !reaches_too_far(member, listed);
  check_strided(p, at, is_valid, reading.is_empty, matrices_fit(reading, at, p.batch));
  check_listed(p, at, listed_is_valid, listed);
  check_workspace_queries(p, at, is_valid, listed_is_valid);
  caller()->queue.finish();
  return 0;
}
