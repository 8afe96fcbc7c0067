// MATLAB's files, as far as it takes to name what is in them: MAT-File Format, levels 4 and 5.
// https://www.mathworks.com/help/pdf_doc/matlab/matfile_format.pdf
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lasolve::io {

bool is_matlab_4(std::string_view content);
bool is_matlab_5(std::string_view content);

/// An array of numbers, or a struct, whose fields have names.
struct MatlabArray {
  std::string name;
  bool sparse = false;
  std::vector<std::string> fields = {};
};

/// Those in a file of one of these, as far as they can be read; at most 20.
std::vector<MatlabArray> matlab_arrays(std::string_view content);

}  // namespace lasolve::io
