// Files for the tests of src/io: written, read, and what reading them says.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "io/io.hpp"

namespace lasolve::io {

/// A folder of this process alone, since tests may run at the same time; removed at the end.
inline const std::string& test_folder() {
  static const struct Folder {
    std::string path = testing::TempDir() + "lasolve-io-" + std::to_string(getpid()) + "/";
    Folder() { std::filesystem::create_directory(path); }
    ~Folder() { std::filesystem::remove_all(path); }
  } folder;
  return folder.path;
}

/// The path of a file with this content.
inline std::string file_with(std::string_view content, const std::string& name = "test.mtx") {
  const std::string path = test_folder() + name;
  std::ofstream(path, std::ios::binary).write(content.data(), std::streamsize(content.size()));
  return path;
}

inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What reading the content says is wrong with it, without the folder; empty when it is read.
inline std::string error_of(std::string_view content, const ReadOptions& options = {},
                            const std::string& name = "test.mtx") {
  try {
    read_matrix(file_with(content, name), options);
    return "";
  } catch (const std::runtime_error& error) {
    std::string what = error.what();
    if (what.starts_with(test_folder())) what.erase(0, test_folder().size());
    return what;
  }
}

/// The elements, row by row as one writes them down, for comparison and for messages.
inline std::vector<std::vector<double>> rows_of(MatrixView<const double> A) {
  std::vector<std::vector<double>> rows(std::size_t(A.rows()), std::vector<double>(std::size_t(A.cols())));
  for (std::int64_t i = 0; i < A.rows(); ++i)
    for (std::int64_t j = 0; j < A.cols(); ++j) rows[std::size_t(i)][std::size_t(j)] = A(i, j);
  return rows;
}

using Rows = std::vector<std::vector<double>>;

}  // namespace lasolve::io
