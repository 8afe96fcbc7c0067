#include "cli/tune/request.hpp"

#include "cli/guide.hpp"
#include "cli/words.hpp"

namespace lasolve::cli {

namespace {

const Table<TuneRequest>& tune_table() {
  using R = TuneRequest;
  using O = OptionOf<R>;
  static const Table<R> all = {
      O("n", 'n', "SIZES", "auto", "1k,3000, or 1k:16k:x2; auto: 256:4k:x2 on the CPU and 1k:16k:x2 on CUDA")
          .to([](R& r, auto& word) {
            if (word != "auto") r.sizes = sizes_of(word);
          }),
      O("gemm", 'g', "NAMES", "all", "the GEMM backends that may be chosen beside the default: a,b,c or all"),
      device_option<R>(),
      O("precision", 'p', "TYPES", "fp64", {"fp64", "fp32", "tf32", "fp16", "bf16"}, "or a list of them; see solve")
          .to([](R& r, auto& word) { r.precisions = precisions_of(word); }),
      O("factorization", 'f', "METHODS", "lu,cholesky", {"lu", "cholesky"}, "or both").to([](R& r, auto& list) {
        for (const auto& word : split(list))
          if (const Method m = one_of<Method>("factorization", word, {Method::lu, Method::cholesky});
              std::count(r.methods.begin(), r.methods.end(), m) == 0)
            r.methods.push_back(m);
      }),
      threads_option<R>("cores of the host to use; what is found is for as many"),
      O("within", 0, "SECONDS", "300", "time for at most so long; of large sizes not all is tried then")
          .to([](R& r, auto& word) { r.within = positive("within", word); }),
      O("forget", 0, "remove what is kept, of all machines, and measure nothing").to(&R::forget),
      json_option<R>("write what was tried, with every run, as JSON to FILE; - is standard output"),
      quiet_option<R>("no table for people and no progress"),
      help_option<R>(),
  };
  return all;
}

}  // namespace

std::vector<Option> tune_options() { return listed_in(tune_table()); }

TuneRequest parse_tune(int argc, const char* const* argv) {
  TuneRequest r;
  const Given given = parse_options(argc, argv, tune_table(), r);
  if (r.forget) return r;
  Options& o = r.options;
  o.condition = false;
  o.device = choose(o).device();
  if (r.sizes.empty()) r.sizes = sizes_of(o.device.kind == Device::cuda ? "1k:16k:x2" : "256:4k:x2");
  const std::string gemm = given.text("gemm");
  r.backends = gemm == "all" ? runnable_backends(o.device) : names_in(gemm);
  r.backends.insert(r.backends.begin(), "auto");
  return r;
}

}  // namespace lasolve::cli
