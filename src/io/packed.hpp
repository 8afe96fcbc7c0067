// Archives and compressed files that lasolve does not read: the line that unpacks each.
#pragma once

#include <vector>

#include "io/zip.hpp"

namespace lasolve::io {

/// Throws InputError on what bzip2, xz, zstd and tar make, with the line that unpacks it.
void refuse_packed(const InputFile& file);

/// Throws InputError on a zip archive of which no member is an array, with the line that unpacks the first; or on a workbook.
void refuse_zip_without_arrays(const InputFile& file, const std::vector<ZipMember>& members);

}  // namespace lasolve::io
