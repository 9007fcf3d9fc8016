// Multiplications that need workspace, on the caller's own CUDA streams and in graphs. The plans are those of
// workspace_plan.cpp.
#include <cuda_runtime_api.h>

#include <chrono>
#include <deque>
#include <latch>
#include <memory>
#include <thread>

#include "cuda_caller.h"
#include "duogemm/cuda.h"
#include "product.h"
#include "refusal.h"

namespace duogemm::testing {
namespace {

// A product with its matrices on the device.
class CudaProduct : public Product {
 public:
  CudaProduct(std::int64_t m, std::int64_t n, std::int64_t k, std::uint32_t seed)
      : Product(m, n, k, seed), a_(host().a), b_(host().b), c_(host().c) {}

  void enqueue(CUstream stream) const { cuda::sgemm(stream, request(), a_.data(), b_.data(), c_.data()); }
  // In C. The problem's members are the request's.
  duogemm_status enqueue_in_c(CUstream stream, const duogemm_problem& problem,
                              cuda::Workspace workspace) const {
    return duogemm_cuda_sgemm_with_workspace(stream, &problem, a_.data(), b_.data(), c_.data(),
                                             workspace.pointer, workspace.bytes);
  }
  std::size_t workspace_bytes() const { return cuda::sgemm_workspace_bytes(nullptr, request()); }

  void reset() const { c_.write(host().c); }
  std::vector<float> result(CUstream stream) const {
    std::vector<float> c(host().c.size());
    c_.read(c, stream);
    return c;
  }
  bool is_right(CUstream stream) const { return is(result(stream)); }
  bool is_untouched() const { return result(nullptr) == host().c; }

 private:
  CudaMemory a_;
  CudaMemory b_;
  CudaMemory c_;
};

// Adds one of 24 products, no two of one size.
void add_product(std::deque<CudaProduct>& products, std::uint32_t number) {
  const std::int64_t size = 17 + 3 * (number % 24);
  products.emplace_back(size, size + 5, size - 6, number);
}

class CudaWorkspace : public CudaDeviceTest {
 protected:
  void SetUp() override {
    CudaDeviceTest::SetUp();
    if (context_) {
      current_.emplace(context_);
    }
  }

  // Eight threads, whose calls meet: none begins before all are ready, or waits before all its calls are
  // made.
  void check_threads(const std::function<CUstream()>& stream_of_thread) const {
    std::latch ready(8);
    std::vector<std::jthread> threads;
    for (std::uint32_t t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        const cuda::CurrentContext current(context_);
        const CUstream stream = stream_of_thread();
        std::deque<CudaProduct> products;
        for (std::uint32_t i = 0; i < 24; ++i) {
          add_product(products, 24 * t + i);
        }
        ready.arrive_and_wait();
        for (const CudaProduct& p : products) {
          p.enqueue(stream);
        }
        for (const CudaProduct& p : products) {
          EXPECT_TRUE(p.is_right(stream));
        }
      });
    }
  }

  std::optional<cuda::CurrentContext> current_;
};

TEST_P(CudaWorkspace, IsToldInBytes) {
  // A and B with leading dimensions of 40 and 24, and two slices' sums, one after the other at multiples of
  // 256.
  EXPECT_EQ(CudaProduct(33, 17, 32, 1).workspace_bytes(), sizeof(float) * (40 * 32 + 24 * 32 + 2 * 36 * 17));
  EXPECT_EQ(CudaProduct(32, 16, 48, 1).workspace_bytes(), 0u);
  EXPECT_EQ(cuda::sgemm_workspace_bytes(nullptr, {}), 0u);
  EXPECT_EQ(cuda::sgemm_batched_workspace_bytes(nullptr, {}), 0u);
  EXPECT_EQ(refusal([] { cuda::sgemm_workspace_bytes(nullptr, {.m = -1}); }),
            "m is -1; it must be at least 0");
}

TEST_P(CudaWorkspace, ThreadsOnOneStream) {
  const CUstream stream = make_stream();
  check_threads([&] { return stream; });
}

// One handle, but each thread has a stream of its own for it.
TEST_P(CudaWorkspace, ThreadsOnThePerThreadStream) {
  check_threads([] { return CU_STREAM_PER_THREAD; });
}

// A stream may be destroyed while its commands run, and the next has its handle.
TEST_P(CudaWorkspace, ManyStreamsOneAfterTheOther) {
  std::deque<CudaProduct> products;
  for (std::uint32_t i = 0; i < 200; ++i) {
    add_product(products, i);
  }
  for (const CudaProduct& p : products) {
    const CUstream stream = make_stream();
    p.enqueue(stream);
    DUOGEMM_CUDA(cuStreamDestroy(stream));
  }
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (const CudaProduct& p : products) {
    EXPECT_TRUE(p.is_right(nullptr));
  }
}

// --- Supplied by the caller ------------------------------------------------------------------------------

TEST_P(CudaWorkspace, OfABatch) {
  const CudaMemory ones(std::vector<float>(8, 1.0f));
  const CudaMemory c(std::vector<float>(8, 0.0f));
  const CudaMemory memory(std::vector<char>(1000));
  const CudaMemory list_a(std::vector<const float*>{ones.data() + 4, ones.data()});
  const CudaMemory list_c(std::vector<float*>{c.data() + 4, c.data()});
  const Sgemm request{.m = 2, .n = 2, .k = 2, .lda = 2, .ldb = 2, .ldc = 2, .batch = 2};
  EXPECT_EQ(cuda::sgemm_batched_workspace_bytes(nullptr, request), 1000u);
  const auto call = [&](std::size_t bytes) {
    return refusal([&] {
      cuda::sgemm_batched(nullptr, request, list_a.as<const float*>(), list_a.as<const float*>(),
                          list_c.as<float*>(), cuda::Workspace{memory.data(), bytes});
    });
  };
  EXPECT_EQ(call(999), "workspace has 999 bytes; the problem needs 1000");
  EXPECT_EQ(call(1000), "accepted");
  std::vector<float> result(8);
  c.read(result, nullptr);
  EXPECT_EQ(result, std::vector<float>(8, 2.0f));
}

TEST_P(CudaWorkspace, InC) {
  const CudaProduct p(33, 17, 9, 8);
  duogemm_problem problem = DUOGEMM_PROBLEM_INIT;
  problem.m = problem.lda = problem.ldc = 33;
  problem.n = 17;
  problem.k = problem.ldb = 9;
  problem.alpha = 2.5f;
  problem.beta = 0.5f;
  std::size_t needed = 0;
  ASSERT_EQ(duogemm_cuda_sgemm_workspace_bytes(nullptr, &problem, &needed), DUOGEMM_SUCCESS);
  EXPECT_EQ(needed, p.workspace_bytes());
  EXPECT_EQ(duogemm_cuda_sgemm_workspace_bytes(nullptr, &problem, nullptr), DUOGEMM_INVALID_ARGUMENT);
  EXPECT_STREQ(duogemm_last_error(), "bytes is null");
  std::vector<int> words = painted(1024 + needed);
  const CudaMemory canvas(words);
  EXPECT_EQ(p.enqueue_in_c(nullptr, problem, {canvas.as<char>(), needed - 1}), DUOGEMM_INVALID_ARGUMENT);
  EXPECT_TRUE(p.is_untouched());
  ASSERT_EQ(p.enqueue_in_c(nullptr, problem, {canvas.as<char>() + 256, needed}), DUOGEMM_SUCCESS)
      << duogemm_last_error();
  EXPECT_TRUE(p.is_right(nullptr));
  canvas.read(words, nullptr);
  EXPECT_TRUE(changed_within(words, 256, 256 + needed));
}

// --- In a graph ------------------------------------------------------------------------------------------

// A graph of what `work` puts on the stream, to be launched.
class Graph {
 public:
  Graph(CUstream stream, const std::function<void()>& work,
        cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal) {
    EXPECT_EQ(cudaStreamBeginCapture(stream, mode), cudaSuccess);
    work();
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph_), cudaSuccess);
  }
  ~Graph() {
    if (executable_ != nullptr) {
      cudaGraphExecDestroy(executable_);
    }
    cudaGraphDestroy(graph_);
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  std::size_t size() const {
    std::size_t count = 0;
    EXPECT_EQ(cudaGraphGetNodes(graph_, nullptr, &count), cudaSuccess);
    return count;
  }
  void launch(CUstream stream) {
    if (executable_ == nullptr) {
      ASSERT_EQ(cudaGraphInstantiateWithFlags(&executable_, graph_, 0), cudaSuccess);
    }
    ASSERT_EQ(cudaGraphLaunch(executable_, stream), cudaSuccess);
  }

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

// Gives how much memory `work` takes that stays afterwards, of what was there.
std::ptrdiff_t taken_by(const std::function<void()>& work) {
  const std::size_t before = free_bytes();
  work();
  return static_cast<std::ptrdiff_t>(before - free_bytes());
}

constexpr std::ptrdiff_t mib = 1 << 20;

// Nothing of the kind was called before: not on this stream, and not with these sizes.
TEST_P(CudaWorkspace, IsAllocatedInACaptureWithoutACallBefore) {
  const CudaProduct p(611, 613, 615, 9);
  for (const auto mode :
       {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed}) {
    const CUstream stream = make_stream();
    p.reset();
    Graph graph(
        stream, [&] { p.enqueue(stream); }, mode);
    EXPECT_EQ(graph.size(), 3u);
    EXPECT_TRUE(p.is_untouched());
    graph.launch(stream);
    EXPECT_TRUE(p.is_right(stream));
  }
}

TEST_P(CudaWorkspace, IsSharedByCallsThatFollowEachOtherInAGraph) {
  const CUstream stream = make_stream();
  const CudaProduct first(1501, 1503, 1505, 1), second(1401, 1403, 1405, 2);
  {
    const Graph loads_programs(stream, [&] { first.enqueue(stream); });
  }
  const std::size_t bytes = first.workspace_bytes();
  cuda::sgemm(stream, {}, nullptr, nullptr, nullptr);
  std::unique_ptr<Graph> graph;
  const std::ptrdiff_t taken = taken_by([&] {
    graph = std::make_unique<Graph>(stream, [&] {
      for (int i = 0; i < 4; ++i) {
        first.enqueue(stream);
        second.enqueue(stream);
      }
    });
  });
  EXPECT_EQ(graph->size(), 24u);
  EXPECT_LT(taken, static_cast<std::ptrdiff_t>(2 * bytes + 4 * mib));
  first.reset();
  second.reset();
  Graph once(stream, [&] {
    first.enqueue(stream);
    second.enqueue(stream);
  });
  once.launch(stream);
  EXPECT_TRUE(first.is_right(stream));
  EXPECT_TRUE(second.is_right(stream));
}

TEST_P(CudaWorkspace, GoesWithTheLastOfAGraphItsCopiesAndItsExecutables) {
  const CUstream stream = make_stream();
  const CudaProduct p(1501, 1503, 1505, 1);
  p.enqueue(stream);
  const auto capture = [&] {
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    p.enqueue(stream);
    EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    return graph;
  };
  const auto run = [&](cudaGraphExec_t executable) {
    p.reset();
    EXPECT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
    EXPECT_TRUE(p.is_right(stream));
  };
  const auto cycle = [&] {
    // An executable of a graph that is gone, brought up to date from another, whose copy is another's child.
    cudaGraph_t graph = capture();
    cudaGraphExec_t executable = nullptr, of_parent = nullptr;
    EXPECT_EQ(cudaGraphInstantiateWithFlags(&executable, graph, 0), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    run(executable);
    graph = capture();
    cudaGraphExecUpdateResultInfo info;
    EXPECT_EQ(cudaGraphExecUpdate(executable, graph, &info), cudaSuccess);
    run(executable);
    cudaGraph_t copy = nullptr, parent = nullptr;
    EXPECT_EQ(cudaGraphClone(&copy, graph), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    EXPECT_EQ(cudaGraphCreate(&parent, 0), cudaSuccess);
    cudaGraphNode_t node = nullptr;
    EXPECT_EQ(cudaGraphAddChildGraphNode(&node, parent, nullptr, 0, copy), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(copy), cudaSuccess);
    EXPECT_EQ(cudaGraphInstantiateWithFlags(&of_parent, parent, 0), cudaSuccess);
    run(of_parent);
    graph = capture();
    EXPECT_EQ(cudaGraphExecChildGraphNodeSetParams(of_parent, node, graph), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(parent), cudaSuccess);
    run(of_parent);
    EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
    EXPECT_EQ(cudaGraphExecDestroy(of_parent), cudaSuccess);
  };
  const auto settle = [&] {
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // objects end on a thread of the driver's
    p.enqueue(stream);                                            // frees
  };
  cycle();
  settle();
  const std::ptrdiff_t taken = taken_by([&] {
    for (int i = 0; i < 100; ++i) {
      cycle();
    }
    settle();
  });
  EXPECT_LT(taken, 4 * mib);
}

// And from that of calls on the stream. An executable more of the same graph runs beside them.
TEST_P(CudaWorkspace, OfGraphsSideBySideIsApart) {
  std::deque<CudaProduct> products;
  std::vector<std::unique_ptr<Graph>> graphs;
  std::vector<CUstream> streams;
  const CUstream one = make_stream();
  for (std::uint32_t i = 0; i < 4; ++i) {
    products.emplace_back(701, 703, 705, i);
    graphs.push_back(std::make_unique<Graph>(one, [&] { products[i].enqueue(one); }));
    streams.push_back(make_stream());
  }
  const CudaProduct eager(701, 703, 705, 9);
  for (int round = 0; round < 20; ++round) {
    for (const CudaProduct& p : products) {
      p.reset();
    }
    eager.reset();
    for (std::size_t i = 0; i < 4; ++i) {
      graphs[i]->launch(streams[i]);
    }
    eager.enqueue(one);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_TRUE(eager.is_right(one));
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_TRUE(products[i].is_right(streams[i]));
    }
  }
}

// Has what is captured next follow nothing.
cudaError_t start_over(CUstream stream) {
#if CUDART_VERSION >= 13000
  return cudaStreamUpdateCaptureDependencies(stream, nullptr, nullptr, 0, cudaStreamSetCaptureDependencies);
#else
  return cudaStreamUpdateCaptureDependencies(stream, nullptr, 0, cudaStreamSetCaptureDependencies);
#endif
}

// Two branches of one capture may run at once.
TEST_P(CudaWorkspace, OfBranchesOfACaptureIsApart) {
  const CUstream stream = make_stream(), branch = make_stream();
  const CudaProduct first(701, 703, 705, 1), second(701, 703, 705, 2), third(701, 703, 705, 3);
  cudaEvent_t fork = nullptr, join = nullptr;
  ASSERT_EQ(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming), cudaSuccess);
  ASSERT_EQ(cudaEventCreateWithFlags(&join, cudaEventDisableTiming), cudaSuccess);
  Graph graph(stream, [&] {
    EXPECT_EQ(cudaEventRecord(fork, stream), cudaSuccess);
    EXPECT_EQ(cudaStreamWaitEvent(branch, fork, 0), cudaSuccess);
    first.enqueue(stream);
    second.enqueue(branch);
    EXPECT_EQ(cudaEventRecord(join, branch), cudaSuccess);
    // A third branch, by a change of what the stream's next command follows.
    ASSERT_EQ(start_over(stream), cudaSuccess);
    third.enqueue(stream);
    EXPECT_EQ(cudaStreamWaitEvent(stream, join, 0), cudaSuccess);
  });
  for (int round = 0; round < 20; ++round) {
    first.reset();
    second.reset();
    third.reset();
    graph.launch(stream);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_TRUE(first.is_right(stream));
    EXPECT_TRUE(second.is_right(stream));
    EXPECT_TRUE(third.is_right(stream));
  }
  cudaEventDestroy(fork);
  cudaEventDestroy(join);
}

// Our calls on other streams allocate, free and load while a thread captures in the strictest mode.
TEST_P(CudaWorkspace, OfOtherStreamsEndsNoCapture) {
  const CUstream stream = make_stream(), other = make_stream();
  const CudaProduct p(33, 35, 37, 1);
  std::deque<CudaProduct> growing;
  for (const std::int64_t size : {1201, 1301, 2401, 2701}) {
    growing.emplace_back(size, 1203, size + 4, 2);
  }
  Graph graph(
      stream,
      [&] {
        std::jthread([&] {
          for (const CudaProduct& each : growing) {
            each.enqueue(other);
          }
        }).join();
        p.enqueue(stream);
      },
      cudaStreamCaptureModeGlobal);
  graph.launch(stream);
  EXPECT_TRUE(p.is_right(stream));
  for (const CudaProduct& each : growing) {
    EXPECT_TRUE(each.is_right(other));
  }
}

// The body of a node that runs where a condition holds is a graph of its own.
#if CUDART_VERSION >= 12040
TEST_P(CudaWorkspace, OfAConditionalNodeStaysWithIt) {
  const CUstream stream = make_stream();
  const CudaProduct p(501, 503, 505, 11);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  cudaGraphConditionalHandle handle{};
  ASSERT_EQ(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault), cudaSuccess);
  cudaGraphNodeParams parameters{};
  parameters.type = cudaGraphNodeTypeConditional;
  parameters.conditional.handle = handle;
  parameters.conditional.type = cudaGraphCondTypeIf;
  parameters.conditional.size = 1;
  cudaGraphNode_t node = nullptr;
#if CUDART_VERSION >= 13000
  ASSERT_EQ(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &parameters), cudaSuccess);
#else
  ASSERT_EQ(cudaGraphAddNode(&node, graph, nullptr, 0, &parameters), cudaSuccess);
#endif
  ASSERT_EQ(cudaStreamBeginCaptureToGraph(stream, parameters.conditional.phGraph_out[0], nullptr, nullptr, 0,
                                          cudaStreamCaptureModeThreadLocal),
            cudaSuccess);
  p.enqueue(stream);
  cudaGraph_t body = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream, &body), cudaSuccess);
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaGraphInstantiateWithFlags(&executable, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
  EXPECT_TRUE(p.is_right(stream));
  cudaGraphExecDestroy(executable);
}
#endif

INSTANTIATE_TEST_SUITE_P(Devices, CudaWorkspace, ::testing::Values("cuda0"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace duogemm::testing
