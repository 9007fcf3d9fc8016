// The operands of a call in the host's memory, and the windows of them that are copied.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "problem/problem.h"

namespace duogemm {

// Column-major. Of those that the problem does not read nothing is looked at.
struct HostOperands {
  // The first matrix of each: the members of the batch are a stride apart (BatchBy::strides).
  const float* a = nullptr;
  const float* b = nullptr;
  float* c = nullptr;
  // Each member of the batch is where these say (BatchBy::addresses).
  const float* const* a_list = nullptr;
  const float* const* b_list = nullptr;
  float* const* c_list = nullptr;
};

// A part of an operand: the same rows and columns, as they are stored, of some members of the batch. It is
// copied without gaps: member by member, column by column.
struct Window {
  std::int64_t member;
  std::int64_t members;
  std::int64_t row;
  std::int64_t rows;
  std::int64_t col;
  std::int64_t cols;

  std::int64_t floats() const { return members * rows * cols; }
};

// An operand with all members of the batch.
template <typename Element>
struct HostMatrices {
  std::int64_t ld;
  std::function<Element*(std::int64_t member)> place;  // of the first element of a member

  HostMatrices(std::int64_t leading_dimension, Element* first, std::int64_t stride, Element* const* list)
      : ld(leading_dimension) {
    if (list != nullptr) {
      place = [=](std::int64_t member) { return list[member]; };
    } else {
      place = [=](std::int64_t member) { return first + member * stride; };
    }
  }
};

// Floats `begin` to `end` - 1 of a window's copy are whole columns and pieces of columns: visits each with
// its place among them, where it stands with the caller, and its length.
template <typename Element, typename Visit>
void each_piece(const HostMatrices<Element>& matrices, const Window& window, std::int64_t begin,
                std::int64_t end, const Visit& visit) {
  const std::int64_t member_floats = window.rows * window.cols;
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t col = at % member_floats / window.rows;
    const std::int64_t row = at % window.rows;
    const std::int64_t length = std::min(window.rows - row, end - at);
    Element* const member = matrices.place(window.member + at / member_floats);
    visit(at - begin, member + (window.col + col) * matrices.ld + window.row + row,
          static_cast<std::size_t>(length));
    at += length;
  }
}

}  // namespace duogemm
