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
/// Each card copies the columns that are dealt to it from the pieces that have them; A is gathered nowhere else. Factors have the bits that A
/// as one matrix gives over these cards. Fewer than two cards: Options::device alone, or where that is automatic, the device of the first piece
/// that is on one. As over several cards, on one device too: Method::automatic is LU, nothing is
/// equilibrated in need, and L, U, pivots, the determinant, Options::storage, a triangle and residuals in twice the precision are misuse.
///
/// Pieces are borrowed as A is by a Factorization: they must outlive it when it is refined or checked,
/// and until the last rcond(). B and X of a solve are on the host or on
/// one device; where they are spread, each part of their columns is a solve of its own.
///
/// A piece on a device is read after the work that the default stream of that device was given before the call. `after` names one other stream
/// that is waited for, in place of these. Work on further streams has to be done.
///
/// Throws as Factorization does. Misuse is also: no pieces; one with other rows than the first, not column-major, in memory that may end with the
/// call, that is elsewhere than its type says, or that another piece has; columns that are not n in all; a piece on a CUDA device where
/// Options::device is the CPU. what() names the piece, counted from 0.
Factorization<double> factor_pieces(std::span<const Borrowed<const double>> pieces, const Options& = {},
                                    CUstream_st* after = default_stream());
Factorization<float> factor_pieces(std::span<const Borrowed<const float>> pieces, const Options& = {},
                                   CUstream_st* after = default_stream());

}  // namespace LASOLVE_ABI
}  // namespace lasolve
#endif
