// Pages made from the program's commands and options, as CLI11 has them.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>

#include "families/kernel_source.h"

namespace duogemm {

// The documents that pages take texts from: docs/api.md. The build embeds them.
std::span<const EmbeddedFile> documents();

namespace bench {

// The program's page for man, in roff with the macros of man(7).
std::string man_page(const CLI::App& program, const std::string& version);

// The script by which bash, zsh or fish completes the program's command lines.
std::string completion(const CLI::App& program, const std::string& shell);

}  // namespace bench
}  // namespace duogemm
