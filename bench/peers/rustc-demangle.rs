// A peer of bench/run: rustc-demangle, the library, as a filter over names, one a line.

use std::io::{self, BufRead, BufWriter, Write};

fn main() -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    for line in io::stdin().lock().lines() {
        writeln!(out, "{:#}", rustc_demangle::demangle(&line?))?;
    }
    out.flush()
}
