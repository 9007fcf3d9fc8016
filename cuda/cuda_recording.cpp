#include "cuda_recording.h"

namespace duogemm::cuda {
namespace {

// A graph that can be launched.
class CudaRecording final : public Recording {
 public:
  CudaRecording(SharedContext context, CUstream stream, CUgraph graph)
      : context_(std::move(context)), stream_(stream) {
    DUOGEMM_CUDA(cuGraphInstantiateWithFlags(&launchable_, graph, 0));
  }
  ~CudaRecording() override {
    const CurrentContext current(context_);
    driver()->cuGraphExecDestroy(launchable_);
  }
  CudaRecording(const CudaRecording&) = delete;
  CudaRecording& operator=(const CudaRecording&) = delete;
  void enqueue() override {
    const CurrentContext current(context_);
    DUOGEMM_CUDA(cuGraphLaunch(launchable_, stream_));
  }

 private:
  SharedContext context_;
  CUstream stream_;
  CUgraphExec launchable_ = nullptr;
};

// Owns what a stream captures from its construction on.
class Capture {
 public:
  // Relaxed: a library that loads its kernels when they are first used may do so within the capture.
  explicit Capture(CUstream stream) : stream_(stream) {
    DUOGEMM_CUDA(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  }
  ~Capture() {
    if (capturing_) {
      driver()->cuStreamEndCapture(stream_, &graph_);
    }
    if (graph_ != nullptr) {
      driver()->cuGraphDestroy(graph_);
    }
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  CUgraph end() {
    capturing_ = false;
    DUOGEMM_CUDA(cuStreamEndCapture(stream_, &graph_));
    return graph_;
  }

 private:
  CUstream stream_;
  bool capturing_ = true;
  CUgraph graph_ = nullptr;
};

}  // namespace

std::unique_ptr<Recording> record(const SharedContext& context, CUstream stream,
                                  const std::function<void()>& enqueue) {
  const CurrentContext current(context);
  Capture capture(stream);
  enqueue();
  return std::make_unique<CudaRecording>(context, stream, capture.end());
}

}  // namespace duogemm::cuda
