// Under the names of the system's BLAS and before it on LD_LIBRARY_PATH, this hides it: a library with
// nothing in it.
