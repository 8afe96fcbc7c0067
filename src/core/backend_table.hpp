// The table behind gemm_backends(): a record is there once, under one name.
#pragma once

#include <initializer_list>
#include <vector>

#include "lasolve/gemm.hpp"

namespace lasolve {

template <class Place>
class BackendTable {
 public:
  /// A record and the name of its file.
  struct Entry {
    const char* file;
    const GemmBackend<Place>* record;
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
  }
  std::span<const GemmBackend<Place>* const> records() const { return records_; }

 private:
  std::vector<const GemmBackend<Place>*> records_;
};

/// That of this build. A program that has kernels to try may add them before it starts threads.
template <class Place>
BackendTable<Place>& backend_table();
template <>
BackendTable<Cpu>& backend_table<Cpu>();
template <>
BackendTable<Cuda>& backend_table<Cuda>();

}  // namespace lasolve
