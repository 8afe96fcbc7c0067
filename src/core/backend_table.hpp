// The table behind gemm_backends(): a record is there once, under one name.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "lasolve/gemm.hpp"

namespace lasolve {

template <class Space>
class BackendTable {
 public:
  /// A record and the name of its file, and how fast a factorization with it was measured to be, in percent of the fastest. 0: it was not.
  struct Entry {
    const char* file;
    const GemmBackend<Space>* record;
    int reached = 0;
    int refined = 0;  ///< the same of factors in fp32, refined to fp64, beside the fastest in fp64
  };

  /// Throws std::invalid_argument as add() does.
  BackendTable(std::initializer_list<Entry> entries) {
    for (const Entry& e : entries) add(e);
  }
  /// Throws std::invalid_argument when a record has another name than its file, or when the name is taken.
  void add(const Entry& e) {
    const std::string name = e.record->name;
    require(name == e.file, ("the GEMM backend '" + name + "' is in a file named '" + e.file + "'").c_str());
    for (const auto* other : records_)
      require(other->name != name, ("there are two GEMM backends '" + name + "'").c_str());
    records_.push_back(e.record);
    if (e.refined > refined_.refined) refined_ = e;
    if (e.reached == 0) return;
    measured_.push_back(e);
    std::stable_sort(measured_.begin(), measured_.end(), [](auto& a, auto& b) { return a.reached > b.reached; });
  }
  std::span<const GemmBackend<Space>* const> records() const { return records_; }
  /// The fastest that is only good for factors that are refined; null: there is none.
  const GemmBackend<Space>* refined() const { return refined_.record; }
  /// Those that were measured, from the fastest.
  std::span<const Entry> measured() const { return measured_; }

 private:
  std::vector<const GemmBackend<Space>*> records_;
  std::vector<Entry> measured_;
  Entry refined_ = {};
};

/// That of this build. A program that has kernels to try may add them before it starts threads.
template <class Space>
BackendTable<Space>& backend_table();
template <>
BackendTable<Cpu>& backend_table<Cpu>();
template <>
BackendTable<Cuda>& backend_table<Cuda>();

}  // namespace lasolve
