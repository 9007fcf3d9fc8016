// All of Boost.Wave is in this file, because it takes ten seconds to compile.
#include "source/preprocess.h"

#include <boost/wave.hpp>
#include <boost/wave/cpplexer/cpp_lex_iterator.hpp>

#include "system/reject.h"

namespace duogemm::webgpu {
namespace {

namespace wave = boost::wave;
using WaveToken = wave::cpplexer::lex_token<>;
using Context = wave::context<std::string::const_iterator, wave::cpplexer::lex_iterator<WaveToken>,
                              wave::iteration_context_policies::load_file_to_string,
                              wave::context_policies::eat_whitespace<WaveToken>>;

std::string text_of(const WaveToken& token) { return token.get_value().c_str(); }

Position position_of(const WaveToken& token) {
  return {token.get_position().get_file().c_str(), static_cast<int>(token.get_position().get_line())};
}

// Wave's own macro for this operates on two kinds of enumerations, of which compilers warn.
bool is_of(wave::token_id id, wave::token_category category) {
  constexpr unsigned mask = wave::TokenTypeMask;
  return (static_cast<unsigned>(id) & mask) == (static_cast<unsigned>(category) & mask);
}

Token::Kind kind_of(const WaveToken& token) {
  const wave::token_id id = token;
  if (is_of(id, wave::IdentifierTokenType) || is_of(id, wave::KeywordTokenType)) {
    return Token::Kind::name;
  }
  if (is_of(id, wave::IntegerLiteralTokenType) || is_of(id, wave::FloatingLiteralTokenType)) {
    return Token::Kind::number;
  }
  if (is_of(id, wave::OperatorTokenType)) {
    return Token::Kind::sign;
  }
  fail(position_of(token), "'" + text_of(token) + "' is not translated to WGSL");
}

// The number of a loop's pragma, and "" where it has none; other pragmas are for OpenCL's compilers.
std::optional<std::string> unroll_of(const std::vector<std::string>& words) {
  if (words.empty() || words.front() != "unroll") {
    return std::nullopt;
  }
  return words.size() > 1 ? words[1] : "";
}

std::vector<Token> tokens_of(Context& context) {
  std::vector<Token> tokens;
  std::optional<Position> pragma;  // where the one begins that is being read
  std::vector<std::string> words;  // of that
  for (auto each = context.begin(); each != context.end(); ++each) {
    const wave::token_id id = *each;
    if (id == wave::T_PP_PRAGMA) {
      pragma = position_of(*each);
    } else if (id == wave::T_NEWLINE && pragma) {
      if (const auto unroll = unroll_of(words)) {
        tokens.push_back({Token::Kind::unroll, *unroll, *pragma});
      }
      pragma.reset();
      words.clear();
    } else if (is_of(id, wave::WhiteSpaceTokenType) || id == wave::T_NEWLINE || id == wave::T_EOF) {
      continue;
    } else if (pragma) {
      words.push_back(text_of(*each));
    } else {
      tokens.push_back({kind_of(*each), text_of(*each), position_of(*each)});
    }
  }
  tokens.push_back({Token::Kind::end, "the end of the file", tokens.empty() ? Position{} : tokens.back().at});
  return tokens;
}

}  // namespace

void fail(const Position& at, const std::string& what) {
  throw Error(Status::build_failed, at.file + ":" + std::to_string(at.line) + ": " + what);
}

std::vector<Token> preprocess(const std::string& text, const Tunables& tunables) {
  Context context(text.begin(), text.end(), "kernel");
  context.set_language(wave::enable_emit_pragma_directives(wave::support_c99));
  // WebGPU's sub-groups have what this extension of OpenCL has.
  context.add_macro_definition(std::string("cl_khr_subgroup_shuffle=1"));
  for (const auto& [name, value] : tunables) {
    context.add_macro_definition(name + "=" + std::to_string(value));
  }
  try {
    return tokens_of(context);
  } catch (const wave::cpp_exception& error) {
    const std::string what = error.description();
    constexpr std::string_view marker = "\"unsupported: ";
    if (const std::size_t found = what.find(marker); found != std::string::npos) {
      const std::size_t begin = found + marker.size();
      throw Error(Status::unsupported, what.substr(begin, what.rfind('"') - begin));
    }
    fail({error.file_name(), static_cast<int>(error.line_no())}, what);
  }
}

}  // namespace duogemm::webgpu
