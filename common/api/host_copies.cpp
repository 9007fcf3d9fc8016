// The call on host memory where the device has memory of its own.
#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <semaphore>

#include "host_call.h"
#include "pool.h"

namespace duogemm {
namespace {

std::size_t index(std::int64_t value) { return static_cast<std::size_t>(value); }

// The matrices of a batch as the caller stores them, column-major.
struct HostMatrices {
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t ld;
  std::int64_t count;  // different ones: 1 when all members of the batch share it

  std::int64_t elements() const { return rows * cols; }
  std::size_t bytes() const { return sizeof(float) * index(elements() * count); }
};

// Where the i-th matrix of a batch begins.
template <typename Element>
using PlaceOf = std::function<Element*(std::int64_t)>;

template <typename Element>
PlaceOf<Element> places(Element* first, std::int64_t stride, Element* const* list) {
  if (list != nullptr) {
    return [=](std::int64_t i) { return list[i]; };
  }
  return [=](std::int64_t i) { return first + i * stride; };
}

// Floats `begin` to `end` - 1 of the matrices' packed copy are made of whole columns and pieces of columns:
// visits each with its place among them, where it stands with the caller and how long it is.
template <typename Element, typename Visit>
void each_piece(const HostMatrices& matrices, const PlaceOf<Element>& places, std::int64_t begin,
                std::int64_t end, const Visit& visit) {
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t col = at % matrices.elements() / matrices.rows;
    const std::int64_t row = at % matrices.rows;
    const std::int64_t length = std::min(matrices.rows - row, end - at);
    visit(at - begin, places(at / matrices.elements()) + col * matrices.ld + row, index(length));
    at += length;
  }
}

// How many different matrices an operand has.
std::int64_t count_of(const Problem& problem, std::int64_t stride) {
  return problem.batch_by == BatchBy::strides && stride == 0 ? 1 : problem.batch;
}

// The same problem on packed copies.
Problem packed_copy(Problem problem) {
  const bool shares_a = count_of(problem, problem.a_stride) == 1 || !problem.multiplies();
  const bool shares_b = count_of(problem, problem.b_stride) == 1 || !problem.multiplies();
  problem.batch_by = BatchBy::strides;
  problem.lda = std::max<std::int64_t>(problem.a_rows(), 1);
  problem.ldb = std::max<std::int64_t>(problem.b_rows(), 1);
  problem.ldc = problem.m;
  problem.a_stride = shares_a ? 0 : problem.a_rows() * problem.a_cols();
  problem.b_stride = shares_b ? 0 : problem.b_rows() * problem.b_cols();
  problem.c_stride = problem.m * problem.n;
  return problem;
}

// A queue and staging memory, which is packed or unpacked while the other half's is copied.
class Half {
 public:
  static constexpr std::int64_t floats = 1 << 20;

  explicit Half(Device& device)
      : staging_(device.allocate_staging(sizeof(float) * floats)), queue_(device.create_queue()) {}
  ~Half() {
    try {
      queue_->finish();  // no copy goes on when the memory is gone
    } catch (...) {
      // The device is lost, and copies nothing any more.
    }
  }
  Half(const Half&) = delete;
  Half& operator=(const Half&) = delete;

  Queue& queue() { return *queue_; }
  float* staging() { return reinterpret_cast<float*>(staging_->data()); }

 private:
  std::unique_ptr<Staging> staging_;
  std::unique_ptr<Queue> queue_;
};

// What one call at a time works with: two halves, the first of which computes too, and memory on the device
// that grows when it is too small.
class Lane {
 public:
  explicit Lane(Runtime& runtime)
      : runtime_(runtime), halves_{Half(runtime.device()), Half(runtime.device())} {}

  void multiply(const Problem& p, const HostOperands& operands) {
    const HostMatrices a{p.a_rows(), p.a_cols(), p.lda, count_of(p, p.a_stride)};
    const HostMatrices b{p.b_rows(), p.b_cols(), p.ldb, count_of(p, p.b_stride)};
    const HostMatrices c{p.m, p.n, p.ldc, p.batch};
    const PlaceOf<float> c_places = places(operands.c, p.c_stride, operands.c_list);
    const bool reads = p.multiplies();
    const Buffer* device_a = reads ? upload(0, a, places(operands.a, p.a_stride, operands.a_list)) : nullptr;
    const Buffer* device_b = reads ? upload(1, b, places(operands.b, p.b_stride, operands.b_list)) : nullptr;
    const Buffer* device_c = p.beta == 0.0f ? reserve(2, c) : upload(2, c, c_places);
    halves_[1].queue().finish();
    runtime_.enqueue(packed_copy(p), halves_[0].queue(), {{{device_a}, {device_b}, {device_c}}});
    halves_[0].queue().finish();
    download(*device_c, c, c_places);
  }

 private:
  const Buffer* reserve(std::size_t slot, const HostMatrices& matrices) {
    std::unique_ptr<Buffer>& buffer = buffers_[slot];
    if (!buffer || buffer->bytes() < matrices.bytes()) {
      buffer.reset();
      buffer = runtime_.device().allocate(matrices.bytes());
    }
    return buffer.get();
  }

  const Buffer* upload(std::size_t slot, const HostMatrices& matrices, const PlaceOf<const float>& from) {
    const Buffer* buffer = reserve(slot, matrices);
    const std::int64_t all = matrices.elements() * matrices.count;
    for (std::int64_t begin = 0; begin < all; begin += Half::floats) {
      Half& half = halves_[turn_++ % 2];
      const std::int64_t end = std::min(begin + Half::floats, all);
      half.queue().finish();
      each_piece(matrices, from, begin, end, [&](std::int64_t at, const float* piece, std::size_t length) {
        std::memcpy(half.staging() + at, piece, sizeof(float) * length);
      });
      half.queue().start_write(*buffer, sizeof(float) * index(begin), half.staging(),
                               sizeof(float) * index(end - begin));
    }
    return buffer;
  }

  void download(const Buffer& buffer, const HostMatrices& matrices, const PlaceOf<float>& to) {
    const std::int64_t all = matrices.elements() * matrices.count;
    for (std::int64_t begin = 0; begin < all + Half::floats; begin += Half::floats) {
      if (begin < all) {
        Half& half = halves_[index(begin / Half::floats % 2)];
        half.queue().start_read(buffer, sizeof(float) * index(begin), half.staging(),
                                sizeof(float) * index(std::min(Half::floats, all - begin)));
      }
      if (begin > 0) {
        unpack(begin - Half::floats, std::min(begin, all), matrices, to);
      }
    }
  }

  // What was read last but for one, while the last is on its way.
  void unpack(std::int64_t begin, std::int64_t end, const HostMatrices& matrices, const PlaceOf<float>& to) {
    Half& half = halves_[index(begin / Half::floats % 2)];
    half.queue().finish();
    each_piece(matrices, to, begin, end, [&](std::int64_t at, float* piece, std::size_t length) {
      std::memcpy(piece, half.staging() + at, sizeof(float) * length);
    });
  }

  Runtime& runtime_;
  std::array<std::unique_ptr<Buffer>, 3> buffers_;
  Half halves_[2];
  std::size_t turn_ = 0;
};

class Copies final : public HostCall {
 public:
  explicit Copies(Runtime& runtime) : runtime_(runtime) {}

  void multiply(const Problem& problem, const HostOperands& operands) override {
    const Place place(places_);
    std::unique_ptr<Lane> lane = lanes_.take();
    if (!lane) {
      lane = std::make_unique<Lane>(runtime_);
    }
    lane->multiply(problem, operands);
    lanes_.give_back(std::move(lane));
  }

 private:
  // Enough for one to pack, one to be copied and one to compute; each has memory of its own on the device.
  static constexpr int most_lanes = 4;
  using Places = std::counting_semaphore<most_lanes>;

  class Place {
   public:
    explicit Place(Places& places) : places_(places) { places_.acquire(); }
    ~Place() { places_.release(); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    Places& places_;
  };

  Runtime& runtime_;
  Places places_{most_lanes};
  Pool<Lane> lanes_;
};

}  // namespace

std::unique_ptr<HostCall> multiply_copies(Runtime& runtime) { return std::make_unique<Copies>(runtime); }

}  // namespace duogemm
