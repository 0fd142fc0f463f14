#!/usr/bin/env python3
"""What lldb takes for the frames that bench/unwind and bench/run measure: processor time without its start.
usage: unwind_lldb.py MODULES core PROGRAM CORE      all frames of all threads, once the plans for unwinding are cached
       unwind_lldb.py MODULES dumps PROGRAM DUMP...  the dumps, one after the other, with all frames
MODULES is LLDB's folder of Python modules (lldb-22 -P). Prints the seconds, how many frames there were, and the seconds of the start."""
import sys
import time

sys.path.append(sys.argv[1])
import lldb  # noqa: E402

HEADER = b"\xcf\xfa\xed\xfe"
LINKED = 0x100000000  # where a program lies in its file


def walk(process):
    """How many frames there are; each is asked where it is."""
    count = 0
    for thread in process:
        for i in range(thread.GetNumFrames()):
            frame = thread.GetFrameAtIndex(i)
            count += frame.GetPC() != 0 and not frame.IsInlined()
    return count


def load_core(target, path):
    """A core file whose program is the target's: it lies below the first pc."""
    process, error = target.LoadCore(path), lldb.SBError()
    base = process.GetThreadAtIndex(0).GetFrameAtIndex(0).GetPC() & ~0xFFF
    while process.ReadMemory(base, 4, error) != HEADER and error.Success():
        base -= 0x1000
    target.SetModuleLoadAddress(target.GetModuleAtIndex(0), base - LINKED)
    return process


def main():
    debugger = lldb.SBDebugger.Create()
    debugger.SetAsync(False)
    mode, program, files = sys.argv[2], sys.argv[3], sys.argv[4:]
    if mode == "core":
        walk(load_core(debugger.CreateTarget(program), files[0]))
        process = load_core(debugger.CreateTarget(program), files[0])
        begin = time.process_time()
        frames = walk(process)
    else:
        begin, frames = time.process_time(), 0
        for path in files:
            target = debugger.CreateTarget(program)
            frames += walk(target.LoadCore(path))
            debugger.DeleteTarget(target)
    print("%.6f %d %.2f" % (time.process_time() - begin, frames, begin))


main()
