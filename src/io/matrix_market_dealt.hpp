// Matrix Market files that several processes read together.
#pragma once

#include "io/matrix_file.hpp"
#include "io/matrix_market_header.hpp"

namespace lasolve::io {

/// Reads the part of the matrix that this process gets, from behind the header on. Each process parses every P-th piece of the text and
/// sends on what is in it, so that the text is parsed once, and nobody holds more than its part and a few pieces. Notes and errors are
/// those of one process; where several things are wrong, it may be another one that is named. `options` has a sharing.
void read_dealt(const Scanner& scanner, const MatrixMarketHeader& header, const ReadOptions& options,
                MatrixFile& result);

}  // namespace lasolve::io
