#!/usr/bin/env bash
# CuPy's and JAX's own tests of products as they are and under `duogemm run`, in FP32 and by f16x3:
#
#   python/measure/outside_tests.sh DUOGEMM FOLDER RESULTS [cupy_tests] [jax_tests]
#
# FOLDER holds cupy_tests and jax_tests: the files with tests of products from the sources of the versions that are installed, with a
# pytest.ini each; the packages do not have them. They need pytest with xdist and absl-py, and CuPy's need SciPy. JAX multiplies in FP32,
# and has cuBLAS multiply small matrices too. Prints what each contender says at its end and every test whose outcome is another one than
# without duogemm, and ends with 1 where there is one. RESULTS gets what they printed.
set -euo pipefail
[ $# -ge 3 ] || { echo "usage: outside_tests.sh DUOGEMM FOLDER RESULTS [cupy_tests] [jax_tests]" >&2; exit 2; }
duogemm=$(command -v "$1") || { echo "outside_tests.sh: there is no program $1" >&2; exit 2; }
duogemm=$(realpath "$duogemm")
folder=$(realpath -e "$2")
mkdir -p "$3"
results=$(realpath "$3")
shift 3
[ $# -gt 0 ] || set -- cupy_tests jax_tests
export DUOGEMM_LOG=1 XLA_PYTHON_CLIENT_PREALLOCATE=false PYTHONDONTWRITEBYTECODE=1 JAX_DEFAULT_MATMUL_PRECISION=highest
export XLA_FLAGS="--xla_gpu_gemm_rewrite_size_threshold=0 --xla_gpu_enable_triton_gemm=false"

# The files hold much else.
declare -A only=([cupy_tests]="test_product or test_matmul or test_einsum"
  [jax_tests]="dot or Dot or einsum or Matmul or MatMul or Inner or Matvec or Vecmat or MatrixPower or MultiDot or Cov or Corr")

# What the suite says under the contender: suite, contender.
run_suite() {
  local command=(python3 -m pytest -q -rA --tb=line -n auto -m "not slow" -k "${only[$1]}")
  case $2 in
    plain) ;;
    *) command=("$duogemm" run -- "${command[@]}"); export DUOGEMM_PRECISION=$2 ;;
  esac
  cd "$folder/$1"
  "${command[@]}" >"$results/$1.$2.txt" 2>&1 || true
}

# The outcome of each test, a line each.
outcomes() { sed -nE 's/^(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) (.*)/\2 \1/p' "$1" | sed -E 's/ - .* ([A-Z]+)$/ \1/' | LC_ALL=C sort; }

status=0
for suite in "$@"; do
  [ -n "${only[$suite]+there}" ] || { echo "outside_tests.sh: no suite '$suite'; there are ${!only[*]}" >&2; exit 2; }
  for contender in plain fp32 f16x3; do (run_suite "$suite" $contender); done
  for contender in plain fp32 f16x3; do
    echo "$suite, $contender: $(grep -E '^[=]*.*(passed|failed|error).* in ' "$results/$suite.$contender.txt" | tail -n 1)"
    grep -E '^duogemm: .* served' "$results/$suite.$contender.txt" || true
    outcomes "$results/$suite.$contender.txt" >"$results/$suite.$contender.outcomes"
    diff "$results/$suite.plain.outcomes" "$results/$suite.$contender.outcomes" || status=1
  done
  [ -s "$results/$suite.plain.outcomes" ] || { echo "$suite: no test ran; see $results/$suite.plain.txt"; status=1; }
done
exit $status
