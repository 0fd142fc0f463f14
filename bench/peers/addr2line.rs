// A peer of bench/run: gimli's addr2line, the library, over a Mach-O file's DWARF.
//   addr2line FILE < addresses      hexadecimal, one a line
// Prints the frames of each address, innermost first, with names as they are in the file, then an empty line.
// The library's own example needs crates that Debian does not ship; this one needs the library alone.

use std::fs::File;
use std::io::{self, BufRead, BufWriter, Write};
use std::os::unix::io::AsRawFd;

use gimli::{EndianSlice, LittleEndian};

extern "C" {
    fn mmap(at: *mut u8, len: usize, protection: i32, flags: i32, file: i32, off: i64) -> *const u8;
}

fn map(path: &str) -> io::Result<&'static [u8]> {
    const PROT_READ: i32 = 1;
    const MAP_PRIVATE: i32 = 2;
    let file = File::open(path)?;
    let len = file.metadata()?.len() as usize;
    let start = unsafe { mmap(std::ptr::null_mut(), len, PROT_READ, MAP_PRIVATE, file.as_raw_fd(), 0) };
    if start as isize == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(unsafe { std::slice::from_raw_parts(start, len) })
}

fn u32_at(data: &[u8], off: usize) -> usize {
    u32::from_le_bytes(data[off..off + 4].try_into().unwrap()) as usize
}

// Sections of a thin 64-bit little-endian file. Mach-O keeps 16 characters of a name.
fn section(data: &'static [u8], name: &str) -> &'static [u8] {
    const LC_SEGMENT_64: usize = 0x19;
    let mut wanted = format!("__{}", &name[1..]).into_bytes();
    wanted.resize(16, 0);
    let mut command = 32;
    for _ in 0..u32_at(data, 16) {
        if u32_at(data, command) == LC_SEGMENT_64 {
            for i in 0..u32_at(data, command + 64) {
                let at = command + 72 + 80 * i;
                if data[at..at + 16] == wanted[..] {
                    let len = u64::from_le_bytes(data[at + 40..at + 48].try_into().unwrap()) as usize;
                    let off = u32_at(data, at + 48);
                    return &data[off..off + len];
                }
            }
        }
        command += u32_at(data, command + 4);
    }
    &[]
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: addr2line FILE < addresses")?;
    let data = map(&path)?;
    let dwarf = gimli::Dwarf::load(|id| -> Result<_, gimli::Error> {
        Ok(EndianSlice::new(section(data, id.name()), LittleEndian))
    })?;
    let context = addr2line::Context::from_dwarf(dwarf)?;
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let addr = u64::from_str_radix(line?.trim_start_matches("0x"), 16)?;
        let mut frames = context.find_frames(addr)?;
        while let Some(frame) = frames.next()? {
            match &frame.function {
                Some(function) => writeln!(out, "{}", function.raw_name()?)?,
                None => writeln!(out, "??")?,
            }
            let place = frame.location.as_ref();
            let file = place.and_then(|l| l.file).unwrap_or("??");
            let line = place.and_then(|l| l.line).unwrap_or(0);
            let column = place.and_then(|l| l.column).unwrap_or(0);
            writeln!(out, "{}:{}:{}", file, line, column)?;
        }
        writeln!(out)?;
    }
    out.flush()?;
    Ok(())
}
