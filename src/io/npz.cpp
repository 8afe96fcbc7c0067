#include "io/npz.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/range.hpp"
#include "io/foreign.hpp"
#include "io/input_error.hpp"
#include "io/npy.hpp"
#include "io/packed.hpp"
#include "io/zip.hpp"

namespace lasolve::io {
namespace {

/// The name of a member as NumPy shows it: without .npy.
std::string array_name(const ZipMember& member) {
  constexpr std::string_view suffix = ".npy";
  std::string name = member.name;
  if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
  return name;
}

/// The names of all of them, for a message.
std::string listed(const std::vector<ZipMember>& members) {
  constexpr std::size_t most = 20;
  std::vector<std::string> names;
  for (const ZipMember& m : members) names.push_back(printable(array_name(m)));
  const std::size_t more = names.size() - std::min(names.size(), most);
  names.resize(names.size() - more);
  return fmt::format("{}{}", fmt::join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

bool has(const std::vector<ZipMember>& members, const std::string& array) {
  return any_of(members, [&](const ZipMember& m) { return array_name(m) == array; });
}

/// The array that a message has as an example: that of the likely name, else the first, or of right-hand sides the second.
std::string example(const std::vector<ZipMember>& members, const std::string& likely) {
  const auto same = [](char x, char y) { return (x | 0x20) == (y | 0x20); };
  for (const ZipMember& m : members)
    if (std::string name = array_name(m); std::equal(name.begin(), name.end(), likely.begin(), likely.end(), same))
      return name;
  return array_name(members[likely == "A" ? 0 : 1]);
}

[[noreturn]] void refuse_several(const InputFile& file, const std::vector<ZipMember>& members,
                                 const std::string& likely) {
  if (has(members, "indptr") && has(members, "indices") && has(members, "shape")) {
    const auto [module, source] = python_source(file);
    refuse_with_python(
        file, "a sparse matrix of scipy.sparse.save_npz",
        fmt::format("import sys, numpy, scipy.sparse{}; numpy.save(sys.argv[2], scipy.sparse.load_npz({}).toarray())",
                    module, source));
  }
  const bool streamed = file.name() == "<stdin>";
  file.refuse(fmt::format("expected one array, found {}: {}; {} names one", members.size(), listed(members),
                          printable((streamed ? "-" : file.name()) + ":" + example(members, likely))));
}

const ZipMember& chosen(const InputFile& file, const std::vector<ZipMember>& members, const std::string& array,
                        const std::string& likely) {
  if (members.empty()) file.refuse("expected a .npz file with an array, found none in it");
  refuse_zip_without_arrays(file, members);
  if (array.empty() && members.size() > 1) refuse_several(file, members, likely);
  const auto* const found =
      find_in(members, [&](const ZipMember& m) { return array.empty() || array_name(m) == array || m.name == array; });
  if (!found) file.refuse(fmt::format("expected an array {}, found {}", io::quoted(array), listed(members)));
  return *found;
}

}  // namespace

MatrixFile read_npz(const InputFile& file, const std::string& array, const ReadOptions& options) {
  const std::vector<ZipMember> members = zip_members(file);
  const ZipMember& member = chosen(file, members, array, options.likely_array);
  ReadOptions its = options;
  const InputFile npy = open_member(file, member, fmt::format("{}:{}", file.name(), printable(array_name(member))),
                                    part_of(options.progress, 0, share_of_decompression));
  if (member.size != member.compressed) its.progress = part_of(options.progress, share_of_decompression, 1);
  return read_npy(npy, its);
}

}  // namespace lasolve::io
