#include "io/zip.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <new>

#include "io/input_error.hpp"
#include "lasolve/matrix.hpp"

namespace lasolve::io {
namespace {

constexpr std::string_view local_header = "PK\x03\x04", directory_entry = "PK\x01\x02", directory_end = "PK\x05\x06",
                           directory_end64 = "PK\x06\x06", locator64 = "PK\x06\x07";

/// Records of a file, whose places and sizes the file itself says: each is checked to be in it.
class Records {
 public:
  explicit Records(const InputFile& file) : file_(file) {}

  const char* at(std::uint64_t offset, std::uint64_t bytes, const char* what) const {
    const std::uint64_t size = file_.content().size();
    if (offset > size || bytes > size - offset)
      file_.refuse_byte(file_.begin() + std::min(offset, size),
                        fmt::format("expected {} of {} bytes, found the end of the file", what, bytes));
    return file_.begin() + offset;
  }
  const char* marked(std::uint64_t offset, std::uint64_t bytes, std::string_view mark, const char* what) const {
    const char* const p = at(offset, bytes, what);
    if (!std::string_view(p, 4).starts_with(mark))
      file_.refuse_byte(p, fmt::format("expected {}, found {}", what, quoted({p, 4})));
    return p;
  }

 private:
  const InputFile& file_;
};

/// A little-endian number of so many bytes.
std::uint64_t number(const char* p, int bytes) {
  std::uint64_t value = 0;
  for (int k = bytes; k-- > 0;) value = value << 8 | static_cast<unsigned char>(p[k]);
  return value;
}

struct Directory {
  std::uint64_t entries, offset;
};

Directory find_directory(const InputFile& archive, const Records& records) {
  constexpr std::size_t bytes = 22, longest_comment = 0xFFFF;
  const std::string_view content = archive.content();
  const std::size_t from = content.size() - std::min(content.size(), bytes + longest_comment);
  for (std::size_t at = content.size(); at-- > from;) {
    if (content.substr(at, 4) != directory_end || content.size() - at < bytes) continue;
    const char* const p = content.data() + at;
    if (at + bytes + number(p + 20, 2) > content.size()) continue;
    const Directory directory{number(p + 10, 2), number(p + 16, 4)};
    if (directory.entries != 0xFFFF && directory.offset != 0xFFFFFFFF) return directory;
    if (at < 20) archive.refuse_byte(p, "expected a ZIP64 locator before the end of the directory");
    const char* const locator = records.marked(at - 20, 20, locator64, "a ZIP64 locator");
    const char* const end = records.marked(number(locator + 8, 8), 56, directory_end64, "a ZIP64 end of the directory");
    return {number(end + 32, 8), number(end + 48, 8)};
  }
  archive.refuse_byte(archive.end(),
                      "expected the directory of a .npz file, found the end of the file: is it complete?");
}

/// Takes from the ZIP64 field what did not fit the entry: the sizes and the place, in this order.
void widen(ZipMember& member, std::string_view extra) {
  while (extra.size() >= 4) {
    const std::uint64_t id = number(extra.data(), 2), bytes = number(extra.data() + 2, 2);
    std::string_view field = extra.substr(4, bytes);
    if (id == 1) {
      for (std::uint64_t* value : {&member.size, &member.compressed, &member.header}) {
        if (*value != 0xFFFFFFFF || field.size() < 8) continue;
        *value = number(field.data(), 8);
        field.remove_prefix(8);
      }
      return;
    }
    extra.remove_prefix(std::min<std::size_t>(extra.size(), 4 + bytes));
  }
}

/// What a raw deflate stream holds, which must be `size` bytes.
std::string inflated(const InputFile& archive, std::string_view packed, std::uint64_t size, const Progress& progress) {
  constexpr std::uint64_t most_ratio = 1032;  // of deflate: 258 bytes from two bits
  if (size / most_ratio > packed.size())
    archive.refuse_byte(packed.data(),
                        fmt::format("expected {} bytes from a deflated member, found {} that cannot hold so many", size,
                                    packed.size()));
  if (const auto free = Memory<Cpu>::available(); size > free) throw OutOfMemory("host", size, free);
  z_stream stream{};
  if (inflateInit2(&stream, -15) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> cleanup(&stream, inflateEnd);
  std::string plain(size, '\0');
  const std::size_t most = progress ? 32 << 20 : std::numeric_limits<uInt>::max();
  std::size_t done = 0;
  const char* next = packed.data();
  const char* const end = next + packed.size();
  char beyond = 0;  // room for a byte too many, which shows that there are some
  for (int status = Z_OK; status != Z_STREAM_END;) {
    const auto input = uInt(std::min<std::size_t>(std::size_t(end - next), most));
    const auto room = uInt(std::min(plain.size() - done, most));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(next));
    stream.avail_in = input;
    stream.next_out = reinterpret_cast<Bytef*>(room > 0 ? plain.data() + done : &beyond);
    stream.avail_out = std::max<uInt>(room, 1);
    const uInt offered = stream.avail_out;
    status = inflate(&stream, Z_NO_FLUSH);
    next += input - stream.avail_in;
    const std::size_t got = offered - stream.avail_out;
    if (got > 0 && room == 0)
      archive.refuse_byte(next, fmt::format("expected {} bytes from a deflated member, found more", size));
    done += got;
    if (progress) progress(double(done) / double(std::max<std::uint64_t>(size, 1)));
    const bool stuck = status == Z_BUF_ERROR || (got == 0 && input == stream.avail_in);
    if (status != Z_STREAM_END && (status != Z_OK || stuck))
      archive.refuse_byte(next, fmt::format("expected deflated data, found {}", stuck        ? "the end of the member"
                                                                                : stream.msg ? stream.msg
                                                                                             : "damage"));
  }
  if (done != size)
    archive.refuse_byte(next, fmt::format("expected {} bytes from a deflated member, found {}", size, done));
  return plain;
}

void require_crc(const InputFile& archive, const ZipMember& member, const char* place, std::string_view content) {
  const std::uint32_t found = std::uint32_t(crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
  if (found != member.crc)
    archive.refuse_byte(place, fmt::format("expected {} with the CRC {:08x}, found {:08x}: it is damaged", member.name,
                                           member.crc, found));
}

}  // namespace

bool is_zip(std::string_view content) {
  return content.starts_with(local_header) || content.starts_with(directory_end);
}

std::vector<ZipMember> zip_members(const InputFile& archive) {
  constexpr std::uint64_t bytes = 46;
  const Records records(archive);
  const Directory directory = find_directory(archive, records);
  std::vector<ZipMember> members;
  std::uint64_t at = directory.offset;
  for (std::uint64_t k = 0; k < directory.entries; ++k) {
    const char* const p = records.marked(at, bytes, directory_entry, "an entry of the directory");
    const std::uint64_t name = number(p + 28, 2), extra = number(p + 30, 2), comment = number(p + 32, 2);
    records.at(at + bytes, name + extra + comment, "an entry of the directory");
    ZipMember member{std::string(p + bytes, strnlen(p + bytes, name)),  // which ends at a NUL, as paths do
                     std::uint16_t(number(p + 8, 2)),
                     std::uint16_t(number(p + 10, 2)),
                     std::uint32_t(number(p + 16, 4)),
                     number(p + 20, 4),
                     number(p + 24, 4),
                     number(p + 42, 4)};
    widen(member, {p + bytes + name, extra});
    members.push_back(std::move(member));
    at += bytes + name + extra + comment;
  }
  return members;
}

InputFile open_member(const InputFile& archive, const ZipMember& member, std::string name, const Progress& progress) {
  constexpr std::uint64_t bytes = 30;
  constexpr int stored = 0, deflated = 8;
  const Records records(archive);
  const char* const p = records.marked(member.header, bytes, local_header, "a member");
  if (member.flags & 1) archive.refuse_byte(p, fmt::format("expected {} to be plain, found it encrypted", member.name));
  if (member.method != stored && member.method != deflated)
    archive.refuse_byte(p, fmt::format("expected {} to be stored or deflated, found the compression method {}",
                                       member.name, member.method));
  const std::uint64_t before = bytes + number(p + 26, 2) + number(p + 28, 2);
  records.at(member.header, before, "a header");
  const std::string_view packed(records.at(member.header + before, member.compressed, "a member"), member.compressed);
  if (member.method == stored) {
    require_crc(archive, member, packed.data(), packed);
    return InputFile(std::move(name), packed);
  }
  std::string plain = inflated(archive, packed, member.size, progress);
  require_crc(archive, member, packed.data(), plain);
  return InputFile(std::move(name), std::move(plain));
}

}  // namespace lasolve::io
