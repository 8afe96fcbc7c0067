#include "cli/tune/request.hpp"

#include "cli/guide.hpp"
#include "cli/words.hpp"

namespace lasolve::cli {

const std::vector<Option>& tune_options() {
  static const std::vector<Option> all = {
      {"n", 'n', "SIZES", "auto", {}, "1k,3000, or 1k:16k:x2; auto: 256:4k:x2 on the CPU and 1k:16k:x2 on CUDA"},
      {"gemm", 'g', "NAMES", "all", {}, "the GEMM backends that may be chosen beside the default: a,b,c or all"},
      {"device", 'd', "DEVICE", "auto", {"auto", "cpu", "cuda", "cuda:INDEX"}, ""},
      {"precision", 'p', "TYPES", "fp64", {"fp64", "fp32", "tf32", "fp16", "bf16"}, "or a list of them; see solve"},
      {"factorization", 'f', "METHODS", "lu,cholesky", {"lu", "cholesky"}, "or both"},
      {"threads", 0, "COUNT", "all", {}, "cores of the host to use; what is found is for as many"},
      {"within", 0, "SECONDS", "300", {}, "time for at most so long; of large sizes not all is tried then"},
      {"forget", 0, nullptr, nullptr, {}, "remove what is kept, of all machines, and measure nothing"},
      {"json", 0, "FILE", nullptr, {}, "write what was tried, with every run, as JSON to FILE; - is standard output"},
      {"quiet", 'q', nullptr, nullptr, {}, "no table for people and no progress"},
      {"help", 'h', nullptr, nullptr, {}, "print this"},
  };
  return all;
}

TuneRequest parse_tune(int argc, const char* const* argv) {
  const po::variables_map values = parse_options(argc, argv, tune_options());
  const auto text = [&](const char* name) {
    return values.count(name) ? values[name].as<std::string>() : std::string();
  };
  TuneRequest r;
  r.help = values.count("help") > 0;
  r.forget = values.count("forget") > 0;
  r.quiet = values.count("quiet") > 0;
  r.json = text("json");
  if (values.count("json") && r.json.empty()) throw UsageError("--json takes a name, not ''");
  Options& o = r.options;
  o.device = device_of(text("device"));
  o.threads = threads_of(text("threads"));
  o.condition = false;
  r.within = positive("within", text("within"));
  r.precisions = precisions_of(text("precision"));
  for (const auto& word : split(text("factorization")))
    if (const Method m = one_of<Method>("factorization", word, {Method::lu, Method::cholesky});
        std::count(r.methods.begin(), r.methods.end(), m) == 0)
      r.methods.push_back(m);
  if (text("n") != "auto") r.sizes = sizes_of(text("n"));
  if (r.help || r.forget) return r;
  o.device = choose(o).device();
  if (r.sizes.empty()) r.sizes = sizes_of(o.device.kind == Device::cuda ? "1k:16k:x2" : "256:4k:x2");
  r.backends = text("gemm") == "all" ? runnable_backends(o.device) : names_in(text("gemm"));
  r.backends.insert(r.backends.begin(), "auto");
  return r;
}

}  // namespace lasolve::cli
