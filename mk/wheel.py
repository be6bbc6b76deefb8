#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs what was built into a wheel or a tarball: wheel.py wheel|dist BUILD OUT

Both have the layout of `make install` (bin, lib, share), which the program finds from where it is itself. The wheel's
tag names the oldest glibc that has every symbol the files ask for, as auditwheel finds it."""
import base64
import hashlib
import io
import os
import platform
import re
import subprocess
import sys
import tarfile
import zipfile

kind, build, out = sys.argv[1:]
version = re.search(r'GRADSYNC_VERSION "(.*)"', open("runner/base/version.h").read())[1]
machine = platform.machine()

files = {}  # where they go: (content, mode)


def put(place, path, mode=0o644):
    with open(path, "rb") as f:
        files[place] = (f.read(), mode)


put("bin/gradsync", f"{build}/gradsync", 0o755)
for name in "engine", "audit":
    put(f"lib/gradsync/libgradsync-{name}.so", f"{build}/libgradsync-{name}.so", 0o755)
put("share/gradsync/torch/sitecustomize.py", "runner/job/torch/sitecustomize.py")
put("share/gradsync/watch.table", "runner/wan/watch.table")
put("share/man/man1/gradsync.1", f"{build}/gradsync.1")
put("share/bash-completion/completions/gradsync", "runner/verbs/gradsync.bash")
for name in sorted(os.listdir("docs")):
    if name.endswith(".md"):
        put(f"share/doc/gradsync/docs/{name}", f"docs/{name}")
put("share/doc/gradsync/mpi_train.c", "docs/examples/mpi_train/mpi_train.c")
for name in sorted(os.listdir("configs")):
    if name.endswith(".ini"):
        put(f"share/gradsync/configs/{name}", f"configs/{name}")


def stripped(path):
    copy = f"{build}/stripped"
    subprocess.run(["strip", "-o", copy, path], check=True)
    with open(copy, "rb") as f:
        return f.read()


for place, path in (("bin/gradsync", "gradsync"), *((f"lib/gradsync/{n}", n) for n in ("libgradsync-engine.so", "libgradsync-audit.so"))):
    files[place] = (stripped(f"{build}/{path}"), 0o755)


def oldest_glibc():
    minor = 17
    for name in "gradsync", "libgradsync-engine.so", "libgradsync-audit.so":
        symbols = subprocess.run(["objdump", "-T", f"{build}/{name}"], check=True, capture_output=True, text=True).stdout
        minor = max(minor, *(int(v) for v in re.findall(r"GLIBC_2\.(\d+)", symbols)))
    return minor


if kind == "dist":
    top = f"gradsync-{version}-linux-{machine}"
    path = f"{out}/{top}.tar.gz"
    put("share/doc/gradsync/LICENSE", "LICENSE")
    with tarfile.open(path, "w:gz") as tar:
        for place, (content, mode) in sorted(files.items()):
            entry = tarfile.TarInfo(f"{top}/{place}")
            entry.size, entry.mode = len(content), mode
            tar.addfile(entry, io.BytesIO(content))
else:
    tag = f"py3-none-manylinux_2_{oldest_glibc()}_{machine}"
    path = f"{out}/gradsync-{version}-{tag}.whl"
    info = f"gradsync-{version}.dist-info"
    data = f"gradsync-{version}.data"
    entries = {}
    for place, entry in files.items():
        folder = "scripts/" + place[4:] if place.startswith("bin/") else "data/" + place
        entries[f"{data}/{folder}"] = entry
    with open("README.md", encoding="utf-8") as f:
        readme = f.read()
    summary = "Measures what communication costs a training step, and which setting shortens it"
    entries[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: gradsync\nVersion: {version}\nSummary: {summary}\nLicense: Apache-2.0\n"
        f"Requires-Python: >=3.7\nDescription-Content-Type: text/markdown\n\n{readme}".encode(), 0o644)
    with open("LICENSE", "rb") as f:
        entries[f"{info}/LICENSE"] = (f.read(), 0o644)
    entries[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: gradsync\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(), 0o644)

    def digest(content):
        return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()

    record = "".join(f"{place},sha256={digest(content)},{len(content)}\n" for place, (content, _) in entries.items())
    entries[f"{info}/RECORD"] = (f"{record}{info}/RECORD,,\n".encode(), 0o644)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for place, (content, mode) in entries.items():
            entry = zipfile.ZipInfo(place)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)
print(f"{path}: {os.path.getsize(path) / 1e6:.1f} MB")
