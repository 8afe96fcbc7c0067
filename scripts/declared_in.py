"""Which header declares what, of the standard library and of others: for check-includes."""
import re

#: Names of the standard library by header. A name of several headers is declared in each.
standard = {
    "algorithm": """adjacent_find all_of any_of binary_search clamp copy copy_if copy_n count count_if equal equal_range fill fill_n find
        find_first_of find_if find_if_not for_each generate generate_n is_sorted lexicographical_compare lower_bound max max_element merge min
        min_element minmax minmax_element mismatch none_of nth_element partial_sort partition remove_if replace reverse reverse_copy
        rotate shuffle sort stable_partition stable_sort swap_ranges transform unique upper_bound""",
    "array": "array to_array",
    "atomic": """atomic atomic_bool atomic_flag atomic_int atomic_ref atomic_thread_fence memory_order_acq_rel memory_order_acquire
        memory_order_relaxed memory_order_release memory_order_seq_cst""",
    "bit": "bit_cast bit_ceil bit_floor bit_width countl_zero countr_zero endian has_single_bit popcount",
    "cctype": "isalnum isalpha isdigit isspace isupper tolower toupper",
    "cfenv": "fegetround feholdexcept fesetround fetestexcept",
    "charconv": "chars_format from_chars to_chars",
    "chrono": "chrono chrono_literals",
    "cmath": """abs acos asin asinh atan atan2 cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs floor fma fmax fmin fmod fpclassify frexp
        hypot ilogb isfinite isinf isnan isnormal ldexp lgamma llround log log10 log1p log2 logb lround modf nan nearbyint nextafter pow
        remainder rint round scalbn signbit sin sinh sqrt tan tanh tgamma trunc""",
    "complex": "complex norm",
    "concepts": """constructible_from convertible_to copy_constructible default_initializable derived_from floating_point integral invocable
        regular same_as signed_integral unsigned_integral""",
    "condition_variable": "condition_variable condition_variable_any cv_status",
    "csignal": "raise sig_atomic_t signal",
    "cstddef": "byte max_align_t nullptr_t ptrdiff_t",
    "cstdint": "int16_t int32_t int64_t int8_t intmax_t intptr_t uint16_t uint32_t uint64_t uint8_t uintmax_t uintptr_t",
    "cstdio": "FILE fclose ferror fflush fgets fopen fprintf fputc fputs fread freopen fscanf fseek ftell fwrite perror printf puts remove "
              "rename setvbuf snprintf sscanf tmpfile vsnprintf",
    "cstdlib": "_Exit abort abs aligned_alloc at_quick_exit atexit atof atoi atol bsearch calloc exit free getenv malloc qsort quick_exit realloc strtod strtof "
               "strtol strtoll strtoul strtoull system",
    "cstring": "memchr memcmp memcpy memmove memset strcat strchr strcmp strcpy strerror strlen strncmp strncpy strrchr strstr",
    "ctime": "clock gmtime localtime strftime time time_t tm",
    "exception": "current_exception exception exception_ptr make_exception_ptr rethrow_exception set_terminate terminate uncaught_exceptions",
    "filesystem": "filesystem",
    "fstream": "filebuf fstream ifstream ofstream",
    "functional": "bind_front equal_to function cref greater hash identity invoke less minus multiplies negate not_fn plus ref reference_wrapper",
    "future": "async future promise shared_future",
    "initializer_list": "initializer_list",
    "ios": "ios ios_base",
    "iostream": "cerr cin clog cout",
    "iterator": """advance back_inserter distance input_iterator istream_iterator istreambuf_iterator make_move_iterator next ostream_iterator
        ostreambuf_iterator prev random_access_iterator reverse_iterator""",
    "limits": "numeric_limits",
    "list": "list",
    "map": "map multimap",
    "memory": """addressof align allocator allocator_traits assume_aligned construct_at default_delete destroy_at destroy_n
        enable_shared_from_this make_shared make_unique shared_ptr to_address uninitialized_copy uninitialized_fill_n unique_ptr weak_ptr""",
    "mutex": "adopt_lock call_once defer_lock lock_guard mutex once_flag recursive_mutex scoped_lock try_to_lock unique_lock",
    "new": "align_val_t bad_alloc launder nothrow nothrow_t",
    "numbers": "numbers",
    "numeric": "accumulate adjacent_difference exclusive_scan gcd inclusive_scan inner_product iota lcm midpoint partial_sum reduce transform_reduce",
    "optional": "in_place nullopt nullopt_t optional",
    "ostream": "endl flush ostream",
    "random": """bernoulli_distribution discrete_distribution linear_congruential_engine minstd_rand mt19937 mt19937_64 normal_distribution random_device
        uniform_int_distribution uniform_real_distribution""",
    "semaphore": "binary_semaphore counting_semaphore",
    "set": "multiset set",
    "span": "as_bytes as_writable_bytes dynamic_extent span",
    "sstream": "istringstream ostringstream stringstream",
    "stdexcept": "domain_error invalid_argument length_error logic_error out_of_range overflow_error range_error runtime_error underflow_error",
    "streambuf": "streambuf",
    "string": "char_traits getline stod stof stoi stol stold stoll stoul stoull string string_literals to_string",
    "string_view": "string_view string_view_literals",
    "system_error": "errc error_code generic_category make_error_code system_category system_error",
    "thread": "jthread stop_token this_thread thread",
    "tuple": "apply forward_as_tuple ignore make_from_tuple make_tuple tie tuple tuple_cat tuple_element_t tuple_size_v",
    "type_traits": """add_const_t bool_constant common_type_t conditional_t decay_t enable_if_t extent_v false_type has_unique_object_representations_v integral_constant
        invoke_result_t is_arithmetic_v is_assignable_v is_base_of_v is_const_v is_constant_evaluated is_constructible_v is_convertible_v is_empty_v is_enum_v
        is_floating_point_v is_integral_v is_invocable_v is_lvalue_reference_v is_nothrow_move_constructible_v is_pointer_v is_same is_same_v is_signed_v
        is_standard_layout_v is_trivially_copyable_v is_unsigned_v is_void_v make_signed_t make_unsigned_t rank_v remove_const_t remove_cv_t
        remove_cvref_t remove_pointer_t remove_reference_t true_type type_identity type_identity_t underlying_type_t void_t""",
    "typeinfo": "bad_cast type_info",
    "unordered_map": "unordered_map",
    "unordered_set": "unordered_set",
    "utility": """as_const cmp_equal cmp_greater cmp_less cmp_less_equal declval exchange forward in_range index_sequence integer_sequence
        make_index_sequence make_integer_sequence make_pair move pair piecewise_construct swap to_underlying unreachable""",
    "variant": "get_if holds_alternative monostate variant variant_alternative_t variant_size_v visit",
    "vector": "vector",
    "version": "_",
}
#: Headers that have all of another by their own definition.
gives = {
    "iostream": {"ios", "ostream", "streambuf"}, "fstream": {"ios", "ostream", "streambuf"}, "sstream": {"ios", "ostream", "streambuf", "string"},
    "ostream": {"ios"}, "string": {"string_view", "initializer_list", "compare"}, "vector": {"initializer_list"}, "map": {"initializer_list"}, "set": {"initializer_list"},
    "array": {"initializer_list"}, "fmt/ranges.h": {"fmt/format.h"}, "fmt/chrono.h": {"fmt/format.h"}, "Eigen/LU": {"Eigen/Core"}, "Eigen/Cholesky": {"Eigen/Core"},
    "fcntl.h": {"sys/types.h"}, "unistd.h": {"sys/types.h"}, "condition_variable": {"mutex"}, "future": {"thread"},
    "stdexcept": {"exception", "string"}, "new": {"exception"}, "filesystem": {"system_error"}, "charconv": {"system_error"}, "system_error": {"exception"}, "typeinfo": {"exception"},
}
#: Names of others' headers, as they are written.
others = {
    "fmt/format.h": r"\bfmt::\w+",
    "fmt/ranges.h": r"\bfmt::join\b",
    "nlohmann/json.hpp": r"\bnlohmann::",
    "boost/program_options.hpp": r"\bboost::program_options\b",
    "Eigen/Core": r"\bEigen::\w+",
    "unistd.h": r"(?<![\w.>:])(?:::)?(?:_exit|access|close|dup2?|environ|execvp?e?|fork|ftruncate|getpid|getppid|gethostname|isatty|lseek|pipe2?|pread|pwrite|read|readlink|setsid|sysconf|unlink|usleep|write)\(",
    "fcntl.h": r"(?<![\w.>:])(?:::)?(?:open|openat|fcntl|posix_fadvise)\(|\bO_(?:RDONLY|WRONLY|RDWR|CREAT|CLOEXEC)\b",
    "dlfcn.h": r"\b(?:dlopen|dlsym|dlclose|dlerror|dladdr|dlvsym|Dl_info|RTLD_\w+)\b",
    "sys/mman.h": r"\b(?:mmap|munmap|madvise|mprotect|mlock|MAP_\w+|PROT_\w+|MADV_\w+|memfd_create)\b",
    "sys/stat.h": r"\b(?:fstat|fchmod|mkdir|S_IS\w+|struct stat)\b",
    "sys/resource.h": r"\b(?:getrusage|getrlimit|setrlimit|RLIMIT_\w+|RUSAGE_\w+|setpriority)\b",
    "sys/wait.h": r"\b(?:waitpid|wait4|WIF\w+|WEXITSTATUS|WTERMSIG|WNOHANG)\b",
    "sched.h": r"\b(?:sched_\w+|cpu_set_t|CPU_(?:SET|ZERO|COUNT|ISSET)\w*)\b",
    "pthread.h": r"\bpthread_\w+\b",
    "spawn.h": r"\bposix_spawn\w*\b",
    "link.h": r"\b(?:dl_iterate_phdr|link_map)\b|\bElfW\(",
    "cxxabi.h": r"\babi::__\w+",
    "poll.h": r"\b(?:pollfd|POLLIN|POLLHUP)\b",
    "sys/prctl.h": r"\bprctl\(",
    "sys/ioctl.h": r"\bioctl\(",
    "sys/file.h": r"\bflock\(",
    "sys/auxv.h": r"\bgetauxval\(",
    "zlib.h": r"\b(?:gzFile|gzopen|gzread|gzclose|inflate\w*|deflate\w*|z_stream|crc32)\b",
    "mpi.h": r"\bMPI_\w+",
    "cerrno": r"\berrno\b|(?<![\w:])E(?:INTR|AGAIN|NOENT|NOMEM|ACCES|EXIST|INVAL|PIPE|BADF|ISDIR|ENOTDIR)\b",
    "cassert": r"\bassert\(",
    "climits": r"\b(?:INT|LONG|CHAR|SHRT|LLONG|UINT)_(?:MAX|MIN|BIT)\b|\bPATH_MAX\b",
    "cublasLt.h": r"\bcublasLt\w+",
    "cublas_v2.h": r"\bcublas(?!Lt)\w+\(",
    "cusolverDn.h": r"\bcusolverDn\w+",
    "cuda.h": r"\bCU(?:stream|context|device|result)\b|\bcuInit\b",
    "cuda_fp16.h": r"\b__half2?\b|\b__half2float\b",
    "cuda_bf16.h": r"\b__nv_bfloat16\w*\b",
    "nvtx3/nvToolsExt.h": r"\bnvtx\w+\(",
}
others = {header: re.compile(words) for header, words in others.items()}
headers_of = {}
for header, names in standard.items():
    for name in names.split():
        headers_of.setdefault(name, set()).add(header)
#: Names of the standard library that so many headers declare that any file has them.
in_many = {"size_t", "begin", "end", "size", "data", "get", "swap", "erase", "erase_if"}
