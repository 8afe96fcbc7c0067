#include "io/matlab.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/range.hpp"

namespace lasolve::io {
namespace {

constexpr std::size_t most_names = 20, most_elements = 1000, longest_name = 63, bytes_looked_at = 2048;

std::uint32_t word(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  if (at + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// What a data element is, and where its data and the next element begin.
struct DataElement {
  std::uint32_t type, bytes;
  std::size_t data, next;
};
DataElement element_at(std::string_view content, std::size_t at) {
  const std::uint32_t first = word(content, at);
  if (first >> 16) return {first & 0xFFFF, first >> 16, at + 4, at + 8};  // a small one
  const std::uint32_t bytes = word(content, at + 4);
  return {first, bytes, at + 8, at + 8 + (std::size_t(bytes) + 7) / 8 * 8};
}

/// The begin of what is compressed.
std::string begin_of(std::string_view packed) {
  std::string plain(bytes_looked_at, '\0');
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return "";
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = uInt(std::min<std::size_t>(packed.size(), 4096));
  stream.next_out = reinterpret_cast<Bytef*>(plain.data());
  stream.avail_out = uInt(plain.size());
  inflate(&stream, Z_SYNC_FLUSH);
  plain.erase(std::min<std::size_t>(stream.total_out, plain.size()));
  inflateEnd(&stream);
  return plain;
}

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= longest_name && all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

/// The names of the fields of a struct, which stand behind its own: their length, then all of them.
std::vector<std::string> fields_of(std::string_view array, std::size_t at) {
  const DataElement length = element_at(array, at), names = element_at(array, length.next);
  const std::uint32_t each = word(array, length.data);
  std::vector<std::string> fields;
  for (std::size_t k = 0; each > 0 && (k + 1) * each <= names.bytes && names.data + (k + 1) * each <= array.size();
       ++k) {
    const std::string_view field = array.substr(names.data + k * each, each);
    fields.emplace_back(field.substr(0, field.find('\0')));
    if (!is_name(fields.back())) return {};
  }
  return fields;
}

/// The array at the begin; without a name where it holds neither numbers nor fields.
MatlabArray array_at(std::string_view array) {
  constexpr std::uint32_t is_array = 14, struct_class = 2, sparse_class = 5, last_class_of_numbers = 15;
  if (word(array, 0) != is_array) return {};
  const DataElement flags = element_at(array, 8), sizes = element_at(array, flags.next),
                    name = element_at(array, sizes.next);
  const std::uint32_t its_class = word(array, flags.data) & 0xFF;
  const bool is_struct = its_class == struct_class;
  if (!is_struct && (its_class < sparse_class || its_class > last_class_of_numbers)) return {};
  if (name.data > array.size() || name.bytes > array.size() - name.data) return {};
  MatlabArray found{std::string(array.substr(name.data, name.bytes)), its_class == sparse_class};
  if (is_struct) found.fields = fields_of(array, name.next);
  if (!is_name(found.name) || (is_struct && found.fields.empty())) return {};
  return found;
}

std::vector<MatlabArray> arrays_of_5(std::string_view content) {
  constexpr std::size_t header_bytes = 128;
  constexpr std::uint32_t is_compressed = 15;
  std::vector<MatlabArray> arrays;
  std::size_t at = header_bytes;
  for (std::size_t k = 0; k < most_elements && arrays.size() < most_names && at + 8 < content.size(); ++k) {
    const std::uint32_t type = word(content, at), bytes = word(content, at + 4);
    const std::string_view rest = content.substr(at);
    const MatlabArray array = array_at(type == is_compressed ? begin_of(rest.substr(8, bytes))
                                                             : std::string(rest.substr(0, bytes_looked_at)));
    if (!array.name.empty()) arrays.push_back(array);
    at += 8 + std::size_t(bytes);
  }
  return arrays;
}

}  // namespace

bool is_matlab_4(std::string_view content) {
  // There is no magic number. A file begins with a type in decimal digits, rows, columns, whether it is complex, and the length of
  // the name with its null byte.
  std::uint32_t header[5];
  if (content.size() < sizeof header) return false;
  std::memcpy(header, content.data(), sizeof header);
  const auto [type, rows, columns, complex, name_bytes] = header;
  return type <= 52 && type % 10 <= 2 && rows > 0 && columns > 0 && complex <= 1 && name_bytes > 1 &&
         name_bytes <= longest_name + 1 && content.size() >= sizeof header + name_bytes &&
         content[sizeof header + name_bytes - 1] == 0;
}

bool is_matlab_5(std::string_view content) { return content.starts_with("MATLAB 5.0 MAT-file"); }

std::vector<MatlabArray> matlab_arrays(std::string_view content) {
  if (is_matlab_5(content)) return arrays_of_5(content);
  constexpr std::uint32_t sparse_type = 2;
  const std::string first(content.substr(20, word(content, 16) - 1));
  if (!is_name(first)) return {};
  return {{first, word(content, 0) % 10 == sparse_type}};
}

}  // namespace lasolve::io
