# Uses an installed duogemm as a stranger would. Sourced by tests that have installed it in some way, not run.
#
# These set "work", a folder to work in, and call
#   step <name> <command> [arguments]   for each check of their own, then
#   use_installed <prefix>              and
#   report                              at the end.
examples=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../examples" && pwd)
root=$examples/..
passed=0
failed=0
skipped=0

# Runs a command; 77 means that it lacks a device.
step() {
  local name=$1 status
  shift
  "$@" >"$work/log" 2>&1
  status=$?
  case $status in
    0) echo "$name: ok"; passed=$((passed + 1)) ;;
    77) echo "$name: skipped, $(tail -n 1 "$work/log")"; skipped=$((skipped + 1)) ;;
    *) echo "$name: FAILED"; sed 's/^/    /' "$work/log"; failed=$((failed + 1)) ;;
  esac
}

report() {
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" -eq 0 ]
}

through_pkg_config() {
  local flags
  flags=$(pkg-config --cflags --libs duogemm) &&
    c++ -std=c++17 "$examples/host_pointers.cpp" $flags "-Wl,-rpath,$(pkg-config --variable=libdir duogemm)" \
      -o "$work/by_pkg_config" && "$work/by_pkg_config"
}

# Without the library the bits are another's: the message can tell them apart.
says() {
  local expected=$1
  shift
  "$@" | tee /dev/stderr | grep -q "$expected"
}

# The first snippet in the language $2 of the page $1, as a reader would copy it.
snippet() {
  awk -v fence="\`\`\`$2" '$0 == fence { on = 1; next } on && /^```/ { exit } on' "$root/$1"
}
snippet_in() {
  local page=$1 language=$2 compiler=$3
  snippet "$page" "$language" >"$work/snippet.$language"
  $compiler "$work/snippet.$language" $(pkg-config --cflags --libs duogemm) "-Wl,-rpath,$libraries" -o "$work/snippet" &&
    says "58 64 139 154" "$work/snippet"
}
run_snippet() {
  says "^18.0" env "PATH=$prefix/bin:/usr/bin:/bin" bash -c "$(snippet README.md sh)"
}

# What is asked for and missing is named, with what there is; what is optional may be missing.
finds_components() {
  mkdir -p "$work/components" && cat >"$work/components/CMakeLists.txt" <<'TEXT'
cmake_minimum_required(VERSION 3.22)
project(components LANGUAGES NONE)
find_package(duogemm ${HOW} COMPONENTS blas metal)
TEXT
  ! cmake -S "$work/components" -B "$work/components/a" "-DCMAKE_PREFIX_PATH=$1" -DHOW=REQUIRED \
    >"$work/refusal" 2>&1 &&
    tr -s ' \n' ' ' <"$work/refusal" | grep -q "duogemm has no component metal; this one was built with .*blas" &&
    cmake -S "$work/components" -B "$work/components/b" "-DCMAKE_PREFIX_PATH=$1" -DHOW=QUIET
}

# The program names the lists that it finds when it is asked for one that there is not.
installed_shapes() {
  [[ $("$1/bin/duogemm" compare --shapes nowhere 2>&1) == *"there are batched, "*", squares, "* ]]
}

# The page for man and the completions, where man and shells look for them, made by this very program.
installed_pages() {
  local share=$1/share program=$1/bin/duogemm
  cmp <(zcat -f "$share"/man/man1/duogemm.1*) <("$program" man) &&
    cmp "$share/bash-completion/completions/duogemm" <("$program" completion bash) &&
    cmp "$share/zsh/site-functions/_duogemm" <("$program" completion zsh) &&
    cmp "$share/fish/vendor_completions.d/duogemm.fish" <("$program" completion fish)
}

# The examples through find_package, one of them through pkg-config, the pages' snippets, a plain BLAS program and NumPy
# through LD_PRELOAD, and the program.
use_installed() {
  local prefix=$1 program
  libraries=$(dirname "$(find "$prefix" -name libduogemm.so)")
  step "configure the examples" cmake -S "$examples" -B "$work/examples" "-DCMAKE_PREFIX_PATH=$prefix"
  step "build the examples" cmake --build "$work/examples"
  for program in host_pointers opencl_context opencl_queue cuda_stream; do
    if [ -x "$work/examples/$program" ]; then step "$program" "$work/examples/$program"; fi
  done
  step "plain_blas without the library" says "right" "$work/examples/plain_blas"
  step "plain_blas with LD_PRELOAD" says "duogemm's bits" \
    env "LD_PRELOAD=$libraries/libduogemm_blas.so" "$work/examples/plain_blas"
  export PKG_CONFIG_PATH=$libraries/pkgconfig
  step "host_pointers through pkg-config" through_pkg_config
  step "components" finds_components "$prefix"
  step "README: C++" snippet_in README.md cpp "c++ -std=c++17"
  step "docs/api.md: C" snippet_in docs/api.md c "cc"
  step "README: duogemm run" run_snippet
  step "the installed program" "$prefix/bin/duogemm" --version
  step "the installed pages" installed_pages "$prefix"
  step "the installed lists of shapes" installed_shapes "$prefix"
}
