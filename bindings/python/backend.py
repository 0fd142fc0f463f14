"""Builds the package: compiles the shared library with the system's compiler and packs it. pip needs nothing else, so it
asks no package index. The environment may name the compiler (CC) and its options (CFLAGS, LDFLAGS)."""
import base64
import gzip
import hashlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
MODULE = os.path.join("src", "machsym")
NATIVE = ("machsym.h", "flat.h", "flat.c")
TIME = 315532800  # of every file in a package, 1980 as zip's begin: the same sources make the same bytes, whenever they do
# As the Makefile protects the library: it reads files of strangers.
PROTECT = [] if sys.platform == "win32" else ["-fstack-protector-strong", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2"]
if sys.platform not in ("darwin", "win32"):
    PROTECT += ["-Wl,-z,relro,-z,now"]


def _native(name):
    """A source of the library: in a source package it lies beside this file, in the project where it is edited."""
    for folder in (HERE, os.path.join(HERE, os.pardir), os.path.join(HERE, os.pardir, os.pardir)):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return path
    sys.exit("machsym: %s is missing: build from the project's tree, or from a source package" % name)


def _read(path):
    with open(path, "rb") as file:
        return file.read()


def _version():
    return re.search(rb'#define MACHSYM_VERSION  *"(.*)"', _read(_native("machsym.h"))).group(1).decode()


def _metadata():
    readme = _read(os.path.join(HERE, "README.md")).decode()
    return ("Metadata-Version: 2.1\nName: machsym\nVersion: %s\n"
            "Summary: Function, file, line and inline chain for addresses of iPhone and Mac programs\n"
            "License: MIT OR Unlicense\nRequires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n%s"
            % (_version(), readme))


def _compiler():
    if os.environ.get("CC"):
        return shlex.split(os.environ["CC"])
    for name in ("cc", "gcc", "clang"):
        if shutil.which(name):
            return [name]
    sys.exit("machsym: a C compiler is needed: install gcc or clang, or name one in CC")


def _library():
    """The name and the bytes of the shared library."""
    name = "_machsym" + {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, name)
        command = _compiler() + ["-std=c11", "-D_GNU_SOURCE", "-O2", "-w"] + PROTECT + shlex.split(os.environ.get("CFLAGS", ""))
        command += ["-shared", "-fPIC", "-fvisibility=hidden"]
        command += ["-I" + os.path.dirname(_native(header)) for header in ("machsym.h", "flat.h")]
        command += [_native("flat.c"), "-o", out] + shlex.split(os.environ.get("LDFLAGS", ""))
        if subprocess.run(command).returncode != 0:
            sys.exit("machsym: the library does not compile: " + " ".join(command))
        return name, _read(out)


def _tag():
    """Any Python 3, since it is called by ctypes; one platform."""
    return "py3-none-" + re.sub("[-.]", "_", sysconfig.get_platform())


def _info():
    """The files that tell what a package is."""
    wheel = "Wheel-Version: 1.0\nGenerator: machsym\nRoot-Is-Purelib: false\nTag: %s\n" % _tag()
    return {"METADATA": _metadata().encode(), "WHEEL": wheel.encode()}


def _pack(folder, files):
    """Writes a wheel; the same files make the same bytes."""
    version = _version()
    info = "machsym-%s.dist-info/" % version
    files.update((info + name, data) for name, data in _info().items())
    record = ""
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += "%s,sha256=%s,%d\n" % (name, digest, len(data))
    files[info + "RECORD"] = (record + info + "RECORD,,\n").encode()
    wheel = "machsym-%s-%s.whl" % (version, _tag())
    with zipfile.ZipFile(os.path.join(folder, wheel), "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if name.endswith((".so", ".dylib", ".dll")) else 0o644) << 16
            out.writestr(entry, data)
    return wheel


def _sources():
    folder = os.path.join(HERE, MODULE)
    return {"machsym/" + name: _read(os.path.join(folder, name)) for name in sorted(os.listdir(folder))
            if name.endswith((".py", ".typed"))}


# ---- What pip calls ----

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    files = _sources()
    name, data = _library()
    files["machsym/" + name] = data
    return _pack(wheel_directory, files)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """The package stays where it is edited; its library is built beside it."""
    name, data = _library()
    with open(os.path.join(HERE, MODULE, name), "wb") as out:
        out.write(data)
    return _pack(wheel_directory, {"machsym.pth": (os.path.join(HERE, "src") + "\n").encode()})


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    folder = "machsym-%s.dist-info" % _version()
    os.mkdir(os.path.join(metadata_directory, folder))
    for name, data in _info().items():
        with open(os.path.join(metadata_directory, folder, name), "wb") as out:
            out.write(data)
    return folder


def build_sdist(sdist_directory, config_settings=None):
    """With the sources of the library, so that it builds anywhere."""
    top = "machsym-%s" % _version()
    files = {name: _read(_native(name)) for name in NATIVE}
    for name in ("pyproject.toml", "backend.py", "README.md"):
        files[name] = _read(os.path.join(HERE, name))
    files.update(("src/" + name, data) for name, data in _sources().items())
    files["PKG-INFO"] = _metadata().encode()
    with open(os.path.join(sdist_directory, top + ".tar.gz"), "wb") as file, \
            gzip.GzipFile("", "wb", 9, file, TIME) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as out:
        for name, data in sorted(files.items()):
            entry = tarfile.TarInfo(top + "/" + name)
            entry.size = len(data)
            entry.mode = 0o644
            entry.mtime = TIME
            out.addfile(entry, io.BytesIO(data))
    return top + ".tar.gz"
