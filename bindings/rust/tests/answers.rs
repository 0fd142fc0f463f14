//! The crate answers as `machsym atos` does, whose path is in MACHSYM, for the project's fixtures.
use machsym::{demangle, slices, Error, Frame, Image, Lines, Names, Options};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

const LOAD: u64 = 0x102a30000;
const PC: u64 = 0x102a309b6;

fn bin(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/bin").join(name)
}

fn tool(arguments: &[&str]) -> String {
    let program = std::env::var("MACHSYM").expect("MACHSYM names the tool");
    let said = Command::new(program).args(arguments).output().expect("the tool runs");
    assert!(said.status.success(), "{:?}: {}", arguments, String::from_utf8_lossy(&said.stderr));
    String::from_utf8(said.stdout).unwrap()
}

/// One address as `atos -i -fullPath` prints it, then an empty line.
fn printed(image: &str, address: u64, frames: &[Frame]) -> String {
    let mut out = String::new();
    for f in frames {
        let at = if !f.file.is_empty() {
            format!("({}:{})", f.file, f.line)
        } else {
            format!("+ {}", address - f.function_start)
        };
        out += &format!("{} (in {}) {}\n", f.name, image, at);
    }
    out + "\n"
}

fn compare(image: &Image, path: &Path, name: &str) {
    let base = image.info().text_addr;
    let mut session = image.session().unwrap();
    let all: Vec<u64> = (0..1500).map(|i| base + i * 14).collect();
    let answers = session.lookup(&all).unwrap();
    let known: Vec<(u64, &Vec<Frame>)> =
        all.iter().copied().zip(&answers).filter(|(_, f)| f.last().map_or(false, |f| f.line != 0)).collect();
    assert!(known.len() > 5, "{}", path.display());
    let texts: Vec<String> = known.iter().map(|(a, _)| format!("{:#x}", a)).collect();
    let mut arguments = vec!["atos", "-i", "-fullPath", "-o", path.to_str().unwrap()];
    arguments.extend(texts.iter().map(|t| t.as_str()));
    let want = tool(&arguments);
    let got: String = known.iter().map(|(a, f)| printed(name, *a, f)).collect();
    for (got, want) in got.lines().zip(want.lines()) {
        assert_eq!(got, want);
    }
    assert_eq!(got.len(), want.len());
}

#[test]
fn answers_as_the_tool() {
    let there = std::env::temp_dir().join(format!("machsym-{}.symmap", std::process::id()));
    for name in ["demo.app.dSYM", "inline-arm64-d5-22.dSYM", "inline-x86_64-d2-14.dwarf"] {
        let image = Image::open(bin(name)).unwrap();
        let shown = image.info().name.rsplit('/').next().unwrap().to_string();
        compare(&image, &bin(name), &shown);
        let map = image.build_map(Lines::Atos).unwrap();
        map.save_map(&there).unwrap();
        assert_eq!(map.map_bytes().unwrap(), std::fs::read(&there).unwrap());
        let opened = Image::open(&there).unwrap();
        assert_eq!(opened.info().map_lines, Some(Lines::Atos));
        compare(&opened, &there, &shown);
    }
    std::fs::remove_file(&there).unwrap();
}

fn stack_of(image: &Image) -> Vec<(String, u32)> {
    let mut session = image.session().unwrap();
    let found = session.lookup_stack(LOAD, &[PC]).unwrap();
    found[0].iter().map(|f| (f.name.clone(), f.line)).collect()
}

fn wanted() -> Vec<(String, u32)> {
    vec![("repeat(int, void (int) block_pointer)".to_string(), 6), ("main".to_string(), 12)]
}

#[test]
fn one_address_of_a_process() {
    let image = Image::open(bin("demo.app.dSYM")).unwrap();
    assert_eq!(stack_of(&image), wanted());
    assert_eq!(image.session().unwrap().lookup(&[]).unwrap(), Vec::<Vec<Frame>>::new());
    assert_eq!(image.session().unwrap().lookup(&[1, 2]).unwrap(), [[], []]);
    assert_eq!(image.addr(0x5000, 0x5010), image.info().text_addr + 0x10);
    assert!(image.map_bytes().is_none());
}

#[test]
fn bytes_are_kept() {
    let bytes = std::fs::read(bin("demo.app.dSYM/Contents/Resources/DWARF/demo")).unwrap();
    assert_eq!(stack_of(&Image::from_bytes(bytes, &Options::default()).unwrap()), wanted());
}

#[test]
fn threads_share_an_image() {
    let image = Image::open(bin("demo.app.dSYM")).unwrap();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..50 {
                    assert_eq!(stack_of(&image), wanted());
                }
            });
        }
    });
}

#[test]
fn slices_and_policies() {
    let fat = bin("inline-fat.dwarf");
    let found = slices(&fat).unwrap();
    assert_eq!(found.iter().map(|s| s.arch.as_str()).collect::<Vec<_>>(), ["x86_64", "arm64"]);
    for slice in found {
        let image = Image::open_with(&fat, &Options { uuid: slice.uuid, ..Options::default() }).unwrap();
        assert_eq!((image.info().uuid, image.info().arch), (slice.uuid, slice.arch));
        assert!(image.session_with(Lines::Stmt).is_ok());
    }
    let map = Image::open(bin("demo.app.dSYM")).unwrap().build_map(Lines::Dwarf).unwrap();
    assert_eq!(stack_of(&map), wanted());
    assert_eq!(map.session_with(Lines::Stmt).err().unwrap().code, "ERR_POLICY");
}

#[test]
fn errors() {
    let code = |result: Result<Image, Error>| result.err().unwrap().code;
    let fat = bin("inline-fat.dwarf");
    assert_eq!(code(Image::open(&fat)), "ERR_AMBIGUOUS");
    assert_eq!(code(Image::open_with(&fat, &Options { arch: Some("ppc".into()), ..Options::default() })), "ERR_ARCH");
    assert_eq!(Image::open(bin("none")).err().unwrap().os_errno, 2);
    assert_eq!(code(Image::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("build.rs"))), "ERR_FORMAT");
    assert_eq!(code(Image::open("a\0b")), "ERR_ARGUMENT");
    assert!(slices(bin("none")).unwrap_err().to_string().contains("none"));
    assert!(Image::open(bin("demo.app.dSYM")).unwrap().save_map("x").is_err());
}

#[test]
fn names() {
    assert_eq!(demangle("_ZN5QueueIiE2atEi", Names::Simplified), "Queue<int>::at(int)");
    assert_eq!(demangle("$s4main3fooyyF", Names::Simplified), "foo()");
    assert_eq!(demangle("$s4main3fooyyF", Names::Full), "main.foo() -> ()");
    assert_eq!(demangle("", Names::Full), "");
    let long = format!("_Z1f{}", "i".repeat(2000));
    assert_eq!(demangle(&long, Names::Full).len(), 2000 * 5 + 1);
    assert_eq!(machsym::version() + "\n", tool(&["--version"]));
}
