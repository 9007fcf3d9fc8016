// A program that is linked to the drop-in library and to no other BLAS.
//
//   blas_user sgemm|ssyrk|sgemv|nothing    calls it and prints an element of the result, which is 6
//   blas_user sgemm FILE                   loads that library first
#include <dlfcn.h>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

extern "C" {
void cblas_sgemm(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*,
                 int);
void cblas_ssyrk(int, int, int, int, int, float, const float*, int, float, float*, int);
void sgemv_(const char*, const int*, const int*, const float*, const float*, const int*, const float*,
            const int*, const float*, float*, const int*);
}

namespace {

constexpr int row_major = 101, no_trans = 111, upper = 121;
const int n = 6;
const int one = 1;
const float alpha = 1.0f;
const float beta = 0.0f;
const std::vector<float> a(n* n, 1.0f);
std::vector<float> c(n* n, 0.0f);

void call_sgemm() {
  cblas_sgemm(row_major, no_trans, no_trans, n, n, n, alpha, a.data(), n, a.data(), n, beta, c.data(), n);
}
void call_ssyrk() { cblas_ssyrk(row_major, upper, no_trans, n, n, alpha, a.data(), n, beta, c.data(), n); }
void call_sgemv() { sgemv_("N", &n, &n, &alpha, a.data(), &n, a.data(), &one, &beta, c.data(), &one); }
void call_nothing() { c[0] = n; }

const std::map<std::string, void (*)()> calls = {
    {"sgemm", call_sgemm}, {"ssyrk", call_ssyrk}, {"sgemv", call_sgemv}, {"nothing", call_nothing}};

}  // namespace

int main(int argc, char** argv) {
  const auto call = calls.find(argc > 1 ? argv[1] : "");
  if (call == calls.end() || (argc > 2 && dlopen(argv[2], RTLD_NOW) == nullptr)) {
    return 2;
  }
  call->second();
  std::printf("%g\n", c[0]);
  return 0;
}
