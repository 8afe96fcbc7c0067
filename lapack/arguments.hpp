// Arguments as Fortran hands them over, and as LAPACKE does. Each kind of table.hpp is a class, which has
//   check(Check&)   whether it is right, and how many positions it takes
//   order()         of the system, if it says that
//   passed()        what a routine of Fortran is called with, and lengths() of strings
//   value()         what a routine of ours is called with
#pragma once

#include <algorithm>
#include <tuple>
#include <vector>

#include "lapack/call.hpp"
#include "lapack/engine.hpp"

namespace lasolve::lapack {

/// What most kinds do.
template <class... P>
struct Argument {
  std::tuple<P*...> pointers;

  explicit Argument(P*... its) : pointers(its...) {}
  void check(Check& c) const { c.skip(sizeof...(P)); }
  Size order() const { return 0; }
  std::tuple<P*...> passed() const { return pointers; }
  std::tuple<> lengths() const { return {}; }
  std::tuple<> value() const { return {}; }
};

/// A string, whose length nobody reads, but who comes next may be told.
struct Letter : Argument<const char> {
  const char* letters;
  std::size_t length;

  Letter(const char* its, const char* allowed, std::size_t its_length)
      : Argument(its), letters(allowed), length(its_length) {}
  char given() const { return capital(*std::get<0>(pointers)); }
  void check(Check& c) const { c.is(std::string_view(letters).find(given()) != std::string_view::npos); }
  std::tuple<std::size_t> lengths() const { return {length}; }
  std::tuple<char> value() const { return {given()}; }
};
struct UploLetter : Letter {
  using Letter::Letter;
  std::tuple<> value() const { return {}; }  // halves know it
};
struct StateLetter : Argument<char> {
  std::size_t length;

  StateLetter(char* its, std::size_t its_length) : Argument(its), length(its_length) {}
  std::tuple<std::size_t> lengths() const { return {length}; }
  std::tuple<char*> value() const { return pointers; }
};

template <class I>
struct Count : Argument<const I> {
  using Argument<const I>::Argument;
  Size size() const { return *std::get<0>(this->pointers); }
  void check(Check& c) const { c.is(size() >= 0); }
};
template <class I>
struct Order : Count<I> {
  using Count<I>::Count;
  Size order() const { return this->size(); }
};

template <class T, class I>
struct Whole : Argument<T, const I> {
  Size rows, cols;

  Whole(T* data, const I* ld, Size its_rows, Size its_cols)
      : Argument<T, const I>(data, ld), rows(its_rows), cols(its_cols) {}
  void check(Check& c) const { c.skip(), c.is(*std::get<1>(this->pointers) >= std::max<Size>(1, rows)); }
  /// Who asks how much workspace is best may hand over no matrix. Nothing of it is read then.
  MatrixView<T> view() const {
    static T nothing;
    T* const data = std::get<0>(this->pointers);
    return {data ? data : &nothing, rows, cols, *std::get<1>(this->pointers)};
  }
  std::tuple<MatrixView<T>> value() const { return {view()}; }
};
template <class T, class I>
struct OneHalf : Whole<T, I> {
  const char* uplo;

  OneHalf(T* data, const I* ld, Size n, const char* its_uplo) : Whole<T, I>(data, ld, n, n), uplo(its_uplo) {}
  std::tuple<Half<T>> value() const { return {{this->view(), capital(*uplo) == 'L'}}; }
};

template <class I>
struct Indices : Argument<I> {
  using Argument<I>::Argument;
  std::tuple<Integers> value() const { return {std::get<0>(this->pointers)}; }
};
template <class T>
struct Number : Argument<const T> {
  using Argument<const T>::Argument;
  std::tuple<T> value() const { return {*std::get<0>(this->pointers)}; }
};
template <class T>
struct Numbers : Argument<T> {
  using Argument<T>::Argument;
  std::tuple<T*> value() const { return this->pointers; }
};
template <class I>
struct Elements : Argument<const I> {
  Size least;

  Elements(const I* its, Size at_least) : Argument<const I>(its), least(std::max<Size>(1, at_least)) {}
  Size given() const { return *std::get<0>(this->pointers); }
  void check(Check& c) const { c.is(given() == -1 || given() >= least); }
  std::tuple<Size> value() const { return {given()}; }
};

/// A call of an exported name: by the next LAPACK, or by `ours`.
template <class I, class Ours, class Symbol, class... A>
void called(Exported& its, Symbol* symbol, const void* caller, I* info, Ours ours, const A&... arguments) {
  const Size order = std::max({arguments.order()...});
  if (void* const other = its.passes(order, caller))
    return std::apply(reinterpret_cast<decltype(symbol)>(other),
                      std::tuple_cat(arguments.passed()..., std::tuple(info), arguments.lengths()...));
  Check check;
  (arguments.check(check), ...);
  *info = 0;
  const I found =
      its.take<I>(check, order, caller, [&] { return std::apply(ours, std::tuple_cat(arguments.value()...)); });
  *info = found;
}

// Of LAPACKE: what is a pointer there is an Argument, too, and gives nothing back.

template <class V>
struct ByValue {
  V value;
  void check(Check& c) const { c.skip(); }
  std::tuple<const V*> passed() const { return {&value}; }
  auto lengths() const {
    if constexpr (sizeof(V) == 1)
      return std::tuple<std::size_t>(1);
    else
      return std::tuple<>();
  }
  void give_back() {}
};
template <class P>
struct ByPointer {
  P* its;
  void check(Check& c) const { c.skip(); }
  std::tuple<P*> passed() const { return {its}; }
  auto lengths() const { return ByValue<std::remove_const_t<P>>().lengths(); }
  void give_back() {}
};

/// Workspace that LAPACKE makes itself. `first`: where its first element goes; null: nowhere.
template <class T>
struct Room {
  std::vector<T> memory;
  T* first = nullptr;

  explicit Room(Size count, T* to = nullptr) : memory(std::size_t(std::max<Size>(1, count))), first(to) {}
  void check(Check& c) const {
    if (first) c.skip();
  }
  std::tuple<T*> passed() { return {memory.data()}; }
  std::tuple<> lengths() const { return {}; }
  void give_back() {
    if (first) *first = memory[0];
  }
};
/// How much that is, which LAPACKE is not told.
template <class I>
struct Untold : ByValue<I> {
  void check(Check&) const {}
};

constexpr int row_major = 101, column_major = 102;

/// A matrix of LAPACKE: by rows it is transposed in a copy. A symmetric one is not: its other triangle is meant, where it lies.
template <class T, class I>
class Held {
 public:
  enum Use { changed, read, symmetric };

  Held(int layout, T* data, I ld, I rows, I cols, Use use)
      : data_(data),
        ld_(ld),
        rows_(rows),
        cols_(cols),
        is_copy_(layout == row_major && use != symmetric),
        is_changed_(use == changed) {
    if (!is_copy_ || rows < 0 || cols < 0 || ld < cols) return;
    copied_ld_ = std::max<I>(1, rows);
    copy_.resize(std::size_t(copied_ld_) * std::size_t(std::max<I>(1, cols)));
    for (I i = 0; i < rows; ++i)
      for (I j = 0; j < cols; ++j) copy_[at(i, j)] = data[std::size_t(i) * std::size_t(ld) + std::size_t(j)];
  }
  void check(Check& c) const { c.skip(), c.is(!is_copy_ || ld_ >= std::max<I>(1, cols_)); }
  std::tuple<T*, const I*> passed() { return {is_copy_ ? copy_.data() : data_, is_copy_ ? &copied_ld_ : &ld_}; }
  std::tuple<> lengths() const { return {}; }
  void give_back() {
    if (!is_copy_ || !is_changed_) return;
    for (I i = 0; i < rows_; ++i)
      for (I j = 0; j < cols_; ++j) data_[std::size_t(i) * std::size_t(ld_) + std::size_t(j)] = copy_[at(i, j)];
  }

 private:
  std::size_t at(I i, I j) const { return std::size_t(i) + std::size_t(j) * std::size_t(copied_ld_); }

  T* data_;
  I ld_, rows_, cols_, copied_ld_ = 1;
  bool is_copy_, is_changed_;
  std::vector<T> copy_;
};

/// By rows the other triangle is meant.
constexpr char uplo_of(int layout, char uplo) {
  if (layout != row_major) return uplo;
  return capital(uplo) == 'L' ? 'U' : capital(uplo) == 'U' ? 'L' : uplo;
}

/// A routine of LAPACKE, by that of Fortran. Arguments count from the layout.
template <class I, class Symbol, class... A>
I of_lapacke(int layout, Symbol* fortran, A&&... arguments) {
  Check check;
  check.is(layout == row_major || layout == column_major);
  (arguments.check(check), ...);
  if (check.info()) return I(check.info());
  I info = 0;
  std::apply(fortran, std::tuple_cat(arguments.passed()..., std::tuple(&info), arguments.lengths()...));
  (arguments.give_back(), ...);
  return info < 0 && info != info_of_machine ? info - 1 : info;
}

}  // namespace lasolve::lapack
