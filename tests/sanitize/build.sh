# Builds with sanitizers, for tests/sanitize/run and tests/fuzz/run. Sourced, not run.
sanitized_source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# Whether Clang is here with its libFuzzer and sanitizers. Compiles in the folder $1.
has_clang() {
  echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' >"$1/probe.cpp"
  command -v clang++ >/dev/null && clang++ -fsanitize=fuzzer,address,undefined "$1/probe.cpp" -o "$1/probe" 2>/dev/null
}

# build_sanitized <folder> <sanitizers> <gcc or clang> <target ...>
#
# Clang's build has what libFuzzer wants to know of the code, so that tests/fuzz has its library from there. Clang warns of other
# things than the compiler that the tree is kept free of warnings with. -O0: compilers take half the time that -O1
# takes, and the tests run for about a minute. -g1: functions and lines, all that a report shows; with the rest, some files take
# twice as long.
build_sanitized() {
  local folder=$1 sanitizers=$2 options=(-DCMAKE_UNITY_BUILD=ON)
  [ "$3" = clang ] && options+=(-DCMAKE_CXX_COMPILER=clang++ -DCMAKE_CXX_FLAGS=-fsanitize=fuzzer-no-link -DDUOGEMM_WERROR=OFF)
  shift 3
  [ -f "$folder/CMakeCache.txt" ] || options+=(-G "$(command -v ninja >/dev/null && echo Ninja || echo "Unix Makefiles")")
  cmake -S "$sanitized_source" -B "$folder" "${options[@]}" -DBACKEND=opencl -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O0 -g1" "-DDUOGEMM_SANITIZE=$sanitizers" &&
    cmake --build "$folder" --parallel --target "$@"
}
