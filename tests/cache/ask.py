#!/usr/bin/env python3
"""Asks `machsym atos` for the addresses of a file of collection.py one by one, each after the answer before. usage: ask.py ADDRESSES COMMAND..."""
import subprocess
import sys

tool = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
wrong = 0
for line in open(sys.argv[1]):
    address, wanted = line.rstrip("\n").split(" ", 1)
    tool.stdin.write(address + "\n")
    tool.stdin.flush()
    got = tool.stdout.readline().rstrip("\n")
    if got != wanted:
        wrong += 1
        print("%s: %s, but it is %s" % (address, got, wanted))
tool.stdin.close()
sys.exit(1 if tool.wait() != 0 or wrong else 0)
