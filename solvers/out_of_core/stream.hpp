// Parts of a matrix in the memory of the host, on their way to a device: a few are there, or under way, ahead of who reads them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>

#include "solvers/cards/group.hpp"
#include "solvers/copy.hpp"

namespace lasolve {

/// Rows and columns of a matrix, within one of its block columns.
struct Slice {
  std::size_t block = 0;
  Range rows, columns;
};

/// A ring of buffers on a device, each with a queue that fills it.
template <class F, class Space>
class Stream {
 public:
  /// For slices of so many rows and columns at most.
  Stream(CardGroup<Space>& cards, std::int64_t rows, std::int64_t columns) {
    for (Line& line : lines_) line.memory = Matrix<F, Space>(rows, columns), line.q = cards.line(0);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// use(slice, its elements on the device) for one after the other, which is to give work to q alone. from(slice) is where they are on the
  /// host.
  template <class From, class Use>
  void run(Queue<Space>& q, std::span<const Slice> slices, From from, Use use) {
    const auto fill = [&](std::size_t i) {
      Line& line = of(i);
      line.q->phase(Phase::other);
      copy<F>(*line.q, from(slices[i]), line.room_for(slices[i]));
      bytes_ += double(slices[i].rows.count()) * double(slices[i].columns.count()) * sizeof(F);
    };
    for (std::size_t i = 0; i < std::min(buffers, slices.size()); ++i) fill(i);
    for (std::size_t i = 0; i < slices.size(); ++i) {
      Line& line = of(i);
      q.wait(*line.q);
      use(slices[i], line.room_for(slices[i]));
      line.q->wait(q);  // who fills it next comes after
      if (i + buffers < slices.size()) fill(i + buffers);
    }
  }

  /// Waits for all copies. Adds their times.
  void finish(PhaseTimes& times) {
    for (Line& line : lines_) line.q->finish(), times += line.q->take_times();
  }
  /// Of the device's memory, and that have travelled.
  std::size_t bytes() const { return buffers * lines_[0].memory.bytes(); }
  double travelled() const { return bytes_; }

  static constexpr std::size_t buffers = 3;

 private:
  struct Line {
    Matrix<F, Space> memory;
    std::unique_ptr<Queue<Space>> q = {};  // ends before the memory does
    MatrixView<F, Space> room_for(const Slice& s) {
      return memory.view().block(0, 0, s.rows.count(), s.columns.count());
    }
  };
  Line& of(std::size_t i) { return lines_[i % buffers]; }

  std::array<Line, buffers> lines_;
  double bytes_ = 0;
};

}  // namespace lasolve
