// A matrix in pieces: block columns that lie on several CUDA devices, or on the host.
#pragma once

#include "lasolve/cpp20.hpp"
#if __cplusplus >= 201709L
#include <span>

#include "lasolve/lasolve.hpp"

namespace lasolve {
inline namespace LASOLVE_ABI {

/// Factors A = [A₀ A₁ …], n × n, whose pieces lie side by side. Each piece has n rows, any number of columns, and is column-major. It is on the
/// host or on any CUDA device, also on one that Options::cards does not name.
///
/// Each card copies the columns that are dealt to it from the pieces that have them. Over several cards A is never gathered in one place. The
/// factors are, bit for bit, those of the whole matrix over the same cards. A list of one card is that device. Without a list it is
/// Options::device; if that is automatic, the device of the first piece that is on one.
///
/// Even on one device the rules of several cards hold: Method::automatic is LU. Misuse: L and U as such, Options::storage, a triangle, schedules
/// that several cards have not, and residuals in twice the precision.
///
/// Pieces are borrowed as A is by a Factorization: they must outlive it when it is refined or checked, and until the last rcond(). B and X of a
/// solve are on the host or on one device; where they are spread, each part of their columns is a solve of its own.
///
/// The call waits for the work that is already on the default stream of each device with a piece, or only for that on `after`. Work on other
/// streams must have finished.
///
/// Throws as Factorization does. Misuse (std::invalid_argument) is also: no pieces; a piece with other rows than the first, not column-major, of a
/// temporary, or whose memory is not where its type says; pieces that overlap; columns that are not n in all; a piece on a CUDA device where
/// Options::device is the CPU. what() names the piece, counted from 0.
Factorization<double> factor_pieces(std::span<const Borrowed<const double>> pieces, const Options& = {},
                                    CUstream_st* after = default_stream());
Factorization<float> factor_pieces(std::span<const Borrowed<const float>> pieces, const Options& = {},
                                   CUstream_st* after = default_stream());

}  // namespace LASOLVE_ABI
}  // namespace lasolve
#endif
