#!/usr/bin/env python3
"""Speaks the Model Context Protocol with machsym mcp, and checks its answers against the published schema
(schema.ts of 2025-11-25): the members of an answer, their types, and the errors that JSON-RPC wants. The
answers of tools are compared with machsym worker. Usage: mcp.py MACHSYM WORK. The last line is "N passed, N
failed, 0 skipped"."""
import base64
import json
import shlex
import subprocess
import sys

MACHSYM, WORK = shlex.split(sys.argv[1]), sys.argv[2]
BIN, REPORTS = "tests/fixtures/bin", "tests/fixtures/reports"
LOOK = ["--no-cache", "-d", BIN + "/demo.app.dSYM"]
UUID = "4C4C44B5-5555-3144-A1BA-79CA685DEC58"
VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
counts = [0, 0]


def check(ok, what, seen=""):
    counts[not ok] += 1
    if not ok:
        print("failed: %s: %.600s" % (what, seen))


def talk(data, *options, status=0):
    """What a server writes for an input, a value a line."""
    done = subprocess.run(MACHSYM + ["mcp", *LOOK, *options], input=data, capture_output=True, timeout=120)
    check(done.returncode == status, "status %d" % done.returncode, done.stderr.decode())
    check(done.stdout == b"" or done.stdout.endswith(b"\n"), "the last line ends", done.stdout[-80:])
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def say(*messages, **how):
    return talk(b"".join(m if isinstance(m, bytes) else json.dumps(m).encode() + b"\n" for m in messages), *how.pop("options", []), **how)


def ask(method, params=None, id=1):
    return dict({"jsonrpc": "2.0", "id": id, "method": method}, **({} if params is None else {"params": params}))


def call(tool, id=1, **arguments):
    return ask("tools/call", {"name": tool, "arguments": arguments}, id)


def is_result(answer, id):
    return set(answer) == {"jsonrpc", "id", "result"} and answer["jsonrpc"] == "2.0" and answer["id"] == id and isinstance(answer["result"], dict)


def is_error(answer, code, id):
    error = answer.get("error", {})
    return (set(answer) == {"jsonrpc", "id", "error"} and answer["jsonrpc"] == "2.0" and answer["id"] == id and type(answer["id"]) is type(id) and
            set(error) == {"code", "message"} and error["code"] == code and isinstance(error["message"], str) and error["message"])


def worker(request):
    done = subprocess.run(MACHSYM + ["worker", "--paths", *LOOK], input=json.dumps(request).encode() + b"\n", capture_output=True, timeout=60)
    answer = json.loads(done.stdout)
    del answer["line"], answer["id"]
    return answer


# ---- The protocol ----

def test_initialize():
    for version in VERSIONS + ["2023-01-01", "2099-01-01", "", "x" * 5000]:
        params = {"protocolVersion": version, "capabilities": {"roots": {"listChanged": True}}, "clientInfo": {"name": "t", "version": "0"}}
        answer, pong = say(ask("initialize", params), {"jsonrpc": "2.0", "method": "notifications/initialized"}, ask("ping", id=2))
        result = answer.get("result", {})
        check(is_result(answer, 1) and is_result(pong, 2) and pong["result"] == {}, "initialize and ping", answer)
        check(result["protocolVersion"] == (version if version in VERSIONS else VERSIONS[-1]), "the version: " + version[:20], result)
        check(isinstance(result["capabilities"].get("tools"), dict), "it has tools", result)
        check(isinstance(result["serverInfo"]["name"], str) and isinstance(result["serverInfo"]["version"], str), "its name", result)
        check(isinstance(result.get("instructions", ""), str), "instructions are a text", result)
    for params in (None, {}, {"protocolVersion": 5}):
        answer, = say(ask("initialize", params))
        check(is_error(answer, -32602, 1), "initialize without a version", answer)


def test_list():
    for paths in (False, True):
        answer, = say(ask("tools/list"), options=["--paths"] if paths else [])
        tools = {t["name"]: t for t in answer["result"]["tools"]}
        check(is_result(answer, 1) and len(tools) == len(answer["result"]["tools"]) == 4, "tools/list", answer)
        check(set(tools) == {"explain_crash", "symbolicate", "missing_symbols", "search_symbols"}, "its tools", list(tools))
        for name, tool in tools.items():
            takes = tool["inputSchema"]
            check(set(tool) <= {"name", "title", "description", "inputSchema", "outputSchema", "annotations", "icons", "execution", "_meta"}, "members", tool)
            check(takes["type"] == "object" and all(p in takes["properties"] for p in takes["required"]), name + ": inputSchema", takes)
            check(all(isinstance(p, dict) and p["type"] and p["description"] for p in takes["properties"].values()), name + ": properties", takes)
            check(tool["outputSchema"]["type"] == "object" and tool["annotations"]["readOnlyHint"] is True, name + ": outputSchema", tool)
            check(("path" in takes["properties"]) == (paths and "report" in takes["properties"]), name + ": path only with --paths", takes)
    answer, = say(ask("tools/list", {"cursor": "x"}))
    check(is_error(answer, -32602, 1), "a cursor that was not given out", answer)
    answer, = say(ask("tools/list", {"_meta": {"progressToken": 1}}))
    check(is_result(answer, 1), "what is not known is passed over", answer)


def test_ids():
    for id in (0, 7, -1, 2**63, "x", "", "a\"\\\n\u2028\U0001f600", "1"):
        answer, = say(ask("ping", id=id))
        check(is_result(answer, id) and type(answer["id"]) is type(id), "the id comes back: %r" % (id,), answer)
    for id in (None, True, [], {}):
        answer, = say(ask("ping", id=id))
        check(is_error(answer, -32600, None), "no id: %r" % (id,), answer)


def test_errors():
    for line in (b"{", b"nonsense", b'{"jsonrpc":"2.0"', b"\xff\xfe", b'{"jsonrpc":"2.0","id":1,"method":"ping"} x', b'"x'):
        answer, after = say(line + b"\n", ask("ping", id=2))
        check(is_error(answer, -32700, None), "no JSON: %r" % line, answer)
        check(is_result(after, 2), "the next message is answered", after)
    for message in (5, "x", None, True, {}, {"id": 1}, {"jsonrpc": "1.0", "id": 1, "method": "ping"}, {"jsonrpc": 2.0, "id": 1, "method": "ping"},
                    {"jsonrpc": "2.0", "id": 1}, {"jsonrpc": "2.0", "id": 1, "method": 5}, {"jsonrpc": "2.0", "method": 5}, {"jsonrpc": "2.0"}):
        answer, = say(message)
        id = message.get("id") if isinstance(message, dict) else None
        check(is_error(answer, -32600, id), "no message: %r" % (message,), answer)
    for method in ("nothing", "", "resources/list", "Ping", "tools/list\0", "x" * 100000):
        answer, = say(ask(method))
        check(is_error(answer, -32601, 1) and len(json.dumps(answer)) < 1000, "no method: %.20r" % method, answer)
    for params in ([], 5, "x", None):
        answer, = say({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params})
        check(is_error(answer, -32602, 1), "params are an object", answer)
    for params in (None, {}, {"name": 5}, {"name": "nothing"}, {"name": "explain_crash", "arguments": []}, {"name": "explain_crash", "arguments": "x"}):
        answer, = say(ask("tools/call", params))
        check(is_error(answer, -32602, 1), "no tool: %r" % (params,), answer)


def test_silence():
    """Notifications, answers to requests that were not made, and blank lines have no answer."""
    quiet = [{"jsonrpc": "2.0", "method": m} for m in ("notifications/initialized", "notifications/cancelled", "ping", "nothing", "tools/call")]
    quiet += [{"jsonrpc": "2.0", "id": 1, "result": {}}, {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}}, b"\n", b"  \r\n"]
    check(say(*quiet) == [], "no answer")
    check(talk(b"") == [], "nothing is asked")
    answer, = say(*quiet, ask("ping", id=3))
    check(is_result(answer, 3), "and then one")


def test_batch():
    batch, = say([ask("ping"), {"jsonrpc": "2.0", "method": "x"}, 5, ask("nothing", id="b"), call("symbolicate", 3, uuid=UUID, offsets=[2796])])
    check(len(batch) == 4 and is_result(batch[0], 1) and is_error(batch[1], -32600, None) and is_error(batch[2], -32601, "b") and
          is_result(batch[3], 3), "a batch", batch)
    answer, = say([])
    check(is_error(answer, -32600, None), "an empty batch", answer)
    check(say([{"jsonrpc": "2.0", "method": "x"}] * 3) == [], "a batch of notifications")


def test_lines():
    """Lines of any length; half a line; the end."""
    answer, after = say(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"' + b"y" * (2 << 20) + b'"}}\n', ask("ping", id=2),
                        options=["--max-request=1"])
    check(is_error(answer, -32600, None) and "--max-request" in answer["error"]["message"] and is_result(after, 2), "a line that is too long", answer)
    answer, = say(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"' + b"y" * (5 << 20) + b'"}}\n')
    check(is_result(answer, 1), "a long line", answer)
    answer, after = say(b'{"bytes":40,"jsonrpc":"2.0","id":1,"method":"ping"}\n', ask("ping", id=2))
    check(is_result(answer, 1) and is_result(after, 2), "no bytes follow a line, as they do for machsym worker", (answer, after))
    answer, = talk(json.dumps(ask("ping")).encode())
    check(is_result(answer, 1), "the last line needs no end", answer)
    answer, = talk(json.dumps(ask("ping")).encode()[:-3])
    check(is_error(answer, -32700, None), "half a line", answer)
    answer, = talk(json.dumps(ask("ping")).encode() + b"\r\n")
    check(is_result(answer, 1), "the line end of Windows", answer)
    answer, = say(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b"[" * 10000 + b"]" * 10000 + b"}\n")
    check("error" in answer, "deep nesting is refused", answer)
    # one byte at a time, and an answer before the next message is written
    server = subprocess.Popen(MACHSYM + ["mcp", *LOOK], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for id in range(3):
        for byte in json.dumps(ask("ping", id=id)).encode() + b"\n":
            server.stdin.write(bytes([byte]))
            server.stdin.flush()
        check(is_result(json.loads(server.stdout.readline()), id), "an answer leaves at once")
    server.stdin.close()
    check(server.wait(timeout=60) == 0, "the end of the input ends it")
    server.stdout.close()


# ---- The tools ----

def content_of(answer, id=1):
    """The answer of a tool, which is told as a text too."""
    result = answer.get("result", {})
    ok = is_result(answer, id) and set(result) == {"content", "structuredContent", "isError"} and result["isError"] is False
    ok = ok and [set(c) for c in result["content"]] == [{"type", "text"}] and result["content"][0]["type"] == "text"
    check(ok and json.loads(result["content"][0]["text"]) == result["structuredContent"], "a tool's answer", answer)
    return result.get("structuredContent", {})


def refusal_of(answer):
    result = answer.get("result", {})
    check(is_result(answer, 1) and set(result) == {"content", "isError"} and result["isError"] is True, "a tool refuses", answer)
    return result["content"][0]["text"]


def test_tools():
    path = REPORTS + "/demo.ips"
    report = open(path, encoding="utf-8").read()
    wants = ["brief", "summary", "text", "json", "signature", "same"]
    for given in ({"report": report}, {"path": path}, {"base64": base64.b64encode(report.encode()).decode()}):
        answer, = say(call("explain_crash", want=wants, **given), options=["--paths"])
        check(content_of(answer) == worker(dict(given, do="crash", want=wants)), "explain_crash: %s" % list(given))
        answer, = say(call("explain_crash", **given), options=["--paths"])
        check(content_of(answer) == worker(dict(given, do="crash", want=["brief"])), "explain_crash is brief by itself: %s" % list(given))
        answer, = say(call("missing_symbols", **given), options=["--paths"])
        check(content_of(answer) == worker(dict(given, do="missing")), "missing_symbols: %s" % list(given))
    answer, = say(call("symbolicate", uuid=UUID, offsets=["0xaec", 2796]))
    found = content_of(answer)
    check(found == worker({"do": "frames", "uuid": UUID, "offsets": [2796, 2796]}), "symbolicate", found)
    check([f["name"] for f in found["frames"][0]][-1] == "-[Player skip:]", "its names", found)
    answer, = say(call("symbolicate", uuid=UUID, offsets=["0x104000aec"], load="0x104000000"))
    check(content_of(answer)["frames"] == found["frames"][:1], "symbolicate with load", answer)
    answer, = say(call("search_symbols", uuid=UUID, name="PLAYER"))
    check(content_of(answer) == worker({"do": "search", "uuid": UUID, "name": "player"}), "search_symbols", answer)


def test_refusals():
    for tool, arguments, kind in (("explain_crash", {}, "bad_request"), ("explain_crash", {"report": "no report"}, "no_report"),
                                  ("explain_crash", {"path": "/etc/passwd"}, "bad_request"), ("explain_crash", {"id": 1}, "bad_request"),
                                  ("explain_crash", {"report": "x", "want": ["all"]}, "bad_request"), ("missing_symbols", {"do": "x"}, "bad_request"),
                                  ("symbolicate", {"uuid": UUID}, "bad_request"), ("symbolicate", {"uuid": "x", "offsets": []}, "bad_request"),
                                  ("symbolicate", {"uuid": UUID, "offsets": [1], "load": 2}, "bad_request"),
                                  ("symbolicate", {"uuid": UUID[:-1] + "0", "offsets": [1]}, "no_image"), ("search_symbols", {"name": "x"}, "bad_request"),
                                  ("search_symbols", {"uuid": UUID}, "bad_request"), ("search_symbols", {"uuid": UUID, "name": "x", "limit": 0}, "bad_request"),
                                  ("search_symbols", {"image": "nothing", "name": "x"}, "no_image")):
        answer, = say(call(tool, **arguments))
        said = refusal_of(answer)
        check(said.startswith(kind + ": "), "%s %s: %s" % (tool, arguments, kind), said)
        check(" id " not in said and " do " not in said, "a tool has no id and no do", said)


def test_search():
    """All functions of a file, from its debug info and from its map, as `llvm-nm-22 demo` lists its text."""
    truth = {0x940: "main", 0x9d8: "__main_block_invoke", 0xa04: "__copy_helper_block_e8_32o", 0xa24: "__destroy_helper_block_e8_32o",
             0xa40: "+[Player shared]", 0xa48: "-[Player play:]", 0xa94: "-[Player skip:]"}
    for file in (BIN + "/demo.app.dSYM", WORK + "/demo.symmap"):
        for piece in ("a", "E", "player ", "main", "_helper_", "no such name"):
            request = {"do": "search", "uuid": UUID, "name": piece}
            done = subprocess.run(MACHSYM + ["worker", "--no-cache", "-d", file], capture_output=True, timeout=60, input=json.dumps(request).encode())
            answer = json.loads(done.stdout)
            want = {offset: name for offset, name in truth.items() if piece.lower() in name.lower()}
            got = {int(f["offset"], 16): f["linkage_name"] or f["name"] for f in answer["functions"]}
            check(got == want and answer["found"] == len(want), "search %s in %s" % (piece, file), (got, want))


def test_many():
    """Many at once, by several threads: an answer for each."""
    messages = [call("symbolicate", n, uuid=UUID, offsets=[0x940 + n % 64]) for n in range(500)]
    plain = say(*messages)
    check([a["id"] for a in plain] == list(range(500)), "in order")
    check(sorted(say(*messages, options=["-j", "4", "--unordered"]), key=lambda a: a["id"]) == plain, "by four threads")


def main():
    subprocess.run(MACHSYM + ["map", "build", "--lines=people", "-o", WORK + "/demo.symmap", BIN + "/demo.app.dSYM"], check=True, capture_output=True)
    for name, test in sorted(globals().items()):
        if name.startswith("test_"):
            test()
    print("%d passed, %d failed, 0 skipped" % (counts[0], counts[1]))
    return counts[1] != 0


sys.exit(main())
