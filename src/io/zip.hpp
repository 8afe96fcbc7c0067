// ZIP archives, as far as .npz files are some: members that are stored or deflated, also beyond 4 GiB.
// https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/input_file.hpp"

namespace lasolve::io {

/// A member as the central directory describes it.
struct ZipMember {
  std::string name;
  std::uint16_t flags, method;
  std::uint32_t crc;
  std::uint64_t compressed, size;  // bytes
  std::uint64_t header;            // where its local header begins
};

bool is_zip(std::string_view content);

/// The members of an archive, in the order of its central directory. Throws InputError where that is damaged.
std::vector<ZipMember> zip_members(const InputFile& archive);

/// A member by itself, named `name`; a view of the archive where it is stored. Throws InputError where it is damaged,
/// encrypted or compressed in another way, MachineError where its content does not fit in memory. `progress` is called with the part that is
/// decompressed.
InputFile open_member(const InputFile& archive, const ZipMember& member, std::string name,
                      const Progress& progress = {});

}  // namespace lasolve::io
