# Writes OUTPUT: C++ with the measurements of FILES (relative to ROOT), and which devices each speaks of. The tables of
# kernels become arrays, so that nothing of them is parsed at run time; the rest, which is short, stays JSON.
set(number 0)
set(tables "")
set(entries "")
foreach(file IN LISTS FILES)
  file(READ ${ROOT}/${file} text)
  set(target "")
  foreach(member IN ITEMS backend kind name)
    string(JSON value GET "${text}" device ${member})
    string(APPEND target "\"${value}\", ")
  endforeach()
  foreach(member IN ITEMS compute_capability vector_floats)
    string(JSON value GET "${text}" device ${member})
    string(APPEND target "${value}, ")
  endforeach()

  set(rows "")
  string(JSON kernels GET "${text}" kernels)
  string(JSON count LENGTH "${kernels}")
  set(index 0)
  while(index LESS count)
    string(JSON kernel GET "${kernels}" ${index} kernel)
    string(JSON names GET "${kernels}" ${index} tunables)
    string(JSON settings GET "${kernels}" ${index} settings)
    foreach(list IN ITEMS names settings)  # in braces, as C++ has arrays
      string(REPLACE "[" "{" ${list} "${${list}}")
      string(REPLACE "]" "}" ${list} "${${list}}")
    endforeach()
    string(APPEND rows "    {\"${kernel}\", ${names}, ${settings}},\n")
    math(EXPR index "${index} + 1")
  endwhile()
  set(own "{}")
  if(rows)
    string(APPEND tables "const EmbeddedTable tables_${number}[] = {\n${rows}};\n\n")
    set(own "tables_${number}")
  endif()
  string(JSON rest SET "${text}" kernels "[]")
  string(APPEND entries "    {\"${file}\", {${target}}, R\"duogemm(${rest})duogemm\", ${own}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUTPUT} "#include \"plan/tuning.h\"

namespace duogemm {
namespace {

${tables}}  // namespace

std::span<const EmbeddedTuning> embedded_tunings() {
  static const EmbeddedTuning tunings[] = {
${entries}};
  return tunings;
}

}  // namespace duogemm
")
