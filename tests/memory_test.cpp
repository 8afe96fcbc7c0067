// Memory of the caller's: all that a call allocates for matrices is from there, and goes back.
#include "lasolve/memory.hpp"

#include <malloc.h>
#include <sys/mman.h>

#include <map>
#include <thread>

#include "devices.hpp"
#include "systems.hpp"

namespace lasolve::test::memory_test {
namespace {

/// Pages of the kernel's, counted: nothing of malloc. From a byte behind the beginning of a page, which malloc would give as well.
class Counting {
 public:
  explicit Counting(std::size_t most = ~std::size_t(0), std::size_t offset = 16) : most_(most), offset_(offset) {}
  std::size_t held() const {
    std::size_t sum = 0;
    for (const auto& [memory, bytes] : all_) sum += bytes;
    return sum;
  }
  int calls = 0;
  bool is_asked_rightly = true;  ///< each was given back once, with the bytes that it was asked for
  MemorySource source{
      [](void* self, std::size_t bytes, void* stream) { return static_cast<Counting*>(self)->allocate(bytes, stream); },
      [](void* self, void* memory, std::size_t bytes, void* stream) {
        static_cast<Counting*>(self)->release(memory, bytes, stream);
      },
      this};

 private:
  void* allocate(std::size_t bytes, void* stream) {
    ++calls;
    is_asked_rightly &= stream == nullptr;
    if (held() + bytes > most_) return nullptr;
    void* const pages = mmap(nullptr, bytes + offset_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return nullptr;
    void* const memory = static_cast<char*>(pages) + offset_;
    all_[memory] = bytes;
    return memory;
  }
  void release(void* memory, std::size_t bytes, void* stream) {
    const auto found = all_.find(memory);
    is_asked_rightly &= found != all_.end() && found->second == bytes && stream == nullptr;
    if (found == all_.end()) return;
    munmap(static_cast<char*>(memory) - offset_, bytes + offset_);
    all_.erase(found);
  }

  const std::size_t most_, offset_;
  std::map<void*, std::size_t> all_;
};

/// That malloc has given.
std::size_t malloced() {
  const struct mallinfo2 all = mallinfo2();
  return all.uordblks + all.hblkhd;
}

Options on_cpu(Method method, Precision precision = Precision::automatic) {
  Options o;
  o.device.kind = Device::cpu, o.factorization = method, o.precision = precision, o.threads = 2;
  return o;
}

TEST(MemoryFrom, has_all_that_a_factorization_needs_and_gets_it_back) {
  for (const std::int64_t n : {3, 20, 100, 600})
    for (const auto& o : {on_cpu(Method::lu), on_cpu(Method::cholesky), on_cpu(Method::lu, Precision::fp32)}) {
      SCOPED_TRACE(testing::Message() << "n = " << n << ", method " << int(o.factorization));
      const Matrix<double> A = random_with_condition(n, 10, true), B = random_matrix(n, 3);
      Matrix<double> X(n, 3), Y(n, 3);
      const Report usual = solve(A, B, X, o);
      Counting counting;
      std::optional<Factorization<double>> factors;
      {
        const MemoryFrom memory(&counting.source);
        factors.emplace(A, o);
        const Report report = factors->solve(B, Y);
        EXPECT_EQ(report.outcome.kind, usual.outcome.kind);
      }
      const std::size_t element = o.precision == Precision::fp32 ? 4 : 8;
      EXPECT_GE(counting.held(), std::size_t(n * n) * element) << "the factors are there";
      EXPECT_TRUE(std::equal(X.data(), X.data() + n, Y.data()));
      const int calls = counting.calls;
      EXPECT_TRUE(factors->solve(B, Y).outcome.ok());
      EXPECT_EQ(counting.calls, calls) << "the thread has no source any more";
      std::thread([&] { factors.reset(); }).join();
      EXPECT_EQ(counting.held(), 0u);
      EXPECT_TRUE(counting.is_asked_rightly);
    }
}

/// While it computes, malloc has given some lists and words, and no matrix.
TEST(MemoryFrom, leaves_no_matrix_to_malloc) {
  constexpr std::int64_t n = 700;
  const Matrix<double> A = random_matrix(n, n), B = random_matrix(n, 20);
  Matrix<double> X(n, 20);
  std::size_t before = 0, most = 0;
  Options o = on_cpu(Method::lu);
  const auto look = [&](double) { most = std::max(most, malloced()); };
  EXPECT_TRUE(solve(A, B, X, o).outcome.ok());  // threads have what they keep
  o.progress = look;
  Counting counting;
  const MemoryFrom memory(&counting.source);
  before = most = malloced();
  Factorization<double> factors(A, o);
  look(1);
  EXPECT_TRUE(factors.solve(B, X).outcome.ok());
  look(1);
  EXPECT_LT(most - before, std::size_t(n * n * 8 / 20));
  EXPECT_GE(counting.held(), std::size_t(n * n * 8));
}

TEST(MemoryFrom, that_has_too_little_is_not_enough_memory) {
  const Matrix<double> A = random_matrix(300, 300), B = random_matrix(300, 1);
  Matrix<double> X(300, 1);
  for (const std::size_t most : {0, 1000, 700000}) {
    Counting counting(most);
    const MemoryFrom memory(&counting.source);
    EXPECT_THROW(solve(A, B, X, on_cpu(Method::lu)), OutOfMemory);
    EXPECT_EQ(counting.held(), 0u);
    EXPECT_TRUE(counting.is_asked_rightly);
  }
}

/// What a source gives may begin anywhere; a matrix begins a line of the cache, and no page of 2 MiB, which are ours.
TEST(MemoryFrom, is_of_any_alignment_that_malloc_has) {
  for (std::size_t offset = 0; offset < 256; offset += 16) {
    Counting counting(~std::size_t(0), (std::size_t(2) << 20) - offset);
    const MemoryFrom memory(&counting.source);
    const Matrix<double> first(100, 3), second(1000, 1000);
    for (const void* at : {first.data(), second.data()}) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(at) % 64, 0u);
      EXPECT_NE(reinterpret_cast<std::uintptr_t>(at) % (std::size_t(2) << 20), 0u);
    }
  }
}

TEST(MemoryFrom, is_that_of_before_when_another_has_ended) {
  Counting outer, inner;
  const MemoryFrom memory(&outer.source);
  {
    const MemoryFrom other(&inner.source);
    const Matrix<double> M(2, 2);
    EXPECT_GT(inner.held(), 0u);
  }
  const Matrix<double> M(2, 2);
  EXPECT_EQ(inner.held(), 0u);
  EXPECT_EQ(inner.calls, 1);
  EXPECT_EQ(outer.calls, 1);
}

/// The kernel may have taken the pages of a large block meanwhile, but for the first, which says its length: all of it can be written and read.
TEST(MemoryOfTheHost, serves_the_next_matrix_of_its_size) {
  for (const std::int64_t columns : {1000, 12000}) {
    const Matrix<double> small(8, 8);
    const void* before = nullptr;
    for (int use = 0; use < 3; ++use) {
      Matrix<double> M(1000, columns);
      if (use > 0) EXPECT_EQ(M.data(), before) << columns << " columns";
      before = M.data();
      for (std::int64_t j = 0; j < columns; ++j)
        for (std::int64_t i = 0; i < 1000; ++i) M(i, j) = double(i + j + use);
      for (std::int64_t j = 0; j < columns; ++j) ASSERT_EQ(M(999, j), double(999 + j + use));
    }
    const Matrix<double> larger(1000, columns + 1000);  // what was kept is not of its size
    EXPECT_GE(larger.bytes(), std::size_t(8000 * (columns + 1000)));
  }
}

}  // namespace
}  // namespace lasolve::test::memory_test
