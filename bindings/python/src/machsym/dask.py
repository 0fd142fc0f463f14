"""Maps of many dSYMs, and archives of many reports, over a Dask cluster.

    from distributed import Client
    from machsym import dask as bulk
    client = Client("scheduler:8786")
    bulk.build_maps(client, "dsyms/", "store/")                       # /store is a folder that all machines see
    bulk.symbolicate(client, "reports/", "store/", "out/")             # out/part-00000.jsonl and so on; out/groups.jsonl

Work is cut into parts by size; Dask gives a part to another worker when one is lost, and tries a part that failed again. A part's
file has its name only when it is whole, and doing a part twice writes the same. Each worker needs the program `machsym` and this package's
Python files; of Dask only the client is used.
"""
import base64
import importlib
import itertools
import json
import os
import re
import subprocess
import tempfile
import zipfile
import zlib
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple, Union

from .worker import Worker, WorkerError, WorkerGone

__all__ = ["build_maps", "symbolicate"]

PART_BYTES = 32 << 20  # of reports: some thousands, which take some seconds
PART_BYTES_DSYMS = 256 << 20
TEMPORARY = ".part-"  # how files begin that are not whole
IN_FLIGHT = 64  # requests that a worker has at a time
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, RuntimeError)  # of a member; RuntimeError: it is encrypted, or packed in another way

# Reports that follow each other: a file, and of a zip which of its members, from one to before another. So a part of thousands of reports is
# told in few bytes, and a million of them take no memory of the client.
Run = Tuple[str, int, int]
Data = Union[bytes, Exception]  # what is in it, or why it cannot be read


def build_maps(client: Any, folder: str, store: str, machsym: Optional[str] = None, retries: int = 3,
               part_bytes: int = PART_BYTES_DSYMS) -> Dict[str, Any]:
    """Adds all dSYMs below a folder to a store, with maps. Returns {"images": [...], "failed": [[path, why], ...]}."""
    parts = list(_parts(_dsyms(folder), part_bytes))
    result: Dict[str, Any] = {"images": [], "failed": []}
    for done in _run(client, _build_part, [(paths, store, machsym) for paths in parts], retries):
        result["images"] += done["images"]
        result["failed"] += done["failed"]
    result["images"].sort(key=lambda image: (image["uuid"], image["file"]))
    return result


def symbolicate(client: Any, reports: str, store: str, out: str, machsym: Optional[str] = None, retries: int = 3, part_bytes: int = PART_BYTES,
                options: Sequence[str] = ()) -> Dict[str, Any]:
    """Symbolicates all reports below a folder, those in zips too, and groups them by signature. `out` gets a file for each part, a line for each
    report in the order of the names: {"report": name, "reports": [{"json", "hash", "signature"}]} or {"report", "error"}; and groups.jsonl, the
    largest group first. What an earlier run left in `out` goes first. Returns {"reports", "failed", "groups", "parts"}."""
    os.makedirs(out, exist_ok=True)
    for name in os.listdir(out):
        if re.fullmatch(r"part-\d{5,}\.jsonl|groups\.jsonl", name):
            os.unlink(os.path.join(out, name))
    tasks = [(list(_runs(part)), store, os.path.join(out, "part-%05d.jsonl" % i), machsym, list(options))
             for i, part in enumerate(_parts(_reports(reports), part_bytes))]
    groups: Dict[str, Dict[str, Any]] = {}
    counts = {"reports": 0, "failed": 0}
    for done in _run(client, _report_part, tasks, retries):
        for what in counts:
            counts[what] += done[what]
        for group in done["groups"]:
            _add(groups, group)
    for name in os.listdir(out):
        if name.startswith(TEMPORARY):  # of a worker that was killed
            os.unlink(os.path.join(out, name))
    ranked = sorted(groups.values(), key=lambda group: (-group["reports"], group["hash"]))
    _write_whole(os.path.join(out, "groups.jsonl"), (json.dumps(group) for group in ranked))
    return {**counts, "groups": len(ranked), "parts": len(tasks)}


# ---- What is where ----

def _dsyms(folder: str) -> Iterator[Tuple[str, int]]:
    """dSYM bundles and archives below a folder, with their sizes."""
    for top, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(folders):
            if name.endswith(".dSYM"):
                path = os.path.join(top, name)
                yield path, sum(os.path.getsize(os.path.join(t, n)) for t, _, ns in os.walk(path) for n in ns)
        folders[:] = [name for name in folders if not name.endswith(".dSYM")]
        for name in sorted(names):
            yield os.path.join(top, name), os.path.getsize(os.path.join(top, name))


def _reports(folder: str) -> Iterator[Tuple[Tuple[str, int], int]]:
    """Reports below a folder, each a file and the number of its member, with their sizes."""
    for top, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(top, name)
            if name.endswith(".zip"):
                yield from _members(path)
            else:
                yield (path, 0), os.path.getsize(path)


def _members(path: str) -> List[Tuple[Tuple[str, int], int]]:
    """Reports in a zip, with their sizes; a file that is not a zip is one report, which cannot be read."""
    try:
        with zipfile.ZipFile(path) as archive:
            return [((path, i), member.file_size) for i, member in enumerate(archive.infolist()) if not member.is_dir()]
    except zipfile.BadZipFile:
        return [((path, 0), os.path.getsize(path))]


def _runs(part: Iterable[Tuple[str, int]]) -> Iterator[Run]:
    """A part, told by its files."""
    for path, members in itertools.groupby(part, lambda report: report[0]):
        numbers = [number for _, number in members]
        yield path, numbers[0], numbers[-1] + 1


def _parts(sized: Iterable[Tuple[Any, int]], most: int) -> Iterator[List[Any]]:
    """Parts of at most a number of bytes, or of one report that is longer."""
    part: List[Any] = []
    size = 0
    for item, length in sized:
        if part and size + length > most:
            yield part
            part, size = [], 0
        part.append(item)
        size += length
    if part:
        yield part


# ---- Over the cluster ----

def _run(client: Any, task: Any, arguments: Sequence[Tuple[Any, ...]], retries: int) -> Iterator[Any]:
    """What a task gave for each of its arguments, as it is done. An error that is still there after all retries is raised."""
    distributed: Any = importlib.import_module("distributed")  # only here, so that the module can be imported without
    futures = [client.submit(task, *some, retries=retries, pure=False) for some in arguments]
    for future in distributed.as_completed(futures):
        yield future.result()
        future.release()


def _build_part(paths: List[str], store: str, machsym: str) -> Dict[str, Any]:
    """A task: dSYMs into the store. A file that fails is told, and the others go on; a full disk is an error of the task."""
    images: List[Dict[str, Any]] = []
    failed: List[List[str]] = []
    for path in paths:
        done = subprocess.run([machsym, "store", "add", "--json", "-j", "1", store, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True, env={**os.environ, "LC_ALL": "C"})
        images += [json.loads(line) for line in done.stdout.splitlines()]
        if "No space left on device" in done.stderr:
            raise OSError(done.stderr.strip())
        if done.returncode:
            failed.append([path, done.stderr.strip()])
    return {"images": images, "failed": failed}


def _report_part(runs: List[Run], store: str, path: str, machsym: str, options: List[str]) -> Dict[str, Any]:
    """A task: reports into a file of JSON lines, and their groups."""
    groups: Dict[str, Dict[str, Any]] = {}
    counts = {"reports": 0, "failed": 0}

    def lines() -> Iterator[str]:
        for shown, answer in _answers(runs, store, machsym, options):
            counts["reports"] += 1
            if "error" in answer:
                counts["failed"] += 1
                yield json.dumps({"report": shown, "error": answer["error"]})
                continue
            for hash_, group in {r["hash"]: r for r in answer["reports"]}.items():
                version = group["json"].get("version", "")
                _add(groups, {"hash": hash_, "signature": group["signature"], "reports": 1, "versions": {version: 1}, "example": shown})
            yield json.dumps({"report": shown, "reports": answer["reports"]})

    _write_whole(path, lines())
    return {**counts, "groups": list(groups.values())}


def _answers(runs: List[Run], store: str, machsym: str, options: List[str]) -> Iterator[Tuple[str, Dict[str, Any]]]:
    """The names of reports and the answers to them, in their order. A report that ends the tool is found by asking one at a time, and has an error."""
    def start() -> Worker:
        return Worker(["--no-cache", "-d", store, *options], machsym=machsym, in_flight=IN_FLIGHT)

    read, worker = _read(runs), start()
    try:
        for some in iter(lambda: list(itertools.islice(read, IN_FLIGHT)), []):
            try:
                answers = _ask(worker, [data for _, data in some])
            except WorkerGone:
                worker.kill()
                worker = start()
                answers = [_ask_alone(start, data) for _, data in some]
            yield from zip((name for name, _ in some), answers)
    finally:
        worker.kill()


def _ask(worker: Worker, reports: List[Data]) -> List[Dict[str, Any]]:
    """The answers to reports, which are all under way at a time."""
    futures = [worker.request({"do": "crash", "base64": base64.b64encode(data).decode(), "want": ["json", "signature"]})
               if isinstance(data, bytes) else None for data in reports]
    return [_answer(future) if future else {"error": {"kind": "no_report", "what": str(why)}} for future, why in zip(futures, reports)]


def _ask_alone(start: Callable[[], Worker], data: Data) -> Dict[str, Any]:
    with start() as worker:
        worker.ask({"do": "stats"})  # a tool that ends by itself is an error of the task
        try:
            return _ask(worker, [data])[0]
        except WorkerGone as gone:
            return {"error": {"kind": "poison", "what": str(gone)}}


def _answer(future: Any) -> Dict[str, Any]:
    try:
        return future.result()  # type: ignore[no-any-return]
    except WorkerError as error:
        return error.answer


def _read(runs: List[Run]) -> Iterator[Tuple[str, Data]]:
    """The names of reports, and their bytes, or why there are none."""
    for path, first, end in runs:
        if path.endswith(".zip"):
            yield from _read_members(path, first, end)
        else:
            with open(path, "rb") as file:
                yield path, file.read()


def _read_members(path: str, first: int, end: int) -> Iterator[Tuple[str, Data]]:
    try:
        archive = zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        yield path, error
        return
    with archive:
        for member in (member for member in archive.infolist()[first:end] if not member.is_dir()):
            try:
                data: Data = archive.read(member)
            except DAMAGED as error:
                data = error
            yield "%s/%s" % (path, member.filename), data


def _add(groups: Dict[str, Dict[str, Any]], group: Dict[str, Any]) -> None:
    """Adds what a part counted of a group; its example is that of the first name."""
    known = groups.setdefault(group["hash"], {**group, "reports": 0, "versions": {}})
    known["reports"] += group["reports"]
    known["example"] = min(known["example"], group["example"])
    for version, count in group["versions"].items():
        known["versions"][version] = known["versions"].get(version, 0) + count


def _write_whole(path: str, lines: Iterable[str]) -> None:
    """Writes lines to a file that has its name only when it is whole."""
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path) or ".", prefix=TEMPORARY)
    try:
        with open(handle, "w", encoding="utf-8") as out:
            for line in lines:
                out.write(line + "\n")
            out.flush()
            os.fsync(out.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
