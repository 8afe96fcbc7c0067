# The recipe of the library for Conan 2: see packaging/README.md.
import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load


class Lasolve(ConanFile):
    name = "lasolve"
    description = "Dense linear systems, with a GEMM backend that is chosen at run time"
    license = "BSD-3-Clause"
    topics = ("linear-algebra", "lu", "cholesky", "gemm")
    package_type = "library"
    settings = "os", "compiler", "build_type", "arch"
    options = {"shared": [True, False], "from_system": [True, False]}
    default_options = {"shared": False, "from_system": False}

    @property
    def tree(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        self.version = re.search(r"lasolve VERSION ([0-9.]+)", load(self, os.path.join(self.tree, "CMakeLists.txt"))).group(1)

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "gemm/*", "solvers/*", "src/*"):
            copy(self, pattern, self.tree, self.export_sources_folder)

    def requirements(self):
        if not self.options.from_system:
            self.requires("fmt/[>=9 <12]")
            self.requires("zlib/[>=1.2.11 <2]")
            self.requires("eigen/[>=3.4 <4]")

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for option in ("LASOLVE_TOOL", "LASOLVE_NATIVE", "LASOLVE_CUDA", "BUILD_TESTING"):
            toolchain.cache_variables[option] = "OFF"
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        self.cpp_info.set_property("cmake_find_mode", "none")  # the library's own package says it all
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "lasolve")]
        self.cpp_info.libs = ["lasolve"]
        self.cpp_info.system_libs = ["m", "dl", "pthread"]
        if self.options.from_system:
            self.cpp_info.system_libs += ["fmt", "z"]
