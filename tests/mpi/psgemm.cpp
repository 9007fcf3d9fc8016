// ScaLAPACK's psgemm on a square grid of MPI ranks:
//
//   psgemm check              products of many shapes; every element beside a reference in double
//   psgemm time SIZE REPEATS  one square product; prints the median of its times in seconds, and checks some
//                             elements
//
// Each rank makes its part of the matrices from the places of their elements, and the reference too, so that
// nothing but psgemm communicates. Ends with 1 when an element is wrong.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int cols);
void Cblacs_gridinfo(int context, int* rows, int* cols, int* row, int* col);
int numroc_(const int* n, const int* block, const int* process, const int* source, const int* processes);
void descinit_(int* desc, const int* m, const int* n, const int* row_block, const int* col_block,
               const int* source_row, const int* source_col, const int* context, const int* ld, int* info);
void psgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
             const float* alpha, const float* a, const int* ia, const int* ja, const int* desca,
             const float* b, const int* ib, const int* jb, const int* descb, const float* beta, float* c,
             const int* ic, const int* jc, const int* descc);
}

namespace {

struct Grid {
  int context, rows, cols, row, col;
};

Grid make_grid() {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int side = static_cast<int>(std::lround(std::sqrt(ranks)));
  if (side * side != ranks) {
    std::fprintf(stderr, "psgemm: %d ranks are no square\n", ranks);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  Grid grid{};
  Cblacs_get(0, 0, &grid.context);
  Cblacs_gridinit(&grid.context, "Row", side, side);
  Cblacs_gridinfo(grid.context, &grid.rows, &grid.cols, &grid.row, &grid.col);
  return grid;
}

// Uniform on (-1, 1), from the place of the element.
float element(std::uint32_t seed, int row, int col) {
  std::uint64_t x =
      (std::uint64_t{seed} << 60) ^ (std::uint64_t(std::uint32_t(row)) << 32) ^ std::uint32_t(col);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return static_cast<float>(static_cast<double>((x ^ (x >> 31)) >> 41) * 0x1p-22 - 1.0);
}

// This rank's part of a block-cyclic matrix.
struct Part {
  Part(const Grid& grid, int global_rows, int global_cols, int block_side, std::uint32_t number)
      : on(grid), block(block_side), seed(number) {
    const int zero = 0;
    rows = numroc_(&global_rows, &block, &grid.row, &zero, &grid.rows);
    cols = numroc_(&global_cols, &block, &grid.col, &zero, &grid.cols);
    const int ld = std::max(rows, 1);
    int info = 0;
    descinit_(desc, &global_rows, &global_cols, &block, &block, &zero, &zero, &grid.context, &ld, &info);
    values.resize(static_cast<std::size_t>(ld) * static_cast<std::size_t>(std::max(cols, 1)));
    for (int col = 0; col < cols; ++col) {
      for (int row = 0; row < rows; ++row) {
        at(row, col) = element(seed, global_row(row), global_col(col));
      }
    }
  }

  float& at(int row, int col) {
    return values[static_cast<std::size_t>(col) * static_cast<std::size_t>(std::max(rows, 1)) +
                  static_cast<std::size_t>(row)];
  }
  int global_row(int row) const { return (row / block * on.rows + on.row) * block + row % block; }
  int global_col(int col) const { return (col / block * on.cols + on.col) * block + col % block; }

  const Grid& on;
  int block;
  std::uint32_t seed;
  int rows, cols;
  int desc[9];
  std::vector<float> values;
};

struct Product {
  char a_op = 'N', b_op = 'N';
  int m = 0, n = 0, k = 0, block = 32;
  float alpha = 1.5f, beta = 0.5f;
};

enum : std::uint32_t { of_a = 1, of_b, of_c };

// Gives how many bounds (2 sqrt(k) + 4) 2^-24 (|alpha| |A| |B| + |beta| |C|) an element is off.
double error(const Product& p, int row, int col, float found) {
  double sum = 0.0, magnitude = 0.0;
  for (int i = 0; i < p.k; ++i) {
    const double a = p.a_op == 'N' ? element(of_a, row, i) : element(of_a, i, row);
    const double b = p.b_op == 'N' ? element(of_b, i, col) : element(of_b, col, i);
    sum += a * b;
    magnitude += std::fabs(a * b);
  }
  const double old = element(of_c, row, col);
  const double expected = p.alpha * sum + p.beta * old;
  const double bound =
      (2 * std::sqrt(p.k) + 4) * 0x1p-24 * (std::fabs(p.alpha) * magnitude + std::fabs(p.beta * old));
  const double off = std::fabs(found - expected) / bound;
  return std::isnan(off) ? (found == expected ? 0.0 : INFINITY) : off;
}

struct Parts {
  Parts(const Grid& grid, const Product& p)
      : a(grid, p.a_op == 'N' ? p.m : p.k, p.a_op == 'N' ? p.k : p.m, p.block, of_a),
        b(grid, p.b_op == 'N' ? p.k : p.n, p.b_op == 'N' ? p.n : p.k, p.block, of_b),
        c(grid, p.m, p.n, p.block, of_c) {}

  void multiply(const Product& p) {
    const int one = 1;
    psgemm_(&p.a_op, &p.b_op, &p.m, &p.n, &p.k, &p.alpha, a.values.data(), &one, &one, a.desc,
            b.values.data(), &one, &one, b.desc, &p.beta, c.values.data(), &one, &one, c.desc);
  }

  // The worst of every `step`-th element in both directions.
  double worst(const Product& p, int step) {
    double worst = 0.0;
    for (int col = 0; col < c.cols; col += step) {
      for (int row = 0; row < c.rows; row += step) {
        worst = std::max(worst, error(p, c.global_row(row), c.global_col(col), c.at(row, col)));
      }
    }
    return worst;
  }

  Part a, b, c;
};

// The same on all ranks.
double worst_of_all(double own) {
  double worst = 0.0;
  MPI_Allreduce(&own, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return worst;
}

int check(const Grid& grid, bool speaks) {
  int wrong = 0, products = 0;
  for (const char a_op : {'N', 'T'}) {
    for (const char b_op : {'N', 'T'}) {
      for (const auto& [m, n, k, block] :
           {std::array{150, 130, 170, 32}, {64, 300, 33, 16}, {201, 7, 90, 24}}) {
        for (const float beta : {0.0f, 0.5f}) {
          const Product p{a_op, b_op, m, n, k, block, 1.5f, beta};
          Parts parts(grid, p);
          parts.multiply(p);
          const double worst = worst_of_all(parts.worst(p, 1));
          ++products;
          if (worst > 1.0) {
            ++wrong;
            if (speaks) {
              std::printf("%d x %d x %d %c%c beta %g: wrong by %g bounds\n", m, n, k, a_op, b_op, beta,
                          worst);
            }
          }
        }
      }
    }
  }
  if (speaks) {
    std::printf("%d products, %d wrong\n", products, wrong);
  }
  return wrong == 0 ? 0 : 1;
}

int time(const Grid& grid, bool speaks, int size, int repeats) {
  const Product p{'N', 'N', size, size, size, 256, 1.0f, 0.0f};
  Parts parts(grid, p);
  std::vector<double> seconds;
  for (int i = 0; i <= repeats; ++i) {  // the first only warms up
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    parts.multiply(p);
    MPI_Barrier(MPI_COMM_WORLD);
    seconds.push_back(MPI_Wtime() - begin);
  }
  seconds.erase(seconds.begin());
  std::nth_element(seconds.begin(), seconds.begin() + repeats / 2, seconds.end());
  const double worst = worst_of_all(parts.worst(p, std::max(size / 32, 1)));
  if (speaks) {
    std::printf("%.6f\n", seconds[static_cast<std::size_t>(repeats / 2)]);
    if (worst > 1.0) {
      std::fprintf(stderr, "psgemm: wrong by %g bounds\n", worst);
    }
  }
  return worst > 1.0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const Grid grid = make_grid();
  const bool speaks = grid.row == 0 && grid.col == 0;
  int status = 2;
  if (arguments.size() == 1 && arguments[0] == "check") {
    status = check(grid, speaks);
  } else if (arguments.size() == 3 && arguments[0] == "time") {
    status = time(grid, speaks, std::max(std::atoi(argv[2]), 1), std::max(std::atoi(argv[3]), 1));
  } else if (speaks) {
    std::fprintf(stderr, "usage: psgemm check | psgemm time SIZE REPEATS\n");
  }
  MPI_Finalize();
  return status;
}
