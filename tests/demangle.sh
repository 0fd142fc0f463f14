#!/bin/sh
# machsym demangle: names as arguments, text on standard input, styles, and names in atos.
M=${MACHSYM:-build/machsym}
. tests/checks
tmp=$work

result() { # NAME STATUS
    count "$2" || { echo "demangle: $1" && head -c 2000 "$tmp/diff" 2>/dev/null; }
}

same() { # NAME: $tmp/want against $tmp/got
    cmp -s "$tmp/want" "$tmp/got"
    status=$?
    diff "$tmp/want" "$tmp/got" >"$tmp/diff" 2>&1
    result "$1" $status
}

# printf's escapes in both
text() { # NAME INPUT OUTPUT [OPTION...]
    name=$1
    printf -- "$2" >"$tmp/in"
    printf -- "$3" >"$tmp/want"
    shift 3
    $M demangle "$@" <"$tmp/in" >"$tmp/got"
    same "$name"
}

# ---- names as arguments ----

cat >"$tmp/want" <<'END'
foo()
foo()
invocation function for block in foo()
Farm.Cow.moo(times: Swift.Int) -> ()
std::Path::new
a::b
foo.bar
_main
-[C sel:]
END
$M demangle _Z3foov __Z3foov ____Z3foov_block_invoke '_$s4Farm3CowC3moo5timesySi_tF' \
    _RNvNtC3std4Path3new _RNvCs_1a1b _D3foo3bari -- _main '-[C sel:]' >"$tmp/got"
same "arguments"

cat >"$tmp/want" <<'END'
Cow.moo(times:)
(3) suspend resume partial function for feed()
a[1]::b
foo::bar::h05af221e174051e9
END
$M demangle --style=simplified --hash '$s4Farm3CowC3moo5timesySi_tF' '$s4Farm4feedyyYaKFTY2_' _RNvCs_1a1b \
    _ZN3foo3bar17h05af221e174051e9E >"$tmp/got"
same "styles"
$M demangle --style simplified --style full '$s4Farm3CowCMa' >"$tmp/got"
echo "type metadata accessor for Farm.Cow" >"$tmp/want"
same "the last style"

$M demangle --style=short _Z1fv >"$tmp/got" 2>&1
[ $? -eq 2 ] && grep -q -e '--style is one of' "$tmp/got"
result "an unknown style" $?
$M demangle --nothing >"$tmp/got" 2>&1
[ $? -eq 2 ] && grep -q 'no such option: --nothing' "$tmp/got"
result "an unknown option" $?
$M demangle --help >"$tmp/got" && grep -q '^usage: machsym demangle' "$tmp/got"
result "help" $?
$M --help | grep -q '^  demangle '
result "listed" $?

# ---- text ----

text "nothing" '' ''
text "an empty line" '\n' '\n'
text "no names" 'no names here\n' 'no names here\n'
text "no newline" '_RNvC1a1b' 'a::b'
text "reports" '0   App  0x1234 _RNvC1a1b + 12\r\n1   Lib  0x1 __D3foo3bari + 3\n' \
    '0   App  0x1234 a::b + 12\r\n1   Lib  0x1 foo.bar + 3\n'
text "sentences" 'calls _RNvC1a1b. And (_RNvC1a1c), "_RNvC1a1d"...' 'calls a::b. And (a::c), "a::d"...'
text "versions, inside words" '_RNvC1a1b.llvm.12AF@@GLIBC_2.0 x_RNvC1a1b' 'a::b@@GLIBC_2.0 x_RNvC1a1b'
text "UTF-8" '\342\206\222_RNvC1a1b\342\200\246 \303\251 _RNvC1a1b\342\200\235' \
    '\342\206\222a::b\342\200\246 \303\251 a::b\342\200\235'
text "Objective-C" '-[Foo _TtC4Farm3Cow]' '-[Foo Farm.Cow]'
text "a token of an allocation" "x ___alloc_token_12__Znam __alloc_token_0_malloc." \
    "x operator new[](unsigned long) (.alloc_token) __alloc_token_0_malloc."
text "macros" 'a@__swiftmacro_4Farm3CowC3age5WatchfMa_ x@@' 'aaccessor macro @Watch expansion #1 of age in Farm.Cow x@@'
words='catch (Exception $ex) $el $sd $s3foo; cp $s.bak $e.message _TSS_ID $sSafe _Zclose'
text "names of LLVM IR and SIL" 'sil @$s4main3fooyyF : @_Z3foov @"_RNvC1a1b" @"\\01__Z3foov" @_D3foo3bari @@_Z3foov' \
    'sil @main.foo() -> () : @foo() @"a::b" @"\\01foo()" @foo.bar @@foo()'
text "escapes" '"\\n$s4main3fooyyF\\n\\t_Z3foov\\r\\n_RNvC1a1b\\0_Z3foov\\x01_Z3foov\\u0022_Z3foov\\342\\200\\234_Z3foov\\\\n_Z3foov"' \
    '"\\nmain.foo() -> ()\\n\\tfoo()\\r\\na::b\\0foo()\\x01foo()\\u0022foo()\\342\\200\\234foo()\\\\nfoo()"'
text "escapes, entities and colours ahead" '%%22_Z3foov%%22 &quot;_Z3foov&quot; &#39;$s4main3fooyyF&#39; \033[1;31m_Z3foov\033[m\033[K_Z3foov ._Z3foov' \
    '%%22foo()%%22 &quot;foo()&quot; &#39;main.foo() -> ()&#39; \033[1;31mfoo()\033[m\033[Kfoo() .foo()'
text "UTF-8 and what stands ahead" '\342\206\222@_Z3foov\342\200\246 \\n_Z3foov\342\200\235 \342\200\234\\n_Z3foov' \
    '\342\206\222@foo()\342\200\246 \\nfoo()\342\200\235 \342\200\234\\nfoo()'
words='n_Z3foov 0_Z3foov x01_Z3foov \\q_Z3foov \\xg_Z3foov \\nt_Z3foov \\u002_Z3foov %%2_Z3foov [K_Z3foov ;31m_Z3foov lib_Z3foov @_Zclose ._ZSTD_x .text._Z3foov \\n_ZSTD_x \\'
text "what is not ahead of a name" "$words\n" "$words\n"
text "memory and variables" '_Znwm.cold _Znwm.cold.1 _ZnwmPv _ZnwmPv.cold _ZnwmPKci _ZnajPv _Z3opt "_Z3opt." _Z3opt.llvm.12' \
    'operator new(unsigned long) (.cold) operator new(unsigned long) (.cold.1) operator new(unsigned long, void*) operator new(unsigned long, void*) (.cold) operator new(unsigned long, char const*, int) operator new[](unsigned int, void*) opt "opt." opt (.llvm.12)'
text "words that are no symbols" "$words\n" "$words\n"
text "all names" '$sSi $s3foo _TtSi\n' 'Swift.Int foo Swift.Int\n' --all
$M demangle '$sSi' >"$tmp/got"
echo "Swift.Int" >"$tmp/want"
same "a bare type as an argument"
text "NUL" 'x\0_RNvC1a1b\n' 'x\0a::b\n'
text "simplified" 'in $s4Farm4feedyyF\n' 'in feed()\n' --style=simplified

# a run of token bytes longer than any name; a line of many names; names across the pieces of a read
long=$(awk 'BEGIN { for (i = 0; i < 4000; i++) s = s "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"; print s }')
text "a long run" "$long _RNvC1a1b x\n" "$long a::b x\n"
text "a long run that begins as a name" "_RNvC1a1b.$long _RNvC1a1b" "_RNvC1a1b.$long a::b"
many=$(awk 'BEGIN { for (i = 0; i < 20000; i++) s = s "_RNvC1a1b,"; print s }')
# what stands ahead of a name was read before
for pad in 65534 65535 65536 65537 131071; do
    spaces=$(printf "%${pad}s" '')
    text "an escape at byte $pad" "$spaces\\\\n_Z3foov @_Z3foov" "$spaces\\\\nfoo() @foo()"
done
(printf 'x\\' && sleep 0.2 && printf 'n_Z3fo' && sleep 0.2 && printf 'ov y\n') | $M demangle >"$tmp/got"
printf '%s\n' 'x\nfoo() y' >"$tmp/want"
same "an escape in pieces"
text "many names" "$many" "$(printf '%s' "$many" | sed 's/_RNvC1a1b/a::b/g')"

# a writer that pauses gets its lines before it goes on
mkfifo "$tmp/in.fifo" "$tmp/out.fifo"
$M demangle <"$tmp/in.fifo" >"$tmp/out.fifo" &
exec 3>"$tmp/in.fifo" 4<"$tmp/out.fifo"
echo "_Z3foov first" >&3
read -r line <&4
[ "$line" = "foo() first" ]
result "a pause" $?
echo "_Z3barv second" >&3
read -r line <&4
[ "$line" = "bar() second" ]
result "another pause" $?
exec 3>&- 4<&-
wait

# ---- atos ----

answers() { # NAME [OPTION...]: names alone
    name=$1
    shift
    $M atos -o tests/fixtures/bin/names-x86_64 -offset "$@" 300 310 320 330 340 350 360 370 380 390 3a0 |
        sed 's/ (in names-x86_64) + 0$//' >"$tmp/got"
    same "atos $name"
}

cat >"$tmp/want" <<'END'
main
foo::bar()
invocation function for block in foo::bar()
Cow.moo(times:)
(3) suspend resume partial function for feed()
Cow.moo(times:)
a::b
foo::bar
foo.bar
_ZSTD_compress
-[Cow moo:]
END
answers "by default"
sed -i -e 's/^Cow.moo.*/Farm.Cow.moo(times: Swift.Int) -> ()/' -e 's/feed()$/Farm.feed() async throws -> ()/' \
    -e 's/\[Cow/[Farm.Cow/' "$tmp/want"
answers "with full names" --full-names
cat >"$tmp/want" <<'END'
main
_ZN3foo3barEv
___ZN3foo3barEv_block_invoke_2
$s4Farm3CowC3moo5timesySi_tF
$s4Farm4feedyyYaKFTY2_
_TFC4Farm3Cow3moofT5timesSi_T_
_RNvCs_1a1b
_ZN3foo3bar17h05af221e174051e9E
_D3foo3bari
_ZSTD_compress
-[_TtC4Farm3Cow moo:]
END
answers "as the linker knows them" --no-demangle
$M atos -o tests/fixtures/bin/names-x86_64 -offset --json 330 | sed 's/.*"name":"\([^"]*\)","linkage_name":"\([^"]*\)".*/\1 \2/' \
    >"$tmp/got"
echo 'Cow.moo(times:) $s4Farm3CowC3moo5timesySi_tF' >"$tmp/want"
same "atos, JSON"

end
