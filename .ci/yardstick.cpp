// What .ci/build-cost measures a machine with: it stays as it is, and includes nothing of this project.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

template <int N>
struct Step {
  std::map<std::string, std::vector<std::function<double(double)>>> steps;
  std::string operator()(std::string text) {
    steps[text].push_back([x = text.size()](double y) { return double(x) * y + N; });
    std::vector<double> values(100);
    std::mt19937 random(N);
    for (double& v : values) v = steps[text].back()(double(random()));
    std::sort(values.begin(), values.end(), [](double a, double b) { return a + N < b; });
    text += fmt::format("{:>{}} {:.17g}", N, text.size(), values.front());
    if constexpr (N > 0) return Step<N - 1>()(text);
    return text;
  }
};

int main(int count, char** words) { return int(Step<4>()(words[count - 1]).size()); }
