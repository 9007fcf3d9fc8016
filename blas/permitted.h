// What the environment permits a drop-in library, whose callers cannot say it.
#pragma once

#include "duogemm/sgemm.hpp"

namespace duogemm::blas {

// What DUOGEMM_PRECISION names. A name that is none is complained about, and is fp32.
Precision permitted_precision();

}  // namespace duogemm::blas
