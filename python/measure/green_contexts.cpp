// Products in contexts that have a part of a GPU, beside cuBLAS in the same: calls in CUDA graphs.
//
//   green_contexts SHAPES UNITS [UNITS ...]
//
// SHAPES is a file as bench/draw_shapes.py writes it, UNITS a number of multiprocessors. For each number it
// prints how many the context has, the mean of cuBLAS's time over ours, of products of more than 30 us alone
// too, and the three worst. Built by: g++ -O2 -std=c++20 -I $CUDA/include green_contexts.cpp -l duogemm
// -l cublas -l cuda
#include <cublas_v2.h>
#include <cuda.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "duogemm/cuda.hpp"

namespace {

struct Shape {
  std::string line;
  duogemm::Sgemm problem;
};

void check(int result, const char* what) {
  if (result != 0) {
    std::fprintf(stderr, "green_contexts: %s returned %d\n", what, result);
    std::exit(1);
  }
}
#define CHECK(call) check(call, #call)

std::vector<Shape> read_shapes(const char* path) {
  std::vector<Shape> shapes;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string label, ops, batch;
    duogemm::Sgemm p;
    if (line.empty() || line[0] == '#' || !(words >> label >> p.m >> p.n >> p.k >> ops)) {
      continue;
    }
    p.batch = words >> batch ? std::stol(batch.substr(batch.find('=') + 1)) : 1;
    p.a_op = ops[0] == 'T' ? duogemm::Transpose::yes : duogemm::Transpose::no;
    p.b_op = ops[1] == 'T' ? duogemm::Transpose::yes : duogemm::Transpose::no;
    p.lda = ops[0] == 'T' ? p.k : p.m;
    p.ldb = ops[1] == 'T' ? p.n : p.k;
    p.ldc = p.m;
    p.a_stride = p.m * p.k;
    p.b_stride = p.k * p.n;
    p.c_stride = p.m * p.n;
    shapes.push_back({line, p});
  }
  return shapes;
}

// Seconds of one call in a graph of several, the least of a few runs.
double seconds(CUstream stream, const std::function<void()>& call) {
  constexpr int calls = 20, runs = 7;
  call();
  CHECK(cuStreamSynchronize(stream));
  CUgraph graph;
  CUgraphExec exec;
  CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  for (int i = 0; i < calls; ++i) {
    call();
  }
  CHECK(cuStreamEndCapture(stream, &graph));
  CHECK(cuGraphInstantiate(&exec, graph, 0));
  CUevent start, end;
  CHECK(cuEventCreate(&start, 0));
  CHECK(cuEventCreate(&end, 0));
  float least = INFINITY;
  for (int i = 0; i <= runs; ++i) {
    float took = 0;
    CHECK(cuEventRecord(start, stream));
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuEventRecord(end, stream));
    CHECK(cuEventSynchronize(end));
    CHECK(cuEventElapsedTime(&took, start, end));
    least = i == 0 ? least : std::min(least, took);  // the first uploads the graph
  }
  cuEventDestroy(start);
  cuEventDestroy(end);
  cuGraphExecDestroy(exec);
  cuGraphDestroy(graph);
  return 1e-3 * least / calls;
}

CUcontext part_of(CUdevice device, unsigned units, CUgreenCtx& green) {
  CUdevResource all{}, part{}, rest{};
  CUdevResourceDesc description;
  CUcontext context;
  unsigned groups = 1;
  CHECK(cuDeviceGetDevResource(device, &all, CU_DEV_RESOURCE_TYPE_SM));
  CHECK(cuDevSmResourceSplitByCount(&part, &groups, &all, &rest, 0, units));
  CHECK(cuDevResourceGenerateDesc(&description, &part, 1));
  CHECK(cuGreenCtxCreate(&green, description, device, CU_GREEN_CTX_DEFAULT_STREAM));
  CHECK(cuCtxFromGreenCtx(&context, green));
  std::printf("%u units asked for, %u had: ", units, part.sm.smCount);
  return context;
}

double mean(const std::vector<double>& ratios) {
  double sum = 0;
  for (const double ratio : ratios) {
    sum += std::log(ratio);
  }
  return std::exp(sum / static_cast<double>(ratios.size()));
}

void compare(CUdevice device, const std::vector<Shape>& shapes, unsigned units) {
  CUgreenCtx green;
  CHECK(cuCtxSetCurrent(part_of(device, units, green)));
  CUstream stream;
  CHECK(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
  cublasHandle_t cublas;
  CHECK(cublasCreate(&cublas));
  CHECK(cublasSetStream(cublas, stream));
  CUdeviceptr workspace;
  constexpr std::size_t workspace_bytes = std::size_t{32} << 20;  // as NVIDIA asks for in graphs
  CHECK(cuMemAlloc(&workspace, workspace_bytes));
  CHECK(cublasSetWorkspace(cublas, reinterpret_cast<void*>(workspace), workspace_bytes));
  std::vector<double> all, longer;
  std::vector<std::pair<double, std::string>> rows;
  for (const Shape& shape : shapes) {
    const duogemm::Sgemm& p = shape.problem;
    CUdeviceptr memory[3];
    const std::int64_t counts[] = {p.a_stride, p.b_stride, p.c_stride};
    for (int i = 0; i < 3; ++i) {
      std::vector<float> values(static_cast<std::size_t>(counts[i] * p.batch));
      for (float& value : values) {
        value = static_cast<float>(std::rand()) / static_cast<float>(RAND_MAX) - 0.5f;
      }
      CHECK(cuMemAlloc(&memory[i], values.size() * sizeof(float)));
      CHECK(cuMemcpyHtoD(memory[i], values.data(), values.size() * sizeof(float)));
    }
    const auto at = [&](int i) { return reinterpret_cast<float*>(memory[i]); };
    const double ours = seconds(stream, [&] { duogemm::cuda::sgemm(stream, p, at(0), at(1), at(2)); });
    const auto op = [](duogemm::Transpose t) {
      return t == duogemm::Transpose::yes ? CUBLAS_OP_T : CUBLAS_OP_N;
    };
    const float one = 1, zero = 0;
    const auto number = [](std::int64_t value) { return static_cast<int>(value); };
    const double theirs = seconds(stream, [&] {
      CHECK(cublasSgemmStridedBatched(cublas, op(p.a_op), op(p.b_op), number(p.m), number(p.n), number(p.k),
                                      &one, at(0), number(p.lda), p.a_stride, at(1), number(p.ldb),
                                      p.b_stride, &zero, at(2), number(p.ldc), p.c_stride, number(p.batch)));
    });
    for (const CUdeviceptr one_of : memory) {
      cuMemFree(one_of);
    }
    all.push_back(theirs / ours);
    rows.emplace_back(theirs / ours, shape.line);
    if (ours > 30e-6) {
      longer.push_back(theirs / ours);
    }
  }
  std::sort(rows.begin(), rows.end());
  std::printf("%zu shapes, mean %.3f; %zu over 30 us, %.3f; worst", all.size(), mean(all), longer.size(),
              mean(longer));
  for (std::size_t i = 0; i < std::min<std::size_t>(rows.size(), 3); ++i) {
    std::printf(" %.2f (%s)", rows[i].first, rows[i].second.c_str());
  }
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) {
    std::fprintf(stderr, "usage: green_contexts SHAPES UNITS [UNITS ...]\n");
    return 2;
  }
  const std::vector<Shape> shapes = read_shapes(words[1]);
  CUdevice device;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  for (int i = 2; i < count; ++i) {
    compare(device, shapes, static_cast<unsigned>(std::atoi(words[i])));
  }
}
