// A BLAS whose functions have other names, as OpenBLAS in the NumPy of PyPI.
extern "C" void scipy_cblas_sgemm64_() {}
