// Whether `duogemm run` did any good. It starts a program with this library in front and sets DUOGEMM_RUN to
// the program's process number; when that process ends and no SGEMM ever came here, one line on stderr says
// why.
#pragma once

namespace duogemm::blas {

void note_reached();

}  // namespace duogemm::blas
