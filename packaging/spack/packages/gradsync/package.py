# SPDX-License-Identifier: Apache-2.0
"""Spack recipe: spack repo add packaging/spack; spack install gradsync +cuda"""
from spack.package import *


class Gradsync(MakefilePackage, CudaPackage):
    """Measures gradient synchronisation of data-parallel training, on GPUs and between hosts."""

    homepage = "https://github.com/gradsync/gradsync"
    git = "https://github.com/gradsync/gradsync.git"

    license("Apache-2.0")

    version("main", branch="main")

    variant("blas", default=True, description="Build iter_proxy, whose compute is a GEMM")
    variant("figures", default=True, description="Draw figures")

    depends_on("c", type="build")
    depends_on("gmake@4.3:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("git", type="build")
    depends_on("mpi")
    depends_on("iniparser@4.1:")
    depends_on("jansson@2.10:")
    depends_on("libsodium")
    depends_on("openssl@1.1:")
    depends_on("sqlite@3.35:")
    depends_on("hwloc")
    depends_on("openblas", when="+blas")
    depends_on("nccl", when="+cuda")
    depends_on("gnuplot+cairo", when="+figures", type="run")

    @property
    def build_targets(self):
        return ["all"] + self.settings()

    def install(self, spec, prefix):
        make("install", "PREFIX=" + prefix, *self.settings())

    def settings(self):
        spec = self.spec
        cuda = spec["cuda"].prefix if "+cuda" in spec else "/nonexistent"
        nccl = spec["nccl"].prefix if "+cuda" in spec else "/nonexistent"
        return [
            "CUDA_HOME=" + str(cuda),
            "NCCL_HOME=" + str(nccl),
            "MPICC=" + spec["mpi"].mpicc,
        ]
