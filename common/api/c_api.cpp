#include "api/c_api.h"

#include <new>
#include <string>

#include "duogemm/version.h"
#include "problem/element_type.h"
#include "problem/precision.h"

namespace duogemm {
namespace {

thread_local std::string last_error;

duogemm_status remember(duogemm_status status, const char* message) noexcept {
  try {
    last_error = message;
  } catch (const std::bad_alloc&) {
    last_error.clear();
  }
  return status;
}

duogemm_status to_c(Status status) {
  static_assert(static_cast<int>(Status::invalid_argument) == DUOGEMM_INVALID_ARGUMENT &&
                static_cast<int>(Status::device_error) == DUOGEMM_DEVICE_ERROR);
  return static_cast<duogemm_status>(status);
}

Sgemm from_c(const duogemm_problem* problem) {
  if (problem == nullptr) {
    reject("problem is null");
  }
  const duogemm_problem& p = *problem;
  Sgemm request;
  request.layout = value_of("layout", p.layout) == 1 ? Layout::row_major : Layout::column_major;
  request.a_op = value_of("a_op", p.a_op) == 1 ? Transpose::yes : Transpose::no;
  request.b_op = value_of("b_op", p.b_op) == 1 ? Transpose::yes : Transpose::no;
  request.level =
      levels[static_cast<std::size_t>(value_of("level", p.level, static_cast<int>(levels.size()) - 1))];
  request.precision = precisions[static_cast<std::size_t>(
      value_of("precision", p.precision, static_cast<int>(precisions.size()) - 1))];
  const auto type_of = [](const char* name, const duogemm_element_type& type) {
    return element_types[static_cast<std::size_t>(
        value_of(name, type, static_cast<int>(element_types.size()) - 1))];
  };
  request.a_type = type_of("a_type", p.a_type);
  request.b_type = type_of("b_type", p.b_type);
  request.c_type = type_of("c_type", p.c_type);
  request.m = p.m;
  request.n = p.n;
  request.k = p.k;
  request.alpha = p.alpha;
  request.beta = p.beta;
  request.lda = p.lda;
  request.ldb = p.ldb;
  request.ldc = p.ldc;
  request.batch = p.batch;
  request.a_stride = p.a_stride;
  request.b_stride = p.b_stride;
  request.c_stride = p.c_stride;
  return request;
}

}  // namespace

duogemm_status call_from_c(const std::function<void()>& call) noexcept {
  try {
    call();
    return DUOGEMM_SUCCESS;
  } catch (const Error& error) {
    return remember(to_c(error.status()), error.what());
  } catch (const std::bad_alloc&) {
    return remember(DUOGEMM_OUT_OF_MEMORY, "host memory is exhausted");
  } catch (const std::exception& error) {
    return remember(DUOGEMM_DEVICE_ERROR, error.what());
  } catch (...) {
    return remember(DUOGEMM_DEVICE_ERROR, "unknown error");
  }
}

duogemm_status call_from_c(const duogemm_problem* problem,
                           const std::function<void(const Sgemm&)>& call) noexcept {
  return call_from_c([&] { call(from_c(problem)); });
}

duogemm_status bytes_from_c(const duogemm_problem* problem, std::size_t* bytes,
                            const std::function<std::size_t(const Sgemm&)>& call) noexcept {
  return call_from_c(problem, [&](const Sgemm& request) {
    if (bytes == nullptr) {
      reject("bytes is null");
    }
    *bytes = call(request);
  });
}

}  // namespace duogemm

using namespace duogemm;

duogemm_status duogemm_sgemm(const duogemm_problem* problem, const void* a, const void* b, void* c) {
  return call_from_c(problem, [&](const Sgemm& request) { sgemm(request, a, b, c); });
}

duogemm_status duogemm_sgemm_batched(const duogemm_problem* problem, const float* const* a,
                                     const float* const* b, float* const* c) {
  return call_from_c(problem, [&](const Sgemm& request) { sgemm_batched(request, a, b, c); });
}

duogemm_status duogemm_sgemm_with_progress(const duogemm_problem* problem, const void* a, const void* b,
                                           void* c, duogemm_progress progress, void* user) {
  ProgressListener listener;
  if (progress != nullptr) {
    listener = [=](const CallProgress& now) { progress(now.fraction, now.copied_bytes, user); };
  }
  return call_from_c(problem, [&](const Sgemm& request) { sgemm(request, a, b, c, listener); });
}

duogemm_status duogemm_warm(void) {
  return call_from_c([] { warm(); });
}

const char* duogemm_last_error(void) { return last_error.c_str(); }

const char* duogemm_version(void) { return DUOGEMM_VERSION; }
