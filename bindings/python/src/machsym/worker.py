"""Drives `machsym worker`: requests in, futures out, many at a time.

    from machsym.worker import Worker
    with Worker(["-d", "symbols/", "-j", "4"]) as worker:
        futures = [worker.request({"do": "crash", "report": text, "want": ["json", "signature"]}) for text in reports]
        for future in futures:
            print(future.result()["reports"][0]["signature"])

docs/server.md has the requests. With `needs` symbols may come from anywhere: a dict, a Redis client, a cluster's, or a function; it is asked
for the keys that a build "as": "chunks" made. The module needs the program `machsym`, which pip installs with this package, not the
library, and no other module.
"""
import base64
import collections
import json
import shutil
import subprocess
import sysconfig
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Callable, Deque, Dict, List, Optional, Sequence, Tuple, Union

__all__ = ["Worker", "WorkerError", "WorkerGone"]

Answer = Dict[str, Any]
Needs = Union[Callable[[str], Optional[bytes]], Any]
Waiting = Tuple["Future[Answer]", Any]  # a request's, and its id

PIPE = 65536  # bytes of short requests that are written at a time: what a pipe holds, so that a need does not wait long for them


def _program() -> str:
    """What pip installed with this package; or else what PATH has."""
    return shutil.which("machsym", path=sysconfig.get_path("scripts")) or "machsym"


class WorkerError(Exception):
    """An answer that is an error. `kind` is for programs, `what` for people."""

    def __init__(self, answer: Answer):
        super().__init__(answer["error"]["what"])
        self.answer = answer
        self.kind: str = answer["error"]["kind"]
        self.what: str = answer["error"]["what"]


class WorkerGone(Exception):
    """The worker ended before it answered. Requests that have this may be sent to another one."""


class Worker:
    """One process of `machsym worker`. Any thread may ask it.

    options: of the command line. needs: a function of a key, or what has get(key), such as a mapping or a Redis client; it gives bytes, or None
    where there is no such key; what it raises is an error of the requests that need the key. It is called by need_threads threads. machsym: the
    program, in place of the one that came with this package. in_flight: how many requests may be under way; request() waits when there are as many."""

    def __init__(self, options: Sequence[str] = (), needs: Optional[Needs] = None, machsym: Union[None, str, Sequence[str]] = None,
                 in_flight: int = 64, need_threads: int = 8):
        machsym = _program() if machsym is None else machsym
        command = [machsym] if isinstance(machsym, str) else list(machsym)
        command += ["worker", "--unordered", *options] + (["--host"] if needs is not None else [])
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._find = needs if callable(needs) else getattr(needs, "get", None)
        self._room = threading.Semaphore(in_flight)
        self._changed = threading.Condition()  # of all below
        self._requests: "Deque[Tuple[bytes, Waiting]]" = collections.deque()  # to be written
        self._found: Deque[bytes] = collections.deque()  # needs that were found; they go first
        self._waiting: "Dict[int, Waiting]" = {}  # by the number of the line that asked, which every answer has
        self._count = 0  # lines that were written
        self._closing = False
        self._gone = False
        self._finders = ThreadPoolExecutor(need_threads) if needs is not None else None
        self._threads = [threading.Thread(target=t, daemon=True) for t in (self._read, self._write)]
        for thread in self._threads:
            thread.start()

    # ---- For users ----

    def request(self, message: Dict[str, Any]) -> "Future[Answer]":
        """Sends a request; the answer comes as a future, whose exception is a WorkerError or WorkerGone. Its `id` is that of the message."""
        future: "Future[Answer]" = Future()
        line = json.dumps(message).encode() + b"\n"
        self._room.acquire()
        with self._changed:
            if self._gone or self._closing:
                self._room.release()
                raise WorkerGone("the worker has ended")
            self._requests.append((line, (future, message.get("id"))))
            self._changed.notify_all()
        return future

    def ask(self, message: Dict[str, Any], timeout: Optional[float] = None) -> Answer:
        """Sends a request and waits for its answer."""
        return self.request(message).result(timeout)

    @property
    def pid(self) -> int:
        return self._process.pid

    def close(self) -> int:
        """Waits for all answers and ends the worker. Returns its exit status: 1 when an answer was an error."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()
        if self._finders:
            self._finders.shutdown()
        return self._process.wait()

    def kill(self) -> None:
        """Ends the worker at once. What was asked has WorkerGone."""
        self._process.kill()
        self.close()

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        if kind is None:
            self.close()
        else:
            self.kill()

    # ---- Threads ----

    def _next(self) -> List[bytes]:
        """The lines to be written next; none when the worker is to end."""
        with self._changed:
            while not (self._found or self._requests or self._gone or (self._closing and not self._waiting)):
                self._changed.wait()
            if self._gone:
                return []
            lines = list(self._found)
            self._found.clear()
            self._count += len(lines)
            size = 0 if not lines else PIPE
            while self._requests and (not size or size + len(self._requests[0][0]) <= PIPE):
                line, waiting = self._requests.popleft()
                self._count += 1
                self._waiting[self._count] = waiting
                lines.append(line)
                size += len(line)
            return lines

    def _write(self) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        try:
            for lines in iter(self._next, []):
                pipe.write(b"".join(lines))
                pipe.flush()
        except OSError:  # it ended: the other thread says so
            pass
        try:
            pipe.close()
        except OSError:
            pass

    def _read(self) -> None:
        pipe = self._process.stdout
        assert pipe is not None
        try:
            for line in pipe:
                if not line.endswith(b"\n"):
                    break
                answer = json.loads(line)
                if "need" in answer and self._finders:
                    self._finders.submit(self._answer_need, answer["need"])
                else:
                    self._take(answer)
        finally:  # whatever ends this thread, no call waits for it
            pipe.close()
            self._lose()

    def _lose(self) -> None:
        """What was asked and not answered has WorkerGone."""
        with self._changed:
            self._gone = True
            lost = [*self._waiting.values(), *(waiting for _, waiting in self._requests)]
            self._waiting.clear()
            self._requests.clear()
            self._changed.notify_all()
        for future, _ in lost:
            self._room.release()
            if future.set_running_or_notify_cancel():
                future.set_exception(WorkerGone("the worker ended before it answered"))

    def _take(self, answer: Answer) -> None:
        with self._changed:
            future, answer["id"] = self._waiting.pop(answer["line"])
            self._changed.notify_all()
        self._room.release()
        if not future.set_running_or_notify_cancel():
            return
        if "error" in answer:
            future.set_exception(WorkerError(answer))
        else:
            future.set_result(answer)

    def _answer_need(self, key: str) -> None:
        found: Dict[str, Any] = {"need": key}
        try:
            value = self._find(key)  # type: ignore[misc]
            found["value"] = None if value is None else base64.b64encode(value).decode()
        except Exception as error:  # whatever it is, it is an error of the requests that wait for the key
            found["error"] = "%s: %s" % (type(error).__name__, error)
        with self._changed:
            self._found.append(json.dumps(found).encode() + b"\n")
            self._changed.notify_all()
