#include <algorithm>
#include <atomic>
#include <exception>
#include <list>
#include <mutex>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "cuda_device.h"
#include "system/reject.h"

namespace duogemm::cuda {
namespace {

using Nodes = std::vector<CUgraphNode>;

// A capture as it stands: what the stream's next command will follow is `last`.
struct GraphInCapture {
  cuuint64_t id = 0;  // which no other capture of the process has
  CUgraph graph = nullptr;
  Nodes last;
};

GraphInCapture capture_of(CUstream stream) {
  GraphInCapture capture;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUgraphNode* nodes = nullptr;
  const void* edges = nullptr;
  std::size_t count = 0;
  if (driver()->cuStreamGetCaptureInfo_v3 != nullptr) {
    DUOGEMM_CUDA(
        cuStreamGetCaptureInfo_v3(stream, &status, &capture.id, &capture.graph, &nodes, &edges, &count));
  } else if (driver()->cuStreamGetCaptureInfo_v2 != nullptr) {
    DUOGEMM_CUDA(cuStreamGetCaptureInfo_v2(stream, &status, &capture.id, &capture.graph, &nodes, &count));
  } else {
    throw Error(Status::out_of_memory,
                "a graph's memory: the driver is older than CUDA 11.3, which tells of captures");
  }
  if (status != CU_STREAM_CAPTURE_STATUS_ACTIVE) {
    reject("the stream's capture is no longer valid");
  }
  capture.last.assign(nodes, nodes + count);
  return capture;
}

Nodes dependencies_of(CUgraphNode node) {
  std::size_t count = 0;
  DUOGEMM_CUDA(cuGraphNodeGetDependencies_v2(node, nullptr, nullptr, &count));
  Nodes nodes(count);
  std::vector<std::uint64_t> edges(count);  // a CUgraphEdgeData has 8 bytes; without them the call may fail
  DUOGEMM_CUDA(cuGraphNodeGetDependencies_v2(node, nodes.data(), edges.data(), &count));
  return nodes;
}

// Whether all of `earlier` are done before a command starts that follows `last`. Streams mostly say so at
// once, as commands follow each other there; a program may also have changed what the next command follows
// (cuStreamUpdateCaptureDependencies). Where the way back is long, the answer is no.
bool are_done_before(const Nodes& earlier, const Nodes& last) {
  constexpr std::size_t far = 1000;
  if (driver()->cuGraphNodeGetDependencies_v2 == nullptr) {
    return false;
  }
  std::set<CUgraphNode> wanted(earlier.begin(), earlier.end());
  std::set<CUgraphNode> seen(last.begin(), last.end());
  Nodes next = last;
  while (!next.empty()) {
    const CUgraphNode node = next.back();
    next.pop_back();
    wanted.erase(node);
    if (wanted.empty() || seen.size() > far) {
      break;
    }
    for (const CUgraphNode before : dependencies_of(node)) {
      if (seen.insert(before).second) {
        next.push_back(before);
      }
    }
  }
  return wanted.empty();
}

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

}  // namespace

std::unique_ptr<Recording> record(const SharedContext& context, CUstream stream,
                                  const std::function<void()>& enqueue) {
  const CurrentContext current(context);
  // Relaxed: a library that loads its kernels when they are first used may do so within the capture.
  DUOGEMM_CUDA(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  std::exception_ptr failure;
  try {
    enqueue();
  } catch (...) {
    failure = std::current_exception();
  }
  CUgraph graph = nullptr;
  const CUresult ended = driver()->cuStreamEndCapture(stream, &graph);
  const std::unique_ptr<CUgraph_st, void (*)(CUgraph)> owned(
      graph, [](CUgraph captured) { driver()->cuGraphDestroy(captured); });
  if (failure) {
    std::rethrow_exception(failure);
  }
  check(ended, "cuStreamEndCapture");
  return std::make_unique<CudaRecording>(context, stream, graph);
}

struct GraphMemory::Piece {
  CUdeviceptr pointer;
  std::size_t bytes;
  std::optional<cuuint64_t> capture = {};  // whose graph has it; nothing: no graph does
  std::optional<Nodes> last = {};          // that use it; nothing while it is lent
};

// The mutex is not held while the driver is called, which may be waiting for a user object to end.
struct GraphMemory::Pool : std::enable_shared_from_this<Pool> {
  std::mutex mutex;
  std::list<Piece> pieces;
  std::atomic<std::size_t> unused = 0;  // of them, those that no graph has; every call asks

  // The first idle piece of the capture, behind those in `passed`, that is large enough, and what used it
  // last. Null where there is none.
  std::pair<Piece*, Nodes> claim(cuuint64_t capture, std::size_t bytes, const std::vector<Piece*>& passed) {
    const std::lock_guard lock(mutex);
    for (Piece& piece : pieces) {
      if (piece.capture == capture && piece.last && piece.bytes >= bytes &&
          std::find(passed.begin(), passed.end(), &piece) == passed.end()) {
        return {&piece, *std::exchange(piece.last, std::nullopt)};
      }
    }
    return {};
  }

  // One that no graph has; null where there is none of about this size.
  Piece* claim_unused(cuuint64_t capture, std::size_t bytes) {
    const std::lock_guard lock(mutex);
    for (Piece& piece : pieces) {
      if (!piece.capture && piece.bytes >= bytes && piece.bytes / 2 <= bytes) {
        piece.capture = capture;
        --unused;
        return &piece;
      }
    }
    return nullptr;
  }

  // Where all pieces of a capture are too small, the next has at least twice as much as the largest, so that
  // they have little more than twice what is needed together. The first is as large as it must be: programs
  // such as XLA capture each product into a graph of its own.
  Piece* add(cuuint64_t capture, std::size_t bytes) {
    CUdeviceptr pointer = 0;
    const std::size_t present = largest(capture);
    bytes = bytes > present ? std::max(bytes, 2 * present) : bytes;
    DUOGEMM_CUDA(cuMemAlloc(&pointer, bytes));
    const std::lock_guard lock(mutex);
    return &pieces.emplace_back(Piece{pointer, bytes, capture});
  }

  std::size_t largest(cuuint64_t capture) {
    const std::lock_guard lock(mutex);
    std::size_t largest = 0;
    for (const Piece& piece : pieces) {
      largest = piece.capture == capture ? std::max(largest, piece.bytes) : largest;
    }
    return largest;
  }

  void set_last(Piece& piece, std::optional<Nodes> last) {
    const std::lock_guard lock(mutex);
    piece.last = std::move(last);
  }

  void end(Piece& piece) {
    const std::lock_guard lock(mutex);
    piece.capture.reset();
    piece.last.reset();
    ++unused;
  }

  // Has the graph own a piece that is lent to its capture.
  void give(CUgraph graph, Piece& piece) {
    struct Owned {
      std::shared_ptr<Pool> pool;
      Piece& piece;
    };
    // The driver calls it on a thread of its own, which may call nothing of CUDA.
    const auto end_of_object = [](void* data) {
      const std::unique_ptr<Owned> owned(static_cast<Owned*>(data));
      owned->pool->end(owned->piece);
    };
    auto owned = std::make_unique<Owned>(Owned{shared_from_this(), piece});
    CUuserObject object = nullptr;
    const CUresult created = driver()->cuUserObjectCreate(&object, owned.get(), end_of_object, 1,
                                                          CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    if (created != CUDA_SUCCESS) {
      end(piece);
      check(created, "cuUserObjectCreate");
    }
    static_cast<void>(owned.release());  // the object has it now
    const CUresult given = driver()->cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE);
    if (given != CUDA_SUCCESS) {
      driver()->cuUserObjectRelease(object, 1);
      check(given, "cuGraphRetainUserObject");
    }
  }

  std::list<Piece> take_unused() {
    const std::lock_guard lock(mutex);
    std::list<Piece> taken;
    for (auto piece = pieces.begin(); piece != pieces.end();) {
      const auto next = std::next(piece);
      if (!piece->capture) {
        taken.splice(taken.end(), pieces, piece);
      }
      piece = next;
    }
    unused -= taken.size();
    return taken;
  }
};

class GraphMemory::Lent final : public Buffer {
 public:
  Lent(SharedContext context, CUstream stream, std::shared_ptr<Pool> pool, Piece& piece)
      : context_(std::move(context)), stream_(stream), pool_(std::move(pool)), piece_(piece) {}
  // A piece of which it is not known what uses it is lent no more.
  ~Lent() override {
    try {
      pool_->set_last(piece_, capture_of(stream_).last);
    } catch (...) {
    }
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  std::size_t bytes() const override { return piece_.bytes; }
  std::unique_ptr<Buffer> slice(std::size_t offset, std::size_t) const override {
    return borrow_memory(context_, reinterpret_cast<const void*>(piece_.pointer + offset));
  }
  std::uintptr_t native() const override { return piece_.pointer; }

 private:
  SharedContext context_;
  CUstream stream_;
  std::shared_ptr<Pool> pool_;
  Piece& piece_;
};

GraphMemory::GraphMemory() : pool_(std::make_shared<Pool>()) {}

std::unique_ptr<Buffer> GraphMemory::lend(const SharedContext& context, CUstream stream, std::size_t bytes) {
  const GraphInCapture capture = capture_of(stream);
  std::vector<Piece*> passed;
  for (auto [piece, last] = pool_->claim(capture.id, bytes, passed); piece != nullptr;
       std::tie(piece, last) = pool_->claim(capture.id, bytes, passed)) {
    if (are_done_before(last, capture.last)) {
      return std::make_unique<Lent>(context, stream, pool_, *piece);
    }
    pool_->set_last(*piece, std::move(last));
    passed.push_back(piece);
  }
  Piece* piece = pool_->claim_unused(capture.id, bytes);
  if (piece == nullptr) {
    try {
      piece = pool_->add(capture.id, bytes);
    } catch (const Error&) {
      if (!has_unused()) {
        throw;
      }
      free_unused();
      piece = pool_->add(capture.id, bytes);
    }
  }
  pool_->give(capture.graph, *piece);
  return std::make_unique<Lent>(context, stream, pool_, *piece);
}

bool GraphMemory::has_unused() const { return pool_->unused > 0; }

void GraphMemory::free_unused() {
  for (const Piece& piece : pool_->take_unused()) {
    driver()->cuMemFree(piece.pointer);
  }
}

}  // namespace duogemm::cuda
