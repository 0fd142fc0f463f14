"""Builds the package: compiles the shared library and the tool with the system's compiler and packs them. pip needs nothing
else, so it asks no package index. The environment may name the compiler (CC), its options (CFLAGS, LDFLAGS), how many run at
a time (JOBS), and a tool that is built already (MACHSYM_TOOL). SOURCE_DATE_EPOCH is the time of the files in a package; without
it they are of 1980, so that the same sources make the same bytes, whenever they do."""
import base64
import concurrent.futures
import gzip
import hashlib
import io
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import time
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
MODULE = os.path.join("src", "machsym")
FILES = ("machsym.h", "machsym_report.h", "machsym.1", "flat.h", "flat.c", "LICENSE", "CHANGELOG.md")  # of the project, beside its folders
FOLDERS = ("tool", "report")
PROJECT = os.path.join("packaging", "project")
FIRST = 315532800  # 1980, as zip's times begin
# As the Makefile protects the library and the tool: they read files of strangers.
PROTECT = [] if sys.platform == "win32" else ["-fstack-protector-strong", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2"]
PROTECT_LINK = [] if sys.platform in ("darwin", "win32") else ["-Wl,-z,relro,-z,now"]
CLASSIFIERS = (
    "Development Status :: 4 - Beta",
    "Environment :: Console",
    "Intended Audience :: Developers",
    "Operating System :: MacOS",
    "Operating System :: Microsoft :: Windows",
    "Operating System :: POSIX :: Linux",
    "Programming Language :: C",
    "Programming Language :: Python :: 3",
    "Topic :: Software Development :: Bug Tracking",
    "Topic :: Software Development :: Debuggers",
    "Typing :: Typed",
)


# ---- What there is ----

def _native(name):
    """A file or folder of the project: in a source package it lies beside this file, in the project where it is edited."""
    for folder in (HERE, os.path.join(HERE, os.pardir), os.path.join(HERE, os.pardir, os.pardir)):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return path
    sys.exit("machsym: %s is missing: build from the project's tree, or from a source package" % name)


def _read(path):
    with open(path, "rb") as file:
        return file.read()


def _under(folder, endings):
    """The files of a folder and all below it: what they are called in it, sorted."""
    found = []
    for at, folders, names in os.walk(folder):
        folders.sort()
        found += [os.path.relpath(os.path.join(at, name), folder).replace(os.sep, "/") for name in names if name.endswith(endings)]
    return sorted(found)


def _version():
    return re.search(rb'#define MACHSYM_VERSION  *"(.*)"', _read(_native("machsym.h"))).group(1).decode()


def _time():
    return max(int(os.environ.get("SOURCE_DATE_EPOCH") or FIRST), FIRST)


def _metadata():
    lines = _read(_native(PROJECT)).decode().splitlines()
    said = {key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines if not line.startswith("#"))}
    author = "Author-email: %(author)s <%(email)s>" if said["email"] else "Author: %(author)s"
    fields = ["Metadata-Version: 2.4", "Name: machsym", "Version: " + _version(), "Summary: " + said["summary"], author % said,
              "License-Expression: " + said["license"], "License-File: LICENSE", "Keywords: " + said["keywords"].replace(" ", ","),
              "Requires-Python: >=3.8"]
    fields += ["Classifier: " + classifier for classifier in CLASSIFIERS]
    fields += ["Project-URL: %s, %s" % (key.capitalize(), said[key]) for key in ("homepage", "repository") if said[key]]
    return "\n".join(fields + ["Description-Content-Type: text/markdown", "", _read(os.path.join(HERE, "README.md")).decode()])


def _sources():
    folder = os.path.join(HERE, MODULE)
    return {"machsym/" + name: _read(os.path.join(folder, name)) for name in sorted(os.listdir(folder))
            if name.endswith((".py", ".typed"))}


# ---- What is compiled ----

def _compiler():
    if os.environ.get("CC"):
        return shlex.split(os.environ["CC"])
    for name in ("cc", "gcc", "clang"):
        if shutil.which(name):
            return [name]
    sys.exit("machsym: a C compiler is needed: install gcc or clang, or name one in CC")


def _run(command, folder=None):
    if subprocess.run(command, cwd=folder).returncode != 0:
        sys.exit("machsym: it does not compile: " + " ".join(command))


def _compile(source, out, *options):
    """Compilers put the paths that they are given into what they compile: these do not depend on where the project lies."""
    top = os.path.dirname(_native("machsym.h"))
    command = _compiler() + ["-std=c11", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64", "-O2", "-w"] + PROTECT + shlex.split(os.environ.get("CFLAGS", ""))
    command += ["-I" + os.path.relpath(os.path.dirname(_native(header)), top) for header in ("machsym.h", "flat.h")]
    _run(command + list(options) + ["-c", os.path.relpath(source, top), "-o", out], top)


def _link(out, *objects):
    _run(_compiler() + PROTECT_LINK + shlex.split(os.environ.get("CFLAGS", "")) + list(objects) + ["-o", out]
         + shlex.split(os.environ.get("LDFLAGS", "")))


def _library():
    """The name and the bytes of the shared library."""
    name = "_machsym" + {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, name)
        _compile(_native("flat.c"), out + ".o", "-fPIC", "-fvisibility=hidden", "-DFLAT_REPORTS")
        _link(out, "-shared", out + ".o")
        return name, _read(out)


def _tool():
    """The name and the bytes of the program machsym."""
    name = "machsym.exe" if sys.platform == "win32" else "machsym"
    if os.environ.get("MACHSYM_TOOL"):
        return name, _read(os.environ["MACHSYM_TOOL"])
    how = ["-D_FILE_OFFSET_BITS=64", "-D__USE_MINGW_ANSI_STDIO=1"] if sys.platform == "win32" else ["-pthread"]
    pie = [] if PROTECT_LINK == [] else ["-fPIE"]
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS") or os.cpu_count() or 1)) as several:
        sources = [os.path.join(_native(top), at) for top in FOLDERS for at in _under(_native(top), ".c")]
        sources.sort(key=os.path.getsize, reverse=True)
        objects = [os.path.join(folder, "%d.o" % number) for number in range(len(sources))]
        for done in [several.submit(_compile, *one, *how, *pie) for one in zip(sources, objects)]:
            done.result()
        out = os.path.join(folder, name)
        _link(out, *(["-pie", "-s"] if pie else []), *sorted(objects), *[option for option in how if not option.startswith("-D")])
        return name, _read(out)


# ---- The tag ----

def _glibc(program):
    """The minor version of glibc 2 that a program needs: the highest of the versions of symbols that ELF says it needs; 0
    when it needs none, or is no ELF file."""
    if program[:4] != b"\x7fELF":
        return 0
    wide, order = program[4] == 2, "<" if program[5] == 1 else ">"
    at, = struct.unpack_from(order + ("Q" if wide else "I"), program, 40 if wide else 32)
    size, count = struct.unpack_from(order + "HH", program, 58 if wide else 46)
    layout = order + ("IIQQQQIIQQ" if wide else "10I")
    sections = [struct.unpack_from(layout, program, at + size * number) for number in range(count)]
    highest = 0
    for section in sections:
        if section[1] != 0x6ffffffe:  # SHT_GNU_verneed
            continue
        names, file = sections[section[6]][4], section[4]
        for _ in range(section[7]):  # a file that is needed, with its versions
            _, versions, _, first, following = struct.unpack_from(order + "HHIII", program, file)
            need = file + first
            for _ in range(versions):
                _, _, _, name, after = struct.unpack_from(order + "IHHII", program, need)
                text = program[names + name:program.index(b"\0", names + name)]
                found = re.match(rb"GLIBC_2\.(\d+)", text)
                highest = max(highest, int(found.group(1)) if found else 0)
                need += after
            file += following
    return highest


def _tag(*programs):
    """Any Python 3, since it is called by ctypes; one platform. Of Linux: PEP 600's, by the C library that these programs
    need; the oldest that it speaks of on all processors is 2.17."""
    platform = re.sub("[-.]", "_", sysconfig.get_platform())
    glibc = max(map(_glibc, programs))
    if platform.startswith("linux_") and glibc > 0:
        platform = platform.replace("linux", "manylinux_2_%d" % max(glibc, 17), 1)
    return "py3-none-" + platform


# ---- What is packed ----

def _pack(folder, files, tag):
    """Writes a wheel; the same files make the same bytes."""
    version = _version()
    info = "machsym-%s.dist-info/" % version
    files[info + "METADATA"] = _metadata().encode()
    files[info + "WHEEL"] = ("Wheel-Version: 1.0\nGenerator: machsym\nRoot-Is-Purelib: false\nTag: %s\n" % tag).encode()
    files[info + "licenses/LICENSE"] = _read(_native("LICENSE"))
    record = ""
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += "%s,sha256=%s,%d\n" % (name, digest, len(data))
    files[info + "RECORD"] = (record + info + "RECORD,,\n").encode()
    wheel = "machsym-%s-%s.whl" % (version, tag)
    with zipfile.ZipFile(os.path.join(folder, wheel), "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, time.gmtime(_time())[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            runs = name.endswith((".so", ".dylib", ".dll")) or ".data/scripts/" in name
            entry.external_attr = (0o100755 if runs else 0o100644) << 16
            out.writestr(entry, data)
    return wheel


def _beside():
    """What is installed beside the package: the tool, its man page, what changed. The tool alone may be of a platform."""
    data = "machsym-%s.data/" % _version()
    name, tool = _tool()
    return tool, {data + "scripts/" + name: tool, data + "data/share/man/man1/machsym.1": _read(_native("machsym.1")),
                  data + "data/share/doc/machsym/CHANGELOG.md": _read(_native("CHANGELOG.md"))}


# ---- What pip calls ----

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    files = _sources()
    name, data = _library()
    files["machsym/" + name] = data
    tool, beside = _beside()
    files.update(beside)
    return _pack(wheel_directory, files, _tag(data, tool))


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """The package stays where it is edited; its library is built beside it."""
    name, data = _library()
    with open(os.path.join(HERE, MODULE, name), "wb") as out:
        out.write(data)
    tool, files = _beside()
    files["machsym.pth"] = (os.path.join(HERE, "src") + "\n").encode()
    return _pack(wheel_directory, files, _tag(data, tool))


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    folder = "machsym-%s.dist-info" % _version()
    os.mkdir(os.path.join(metadata_directory, folder))
    with open(os.path.join(metadata_directory, folder, "METADATA"), "wb") as out:
        out.write(_metadata().encode())
    return folder


def build_sdist(sdist_directory, config_settings=None):
    """With the sources of the library and the tool, so that it builds anywhere."""
    top = "machsym-%s" % _version()
    files = {name: _read(_native(name)) for name in FILES}
    files["packaging/project"] = _read(_native(PROJECT))
    for name in ("pyproject.toml", "backend.py", "README.md"):
        files[name] = _read(os.path.join(HERE, name))
    for folder in FOLDERS:
        files.update((folder + "/" + name, _read(os.path.join(_native(folder), name))) for name in _under(_native(folder), (".c", ".h")))
    files.update(("src/" + name, data) for name, data in _sources().items())
    files["PKG-INFO"] = _metadata().encode()
    with open(os.path.join(sdist_directory, top + ".tar.gz"), "wb") as file, \
            gzip.GzipFile("", "wb", 9, file, _time()) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as out:
        for name, data in sorted(files.items()):
            entry = tarfile.TarInfo(top + "/" + name)
            entry.size = len(data)
            entry.mode = 0o644
            entry.mtime = _time()
            out.addfile(entry, io.BytesIO(data))
    return top + ".tar.gz"
