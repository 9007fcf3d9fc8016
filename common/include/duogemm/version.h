// The version of the library that these headers belong to.
#pragma once

#define DUOGEMM_VERSION_MAJOR 0
#define DUOGEMM_VERSION_MINOR 1
#define DUOGEMM_VERSION_PATCH 0
#define DUOGEMM_VERSION "0.1.0"
