#!/bin/sh
# make demo: the stack of a crash in tests/fixtures/bin/demo, which was loaded at 0x102a30000, looked up in its dSYM.
# The addresses are return addresses: the call is the instruction before, so each is looked up one byte lower.
dsym=tests/fixtures/bin/demo.app.dSYM
addresses=
while read -r address; do
    addresses="$addresses $(printf '0x%x' $((address - 1)))"
done <tests/fixtures/bin/demo-stack.txt
echo "\$ machsym atos -i -l 0x102a30000 -o $dsym$addresses"
exec ${MACHSYM:-build/machsym} atos -i -l 0x102a30000 -o $dsym $addresses
