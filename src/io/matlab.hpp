// MATLAB's files, as far as it takes to name what is in them: MAT-File Format, levels 4 and 5.
// https://www.mathworks.com/help/pdf_doc/matlab/matfile_format.pdf
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lasolve::io {

bool is_matlab_4(std::string_view content);
bool is_matlab_5(std::string_view content);

/// The names of the arrays of numbers in a file of one of these, as far as they can be read; at most 20.
std::vector<std::string> matlab_names(std::string_view content);

}  // namespace lasolve::io
