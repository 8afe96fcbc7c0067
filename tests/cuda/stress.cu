// Solves on many host threads at once, beside kernels of a program that uses the same device: how many are right, wrong, or never
// end.
//
//   stress MODE [SECONDS [THREADS [CONTEXTS]]]
//
// modes: alone     nothing else runs
//        half      beside kernels that hold half of the multiprocessors, for 20 ms at a time
//        all       beside kernels that hold all of them
//        together  beside cooperative kernels that hold all of them, whose blocks wait for each other
//
// contexts: none    no call names one
//           own     each thread has its own
//           shared  all threads have the same
//
// Prints one line. Returns 1 where an answer is wrong, a call fails or does not end, 77 where there is no device.
#include <cooperative_groups.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <deque>
#include <initializer_list>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/cuda/check.hpp"
#include "core/current_device.hpp"
#include "lasolve/context.hpp"
#include "lasolve/lasolve.hpp"

namespace {

using namespace lasolve;
using Clock = std::chrono::steady_clock;

constexpr auto held_for = std::chrono::milliseconds(20), pause = std::chrono::milliseconds(5);
constexpr double hang_seconds = 75;  // blocks that wait for each other in vain give up before

double seconds_since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

// The kernels of the other program. Each block has all of the shared memory of its multiprocessor.

__global__ void hold(bool cooperative) {
  const auto now = [] {
    unsigned long long nanoseconds;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
    return nanoseconds;
  };
  if (cooperative) cooperative_groups::this_grid().sync();
  const auto began = now();
  while (now() - began < std::chrono::nanoseconds(held_for).count()) __nanosleep(1000);
  if (cooperative) cooperative_groups::this_grid().sync();
}

/// Holds multiprocessors again and again, until it is destroyed.
class OtherProgram {
 public:
  /// `times`: how often it has held them.
  OtherProgram(int percent, bool cooperative, std::atomic<long>& times) : times_(times) {
    if (percent == 0) return;
    int multiprocessors = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    CUDA_CHECK(cudaDeviceGetAttribute(&bytes_, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    CUDA_CHECK(cudaFuncSetAttribute(hold, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes_));
    blocks_ = std::max(1, multiprocessors * percent / 100), cooperative_ = cooperative;
    thread_ = std::thread([this] { run(); });
  }
  ~OtherProgram() {
    ends_ = true;
    if (thread_.joinable()) thread_.join();
  }

 private:
  void run() try {
    cudaStream_t stream = nullptr;
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (; !ends_; ++times_, std::this_thread::sleep_for(pause)) {
      void* arguments[] = {&cooperative_};
      CUDA_CHECK(cooperative_ ? cudaLaunchCooperativeKernel(hold, dim3(unsigned(blocks_)), dim3(128), arguments,
                                                            std::size_t(bytes_), stream)
                              : cudaLaunchKernel(hold, dim3(unsigned(blocks_)), dim3(128), arguments,
                                                 std::size_t(bytes_), stream));
      CUDA_CHECK(cudaStreamSynchronize(stream));
    }
    CUDA_CHECK(cudaStreamDestroy(stream));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "stress: the other program failed: %s\n", e.what());
  }

  int blocks_ = 0, bytes_ = 0;
  bool cooperative_ = false;
  std::atomic<bool> ends_ = false;
  std::atomic<long>& times_;
  std::thread thread_;
};

// The systems.

template <class T>
struct System {
  Method method;
  std::int64_t n;
  Matrix<T> A, B;                     // B has the most columns that are solved for
  std::vector<Matrix<T>> first = {};  // the first answers, for each number of columns
};
constexpr std::int64_t sizes[] = {5, 64, 130, 257, 500, 777, 1100, 1500, 2100}, columns[] = {1, 3, 33};

template <class T>
System<T> make_system(Method method, std::int64_t n) {
  std::mt19937_64 bits(static_cast<std::uint64_t>(n));
  const auto random = [&] { return T(double(bits() >> 11) * 0x1p-52 - 1); };
  System<T> s{method, n, Matrix<T>(n, n), Matrix<T>(n, columns[std::size(columns) - 1])};
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) s.A(i, j) = random();
  if (method == Method::cholesky)
    for (std::int64_t j = 0; j < n; ++j) {
      s.A(j, j) = T(n);
      for (std::int64_t i = 0; i < j; ++i) s.A(i, j) = s.A(j, i);
    }
  for (std::int64_t j = 0; j < s.B.cols(); ++j)
    for (std::int64_t i = 0; i < n; ++i) s.B(i, j) = random();
  return s;
}

/// Whether ‖B − A X‖∞ is as small as HPL asks, column by column, computed here.
template <class T>
bool is_right(MatrixView<const T> A, MatrixView<const T> B, MatrixView<const T> X) {
  const std::int64_t n = A.rows();
  std::vector<double> sums(std::size_t(n), 0.0);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) sums[std::size_t(i)] += std::abs(double(A(i, j)));
  const double norm = *std::max_element(sums.begin(), sums.end());
  for (std::int64_t c = 0; c < B.cols(); ++c) {
    std::vector<double> r(std::size_t(n), 0.0);
    double x = 0, b = 0, worst = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      const double xj = double(X(j, c));
      x = std::max(x, std::abs(xj)), b = std::max(b, std::abs(double(B(j, c))));
      for (std::int64_t i = 0; i < n; ++i) r[std::size_t(i)] += double(A(i, j)) * xj;
    }
    bool finite = true;
    for (std::int64_t i = 0; i < n; ++i) {
      const double d = std::abs(double(B(i, c)) - r[std::size_t(i)]);
      worst = std::max(worst, d), finite = finite && std::isfinite(d);
    }
    const double roundoff = double(std::numeric_limits<T>::epsilon()) / 2;
    if (!finite || !(worst < hpl_threshold * roundoff * (norm * x + b) * double(n))) return false;
  }
  return true;
}

template <class T>
bool same_bits(const Matrix<T>& X, const Matrix<T>& Y) {
  for (std::int64_t j = 0; j < X.cols(); ++j)
    if (std::memcmp(&X(0, j), &Y(0, j), std::size_t(X.rows()) * sizeof(T)) != 0) return false;
  return true;
}

// The run.

struct Run {
  std::string mode;
  double seconds;
  int threads;
  std::string contexts;
};

struct Counts {
  std::atomic<long> solves = 0, wrong = 0, other_bits = 0, hangs = 0, errors = 0, slowest_us = 0;
};

/// What a host thread is about, for who watches it.
struct Watched {
  std::mutex guard;
  std::string what;  // empty: nothing of the library
  Clock::time_point since;

  void begin(std::string now) {
    const std::lock_guard lock(guard);
    what = std::move(now), since = Clock::now();
  }
  void end(Counts& counts) {
    const std::lock_guard lock(guard);
    const long us = long(1e6 * seconds_since(since));
    for (long most = counts.slowest_us; us > most && !counts.slowest_us.compare_exchange_weak(most, us);) {
    }
    what.clear();
  }
};

void complain(const std::string& what, const char* text) {
  static std::atomic<int> said = 0;
  if (said++ < 10) std::fprintf(stderr, "stress: %s: %s\n", what.c_str(), text);
}

/// Factors once and solves for each number of columns. `first`: what is found is what others are compared with.
template <class T>
void solve_one(System<T>& s, const Context* context, Watched& watched, Counts& counts, bool first = false) {
  std::string what = std::string(s.method == Method::lu ? "LU" : "Cholesky") + (sizeof(T) == 8 ? " fp64" : " fp32") +
                     ", n = " + std::to_string(s.n);
  Options o;
  o.device = {Device::cuda, 0};
  o.factorization = s.method;
  o.threads = 1;
  try {
    watched.begin(what + ", factors");
    Factorization<T> factors = context ? Factorization<T>(s.A.view(), o, *context) : Factorization<T>(s.A.view(), o);
    watched.end(counts);
    for (std::size_t i = 0; i < std::size(columns); ++i) {
      const std::string rhs = what + ", right-hand sides: " + std::to_string(columns[i]);
      const auto B = std::as_const(s.B).view().columns(0, columns[i]);
      Matrix<T> X(s.n, columns[i]);
      watched.begin(rhs);
      const Report report = factors.solve(B, X);
      watched.end(counts);
      ++counts.solves;
      const bool same = !first && same_bits(X, s.first[i]);  // which were found to be right
      if (!first && !same) ++counts.other_bits;
      if (!report.outcome.ok() || !(same || is_right<T>(std::as_const(s.A).view(), B, std::as_const(X).view())))
        ++counts.wrong, complain(rhs, report.outcome.ok() ? "wrong" : report.outcome.message().c_str());
      if (first) s.first.push_back(std::move(X));
    }
    watched.begin(what + ", release");
  } catch (const std::exception& e) {
    ++counts.errors;
    complain(what, e.what());
  }
  watched.end(counts);
}

void print(const Run& r, const Counts& c, const std::atomic<long>& held) {
  std::printf("%-10s%-10s%8s%9s%7s%12s%7s%8s%12s%7s\n", "mode", "contexts", "threads", "solves", "wrong", "other bits",
              "hangs", "errors", "slowest, s", "held");
  std::printf("%-10s%-10s%8d%9ld%7ld%12ld%7ld%8ld%12.3f%7ld\n", r.mode.c_str(), r.contexts.c_str(), r.threads,
              c.solves.load(), c.wrong.load(), c.other_bits.load(), c.hangs.load(), c.errors.load(),
              1e-6 * double(c.slowest_us.load()), held.load());
  std::fflush(stdout);
}

int run(const Run& r) {
  std::deque<System<double>> f64;
  std::deque<System<float>> f32;
  for (const std::int64_t n : sizes)
    for (const Method method : {Method::lu, Method::cholesky}) {
      f64.push_back(make_system<double>(method, n));
      f32.push_back(make_system<float>(method, n));
    }
  Counts counts;
  std::deque<Watched> watched(std::size_t(r.threads) + 1);
  std::deque<Context> contexts;
  for (int t = 0; t < (r.contexts == "own" ? r.threads : r.contexts == "shared" ? 1 : 0); ++t) contexts.emplace_back(0);
  std::atomic<bool> ended = false;
  std::atomic<long> held = 0;
  // Who hangs cannot be joined: the process ends when that is said.
  std::thread watcher([&] {
    for (; !ended; std::this_thread::sleep_for(std::chrono::milliseconds(100)))
      for (Watched& w : watched) {
        const std::lock_guard lock(w.guard);
        if (w.what.empty() || seconds_since(w.since) < hang_seconds) continue;
        ++counts.hangs;
        std::fprintf(stderr, "stress: %s: does not end\n", w.what.c_str());
        print(r, counts, held);
        std::_Exit(1);
      }
  });
  for (auto& s : f64) solve_one(s, nullptr, watched.back(), counts, true);
  for (auto& s : f32) solve_one(s, nullptr, watched.back(), counts, true);
  if (counts.wrong + counts.errors == 0) {
    OtherProgram other(r.mode == "alone" ? 0 : r.mode == "half" ? 50 : 100, r.mode == "together", held);
    const auto began = Clock::now();
    std::vector<std::thread> all;
    for (int t = 0; t < r.threads; ++t)
      all.emplace_back([&, t] {
        const Context* context = contexts.empty() ? nullptr : &contexts[std::size_t(t) % contexts.size()];
        std::mt19937 random{unsigned(t)};
        while (seconds_since(began) < r.seconds) {
          const std::size_t i = random() % f64.size();
          random() % 2 ? solve_one(f64[i], context, watched[std::size_t(t)], counts)
                       : solve_one(f32[i], context, watched[std::size_t(t)], counts);
        }
      });
    for (auto& thread : all) thread.join();
  }
  ended = true;
  watcher.join();
  print(r, counts, held);
  const bool beside = r.mode == "alone" || held > 0;
  return counts.wrong + counts.errors + counts.hangs == 0 && counts.solves > 0 && beside ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  const auto is_one_of = [](const std::string& word, std::initializer_list<const char*> all) {
    return std::find(all.begin(), all.end(), word) != all.end();
  };
  const Run r{argc > 1 ? argv[1] : "", argc > 2 ? std::atof(argv[2]) : 6, argc > 3 ? std::atoi(argv[3]) : 8,
              argc > 4 ? argv[4] : "none"};
  if (!is_one_of(r.mode, {"alone", "half", "all", "together"}) || !is_one_of(r.contexts, {"none", "own", "shared"})) {
    std::fprintf(stderr, "usage: stress alone|half|all|together [SECONDS [THREADS [none|own|shared]]]\n");
    return 2;
  }
  if (const std::string why = why_no_cuda_device(0); !why.empty()) {
    std::fprintf(stderr, "stress: %s\n", why.c_str());
    return 77;
  }
  return run(r);
} catch (const std::exception& e) {
  std::fprintf(stderr, "stress: %s\n", e.what());
  return 1;
}
