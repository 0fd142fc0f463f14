"""A program that the kernel runs, one instruction at a time: by ptrace (x86_64), or by the server for gdb of qemu-aarch64."""
import ctypes
import os
import re
import signal
import socket
import struct
import subprocess
import time

TRACEME, CONT, KILL, SINGLESTEP, GETREGS, SETREGS = 0, 7, 8, 9, 12, 13
# struct user_regs_struct of sys/user.h
USER = ("r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss fs_base gs_base ds es fs gs").split()
RIP, RSP = 8 * USER.index("rip"), 8 * USER.index("rsp")
ARM = ["x%d" % i for i in range(29)] + ["fp", "lr", "sp", "pc"]
SVC, RT_SIGRETURN = 0xD4000001, 139
PC_OF_FRAME = 128 + 176 + 8 + 8 * 32  # siginfo_t; ucontext_t up to its registers: x0 to x30, sp, pc
GDB_SIGNALS = {signal.SIGUSR1: 30}  # gdb's own numbers
STEPPED = signal.SIGTRAP


class Native:
    """A process of this machine. pc, sp: where it stands."""

    def __init__(self, command):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.libc.ptrace.restype = ctypes.c_long
        self.libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        self.raw, self.pc, self.sp = ctypes.create_string_buffer(8 * len(USER)), 0, 0
        self.pid = os.fork()
        if self.pid == 0:
            self.libc.personality(0x0040000)  # ADDR_NO_RANDOMIZE
            self.libc.ptrace(TRACEME, 0, None, None)
            os.execv(command[0], command)
        self.memory = None
        self.wait()
        self.memory = open("/proc/%d/mem" % self.pid, "r+b", buffering=0)

    def ask(self, request, data=None):
        if self.libc.ptrace(request, self.pid, None, data) != 0:
            raise OSError(ctypes.get_errno(), "ptrace")

    def wait(self):
        """Returns the signal that stopped the process, or None if it has ended."""
        _, status = os.waitpid(self.pid, 0)
        if not os.WIFSTOPPED(status):
            return None
        self.ask(GETREGS, self.raw)
        self.pc, = struct.unpack_from("<Q", self.raw, RIP)
        self.sp, = struct.unpack_from("<Q", self.raw, RSP)
        return os.WSTOPSIG(status)

    def step(self):
        """Runs one instruction."""
        self.ask(SINGLESTEP)
        return self.wait()

    def interrupt(self, number, handler):
        """A signal comes. Returns whether the process stands at the first instruction of its handler."""
        self.ask(SINGLESTEP, number)
        return self.wait() == STEPPED and self.pc == handler

    def go(self, address):
        """Runs up to an address. Returns whether it got there."""
        kept = self.read(address, 1)
        self.write(address, b"\xcc")
        self.ask(CONT)
        stopped = self.wait()
        self.write(address, kept)
        if stopped != signal.SIGTRAP or self.pc != address + 1:
            return False
        struct.pack_into("<Q", self.raw, RIP, address)
        self.pc = address
        self.ask(SETREGS, self.raw)
        return True

    def registers(self):
        values = dict(zip(USER, struct.unpack("<%dQ" % len(USER), self.raw)))
        values["rfl"] = values["eflags"]
        return values

    def read(self, address, size):
        return os.pread(self.memory.fileno(), size, address)

    def write(self, address, content):
        os.pwrite(self.memory.fileno(), content, address)

    def end(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        self.memory.close()


def can_follow():
    """Whether the system lets one process follow another; containers may not."""
    try:
        process = Native(["/bin/true"])
        stopped = process.step()
        process.end()
        return stopped == STEPPED
    except (OSError, AttributeError):
        return False


class Emulated:
    """A process of qemu-aarch64, which is asked as gdb asks it (its manual, "Remote Protocol")."""

    def __init__(self, command, place):
        self.process = subprocess.Popen(["qemu-aarch64", "-cpu", "max", "-g", place] + command)  # pylint: disable=consider-using-with
        self.socket, self.raw, self.pc, self.sp, self.words = socket.socket(socket.AF_UNIX), b"", 0, 0, {}
        for _ in range(200):
            try:
                self.socket.connect(place)
                break
            except OSError:
                time.sleep(0.05)
        self.file = self.socket.makefile("rwb")
        self.look(self.ask("?"))

    def ask(self, text):
        self.file.write(b"$%s#%02x" % (text.encode(), sum(text.encode()) & 255))
        self.file.flush()
        while self.file.read(1) != b"$":
            pass
        got = bytearray()
        while (one := self.file.read(1)) != b"#":
            got += one
        self.file.read(2)
        self.file.write(b"+")
        return got.decode("latin-1")

    def look(self, stopped):
        """Returns the signal that stopped the process, or None if it has ended."""
        if stopped[:1] not in "ST":
            return None
        self.raw = bytes.fromhex(self.ask("g")[:16 * len(ARM)])
        self.sp, self.pc = struct.unpack_from("<QQ", self.raw, 8 * 31)
        return int(stopped[1:3], 16)

    def step(self):
        """Runs one instruction. After a call of the kernel qemu would stop one instruction late."""
        if self.pc not in self.words:
            self.words[self.pc], = struct.unpack("<I", self.read(self.pc, 4).ljust(4, b"\0"))
        if self.words[self.pc] != SVC:
            return self.look(self.ask("s"))
        returns = self.registers()["x8"] == RT_SIGRETURN
        target, = struct.unpack("<Q", self.read(self.sp + PC_OF_FRAME, 8)) if returns else (self.pc + 4,)
        return STEPPED if self.go(target) else None

    def go(self, address, how="c"):
        self.ask("Z0,%x,4" % address)
        stopped = self.look(self.ask(how))
        self.ask("z0,%x,4" % address)
        return stopped == STEPPED and self.pc == address

    def interrupt(self, number, handler):
        return self.go(handler, "C%02x" % GDB_SIGNALS[number])  # a step with a signal runs one instruction of the handler

    def registers(self):
        return dict(zip(ARM, struct.unpack("<%dQ" % len(ARM), self.raw)))

    def read(self, address, size):
        out = b""
        while len(out) < size:
            got = self.ask("m%x,%x" % (address + len(out), min(size - len(out), 1024)))
            if not re.fullmatch("([0-9a-f]{2})+", got):
                break
            out += bytes.fromhex(got)
        return out

    def end(self):
        self.process.kill()
        self.process.wait()
        self.socket.close()


class Calls:
    """The calls that a program is in, by what its instructions do. An entry is (where the stack pointer has to stay below or at, return
    address). That of a signal is (None, the interrupted pc, the interrupted stack pointer)."""

    def __init__(self, arm, code):
        self.arm, self.code, self.entries, self.kinds, self.torn = arm, code, [], {}, False

    def kind(self, pc):
        """What the instruction at an address is: call, ret, jump (to a register), system."""
        if pc not in self.kinds:
            raw = self.code(pc)
            self.kinds[pc] = arm_kind(raw) if self.arm else x86_kind(raw)
        return self.kinds[pc]

    def begins(self, process):
        """The process stands at the first instruction of a function."""
        back = process.registers()["lr"] if self.arm else struct.unpack("<Q", process.read(process.sp, 8))[0]
        self.entries.append((process.sp, back))

    def interrupted(self, pc, sp, process):
        """A signal came at pc; the process stands at the first instruction of the handler."""
        self.entries.append((None, pc, sp))
        self.begins(process)

    def in_handler(self):
        return any(entry[0] is None for entry in self.entries)

    def step(self, before, unwinds, process):
        """The instruction at before was run. unwinds: whether it is of a function that goes to a landing pad."""
        kind, pc, sp, entries = self.kind(before), process.pc, process.sp, self.entries
        if kind == "system" and entries and entries[-1][0] is None and entries[-1][1:] == (pc, sp):
            entries.pop()
            return
        if self.arm and kind == "ret" and not self.torn and entries[-1][0] is not None and entries[-1] == (sp, pc):
            entries.pop()
            return
        count = len(entries)
        lands = self.arm and unwinds and kind in ("ret", "jump")
        while entries and entries[-1][0] is not None and (entries[-1][0] < sp or (lands and entries[-1][0] == sp)):
            entries.pop()
        if kind in ("ret", "jump"):
            self.torn = False
        elif len(entries) < count:
            self.torn = True  # the stack is another's, and the pc not yet
        if kind == "call":
            entries.append((sp, before + 4 if self.arm else struct.unpack("<Q", process.read(sp, 8))[0]))

    def backs(self):
        """Return addresses, innermost first."""
        return [entry[1] for entry in reversed(self.entries)]


def arm_kind(raw):
    word, = struct.unpack("<I", raw[:4])
    if word >> 26 == 0x25 or word & 0xfefff800 in (0xd63f0000, 0xd63f0800):
        return "call"
    if word & 0xfefff000 == 0xd65f0000:
        return "ret"
    if word & 0xfefff000 == 0xd61f0000:
        return "jump"
    return "system" if word == 0xd4000001 else ""


def x86_kind(raw):
    plain = raw.lstrip(b"\x66\xf2\xf3\x3e\x2e\x40\x41\x42\x43\x44\x45\x46\x47\x48\x49\x4a\x4b\x4c\x4d\x4e\x4f")
    if plain[:1] == b"\xe8" or plain[:1] == b"\xff" and plain[1] >> 3 & 7 == 2:
        return "call"
    if plain[:1] in (b"\xc3", b"\xc2"):
        return "ret"
    if plain[:1] == b"\xff" and plain[1] >> 3 & 7 == 4:
        return "jump"
    return "system" if plain[:2] == b"\x0f\x05" else ""
