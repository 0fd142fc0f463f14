#!/bin/sh
# What `machsym completion` prints completes commands, options, their values, files and folders in each shell.
. tests/checks
mkdir "$work/a folder" "$work/bin"
: >"$work/a file.symmap"
printf '#!/bin/sh\nexec "%s" "$@"\n' "$MACHSYM" >"$work/bin/machsym"
chmod +x "$work/bin/machsym"

offers() { # LINE WANTED UNWANTED, which may be empty: what a shell offers at the end of a line; a word a line
    complete_line "$1" >"$work/offered" 2>"$work/said"
    grep -qx -- "$2" "$work/offered" && { [ -z "$3" ] || ! grep -qx -- "$3" "$work/offered"; }
    check "$shell completes \"$1\" with $2${3:+, not $3}" || cat "$work/offered" "$work/said"
}

all() {
    offers "machsym " atos build
    offers "machsym cr" crash atos
    offers "machsym map " build atos
    offers "machsym atos --js" --json --quick
    offers "machsym map build --all" --all-archs --all
    offers "machsym atos --lines " dwarf atos-o
    offers "machsym atos --lines s" stmt atos
    offers "machsym crash --to t" text same
    offers "machsym demangle --style s" simplified full
    offers "machsym atos -o a" "a.file\.symmap" ""
    offers "machsym map build --store a" "a.folder/*" "a.file\.symmap"
    offers "machsym info a" "a.file\.symmap" ""
    offers "machsym help d" demangle atos
}

shell=bash
"$MACHSYM" completion bash >"$work/machsym.bash"
bash -n "$work/machsym.bash"
check "bash reads it"
complete_line() {
    (cd "$work" && bash --norc -c '
        compopt() { :; } # works within a completion only
        . ./machsym.bash
        read -ra COMP_WORDS <<<"$1"
        [ "${1% }" = "$1" ] || COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _machsym
        [ ${#COMPREPLY[@]} -eq 0 ] || printf "%s\n" "${COMPREPLY[@]}"' bash "$1")
}
all
offers "machsym atos --lines = d" dwarf stmt # as bash parts --lines=d

shell=fish
if command -v fish >/dev/null; then
    "$MACHSYM" completion fish >"$work/machsym.fish"
    complete_line() {
        (cd "$work" && HOME="$work" PATH="$work/bin:$PATH" fish --no-config -c 'source machsym.fish; complete -C $argv[1]' "$1" |
            cut -f 1)
    }
    all
else
    skip "it needs fish"
fi

shell=zsh
if command -v zsh >/dev/null; then
    "$MACHSYM" completion zsh >"$work/_machsym"
    # a shell on a terminal of its own prints what it would offer, each after a mark
    cat >"$work/ask.zsh" <<'END_ZSH'
zmodload zsh/zpty
zpty it zsh -f -i
zpty -w it 'PROMPT=; unsetopt zle_bracketed_paste; fpath=($PWD $fpath); autoload -Uz compinit; compinit -D -u'
zpty -w it 'compadd() { local -a found; builtin compadd -O found "$@"; print -rl -- offer:$^found; builtin compadd "$@" }'
zpty -w it 'ask() { _main_complete; compstate[list]= compstate[insert]=; print end:; }; zle -C ask list-choices ask'
zpty -w it "bindkey '^X' ask; print ready'':"
zpty -r it line '*ready:*'
zpty -w -n it "$1"$'\x18'
zpty -r it line '*end:*'
print -r -- "$line" | tr -d '\r' | sed -n 's/.*offer://p' | sed 's/=$//'
END_ZSH
    complete_line() {
        (cd "$work" && HOME="$work" PATH="$work/bin:$PATH" TERM=dumb timeout 20 zsh -f ask.zsh "$1")
    }
    all
else
    skip "it needs zsh"
fi
"$MACHSYM" completion csh >"$work/out" 2>"$work/err"
[ $? -eq 2 ] && grep -q 'one of bash, zsh, fish' "$work/err"
check "another shell"
# What the shells say of a command is its line in help, quoted.
"$MACHSYM" completion zsh >"$work/zsh"
"$MACHSYM" completion fish >"$work/fish"
"$MACHSYM" help | sed -n '/^$/,$s/^  \([a-z]*\)  *\(.*\)/\1 \2/p' >"$work/commands"
[ "$(wc -l <"$work/commands")" -ge 12 ]
check "help lists the commands"
while read -r command told; do
    quoted=$(printf '%s\n' "$told" | sed "s/'/'\\\\''/g; s/:/\\\\:/g")
    grep -qF "'$command:$quoted'" "$work/zsh"
    check "zsh is told what $command does: $quoted"
    quoted=$(printf '%s\n' "$told" | sed "s/'/\\\\'/g")
    grep -qF "'$quoted'" "$work/fish"
    check "fish is told what $command does: $quoted"
done <"$work/commands"
end
