#include "io/destination.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>

namespace lasolve::io {
namespace {

using Status = std::optional<struct stat>;

Status status_of(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 ? Status(status) : std::nullopt;
}
Status status_of(int descriptor) {
  struct stat status;
  return fstat(descriptor, &status) == 0 ? Status(status) : std::nullopt;
}
bool are_one(const Status& a, const Status& b) { return a && b && a->st_dev == b->st_dev && a->st_ino == b->st_ino; }

/// The number of the open descriptor that a name in /proc/self/fd stands for, whether or not there is one.
std::optional<int> descriptor_of(int folder, const std::string& name) {
  int number = -1;
  const char* const end = name.data() + name.size();
  if (std::from_chars(name.data(), end, number).ptr != end) return {};
  return are_one(status_of(folder), status_of("/proc/self/fd")) ? std::optional(number) : std::nullopt;
}

/// What a link in a folder says.
std::string target_of(int folder, const std::string& name, const std::string& path) {
  std::array<char, PATH_MAX> target;
  const ssize_t length = readlinkat(folder, name.c_str(), target.data(), target.size());
  if (length < 0) fail_to_write(path);
  return {target.data(), std::size_t(length)};
}

}  // namespace

void fail_to_write(const std::string& path, int error) {
  throw OutputError(fmt::format("cannot write {}: {}", path, std::strerror(error)));
}

Destination::Destination(const std::string& path) : path_(path) {
  if (path == "-")
    descriptor_ = STDOUT_FILENO;
  else
    follow();
  is_stream_ = descriptor_ || (existing_ && (S_ISFIFO(existing_->st_mode) || S_ISCHR(existing_->st_mode)));
  if (!is_stream_ && existing_ && !S_ISREG(existing_->st_mode))
    throw OutputError(fmt::format("cannot write {}: it is not a regular file", path_));
}

void Destination::follow() {
  constexpr int most_links = 40;  // as the kernel has it
  std::string rest = path_;
  for (int links = 0; links <= most_links; ++links) {
    const std::size_t slash = rest.rfind('/') + 1;  // npos + 1 is 0
    name_ = rest.substr(slash);
    // A link is relative to the folder that it is in.
    const int from = folder_.is_open() ? folder_.number() : AT_FDCWD;
    const std::string folder = slash > 0 ? rest.substr(0, slash) : ".";
    folder_ = Descriptor(openat(from, folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!folder_.is_open()) fail_to_write(path_);
    if (name_.empty() || name_ == "." || name_ == "..") fail_to_write(path_, EISDIR);
    descriptor_ = descriptor_of(folder_.number(), name_);
    if (descriptor_) return;

    struct stat about;
    if (fstatat(folder_.number(), name_.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0)
      existing_ = about;
    else if (errno != ENOENT)
      fail_to_write(path_);
    if (!existing_ || !S_ISLNK(existing_->st_mode)) return;
    existing_.reset();
    rest = target_of(folder_.number(), name_, path_);
  }
  fail_to_write(path_, ELOOP);
}

void Destination::require_writable() const {
  if (descriptor_) {
    const int flags = fcntl(*descriptor_, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) fail_to_write(path_, EBADF);
  } else if (existing_ && faccessat(folder_.number(), name_.c_str(), W_OK, AT_EACCESS) != 0) {
    fail_to_write(path_);
  } else if (existing_ && !is_stream_ &&
             geteuid() != 0) {  // in a folder such as /tmp others may write it, not replace it
    const Status folder = status_of(folder_.number());
    const bool ours = existing_->st_uid == geteuid() || (folder && folder->st_uid == geteuid());
    if (folder && (folder->st_mode & S_ISVTX) && !ours) fail_to_write(path_, EPERM);
  }
}

Descriptor Destination::open() const {
  // A descriptor is not opened anew: a file would be overwritten from its beginning.
  Descriptor stream(descriptor_ ? fcntl(*descriptor_, F_DUPFD_CLOEXEC, 0)
                                : openat(folder_.number(), name_.c_str(), O_WRONLY | O_CLOEXEC));
  if (!stream.is_open()) fail_to_write(path_);
  return Descriptor(stream.release());
}

bool lead_to_one_file(const std::string& a, const std::string& b) {
  const Status at_a = status_of(a), at_b = status_of(b);
  if (at_a && at_b) return are_one(at_a, at_b) && (S_ISREG(at_a->st_mode) || S_ISFIFO(at_a->st_mode));
  if (at_a || at_b) return false;
  try {
    const Destination to_a(a), to_b(b);
    return to_a.name() == to_b.name() && are_one(status_of(to_a.folder()), status_of(to_b.folder()));
  } catch (const OutputError&) {
    return false;
  }
}

bool is_standard_output(const std::string& path) {
  const Status ours = status_of(STDOUT_FILENO);
  if (path == "-") return true;
  return are_one(status_of(path), ours) && (!S_ISCHR(ours->st_mode) || isatty(STDOUT_FILENO) != 0);
}

}  // namespace lasolve::io
