// What another reader sees in a shared cache: caches CACHE [FILE...], the other files of a split cache in their order,
// `.symbols` last. A line for an image (path, address of its text) and for each of its symbols that has an address and a name.
use object::macho::{DyldCacheHeader, MachHeader32, MachHeader64};
use object::read::macho::{DyldCache, MachHeader};
use object::{Endianness, Object, ObjectSegment, ObjectSymbol};
use std::io::Write;

fn starts<Mach: MachHeader<Endian = Endianness>>(data: &[u8], at: u64) -> Option<u32> {
    let header = Mach::parse(data, at).ok()?;
    Some(header.ncmds(header.endian().ok()?))
}

fn main() {
    let files: Vec<Vec<u8>> = std::env::args().skip(1).map(|f| std::fs::read(f).unwrap()).collect();
    let others: Vec<&[u8]> = files[1..].iter().map(|f| &f[..]).collect();
    let cache = match DyldCache::<Endianness>::parse(&files[0][..], &others) {
        Ok(cache) => cache,
        Err(error) => {
            eprintln!("{}", error);
            std::process::exit(1);
        }
    };
    let header = DyldCacheHeader::<Endianness>::parse(&files[0][..]).unwrap();
    let mut out = std::io::BufWriter::new(std::io::stdout());
    writeln!(out, "uuid\t-\t0\t{:02X?}", header.uuid).unwrap();
    for image in cache.images() {
        let path = image.path().unwrap();
        let (data, at) = image.image_data_and_offset().unwrap();
        assert!(starts::<MachHeader64<Endianness>>(data, at).or(starts::<MachHeader32<Endianness>>(data, at)).unwrap() > 3);
        let file = image.parse_object().unwrap();
        let text = file.segments().find(|s| s.name() == Ok(Some("__TEXT"))).unwrap().address();
        writeln!(out, "image\t{}\t{:x}\t-", path, text).unwrap();
        for symbol in file.symbols().filter(|s| s.is_definition()) {
            writeln!(out, "symbol\t{}\t{:x}\t{}", path, symbol.address(), symbol.name().unwrap()).unwrap();
        }
    }
}
