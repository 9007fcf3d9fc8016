// The folders of a user's own files, and those that are only for a while.
#pragma once

#include <filesystem>

namespace duogemm {

enum class UserFolder { cache, configuration };

// The directory that the environment variable `own` names; without it, `folder` in the one that the system
// has for such files of this user: by the XDG base directory specification, or as Windows or macOS has it.
// Empty when `own` is set but empty, or when the system does not tell.
std::filesystem::path user_directory(const char* own, UserFolder kind, const char* folder = "duogemm");

// Makes a folder for this user alone, in one that is there. False, with errno, where there is one already.
bool make_private_folder(const std::filesystem::path& path);

// The same among the system's temporary files, by a name that nobody has. Empty where there cannot be one.
std::filesystem::path make_temporary_folder();

}  // namespace duogemm
