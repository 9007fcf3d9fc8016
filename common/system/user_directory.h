// The directories of a user's own files.
#pragma once

#include <filesystem>

namespace duogemm {

// The directory that the environment variable `own` names; without it, `folder` in the one that the variable
// `xdg` names or else in the folder `in_home` of the home directory (XDG base directory specification). Empty
// when `own` is set but empty, or when none of the three is set.
std::filesystem::path user_directory(const char* own, const char* xdg, const char* in_home,
                                     const char* folder = "duogemm");

}  // namespace duogemm
