#!/usr/bin/env python3
"""Reports that are labelled by their crash, of programs that carry their runtime and of others, in the forms of several reporters.

    labelled.py make DIR            writes DIR/HALF/KIND/LABEL~WRITER-BUILD-ARCH.EXT
    labelled.py probe DIR CORPUS    the same of CrashProbe's reports in CORPUS: as they are, and in the forms of reporters that
                                    drop the exception, offsets, headers
    labelled.py judge FILE [LEAST_PRECISION LEAST_RECALL]
                                    pair precision and recall of `machsym crash --group --json`, by half and kind

Halves: seen is what the rules were made with; kept has other programs, other functions and other versions of the runtimes, and no
rule was changed for it: keep it so, and put what a rule is made for into seen. Of twins (two crashes of one stack that only a message or a termination
parts) there are no reports of writers that drop what parts them: nothing could tell those.
The measure: of two reports in one group, how often they are one crash; of two reports of one crash, how often they are in one group
(pair counting, as in clustering: Manning, Raghavan, Schuetze, Introduction to Information Retrieval, 16.3)."""
import hashlib
import json
import os
import re
import sys

SYSTEM = {"libsystem_kernel.dylib", "libsystem_pthread.dylib", "libsystem_c.dylib", "libc++abi.dylib", "libobjc.A.dylib",
          "CoreFoundation", "UIKitCore", "GraphicsServices", "libdyld.dylib", "Foundation", "libdispatch.dylib",
          "libswiftCore.dylib", "libswift_Concurrency.dylib", "libsystem_platform.dylib", "dyld"}
K, P, C, CXX, OBJC, CF, UI = ("libsystem_kernel.dylib", "libsystem_pthread.dylib", "libsystem_c.dylib", "libc++abi.dylib",
                              "libobjc.A.dylib", "CoreFoundation", "UIKitCore")
ABORT = [(K, "__pthread_kill"), (P, "pthread_kill"), (C, "abort")]
LOOP = [(CF, "__CFRUNLOOP_IS_CALLING_OUT_TO_A_SOURCE0_PERFORM_FUNCTION__"), (CF, "__CFRunLoopDoSources0"), (CF, "__CFRunLoopRun"),
        (CF, "CFRunLoopRunSpecific"), ("GraphicsServices", "GSEventRunModal"), (UI, "UIApplicationMain")]
POOL = [("libdispatch.dylib", "_dispatch_root_queue_drain"), ("libdispatch.dylib", "_dispatch_worker_thread2"),
        (P, "_pthread_wqthread"), (P, "start_wqthread")]
THREAD = [(P, "_pthread_start"), (P, "thread_start")]


def digest(*words):
    return hashlib.sha256(" ".join(map(str, words)).encode()).hexdigest()


def app(*names):
    return [("App", name) for name in names]


# ---- Crashes: kind, label, half, exception, signal, frames; then termination, thrown, message ----

CRASHES = []


def crash(half, kind, label, exception, signal, frames, termination=None, thrown=None, message=None, twin=False):
    CRASHES.append(dict(half=half, kind=kind, label=label, exception=exception, signal=signal, frames=frames,
                        termination=termination, thrown=thrown, message=message, twin=twin))


def abort(half, kind, label, frames, **more):
    crash(half, kind, label, "EXC_CRASH", "SIGABRT", ABORT + frames, **more)


def trap(half, kind, label, frames, **more):
    crash(half, kind, label, "EXC_BREAKPOINT", "SIGTRAP", frames, **more)


def segv(half, kind, label, frames, **more):
    crash(half, kind, label, "EXC_BAD_ACCESS", "SIGSEGV", frames, **more)


# {h} is a hash of the build, {n} a number of it
RUST = app("std::sys::unix::abort_internal::h{h}", "std::process::abort::h{h}", "std::panicking::rust_panic_with_hook::h{h}",
           "std::panicking::begin_panic_handler::_$u7b$$u7b$closure$u7d$$u7d$::h{h}",
           "std::sys_common::backtrace::__rust_end_short_backtrace::h{h}", "rust_begin_unwind", "core::panicking::panic_fmt::h{h}")
for name, fail in (("load", "core::result::unwrap_failed::h{h}"), ("store", "core::panicking::panic_bounds_check::h{h}"),
                   ("parse", "core::option::expect_failed::h{h}")):
    abort("seen", "Rust", "rust-" + name, RUST + app(
        fail, f"demo::config::{name}::h{{h}}", f"_$LT$demo..config..Reader$u20$as$u20$demo..Source$GT$::{name}_all::h{{h}}",
        f"demo::run_{name}::_$u7b$$u7b$closure$u7d$$u7d$::h{{h}}",
        "std::sys_common::backtrace::__rust_begin_short_backtrace::h{h}",
        "core::ops::function::FnOnce::call_once$u7b$$u7b$vtable.shim$u7d$$u7d$::h{h}",
        "std::sys::unix::thread::Thread::new::thread_start::h{h}") + THREAD)

GO = app("runtime.raise_trampoline.abi0", "runtime.dieFromSignal", "runtime.sigfwdgo", "runtime.sigtrampgo", "runtime.sigtramp.abi0")
for name, fail in (("Encrypt", "runtime.goPanicIndex"), ("Decrypt", "runtime.panicmem"), ("Sign", "runtime.gopanic")):
    abort("seen", "Go", "go-" + name, GO + app(
        "runtime.fatalpanic", fail, f"github.com/demo/mail.(*Key).{name}", f"github.com/demo/mail.(*Session).{name}All.func1",
        "main.proxyKey", f"_cgoexp_{{h:12}}_proxyKey_{name}", "runtime.cgocallbackg1", "runtime.cgocallback.abi0",
        "crosscall2", "main"))

MONO = app("xamarin_unhandled_exception_handler", "mono_invoke_unhandled_exception_hook", "mono_handle_exception_internal",
           "mono_handle_exception", "mono_arm_throw_exception", "throw_exception")
for name in ("Login", "Cart", "Search"):
    abort("seen", "Mono", "mono-" + name, MONO + app(
        f"Demo_{name}ViewModel_Load", f"Demo_{name}Page_OnAppearing", "wrapper_runtime_invoke_object_runtime_invoke_dynamic",
        "mono_jit_runtime_invoke", "mono_runtime_invoke_checked", "xamarin_invoke_trampoline", "xamarin_arch_trampoline",
        "xamarin_arm64_common_trampoline") + LOOP + app("main"))

CLR = app("SystemNative_Abort", "S_P_CoreLib_Interop_Sys__Abort", "S_P_CoreLib_System_RuntimeExceptionHelpers__FailFast_1",
          "S_P_CoreLib_System_Runtime_EH__UnhandledExceptionFailFastViaClasslib", "S_P_CoreLib_System_Runtime_EH__DispatchEx",
          "S_P_CoreLib_System_Runtime_EH__RhThrowEx", "RhpThrowEx")
for name in ("Sync", "Export", "Print"):
    abort("seen", "CoreCLR", "clr-" + name, CLR + app(
        f"Demo_Demo_{name}Service__RunAsync_d__4__MoveNext", f"Demo_Demo_{name}Service__Run",
        "S_P_CoreLib_System_Threading_Thread__StartThread", "S_P_CoreLib_System_Threading_Thread__ThreadEntryPoint") + THREAD)

KOTLIN = app("konan::abort()", "(anonymous namespace)::terminateWithUnhandledException(ObjHeader*)",
             "kotlin::ProcessUnhandledException(ObjHeader*)", "ThrowException", "kfun:kotlin#error(kotlin.Any){}kotlin.Nothing")
for name in ("Feed", "Basket", "Profile"):
    abort("seen", "Kotlin/Native", "kotlin-" + name, KOTLIN + app(
        f"kfun:com.demo.{name}Repository#refresh(){{}}",
        f"kfun:com.demo.{name}Model.$loadCOROUTINE${{n}}#invokeSuspend(kotlin.Result<kotlin.Any?>){{}}kotlin.Any?",
        "kfun:kotlin.coroutines.native.internal.BaseContinuationImpl#resumeWith(kotlin.Result<kotlin.Any?>){}",
        "kfun:kotlinx.coroutines.DispatchedTask#run(){}", f"objc2kotlin_kfun:com.demo.{name}Model#load(){{}}") + LOOP + app("main"))

IL2CPP = [("UnityFramework", n) for n in (
    "il2cpp::vm::Exception::Raise(Il2CppException*, MethodInfo*)", "il2cpp_codegen_raise_exception(Il2CppException*, MethodInfo const*)")]
SCRIPT = [("UnityFramework", n) for n in (
    "RuntimeInvoker_TrueVoid_t{H}", "il2cpp::vm::Runtime::InvokeWithThrow(MethodInfo const*, void*, void**)",
    "scripting_method_invoke(ScriptingMethodPtr, ScriptingObjectPtr, ScriptingArguments&, ScriptingExceptionPtr*, bool)",
    "ScriptingInvocation::Invoke(ScriptingExceptionPtr*, bool)", "MonoBehaviour::CallUpdateMethod(int)",
    "ExecutePlayerLoop(NativePlayerLoopSystem*)", "PlayerLoop()", "UnityPlayerLoopImpl(bool)", "UnityRepaint")]
for name in ("Player", "Enemy", "Weapon"):
    abort("seen", "IL2CPP", "il2cpp-" + name, [(CXX, "std::__terminate(void (*)())"), (CXX, "__cxa_throw")] + IL2CPP + [
        ("UnityFramework", f"{name}_Hit_m{{H}}"), ("UnityFramework", f"{name}_Update_m{{H}}")] + SCRIPT + LOOP + app("main"))

FLUTTER = [("Flutter", None)] * 4
for name in ("CameraPlugin", "MapPlugin", "PayPlugin"):
    segv("seen", "Flutter", "flutter-" + name, [(OBJC, "objc_msgSend")] + app(
        f"-[{name} handleMethodCall:result:]", f"__45-[{name} registerWithRegistrar:]_block_invoke_2") + FLUTTER + LOOP + app("main"))

CONCURRENCY = [("libswift_Concurrency.dylib", "swift::runJobInEstablishedExecutorContext(swift::Job*)"),
               ("libswift_Concurrency.dylib", "swift_job_runImpl(swift::Job*, swift::SerialExecutorRef)")]
for name in ("Uploader", "Importer", "Player"):
    trap("seen", "async Swift", "async-" + name, [("libswiftCore.dylib", "_assertionFailure(_:_:file:line:flags:)")] + app(
        f"({{n:1}}) suspend resume partial function for {name}.run(_:)", f"({{n:1}}) await resume partial function for closure #1 in {name}.start()",
        "thunk for @escaping @callee_guaranteed @Sendable @async () -> (@out A)") + CONCURRENCY + POOL)

for message in ("Index out of range", "Unexpectedly found nil while unwrapping an Optional value", "Not enough bits to represent the passed value"):
    trap("seen", "asserts", "assert-" + message[:5], [("libswiftCore.dylib", "_assertionFailure(_:_:file:line:flags:)")] + app(
        "Table.cell(at:)", "Table.reload()") + LOOP + app("main"), message="Fatal error: " + message, twin=True)
for name, reason in (("NSRangeException", "*** -[__NSArrayM objectAtIndexedSubscript:]: index {n} beyond bounds [0 .. 2]"),
                     ("NSInternalInconsistencyException", "Row {n} of section '{h}' is gone"),
                     ("NSInvalidArgumentException", "-[__NSCFString play]: unrecognized selector sent to instance 0x{h}")):
    abort("seen", "exceptions", "thrown-" + name, [(CF, "__exceptionPreprocess"), (OBJC, "objc_exception_throw")] + app(
        "-[Table cellAt:]", "-[Table reload]") + LOOP + app("main"), thrown=name, message=reason, twin=True)
abort("seen", "exceptions", "thrown-alone", [(CF, "__exceptionPreprocess"), (OBJC, "objc_exception_throw")] + app(
    "-[Store open]", "-[AppDelegate boot]") + LOOP + app("main"), thrown="DemoException", message="The store is gone")
for word, code in (("watchdog", ("FRONTBOARD", 0x8badf00d)), ("lock", ("RUNNINGBOARD", 0xdead10cc)), ("hot", ("FRONTBOARD", 0xc00010ff))):
    crash("seen", "terminations", "killed-" + word, "EXC_CRASH", "SIGKILL", [(K, "__open")] + app(
        "-[Database open]", "-[Database sync]") + LOOP + app("main"), termination=code, twin=True)
for name in ("leaf", "stem", "root"):
    segv("seen", "unknown frames", "unknown-" + name, [("<unknown>", None)] + app(f"jump_{name}(int)", "<deduplicated_symbol>") +
         LOOP + app("main"))

# ---- Kept out ----

RUST2 = app("std::sys::pal::unix::abort_internal::h{h}", "std::process::abort::h{h}", "std::panicking::panic_with_hook::h{h}",
            "std::panicking::panic_handler::_$u7b$$u7b$closure$u7d$$u7d$::h{h}", "std::sys::backtrace::__rust_end_short_backtrace::h{h}",
            "__rustc::rust_begin_unwind", "core::panicking::panic_fmt::h{h}")
for name, fail in (("paste", "core::str::slice_error_fail::h{h}"), ("resize", "core::cell::panic_already_borrowed::h{h}"),
                   ("draw", "alloc::vec::Vec$LT$T$C$A$GT$::remove::assert_failed::h{h}")):
    abort("kept", "Rust", "rust2-" + name, RUST2 + app(
        fail, f"term::view::View::{name}::h{{h}}", f"_$LT$term..view..View$u20$as$u20$winit..Handler$GT$::on_{name}::h{{h}}",
        "winit::platform_impl::macos::app_state::AppState::dispatch::h{h}",
        "_$LT$alloc..boxed..Box$LT$F$C$A$GT$$u20$as$u20$core..ops..function..FnOnce$LT$Args$GT$$GT$::call_once::h{h}",
        "std::rt::lang_start_internal::h{h}", "main"))

GO2 = app("runtime.raiseproc_trampoline.abi0", "runtime.crash", "runtime.fatalthrow.func1", "runtime.systemstack.abi0", "runtime.fatalthrow",
          "runtime.throw")
for name, fail in (("Open", "runtime.panicdivide"), ("Write", "runtime.panicdottypeE"), ("Close", "runtime.panicshift")):
    abort("kept", "Go", "go2-" + name, GO2 + app(
        fail, f"demo.org/net/tunnel.(*Device).{name}", f"demo.org/net/tunnel.Start.func2", "runtime.goexit.abi0"))

MONO2 = app("log_callback(char const*, char const*, char const*, int, void*)", "monoeg_g_logv_nofree", "monoeg_assertion_message",
            "mono_unhandled_exception_internal", "mono_handle_exception_internal", "mono_handle_exception", "mono_amd64_throw_exception",
            "llvm_throw_corlib_exception_abs_trampoline")
for name in ("Chat", "Photo", "Alarm"):
    abort("kept", "Mono", "mono2-" + name, MONO2 + app(
        f"Other_{name}Renderer_Draw_CoreGraphics_CGRect", f"Other_{name}View_LayoutSubviews",
        "wrapper_native_to_managed_Other_View_LayoutSubviews_intptr_intptr", "native_to_managed_trampoline_42(objc_object*, objc_selector*)",
        "-[Other_View layoutSubviews]") + LOOP + app("xamarin_UIApplicationMain", "do_icall", "interp_exec_method", "mono_jit_exec",
                                                     "xamarin_main", "main"))

for name in ("Index", "Render", "Fetch"):
    segv("kept", "CoreCLR", "clr2-" + name, [("libcoreclr.dylib", None)] * 3 + app(
        f"Other_Other_{name}Worker__Step", f"Other_Other_{name}Worker__Loop") + [("libcoreclr.dylib", "CallDescrWorkerInternal")] +
         [("libhostfxr.dylib", None)] + app("main"))

KOTLIN2 = app("konan::abort()", "kotlin::(anonymous namespace)::processUnhandledException(ObjHeader*)", "TerminateWithUnhandledException",
              "(anonymous namespace)::TerminateHandler::kotlinHandler()") + [(CXX, "std::__terminate(void (*)())"), (CXX, "__cxa_throw")] + app(
    "ExceptionObjHolder::Throw(ObjHeader*)", "ThrowException", "ThrowClassCastException")
for name in ("Map", "Wallet", "Radio"):
    abort("kept", "Kotlin/Native", "kotlin2-" + name, KOTLIN2 + app(
        f"kfun:org.other.{name}#<get-state>(){{}}org.other.State", f"kfun:org.other.{name}.object-1#onEvent(kotlin.Int){{}}",
        f"kfun:kotlinx.coroutines.flow.internal.SafeCollector#emit(1:0){{}}kotlin.Any?", f"knbridge{{n}}",
        f"-[{name}Controller tick]") + LOOP + app("main"))

for name in ("Grid", "Deck", "Board"):
    segv("kept", "IL2CPP", "il2cpp2-" + name, [("UnityFramework", n) for n in (
        "il2cpp::vm::Exception::RaiseNullReferenceException()", "NullCheck(void*)", f"List_1_get_Item_m{{H}}_gshared_inline",
        f"{name}Controller_Deal_m{{H}}", f"U3CShuffleU3Ed__{name}_MoveNext_m{{H}}", "RuntimeInvoker_FalseVoid_t{H}",
        "il2cpp::vm::Runtime::Invoke(MethodInfo const*, void*, void**, Il2CppException**)",
        "MonoBehaviour::InvokeMethodOrCoroutineChecked(ScriptingMethodPtr, ScriptingObjectPtr, ScriptingExceptionPtr*)",
        "DelayedCallManager::Update(int)", "PlayerLoop()")] + LOOP + app("main"))

for name in ("Video", "Ads", "Health"):
    abort("kept", "Flutter", "flutter2-" + name, [(CF, "__exceptionPreprocess"), (OBJC, "objc_exception_throw")] + app(
        f"{name}Api.send(_:completion:)", f"closure #1 in static {name}ApiSetup.setUp(binaryMessenger:api:)") + [
        ("Flutter", "flutter::PlatformViewIOS::HandlePlatformMessage(std::_fl::unique_ptr<flutter::PlatformMessage>)"),
        ("Flutter", "fml::MessageLoopImpl::FlushTasks(fml::FlushType)"), ("Flutter", None)] + LOOP + app("main"))

for name in ("Ledger", "Camera", "Router"):
    trap("kept", "async Swift", "async2-" + name, app(
        f"specialized {name}.settle(_:)", f"({{n:1}}) await resume partial function for {name}.settle(_:)",
        f"({{n:1}}) suspend resume partial function for closure #2 in closure #1 in {name}.begin()",
        f"({{n:1}}) await resume partial function for specialized thunk for @escaping @callee_guaranteed @async () -> (@out A)",
        f"({{n:1}}) await resume partial function for partial apply for thunk for @escaping @isolated(any) @callee_guaranteed @async () -> (@out A)") +
         [("libswift_Concurrency.dylib", "completeTaskWithClosure(swift::AsyncContext*, swift::SwiftError*)")] + POOL)

for message in ("Session is not open", "Session was closed twice", "Session has no user"):
    trap("kept", "asserts", "assert2-" + message[8:14], [("libswiftCore.dylib", "closure #1 in _assertionFailure(_:_:file:line:flags:)"),
                                                         ("libswiftCore.dylib", "_assertionFailure(_:_:file:line:flags:)")] + app(
        "Session.send(_:)", "Session.flush()") + POOL, message="Fatal error: " + message, twin=True)
for name, reason in (("CardException", "Card {n} is lost"), ("NSGenericException", "Collection <__NSArrayM: 0x{h}> was mutated while being enumerated."),
                     ("NSInvalidArgumentException", "*** -[__NSPlaceholderDictionary initWithObjects:forKeys:count:]: attempt to insert nil object from objects[{n:1}]")):
    abort("kept", "exceptions", "thrown2-" + name, [(CF, "__exceptionPreprocess"), (OBJC, "objc_exception_throw")] + app(
        "-[Deck deal]", "-[Game next:]") + LOOP + app("main"), thrown=name, message=reason, twin=True)
abort("kept", "exceptions", "thrown2-cpp", [(CXX, "abort_message"), (CXX, "demangling_terminate_handler()"), (CXX, "__cxa_throw")] + app(
    "audio::Mixer::open(int)", "audio::Engine::boot()") + THREAD, thrown="std::runtime_error", message="no device {n}")
for word, code in (("scene", ("FRONTBOARD", 0x8badf00d)), ("user", ("FRONTBOARD", 0xdeadfa11)), ("voip", ("SPRINGBOARD", 0xbad22222))):
    crash("kept", "terminations", "killed2-" + word, "EXC_CRASH", "SIGKILL", [(K, "mach_msg2_trap")] + app(
        "Network.wait()", "Network.fetchAll()") + LOOP + app("main"), termination=code, twin=True)
for name in ("north", "south", "west"):
    segv("kept", "unknown frames", "unknown2-" + name, [("???", None)] + app(f"-[Compass {name}]", "-[Compass turn]") + LOOP + app("main"))


# ---- Writers ----

def fill(text, c, build, arch):
    if text is None:
        return None
    seed = digest(c["label"], build, arch, text)
    text = re.sub(r"\{h:12\}", digest(build, "short")[:12], text)
    text = text.replace("{h}", seed[:16])
    text = text.replace("{H}", digest(c["label"], re.sub(r"[^A-Za-z]", "", text))[:40].upper())
    text = text.replace("{n:1}", str(int(seed[16:18], 16) % 9 + 1))
    return text.replace("{n}", str(int(seed[16:22], 16)))


class Report:
    """A crash of one build on one architecture, with addresses."""

    def __init__(self, c, build, arch):
        self.c, self.arch, self.build = c, arch, build
        names = []
        for image, name in c["frames"]:
            if image not in names and image[0] not in "<?":
                names.append(image)
        self.images = {n: 0x100000000 + i * 0x4000000 + (int(digest(build, arch, n)[:3], 16) << 14) for i, n in enumerate(names)}
        self.frames = []
        for i, (image, name) in enumerate(c["frames"]):
            offset = 0x4000 + int(digest(build if image not in SYSTEM else 0, arch, image, name, i)[:5], 16)
            base = self.images.get(image, 0x6000000000 + (int(digest(build, arch, c["label"])[:6], 16) << 8))
            self.frames.append((image, base + offset, offset, fill(name, c, build, arch), 4 + offset % 90))
        self.message = fill(c["message"], c, build, arch)
        is_trap = c["exception"] == "EXC_BREAKPOINT" and arch == "x86_64"
        self.exception = "EXC_BAD_INSTRUCTION" if is_trap else c["exception"]
        self.signal = "SIGILL" if is_trap else c["signal"]

    def path(self, image):
        if image in SYSTEM:
            return "/System/Library/Frameworks/" + image
        return "/private/var/containers/Bundle/Application/0C1D/App.app/" + ("" if image == "App" else "Frameworks/") + image

    def uuid(self, image):
        return digest("uuid", image, self.arch, 0 if image in SYSTEM else self.build)[:32]

    def said(self):
        c = self.c
        if c["thrown"] and c["thrown"].startswith("std::"):
            return f"terminating due to uncaught exception of type {c['thrown']}: {self.message}"
        if c["thrown"]:
            return f"*** Terminating app due to uncaught exception '{c['thrown']}', reason: '{self.message}'"
        return f"App/Table.swift:{int(digest(self.build)[:2], 16)}: {self.message}" if self.message else ""


def text_frames(r, style):
    lines = []
    for i, (image, addr, offset, name, plus) in enumerate(r.frames):
        if name is None:
            where = "<redacted>" if style == "sentry" else f"0x{addr - offset:x} + {offset}" if image in r.images else "???"
        else:
            where = ("_" + name if style == "sentry" and re.match(r"^[a-zA-Z_]\w*$", name) and image in SYSTEM else name)
            where += f" + {plus}" if style == "apple" else ""
        lines.append(f"{i:<4}{image:<31} 0x{addr:016x} {where}")
    return lines


def image_lines(r):
    return ["", "Binary Images:"] + [f"0x{base:x} - 0x{base + 0x3ffffff:x} {n} {r.arch} <{r.uuid(n)}> {r.path(n)}" for n, base in r.images.items()]


def write_apple(r):
    c = r.c
    lines = ["Process:             App [412]", f"Code Type:           {'X86-64' if r.arch == 'x86_64' else 'ARM-64'} (Native)",
             "OS Version:          iPhone OS 17.4 (21E219)", "", f"Exception Type:  {r.exception} ({r.signal})"]
    if c["termination"]:
        lines.append("Termination Reason: Namespace %s, Code 0x%x" % c["termination"])
    else:
        lines.append("Termination Reason: SIGNAL 6 Abort trap: 6")
    lines += ["Triggered by Thread:  0", ""]
    if r.said():
        lines += ["Application Specific Information:", r.said(), ""]
    return "crash", "\n".join(lines + ["Thread 0 Crashed:"] + text_frames(r, "apple") + image_lines(r)) + "\n"


def write_hockey(r):
    lines = [f"Exception Type:  {r.signal}", "Exception Codes: #0 at 0x1", "Crashed Thread:  0", ""]
    if r.said():
        lines += ["Application Specific Information:", r.said(), ""]
    return "crash", "\n".join(lines + ["Thread 0 Crashed:"] + text_frames(r, "apple") + image_lines(r)) + "\n"


def write_sentry_text(r):
    c = r.c
    lines = ["OS Version: iOS 17.4 (21E219)", "Report Version: 104", "", f"Exception Type: {r.exception} ({r.signal})", "Crashed Thread: 0", ""]
    if c["thrown"] and not c["thrown"].startswith("std::"):
        lines += ["Application Specific Information:", f"Application threw exception {c['thrown']}: {r.message}", ""]
    elif r.said():
        lines += ["Application Specific Information:", r.said(), ""]
    return "crash", "\n".join(lines + ["Thread 0 Crashed:"] + text_frames(r, "sentry") + image_lines(r)) + "\n"


def write_bare(r):
    return "txt", "\n".join((["What was said: it crashed", ""]) + text_frames(r, "apple")) + "\n"


def write_crashlytics(r):
    lines = ["Crashed: com.apple.main-thread", f"{r.exception} 0x0000000000000001", "", "Thread : Crashed: com.apple.main-thread"]
    return "txt", "\n".join(lines + text_frames(r, "plain")) + "\n"


def write_ips(r):
    c = r.c
    names = list(r.images)
    frames = []
    for image, addr, offset, name, plus in r.frames:
        frame = {"imageOffset": offset, "imageIndex": names.index(image) if image in r.images else len(names)}
        if image not in r.images:
            frame["imageOffset"] = addr
        if name is not None:
            frame.update(symbol=name, symbolLocation=plus)
        frames.append(frame)
    used = [{"arch": r.arch, "base": base, "size": 0x4000000, "uuid": r.uuid(n), "path": r.path(n), "name": n, "source": "P"}
            for n, base in r.images.items()] + [{"size": 0, "source": "A", "base": 0, "uuid": "0" * 32}]
    doc = {"procName": "App", "pid": 412, "cpuType": "X86-64" if r.arch == "x86_64" else "ARM-64", "faultingThread": 0,
           "exception": {"type": r.exception, "signal": r.signal, "codes": "0x1, 0x2"},
           "threads": [{"triggered": True, "id": 1, "frames": frames}], "usedImages": used}
    if c["termination"]:
        doc["termination"] = {"namespace": c["termination"][0], "code": c["termination"][1], "flags": 6}
    if c["thrown"] and not c["thrown"].startswith("std::"):
        doc["exceptionReason"] = {"name": c["thrown"], "composed_message": r.message, "type": "objc-exception"}
    elif r.said():
        doc["asi"] = {"libswiftCore.dylib": [r.said()]}
    head = {"app_name": "App", "bug_type": "309", "os_version": "iPhone OS 17.4 (21E219)", "incident_id": "1"}
    return "ips", json.dumps(head) + "\n" + json.dumps(doc, indent=1) + "\n"


def write_event(r):
    c = r.c
    frames = []
    for image, addr, offset, name, plus in r.frames:
        frame = {"instruction_addr": hex(addr)}
        if image in r.images:
            frame.update(package=r.path(image), image_addr=hex(r.images[image]), in_app=image not in SYSTEM)
        if name is not None:
            frame["function"] = name
        frames.append(frame)
    thrown = c["thrown"]
    values = [{"type": thrown or r.exception, "value": r.message or "it crashed", "thread_id": 0,
               "mechanism": {"type": "mach", "meta": {"signal": {"name": r.signal}, "mach_exception": {"name": r.exception}}},
               "stacktrace": {"frames": frames[::-1]}}]
    images = [{"type": "macho", "code_file": r.path(n), "image_addr": hex(b), "image_size": 0x4000000, "debug_id": r.uuid(n), "arch": r.arch}
              for n, b in r.images.items()]
    return "json", json.dumps({"event_id": digest(c["label"], r.build)[:32], "platform": "cocoa", "exception": {"values": values},
                               "debug_meta": {"images": images}}) + "\n"


# A writer and what it drops of a crash: t its termination, m its message. Crashlytics' console is of devices.
WRITERS = [("apple", write_apple, ""), ("hockey", write_hockey, "t"), ("sentry", write_sentry_text, "t"), ("bare", write_bare, "tm"),
           ("crashlytics", write_crashlytics, "tm"), ("ips", write_ips, ""), ("event", write_event, "t")]


def make(folder):
    for c in CRASHES:
        where = os.path.join(folder, c["half"], c["kind"].replace("/", "-").replace(" ", "-"))
        os.makedirs(where, exist_ok=True)
        for name, write, drops in WRITERS:
            parts = "t" if c["termination"] else "m"
            if c["twin"] and parts in drops:
                continue
            for build in (1, 2):
                for arch in ("arm64",) if name == "crashlytics" else ("arm64", "x86_64"):
                    ending, text = write(Report(c, build, arch))
                    path = os.path.join(where, f"{c['label'].replace(' ', '_')}~{name}-{build}-{arch}.{ending}")
                    with open(path, "w", encoding="utf-8") as out:
                        out.write(text)


# ---- CrashProbe ----

FRAME = re.compile(r"^(?:<span[^>]*>)?(\d+ +)(\S+)( +)(0x[0-9a-f]+) (.*?)( \+ \d+)?(?: \|.*)?(?:</span>)?$")


def probe_forms(text):
    """The report as it is, and its stack as others write it: without a header, without offsets, with the compiler's underscores."""
    stacks = [m for m in map(FRAME.match, text.splitlines()) if m]
    exception = re.search(r"^Exception Type: +(.*)$", text, re.M).group(1)
    yield "given", "crash", text
    yield "raygun", "txt", "\n".join(m[1] + m[2] + m[3] + m[4] + " " + m[5] + (m[6] or "") for m in stacks) + "\n"
    yield "sentry", "crash", f"OS Version: iOS 10.2.1 (14D27)\nReport Version: 104\n\nException Type: {exception}\nCrashed Thread: 0\n\nThread 0 Crashed:\n" + \
        "\n".join(m[1] + m[2] + m[3] + m[4] + " " + re.sub(r"^(?=[a-zA-Z_]\w*$)", "_", m[5]) for m in stacks) + "\n"
    yield "crashlytics", "txt", f"Crashed: com.apple.main-thread\n{exception.split()[0]} 0x0000000000000001\n\nThread : Crashed: com.apple.main-thread\n" + \
        "\n".join(m[1] + m[2] + m[3] + m[4] + " " + m[5] for m in stacks) + "\n"


def probe(folder, corpus):
    where = os.path.join(folder, "seen", "CrashProbe")
    os.makedirs(where, exist_ok=True)
    for case in sorted(os.listdir(os.path.join(corpus, "crashprobe-data/ios"))):
        for name in sorted(os.listdir(os.path.join(corpus, "crashprobe-data/ios", case))):
            with open(os.path.join(corpus, "crashprobe-data/ios", case, name), encoding="utf-8") as f:
                text = f.read()
            for form, ending, out in probe_forms(text):
                with open(os.path.join(where, f"probe{case}~{form}{name.split('.')[0]}.{ending}"), "w", encoding="utf-8") as f:
                    f.write(out)


# ---- The measure ----

def pairs(n):
    return n * (n - 1) // 2


def figures(rows):
    labels, groups, both = {}, {}, {}
    for label, group in rows:
        labels[label] = labels.get(label, 0) + 1
        groups[group] = groups.get(group, 0) + 1
        both[label, group] = both.get((label, group), 0) + 1
    right = sum(map(pairs, both.values()))
    grouped, alike = sum(map(pairs, groups.values())), sum(map(pairs, labels.values()))
    return len(rows), len(labels), right / grouped if grouped else 1, right / alike if alike else 1


def judge(path, least_precision=0.0, least_recall=0.0):
    rows = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            group = json.loads(line)
            for report in group["reports"]:
                half, kind, name = report.split("/")[-3:]
                for key in ((half, kind), (half, "all")):
                    rows.setdefault(key, []).append((name.split("~")[0], group["hash"]))
    good = bool(rows)
    for half, kind in sorted(rows):
        count, crashes, precision, recall = figures(rows[half, kind])
        print(f"{half} {kind}: {count} reports of {crashes} crashes, precision {precision:.3f}, recall {recall:.3f}")
        good &= kind != "all" or (precision >= float(least_precision) and recall >= float(least_recall))
    return 0 if good else 1


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
    elif sys.argv[1] == "probe":
        probe(sys.argv[2], sys.argv[3])
    else:
        sys.exit(judge(*sys.argv[2:]))
