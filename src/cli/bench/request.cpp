#include "cli/bench/request.hpp"

#include <algorithm>

#include "cli/guide.hpp"
#include "cli/kernels.hpp"
#include "cli/words.hpp"

namespace lasolve::cli {

namespace {

Precision precision_of_product(const std::string& word) {
  std::vector<Precision> known;
  for_each_precision([&](auto P) { known.push_back(P); });
  return one_of("precision", word, known);
}

const Table<BenchRequest>& bench_table() {
  using R = BenchRequest;
  using O = OptionOf<R>;
  static const Table<R> all = {
      O("gemm", 'g', "NAMES", "all",
        "the GEMM backends: a,b,c or all; 'lasolve list' has the names; ./mine.c, ./mine.cpp, ./mine.cu or "
        "./libmine.so is a kernel of your own"),
      O("device", 'd', "DEVICES", "auto", words_of_devices,
        "or a list of them; auto: CUDA, else the CPU; both for --copies"),
      O("precision", 'p', "TYPES", "auto", {"auto", "fp64", "fp32", "tf32", "fp16", "bf16"},
        "or a list of them; auto: those of the reference")
          .to([](R& r, auto& list) {
            if (list == "auto") return;
            for (const auto& word : split(list)) r.precisions.push_back(precision_of_product(word));
          }),
      O("shape", 's', "SHAPES", "square,trailing", {"square", "trailing", "MxNxK"},
        "or a list of them; square: C = A·B; trailing: C = C - A·B; MxNxK: C = A·B"),
      O("n", 'n', "SIZES", "auto", "M = N = K of square, M = N of trailing: 1k,3000, or 1k:16k:x2, or 1000:5000:1000"),
      O("k", 'k', "SIZES", "auto", "K of trailing: sizes of a panel"),
      O("copies", 0, "time on a device from host to host: allocation, copies and free count")
          .was("--with-copies")
          .to([](R& r, auto&) { r.settings.with_copies = true; }),
      O("threads", 0, "COUNT", "all", "cores of the host to use").to([](R& r, auto& word) {
        r.settings.threads = threads_of(word);
      }),
      O("repeat", 0, "COUNT", "auto",
        "timed rounds; the median is reported; auto: 5, fewer for a backend that has run for half a second")
          .to([](R& r, auto& word) {
            if (const int repeat = number("repeat", word, 1, "auto"); repeat > 0)
              r.settings.repeat = repeat;
            else
              r.settings.enough_seconds = 0.5;
          }),
      O("warmup", 0, "COUNT", "1", "rounds before them that are not counted").to([](R& r, auto& word) {
        r.settings.warmup = number("warmup", word, 0);
      }),
      patience_option<R>(),
      json_option<R>("write the results as JSON to FILE; - is standard output"),
      O("csv", 0, "FILE", "write the results as CSV to FILE; - is standard output").to(&R::csv),
      quiet_option<R>("no table for people"),
      help_option<R>(),
  };
  return all;
}

std::vector<Device> devices_of(const std::string& list, bool with_copies) {
  if (list == "auto" && with_copies)
    if (const Device device = automatic_device(); device.kind == Device::cuda) return {{Device::cpu, 0}, device};
  std::vector<Device> devices;
  for (const auto& word : split(list)) devices.push_back(device_of(word));
  if (devices.size() > 1)
    for (const Device& d : devices)
      if (d.kind == Device::automatic) throw UsageError("--device auto stands alone");
  int cuda_index = -1;
  for (const Device& d : devices) {
    if (d.kind != Device::cuda) continue;
    if (cuda_index >= 0 && d.index != cuda_index) throw UsageError("--device takes one CUDA device at a time");
    cuda_index = d.index;
  }
  return devices;
}

std::vector<std::int64_t> sizes_or(const char* option, const std::string& list, std::vector<std::int64_t> automatic) {
  return list == "auto" ? automatic : sizes_of(list, option);
}

/// Sizes that take seconds for the simplest kernel of the device.
std::vector<bench::Product> products_of(const std::string& shapes, const std::string& n, const std::string& k,
                                        bool cuda) {
  using Sizes = std::vector<std::int64_t>;
  const auto words = split(shapes);
  const auto asked = [&](const char* shape) { return std::count(words.begin(), words.end(), shape) > 0; };
  if (k != "auto" && !asked("trailing")) throw UsageError("--k is for --shape trailing");
  if (n != "auto" && !asked("trailing") && !asked("square"))
    throw UsageError("--n is for --shape square and --shape trailing");
  std::vector<bench::Product> products;
  for (const auto& word : words) {
    if (word == "square") {
      const Sizes automatic = cuda ? Sizes{1024, 2048, 4096, 8192} : Sizes{256, 512, 1024};
      for (auto size : sizes_or("n", n, automatic)) products.push_back(bench::square(size));
    } else if (word == "trailing") {
      for (auto size : sizes_or("n", n, {cuda ? 16384 : 1024}))
        for (auto panel : sizes_or("k", k, cuda ? Sizes{128, 256, 512} : Sizes{64, 128, 256}))
          products.push_back(bench::trailing(size, panel));
    } else if (const auto product = bench::parse_product(word)) {
      products.push_back(*product);
    } else {
      throw UsageError(fmt::format("--shape takes square, trailing or MxNxK, such as 4096x4096x128, not '{}'{}", word,
                                   did_you_mean(word, {"square", "trailing"})));
    }
  }
  return products;
}

/// Whether all that is measured is on CUDA.
bool only_on_cuda(const std::vector<Device>& devices, const std::vector<std::string>& backends) {
  if (devices.size() != 1 || devices[0].kind != Device::automatic)
    return devices.size() == 1 && devices[0].kind == Device::cuda;
  const Device device = automatic_device();
  if (device.kind == Device::cpu) return false;
  const auto there = runnable_backends(device);
  return std::all_of(backends.begin(), backends.end(), [&](const std::string& name) {
    return name == "all" || name == "auto" || std::count(there.begin(), there.end(), name) > 0;
  });
}

}  // namespace

std::vector<Option> bench_options() { return listed_in(bench_table()); }

BenchRequest parse_bench(int argc, const char* const* argv) {
  BenchRequest r;
  r.words.assign(argv, argv + argc);
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "--help" || what == "-h" || what == "help") throw HelpAsked();
  if (what != "gemm")
    throw UsageError(what.empty() || what[0] == '-'
                         ? "bench takes what is to be measured: lasolve bench gemm"
                         : fmt::format("bench takes gemm, not '{}'{}", what, did_you_mean(what, {"gemm"})));
  const Given given = parse_options(argc - 1, argv + 1, bench_table(), r);
  refuse_files_named_twice({}, {{"json", r.json}, {"csv", r.csv}});
  r.devices = devices_of(given.text("device"), r.settings.with_copies);
  const auto cuda =
      std::find_if(r.devices.begin(), r.devices.end(), [](const Device& d) { return d.kind == Device::cuda; });
  r.backends = backends_named(given.text("gemm"), r.patience, cuda != r.devices.end() ? *cuda : r.devices.front());
  if (r.devices.size() == 1) r.devices[0] = device_for(r.backends, r.devices[0]);
  r.products = products_of(given.text("shape"), given.text("n"), given.text("k"), only_on_cuda(r.devices, r.backends));
  return r;
}

}  // namespace lasolve::cli
