/* Functions that say nothing about a crash; see machinery.h. */
#include "machinery.h"
#include "../base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- The built-in lists ---- */

/* A list, and the first bytes of its patterns. Most names are in no list, and the first byte shows that at
 * once. */
typedef struct machinery_list {
    const char *letters;
    const char *const *v;
    size_t count;
} machinery_list;

/* clang-format off */
/* Names are in their stable form: without leading underscores and without arguments. Each list is sorted by
 * bytes, as machinery_find requires. */

/* Every program: functions that pass a failure on, and those that threads and run loops begin with. */
static const char *const machinery_every[] = {
    "+[NSException raise*", "-[NSApplication run]", "-[NSAssertionHandler *", "-[NSException raise*",
    "-[UIApplication _run]", "CFRUNLOOP_IS_*", "CFRunLoop*", "GSEventRun*", "NSApplicationMain",
    "NSThread__start__", "UIApplicationMain", "Unwind_*", "abort", "abort_message", "abort_with_payload*",
    "assert_rtn", "cxa_*", "default_terminate_handler", "default_unexpected_handler",
    "demangling_terminate_handler", "demangling_unexpected_handler", "dispatch_*", "exceptionPreprocess",
    "kill", "objc_exception_*", "objc_terminate", "pthread_body", "pthread_kill", "pthread_start",
    "pthread_wqthread", "raise", "sigtramp*", "start", "start_sim", "start_wqthread", "std::__terminate",
    "std::terminate", "terminate_with_payload*", "thread_start", "unwind_phase2*"};

/* Swift: failed checks, and functions that run async code. */
static const char *const machinery_swift[] = {
    "Swift runtime failure*", "assertionFailure", "closure #1 in assertionFailure",
    "closure #1 in closure #1 in assertionFailure",
    "closure #1 in closure #1 in closure #1 in assertionFailure",
    "closure #1 in closure #1 in fatalErrorMessage", "closure #1 in fatalErrorMessage", "completeTask*",
    "fatalErrorMessage", "preconditionFailure", "reabstraction thunk *",
    "swift::runJobInEstablishedExecutorContext", "swift::runOnAssumedThread", "swift::swift_job_run*",
    "swift_async*", "swift_continuation_*", "swift_fatalError*", "swift_job_run*",
    "swift_runtime_on_report", "swift_task_*", "swift_unexpectedError", "thunk for *"};

/* Rust: panics, failures in its standard library, and the first functions of threads and main. */
static const char *const machinery_rust[] = {
    "alloc::alloc::*", "alloc::boxed::Box as core::ops::function::*", "alloc::raw_vec::*",
    "alloc::vec::Vec::insert::assert_failed", "alloc::vec::Vec::remove::assert_failed",
    "alloc::vec::Vec::split_off::assert_failed", "alloc::vec::Vec::swap_remove::assert_failed",
    "core::alloc::*", "core::cell::panic_*", "core::ops::function::*", "core::option::Option::expect",
    "core::option::Option::unwrap", "core::option::expect_failed", "core::option::expect_none_failed",
    "core::option::unwrap_failed", "core::panic::unwind_safe::*", "core::panicking::*",
    "core::result::Result::expect", "core::result::Result::expect_err", "core::result::Result::unwrap",
    "core::result::Result::unwrap_err", "core::result::unwrap_failed", "core::slice::copy_from_slice*",
    "core::slice::impl [T]::*", "core::slice::index::*", "core::str::index_overflow_fail*",
    "core::str::slice_error_fail*", "rt::lang_start*", "rt::unwind::*", "rust_alloc_error_handler*",
    "rust_begin_short_backtrace", "rust_begin_unwind", "rust_eh_personality", "rust_end_short_backtrace",
    "rust_foreign_exception", "rust_oom", "rust_out_of_memory", "rust_panic*", "rust_start_panic",
    "rust_try", "rustc::rust_*", "std::alloc::*", "std::panic::*", "std::panicking", "std::panicking::*",
    "std::process::abort", "std::rt::*", "std::sys::backtrace::*", "std::sys::pal::*",
    "std::sys::thread::*", "std::sys::unix::*", "std::sys_common::backtrace::*", "std::thread::Builder::*",
    "std::thread::lifecycle::*", "std::thread::local::*", "std::thread::spawnhook::*"};

/* Go: panics, signals that a C program passes on, and entries into Go. */
static const char *const machinery_go[] = {
    "cgo_topofstack*", "cgoexp_*", "crosscall*", "runtime.abort", "runtime.asmcgocall*",
    "runtime.badsignal*", "runtime.cgocall*", "runtime.cgocallback*", "runtime.crash",
    "runtime.dieFromSignal", "runtime.dopanic*", "runtime.exitsyscall*", "runtime.fatal*",
    "runtime.goPanic*", "runtime.goexit*", "runtime.gopanic*", "runtime.libcCall*", "runtime.main",
    "runtime.mcall*", "runtime.mstart*", "runtime.panic*", "runtime.preprintpanics*",
    "runtime.printpanics*", "runtime.pthread_kill*", "runtime.raise*", "runtime.rt0_go*", "runtime.sigfwd*",
    "runtime.sighandler", "runtime.sigpanic*", "runtime.sigtramp*", "runtime.startpanic*",
    "runtime.systemstack*", "runtime.throw*", "runtime.unreachableMethod", "x_cgo_*"};

/* Mono and Xamarin: exceptions of managed code, and transitions between it and native code. */
static const char *const machinery_mono[] = {
    "System_Environment_FailFast*", "System_Runtime_ExceptionServices_ExceptionDispatchInfo_Throw*",
    "do_icall", "do_icall_wrapper", "do_runtime_invoke", "interp_entry*", "interp_exec_method*",
    "interp_runtime_invoke", "llvm_resume_unwind_trampoline", "llvm_throw_*", "log_callback",
    "mono_amd64_resume_unwind", "mono_amd64_throw_corlib_exception", "mono_amd64_throw_exception",
    "mono_arm_resume_unwind", "mono_arm_throw_corlib_exception*", "mono_arm_throw_exception*",
    "mono_assertion_message*", "mono_crash*", "mono_dump_native_crash_info", "mono_gsharedvt_*",
    "mono_handle_exception*", "mono_handle_native_crash", "mono_invoke_unhandled_exception_hook",
    "mono_jit_exec*", "mono_jit_runtime_invoke*", "mono_llvm_cpp_throw*", "mono_llvm_rethrow*",
    "mono_llvm_throw*", "mono_main", "mono_native_state_*", "mono_post_native_crash_handler",
    "mono_raise_exception*", "mono_resume_unwind", "mono_runtime_exec_main*", "mono_runtime_invoke*",
    "mono_runtime_run_main*", "mono_runtime_try_invoke*", "mono_sigabrt*", "mono_sigsegv_signal_handler*",
    "mono_thread_abort", "mono_unhandled_exception*", "mono_x86_throw_exception",
    "monoeg_assertion_message", "monoeg_g_log*", "monoeg_g_logv*", "native_to_managed_trampoline_*",
    "rethrow_exception", "sigabrt_signal_handler", "throw_corlib_exception", "throw_exception",
    "ves_icall_System_Environment_FailFast*", "wrapper_*", "xamarin_UIApplicationMain*",
    "xamarin_arch_trampoline", "xamarin_arm64_common_trampoline", "xamarin_dyn_objc_msgSend*",
    "xamarin_find_protocol_wrapper_type", "xamarin_initialize*", "xamarin_invoke_trampoline",
    "xamarin_localized_string_format*", "xamarin_main", "xamarin_printf",
    "xamarin_process_managed_exception*", "xamarin_process_nsexception*", "xamarin_throw_*",
    "xamarin_unhandled_exception_handler", "xamarin_x86_64_common_trampoline"};

/* CoreCLR and NativeAOT: the same. */
static const char *const machinery_clr[] = {
    "Main_managed", "PalRaiseFailFastException", "RaiseFailFastException", "RhFailFast*", "RhRethrow*",
    "RhThrow*", "RhpCallCatchFunclet*", "RhpFailFast*", "RhpRethrow*", "RhpThrow*",
    "S_P_CoreLib_Internal_Runtime_CompilerHelpers_ThrowHelpers__*", "S_P_CoreLib_Interop_Sys__Abort",
    "S_P_CoreLib_System_Diagnostics_DebugProvider__Fail*", "S_P_CoreLib_System_Diagnostics_Debug__Fail*",
    "S_P_CoreLib_System_Environment__FailFast*", "S_P_CoreLib_System_RuntimeExceptionHelpers__*",
    "S_P_CoreLib_System_Runtime_EH__*", "S_P_CoreLib_System_Threading_Thread_StartHelper__*",
    "S_P_CoreLib_System_Threading_Thread__StartThread*", "S_P_CoreLib_System_ThrowHelper__*",
    "SystemNative_Abort", "managed__Main", "managed__Startup"};

/* Kotlin/Native: propagation of exceptions, coroutines, and transitions to and from Objective-C. */
static const char *const machinery_kotlin[] = {
    "(anonymous namespace)::TerminateHandler::*", "(anonymous namespace)::callUnhandledExceptionHook*",
    "(anonymous namespace)::concurrentTerminateWrapper*",
    "(anonymous namespace)::terminateWithUnhandledException*", "ExceptionObjHolder::*",
    "Init_and_run_start", "KonanTerminateHandler", "Konan_main", "Konan_run_start", "Konan_start",
    "Kotlin_ObjCExport_RethrowExceptionAsNSError", "Kotlin_ObjCExport_runCompletionFailure",
    "Kotlin_ObjCExport_trapOnUndeclaredException", "ProcessUnhandledException",
    "TerminateWithUnhandledException", "ThrowArithmeticException", "ThrowArrayIndexOutOfBoundsException",
    "ThrowClassCastException*", "ThrowException*", "ThrowIllegalArgumentException*",
    "ThrowIllegalStateException*", "ThrowInvalidMutabilityException", "ThrowKotlinNothingValueException",
    "ThrowNotImplementedError", "ThrowNullPointerException", "ThrowNumberFormatException",
    "ThrowOutOfMemoryError", "ThrowWorkerInvalidState", "kfun:kotlin#TODO", "kfun:kotlin#check*",
    "kfun:kotlin#error", "kfun:kotlin#invoke*", "kfun:kotlin#require*",
    "kfun:kotlin#throwUninitializedPropertyAccessException", "kfun:kotlin.ArithmeticException#<init>",
    "kfun:kotlin.ArrayIndexOutOfBoundsException#<init>", "kfun:kotlin.ClassCastException#<init>",
    "kfun:kotlin.ConcurrentModificationException#<init>", "kfun:kotlin.Error#<init>",
    "kfun:kotlin.Error.<init>", "kfun:kotlin.Exception#<init>", "kfun:kotlin.Exception.<init>",
    "kfun:kotlin.IllegalArgumentException#<init>", "kfun:kotlin.IllegalArgumentException.<init>",
    "kfun:kotlin.IllegalStateException#<init>", "kfun:kotlin.IllegalStateException.<init>",
    "kfun:kotlin.IndexOutOfBoundsException#<init>", "kfun:kotlin.NoSuchElementException#<init>",
    "kfun:kotlin.NotImplementedError#<init>", "kfun:kotlin.NullPointerException#<init>",
    "kfun:kotlin.NullPointerException.<init>", "kfun:kotlin.NumberFormatException#<init>",
    "kfun:kotlin.RuntimeException#<init>", "kfun:kotlin.RuntimeException.<init>",
    "kfun:kotlin.Throwable#<init>", "kfun:kotlin.Throwable.<init>", "kfun:kotlin.TypeCastException#<init>",
    "kfun:kotlin.UninitializedPropertyAccessException#<init>",
    "kfun:kotlin.UnsupportedOperationException#<init>", "kfun:kotlin.coroutines.*",
    "kfun:kotlin.native.internal#Throw*", "kfun:kotlin.native.internal#throw*",
    "kfun:kotlin.native.internal.Throw*", "kfun:kotlinx.coroutines.*", "knbridge*", "konan::abort",
    "kotlin2objc_*", "kotlin::(anonymous namespace)::processUnhandledException*",
    "kotlin::(anonymous namespace)::terminate*", "kotlin::CallWithThreadState*",
    "kotlin::ProcessUnhandledException*", "kotlin::TerminateWithUnhandledException*", "kotlin::internal::*",
    "objc2kotlin_*"};

/* IL2CPP and Unity: exceptions of C#, invocation of its methods, and the frame loop. */
static const char *const machinery_il2cpp[] = {
    "-[UnityAppController repaint*", "-[UnityAppController(Rendering) repaint*",
    "-[UnityFramework runEmbedded*", "-[UnityFramework runUIApplicationMain*", "AwakeFromLoadQueue::*",
    "BaseBehaviourManager::*", "BehaviourManager::*", "Coroutine::InvokeMoveNext", "Coroutine::Run",
    "DelayedCallManager::*", "ExecutePlayerLoop", "FixedBehaviourManager::*", "GC_call_with_stack_base",
    "GC_inner_start_routine", "GC_start_routine", "InitPlayerLoopCallbacks*", "LateBehaviourManager::*",
    "MonoBehaviour::*", "NullCheck", "PlayerLoop", "RuntimeInvoker_*", "ScriptingInvocation::*",
    "SerializableManagedRef::*", "UnityBatchPlayerLoop", "UnityMain*", "UnityPlayerLoop*", "UnityRepaint",
    "il2cpp::gc::*", "il2cpp::os::Thread::*", "il2cpp::os::ThreadImpl::*", "il2cpp::vm::Exception::*",
    "il2cpp::vm::Runtime::*", "il2cpp::vm::Thread::*", "il2cpp_codegen_abort", "il2cpp_codegen_get_*",
    "il2cpp_codegen_null_check*", "il2cpp_codegen_raise*", "il2cpp_codegen_rethrow*",
    "il2cpp_raise_exception*", "il2cpp_runtime_invoke*", "scripting_method_invoke",
    "void BaseBehaviourManager::*"};

/* Flutter: the engine. */
static const char *const machinery_flutter[] = {
    "Dart_*", "dart::*", "flutter::*", "fml::*"};

/* Images of runtimes. All of their functions are machinery: they have no names, or names that change with
 * each version. */
static const char *const machinery_images[] = {
    "Flutter", "FlutterMacOS",
    "libclrjit.dylib", "libcoreclr.dylib", "libhostfxr.dylib", "libhostpolicy.dylib", "libmono-component-*", "libmonosgen-2.0.dylib", "libmscordaccore.dylib", "libxamarin-dotnet*"};
/* clang-format on */

#define MACHINERY_LIST(letters, v)                                                                           \
    {                                                                                                        \
        letters, v, sizeof v / sizeof *v                                                                     \
    }

static const machinery_list built_in[] = {MACHINERY_LIST("+-CGNUacdekoprstu", machinery_every),
                                          MACHINERY_LIST("Sacfprst", machinery_swift),
                                          MACHINERY_LIST("acrs", machinery_rust),
                                          MACHINERY_LIST("crx", machinery_go),
                                          MACHINERY_LIST("Sdilmnrstvwx", machinery_mono),
                                          MACHINERY_LIST("MPRSm", machinery_clr),
                                          MACHINERY_LIST("(EIKPTko", machinery_kotlin),
                                          MACHINERY_LIST("-ABCDEFGILMNPRSUisv", machinery_il2cpp),
                                          MACHINERY_LIST("Ddf", machinery_flutter)};

/* ---- Lists ---- */

struct machinery {
    text source;
    bool has_images; /* a pattern names an image */
    const char **v;
    size_t count;
    size_t cap;
};

static int machinery_by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

machinery *machinery_make(text *source)
{
    machinery *list = (machinery *)mem_take(source->memory, sizeof *list);
    machsym_str line;
    memset(list, 0, sizeof *list);
    list->source = *source;
    memset(source, 0, sizeof *source);
    text_z(&list->source);
    machsym_str rest = {list->source.v, list->source.len};
    while (str_take_line(&rest, &line)) {
        line = str_trim(line);
        if (line.len == 0 || line.ptr[0] == '#')
            continue;
        list->source.v[(size_t)(line.ptr - list->source.v) + line.len] = 0;
        list->v =
            (const char **)mem_more(list->source.memory, list->v, list->count, &list->cap, sizeof *list->v);
        list->v[list->count++] = line.ptr;
        list->has_images |= memchr(line.ptr, '`', line.len) != NULL;
    }
    qsort(list->v, list->count, sizeof *list->v, machinery_by_bytes);
    return list;
}

void machinery_free(machinery *list)
{
    if (list == NULL)
        return;
    mem_source *memory = list->source.memory;
    text_free(&list->source);
    mem_give(memory, list->v);
    mem_give(memory, list);
}

/* ---- Names ---- */

static bool machinery_fits(machsym_str name, const char *pattern)
{
    size_t at = 0;
    MACHSYM_COUNT_WORK(1);
    while (at < name.len && name.ptr[at] == pattern[at])
        at++;
    return (pattern[at] == '*' && pattern[at + 1] == 0) || (at == name.len && pattern[at] == 0);
}

static bool machinery_begins_before(const void *element, const void *key)
{
    return (unsigned char)(*(const char *const *)element)[0] < *(const unsigned char *)key;
}

/* Patterns with the same first byte are adjacent. */
static bool machinery_find(const char *const *v, size_t count, machsym_str name)
{
    size_t at = mem_lower_bound(v, count, sizeof *v, name.ptr, machinery_begins_before);
    for (; at < count && v[at][0] == name.ptr[0]; at++) {
        if (machinery_fits(name, v[at]))
            return true;
    }
    return false;
}

bool machinery_has(const machinery *list, machsym_str name)
{
    if (name.len == 0)
        return false;
    for (size_t i = 0; i < sizeof built_in / sizeof *built_in; i++) {
        const machinery_list *one = &built_in[i];
        if (strchr(one->letters, name.ptr[0]) != NULL && machinery_find(one->v, one->count, name))
            return true;
    }
    return list != NULL && machinery_find(list->v, list->count, name);
}

bool machinery_has_of_image(const machinery *list, machsym_str image, machsym_str name)
{
    for (size_t i = 0; i < sizeof machinery_images / sizeof *machinery_images; i++) {
        if (machinery_fits(image, machinery_images[i]))
            return true;
    }
    if (list == NULL || !list->has_images || image.len == 0)
        return false;
    text whole = text_in(list->source.memory);
    text_str(&whole, image);
    text_char(&whole, '`');
    text_str(&whole, name);
    bool has = machinery_find(list->v, list->count, str_make(whole.v, whole.len));
    text_free(&whole);
    return has;
}
