#include "io/matrix_market_dealt.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <span>
#include <vector>

#include "io/in_rounds.hpp"
#include "io/matrix_market_values.hpp"
#include "io/sharing.hpp"

namespace lasolve::io {
namespace {

using Header = MatrixMarketHeader;

/// What a piece of text holds: values of an array file, or entries.
struct Piece {
  const char *begin = nullptr, *end = nullptr;
  std::vector<double> values = {};
  std::vector<Entry> entries = {};
  std::exception_ptr failure = {};  ///< behind these

  std::int64_t count() const { return std::int64_t(values.size() + entries.size()); }
};

/// How many values an array file stores in the columns before column j.
std::int64_t stored_before(const Header& header, std::int64_t j) {
  const std::int64_t above = j * (j - 1) / 2;
  return header.symmetry == Symmetry::general          ? j * header.rows
         : header.symmetry == Symmetry::skew_symmetric ? j * (header.rows - 1) - above
                                                       : j * header.rows - above;
}

/// f(k, count, i, j, is_mirrored) for each run of values in a part, of `count` that an array file stores from value `first` on: values
/// k, k + 1, … of these are rows i, i + 1, … of column j, or columns of row i and on where they are mirrored.
template <class F>
void for_each_run(const Header& header, std::int64_t first, std::int64_t count, const BlockCyclic& part, F f) {
  std::int64_t j = 0;
  for (std::int64_t most = header.cols; j + 1 < most;) {  // bisection: the column that has the first value
    const std::int64_t middle = (j + most) / 2;
    (stored_before(header, middle) <= first ? j : most) = middle;
  }
  for (std::int64_t k = 0; k < count; ++j) {
    const std::int64_t begin = header.first_row(j) + first + k - stored_before(header, j);
    const std::int64_t end = std::min(header.rows, begin + count - k);
    const auto runs_along = [&](const Dealt& along, std::int64_t from, bool is_mirrored) {
      for (std::int64_t i = from, next = 0; i < end; i = next) {
        next = std::min(end, (i / along.block + 1) * along.block);
        if (along.has(i)) f(k + i - begin, next - i, i, j, is_mirrored);
      }
    };
    if (part.cols.has(j)) runs_along(part.rows, begin, false);
    if (header.symmetry != Symmetry::general && part.rows.has(j)) runs_along(part.cols, std::max(begin, j + 1), true);
    k += end - begin;
  }
}

template <class T>
void append(Sharing::Bytes& bytes, const T* some, std::int64_t count) {
  const auto* const from = reinterpret_cast<const std::byte*>(some);
  bytes.insert(bytes.end(), from, from + std::size_t(count) * sizeof(T));
}

class Reader {
 public:
  Reader(const Scanner& data, const Header& header, const ReadOptions& options, MatrixFile& result)
      : file_(data.file),
        begin_(data.place),
        header_(header),
        options_(options),
        others_(*options.sharing),
        result_(result),
        part_(others_.part(header.rows, header.cols, result.place)) {
    result.matrix = Matrix<double>(part_.rows.count(), part_.cols.count());
    const MatrixView<double> A = result.matrix;
    std::fill_n(A.data(), A.ld() * A.cols(), 0.0);
    if (has_entries()) given_.resize(std::size_t(A.rows() * A.cols()), no);
  }

  void read() {
    constexpr std::int64_t most_bytes = 64 << 20;  // of a round, however many threads there are
    const std::int64_t threads = std::max(1, options_.threads);
    piece_bytes_ = std::max<std::int64_t>(1, std::min(others_.bytes_at_once(), most_bytes / threads));
    const std::int64_t bytes = file_.end() - begin_, pieces = (bytes + piece_bytes_ - 1) / piece_bytes_;
    const std::int64_t of_a_round = threads * others_.count();
    others_.meet();
    refuse_another_file();
    for (std::int64_t first = 0; first < pieces; first += of_a_round) {
      round(parsed(first + threads * others_.rank(), threads));
      if (options_.progress) options_.progress(double(std::min(pieces, first + of_a_round)) / double(pieces));
    }
    if (failure_) std::rethrow_exception(failure_);
    others_.meet();
    if (found_ < header_.stored) refuse_missing({file_, file_.end()}, header_, found_);
    note_what_was_read();
  }

 private:
  enum Given : char { no, here, in_the_other_triangle };

  bool has_entries() const { return header_.format == Format::coordinate; }

  /// Where the k-th piece begins: with a line. In one that is too long for a comment, of an array file, with a number.
  const char* bound(std::int64_t k) const {
    constexpr std::int64_t longest_comment = 1 << 20;
    if (k == 0) return begin_;
    if (k >= (file_.end() - begin_ + piece_bytes_ - 1) / piece_bytes_) return file_.end();
    const char* place = begin_ + k * piece_bytes_ - 1;
    const std::int64_t left = file_.end() - place, most = has_entries() ? left : std::min(left, longest_comment);
    if (const void* const line = std::memchr(place, '\n', std::size_t(most))) return static_cast<const char*>(line) + 1;
    if (has_entries()) return file_.end();
    while (place != file_.end() && !is_blank(*place)) ++place;
    return place;
  }

  /// Pieces would not fit together.
  void refuse_another_file() const {
    if (const std::string found = others_.difference(std::int64_t(file_.content().size()), "bytes"); !found.empty())
      file_.refuse("expected one file on all machines, found " + found);
  }

  std::vector<Piece> parsed(std::int64_t first, std::int64_t count) const {
    std::vector<Piece> pieces(static_cast<std::size_t>(count));
    const double work = 10.0 * double(piece_bytes_) * double(count);
    in_rounds(count, int(count), work, {}, [&](std::int64_t t) {
      Piece& piece = pieces[std::size_t(t)];
      piece.begin = bound(first + t), piece.end = bound(first + t + 1);
      try {
        has_entries() ? parse_entries(piece) : parse_values(piece);
      } catch (...) {
        piece.failure = std::current_exception();
      }
    });
    return pieces;
  }
  void parse_values(Piece& piece) const {
    constexpr std::int64_t likely_bytes = 8;
    piece.values.reserve(std::size_t((piece.end - piece.begin) / likely_bytes));
    for (Scanner scanner{file_, piece.begin};;) {
      scanner.skip_to_data();
      if (scanner.place >= piece.end) return;
      double value = 0;
      if (read_run(header_.field, scanner.place, &value, 1) == 0) value = read_value(scanner, header_.field, options_);
      piece.values.push_back(value);
    }
  }
  void parse_entries(Piece& piece) const {
    for (Scanner scanner{file_, piece.begin};;) {
      scanner.skip_to_data();
      if (scanner.place >= piece.end) return;
      piece.entries.push_back(read_entry(scanner, header_, options_));
    }
  }

  /// Sends on what this process has parsed, and takes what others send.
  void round(const std::vector<Piece>& pieces) {
    double mine = 0;
    for (const Piece& piece : pieces) mine += double(piece.count());
    const std::vector<double> counts = others_.gathered(mine);
    std::vector<std::int64_t> firsts;
    for (const double count : counts) firsts.push_back(found_), found_ += std::int64_t(count);
    refuse_what_failed(pieces, firsts[std::size_t(others_.rank())]);
    std::vector<Sharing::Bytes> sent(counts.size());
    if (found_ <= header_.stored) has_entries() ? send_entries(pieces, sent) : send_values(pieces, firsts, sent);
    others_.meet();
    const std::vector<Sharing::Bytes> came = others_.exchanged(std::move(sent));
    try {
      for (std::size_t r = 0; r < came.size(); ++r)
        has_entries() ? take_entries(came[r]) : take_values(came[r], firsts[r], std::int64_t(counts[r]));
    } catch (...) {
      failure_ = std::current_exception();  // thrown on the others when they meet next
    }
  }

  /// Of pieces whose first value or entry is the first-th of the file.
  void refuse_what_failed(const std::vector<Piece>& pieces, std::int64_t first) const {
    if (failure_) std::rethrow_exception(failure_);
    for (const Piece& piece : pieces) {
      const std::int64_t promised = header_.stored - first;  // of what is here
      if (piece.count() > promised || (piece.failure && piece.count() == promised)) {
        Scanner extra{file_, piece.begin};
        for (std::int64_t k = 0; k < promised; ++k) {
          extra.skip_to_data();
          has_entries() ? extra.skip_line() : void(extra.place += extra.token().size());
        }
        refuse_extra(extra, header_);
      }
      if (piece.failure) std::rethrow_exception(piece.failure);
      first += piece.count();
    }
  }

  void send_values(const std::vector<Piece>& pieces, const std::vector<std::int64_t>& firsts,
                   std::vector<Sharing::Bytes>& sent) const {
    std::int64_t first = firsts[std::size_t(others_.rank())];
    for (const Piece& piece : pieces) {
      for (int r = 0; r < others_.count(); ++r)
        for_each_run(header_, first, piece.count(), part_.of(r), [&](auto k, auto count, auto, auto, bool) {
          append(sent[std::size_t(r)], piece.values.data() + k, count);
        });
      first += piece.count();
    }
  }
  void take_values(const Sharing::Bytes& bytes, std::int64_t first, std::int64_t count) {
    const MatrixView<double> A = result_.matrix;
    const std::byte* from = bytes.data();
    for_each_run(header_, first, count, part_, [&](auto, auto length, auto i, auto j, bool is_mirrored) {
      const double sign = is_mirrored && header_.symmetry == Symmetry::skew_symmetric ? -1 : 1;
      for (std::int64_t at = i; at < i + length; ++at, from += sizeof(double)) {
        double x = 0;
        std::memcpy(&x, from, sizeof x);
        const std::int64_t row = is_mirrored ? j : at, column = is_mirrored ? at : j;
        A(part_.rows.place_of(row), part_.cols.place_of(column)) = sign * x;
      }
    });
  }

  void send_entries(const std::vector<Piece>& pieces, std::vector<Sharing::Bytes>& sent) {
    for (const Piece& piece : pieces)
      for (const Entry& entry : piece.entries) {
        below_ = std::max(below_, entry.i - entry.j), above_ = std::max(above_, entry.j - entry.i);
        on_diagonal_ += entry.i == entry.j;
        const int owner = part_.owner_of(entry.i, entry.j), another = part_.owner_of(entry.j, entry.i);
        append(sent[std::size_t(owner)], &entry, 1);
        if (header_.symmetry != Symmetry::general && another != owner) append(sent[std::size_t(another)], &entry, 1);
      }
  }
  void take_entries(const Sharing::Bytes& bytes) {
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(Entry)) {
      Entry entry;
      std::memcpy(&entry, bytes.data() + at, sizeof entry);
      keep(entry, entry.i, entry.j, entry.value, here);
      if (header_.symmetry == Symmetry::general || entry.i == entry.j) continue;
      keep(entry, entry.j, entry.i, header_.symmetry == Symmetry::symmetric ? entry.value : -entry.value,
           in_the_other_triangle);
    }
  }
  void keep(const Entry& entry, std::int64_t i, std::int64_t j, double value, Given how) {
    if (!part_.rows.has(i) || !part_.cols.has(j)) return;
    const std::int64_t at_i = part_.rows.place_of(i), at_j = part_.cols.place_of(j);
    char& before = given_[std::size_t(at_i + at_j * result_.matrix.rows())];
    double& x = result_.matrix(at_i, at_j);
    if (before != no && before != how) refuse_both_triangles(entry.place_in(file_), header_, entry.i, entry.j);
    if (before == here && how == here && repeated_++ == 0) first_repeated_ = entry.at;
    x = before == no ? value : x + value;
    before = how;
    refuse_overflow(entry.place_in(file_), x, options_);
  }

  /// What no process knows alone. Notes are the same on all.
  void note_what_was_read() {
    if (!has_entries()) return;
    std::int64_t repeated = 0, first = -1, below = 0, above = 0, on_diagonal = 0;
    for (const double count : others_.gathered(double(repeated_))) repeated += std::int64_t(count);
    for (const double at : others_.gathered(double(first_repeated_)))
      if (at >= 0) first = first < 0 ? std::int64_t(at) : std::min(first, std::int64_t(at));
    for (const double distance : others_.gathered(double(below_))) below = std::max(below, std::int64_t(distance));
    for (const double distance : others_.gathered(double(above_))) above = std::max(above, std::int64_t(distance));
    for (const double count : others_.gathered(double(on_diagonal_))) on_diagonal += std::int64_t(count);
    if (repeated > 0) result_.notes.push_back(note_of_repeated(file_.name_of(file_.begin() + first), repeated));
    if (header_.rows != header_.cols) return;
    Structure structure{.n = header_.rows, .entries = header_.stored, .below = below, .above = above};
    if (header_.symmetry != Symmetry::general) {
      structure.entries = 2 * header_.stored - on_diagonal;
      structure.below = structure.above = std::max(below, above);
    }
    result_.structure = structure;
  }

  const InputFile& file_;
  const char* const begin_;
  const Header& header_;
  const ReadOptions& options_;
  Sharing& others_;
  MatrixFile& result_;
  const BlockCyclic part_;
  std::int64_t piece_bytes_ = 1, found_ = 0;
  std::exception_ptr failure_;
  std::vector<char> given_;  // of coordinates, for what may be given twice
  std::int64_t repeated_ = 0, first_repeated_ = -1, below_ = 0, above_ = 0, on_diagonal_ = 0;
};

}  // namespace

void read_dealt(const Scanner& data, const Header& header, const ReadOptions& options, MatrixFile& result) {
  Reader(data, header, options, result).read();
}

}  // namespace lasolve::io
