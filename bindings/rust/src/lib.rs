//! Function, file, line and inline chain for addresses of iPhone and Mac programs, on any machine.
//!
//! ```no_run
//! # fn main() -> Result<(), machsym::Error> {
//! let app = machsym::Image::open("App.app.dSYM")?; // or a binary, or a .symmap
//! let stack = app.session()?.lookup_stack(0x102a30000, &[0x102a309b6, 0x102a30aef])?;
//! for frames in stack {
//!     for f in frames { // the innermost inlined call first
//!         println!("{} {}:{}", f.name, f.file, f.line);
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! An [`Image`] may be shared by threads. Each of them opens a [`Session`], which keeps what its lookups have decoded. Subtract 1
//! from return addresses before they are looked up.
mod raw;
mod read;

use read::Reader;
use std::ffi::{CStr, CString};
use std::fmt;
use std::os::raw::{c_char, c_void};
use std::path::{Path, PathBuf};
use std::ptr;

/// What cannot be opened, built or written, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The name of the machsym_result, such as `ERR_ARCH`.
    pub code: String,
    /// Where in the file.
    pub offset: u64,
    /// errno, where the system failed; or 0.
    pub os_errno: i32,
    text: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Error {}

impl Error {
    fn plain(code: &str, text: &str) -> Error {
        Error { code: code.to_string(), offset: 0, os_errno: 0, text: text.to_string() }
    }

    fn no_memory() -> Error {
        Error::plain("ERR_MEMORY", "out of memory")
    }

    /// Runs what fills an error when it fails.
    fn of<T>(call: impl FnOnce(*mut raw::Error) -> Option<T>) -> Result<T, Error> {
        let mut err = raw::Error { code: 0, os_errno: 0, offset: 0, text: [0; 2048] };
        call(&mut err).ok_or_else(|| Error {
            code: static_text(unsafe { raw::flat_result_name(err.code) }),
            offset: err.offset,
            os_errno: err.os_errno,
            text: static_text(err.text.as_ptr()),
        })
    }
}

/// A text that C ends with a NUL.
fn static_text(from: *const c_char) -> String {
    read::text(unsafe { CStr::from_ptr(from) }.to_bytes())
}

/// Which row of the line table answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    /// As Apple's atos: the row as it is, the first of equals.
    Atos = 0,
    /// As llvm-symbolizer: the last of equals.
    Dwarf = 1,
    /// Rows that begin a statement only.
    Stmt = 2,
    /// As `Dwarf`, but line 0 in a function that somebody wrote takes a line near by.
    People = 3,
}

impl Lines {
    fn of(number: u32) -> Lines {
        [Lines::Atos, Lines::Dwarf, Lines::Stmt, Lines::People].get(number as usize).copied().unwrap_or(Lines::Atos)
    }
}

/// One function at an address, concrete or inlined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// In source form.
    pub name: String,
    pub linkage_name: String,
    pub file: String,
    /// 0: not known.
    pub line: u32,
    pub column: u32,
    pub is_inline: bool,
    pub function_start: u64,
    pub function_size: u64,
    /// `dwarf`, `symtab` and so on; `none`.
    pub name_source: String,
    pub line_source: String,
    /// Calls are left out between this frame and the next: more are inlined into each other than an answer has.
    pub lacks_callers: bool,
}

/// One architecture of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    pub arch: String,
    pub uuid: Option<[u8; 16]>,
    pub filetype: u32,
    pub offset: u64,
    pub size: u64,
}

/// What is known of an open file. Numbers are those of `<mach-o/loader.h>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Info {
    /// Of a map: the policy that it was built for.
    pub map_lines: Option<Lines>,
    pub arch: String,
    pub uuid: Option<[u8; 16]>,
    pub name: String,
    pub path: String,
    pub pair_path: String,
    pub filetype: u32,
    pub platform: u32,
    /// Major version, 16 bits; minor and patch, 8 bits each.
    pub min_os: u32,
    pub sdk: u32,
    pub has_dwarf: bool,
    pub damage_count: u32,
    pub is_cut_short: bool,
    pub text_addr: u64,
    pub text_size: u64,
}

/// Which file, and which part of it. The default opens a file that has one architecture.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The slice of a fat file.
    pub arch: Option<String>,
    /// The same, by its UUID.
    pub uuid: Option<[u8; 16]>,
    /// The image of a kernel collection.
    pub entry: Option<String>,
    /// The other half: the binary to a dSYM, or the dSYM to a binary.
    pub pair: Option<PathBuf>,
    /// Object files of a program without a dSYM: paths that begin with the first have the second in its place.
    pub oso_prefixes: Vec<(PathBuf, PathBuf)>,
    /// More folders to look for them.
    pub oso_dirs: Vec<PathBuf>,
    /// Reads files into memory first: safe when other processes may truncate them.
    pub copy: bool,
}

/// Texts of an answer in source form: which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// Swift names as crash reports print them.
    Simplified = 1,
    /// Swift names with modules and types.
    Full = 0,
}

#[cfg(unix)]
fn path_bytes(path: &Path) -> Vec<u8> {
    std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()).to_vec()
}

#[cfg(not(unix))]
fn path_bytes(path: &Path) -> Vec<u8> {
    path.to_string_lossy().into_owned().into_bytes()
}

fn c_text(bytes: Vec<u8>) -> Result<CString, Error> {
    CString::new(bytes).map_err(|_| Error::plain("ERR_ARGUMENT", "a path or name holds a NUL"))
}

fn c_path(path: &Path) -> Result<CString, Error> {
    c_text(path_bytes(path))
}

fn pointer(text: &Option<CString>) -> *const c_char {
    text.as_ref().map_or(ptr::null(), |t| t.as_ptr())
}

/// Calls with what flat.h wants to know of a file; all that it points to lives until the call returns.
fn described<T>(
    path: Option<&Path>,
    bytes: Option<&[u8]>,
    how: &Options,
    call: impl FnOnce(&raw::Desc) -> Result<T, Error>,
) -> Result<T, Error> {
    let path = path.map(c_path).transpose()?;
    let pair = how.pair.as_deref().map(c_path).transpose()?;
    let arch = how.arch.clone().map(|t| c_text(t.into_bytes())).transpose()?;
    let entry = how.entry.clone().map(|t| c_text(t.into_bytes())).transpose()?;
    let ends = how.oso_prefixes.iter().flat_map(|(from, to)| vec![from, to]);
    let prefixes = ends.map(|p| c_path(p)).collect::<Result<Vec<_>, _>>()?;
    let dirs = how.oso_dirs.iter().map(|p| c_path(p)).collect::<Result<Vec<_>, _>>()?;
    let prefix_pointers: Vec<_> = prefixes.iter().map(|t| t.as_ptr()).collect();
    let dir_pointers: Vec<_> = dirs.iter().map(|t| t.as_ptr()).collect();
    call(&raw::Desc {
        path: pointer(&path),
        bytes: bytes.map_or(ptr::null(), |b| b.as_ptr() as *const c_void),
        len: bytes.map_or(0, |b| b.len()),
        pair_path: pointer(&pair),
        arch: pointer(&arch),
        uuid: how.uuid.as_ref().map_or(ptr::null(), |u| u.as_ptr()),
        entry: pointer(&entry),
        prefixes: prefix_pointers.as_ptr(),
        prefix_count: how.oso_prefixes.len(),
        dirs: dir_pointers.as_ptr(),
        dir_count: dirs.len(),
        flags: how.copy as u32,
        read: ptr::null(),
        read_user: ptr::null_mut(),
        read_size: 0,
    })
}

/// What a function writes that tells how much room it needs.
fn filled(call: impl Fn(*mut c_char, usize) -> usize) -> Vec<u8> {
    let mut out: Vec<u8> = vec![0; 1024];
    loop {
        let need = call(out.as_mut_ptr() as *mut c_char, out.len());
        if need < out.len() {
            out.truncate(need);
            return out;
        }
        out.resize(need + 1, 0);
    }
}

/// The version of machsym.h.
pub fn version() -> String {
    static_text(unsafe { raw::flat_version() })
}

/// The source form of a mangled C++, Swift, Rust or D name; any other name as it is.
pub fn demangle(name: &str, names: Names) -> String {
    let from = name.as_ptr() as *const c_char;
    read::text(&filled(|out, cap| unsafe { raw::flat_demangle(from, name.len(), names as u32, out, cap) }))
}

/// The architectures of a file.
pub fn slices(path: impl AsRef<Path>) -> Result<Vec<Slice>, Error> {
    described(Some(path.as_ref()), None, &Options::default(), |desc| {
        let mut failed = None;
        let found = filled(|out, cap| unsafe {
            let mut err = raw::Error { code: 0, os_errno: 0, offset: 0, text: [0; 2048] };
            raw::flat_slices(desc, out, cap, &mut err)
        });
        if found.is_empty() {
            // once more, for the error alone
            failed = Error::of(|err| match unsafe { raw::flat_slices(desc, ptr::null_mut(), 0, err) } {
                0 => None,
                _ => Some(()),
            })
            .err();
        }
        match failed {
            Some(error) => Err(error),
            None => Ok(read_slices(&found)),
        }
    })
}

fn read_slices(found: &[u8]) -> Vec<Slice> {
    let mut r = Reader::new(found);
    let count = if found.is_empty() { 0 } else { r.u32() };
    (0..count)
        .map(|_| {
            let (filetype, has_uuid, offset, size) = (r.u32(), r.u32() != 0, r.u64(), r.u64());
            let uuid = r.uuid(has_uuid);
            Slice { arch: r.text(), uuid, filetype, offset, size }
        })
        .collect()
}

/// A Mach-O file, a .dSYM bundle or a .symmap. Threads may share it.
pub struct Image {
    handle: *mut raw::Image,
    _bytes: Option<Vec<u8>>, // must outlive it
}

// flat.h: any thread may use an image; it is closed by its last owner.
unsafe impl Send for Image {}
unsafe impl Sync for Image {}

impl Drop for Image {
    fn drop(&mut self) {
        unsafe { raw::flat_close(self.handle) }
    }
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Image").field("info", &self.info()).finish()
    }
}

impl Image {
    /// Opens a file.
    pub fn open(path: impl AsRef<Path>) -> Result<Image, Error> {
        Image::open_with(path, &Options::default())
    }

    pub fn open_with(path: impl AsRef<Path>, how: &Options) -> Result<Image, Error> {
        described(Some(path.as_ref()), None, how, |desc| Image::opened(desc, None))
    }

    /// Opens a file that is in memory.
    pub fn from_bytes(bytes: Vec<u8>, how: &Options) -> Result<Image, Error> {
        let handle = described(None, Some(&bytes), how, Image::handle_of)?;
        Ok(Image { handle, _bytes: Some(bytes) })
    }

    fn handle_of(desc: &raw::Desc) -> Result<*mut raw::Image, Error> {
        Error::of(|err| {
            let handle = unsafe { raw::flat_open(desc, err) };
            if handle.is_null() {
                None
            } else {
                Some(handle)
            }
        })
    }

    fn opened(desc: &raw::Desc, bytes: Option<Vec<u8>>) -> Result<Image, Error> {
        Ok(Image { handle: Image::handle_of(desc)?, _bytes: bytes })
    }

    /// What is known of the file.
    pub fn info(&self) -> Info {
        let raw = filled(|out, cap| unsafe { raw::flat_info(self.handle, out, cap) });
        let mut r = Reader::new(&raw);
        let (is_map, lines, filetype, has_uuid) = (r.u32() != 0, r.u32(), r.u32(), r.u32() != 0);
        let (platform, min_os, sdk, has_dwarf) = (r.u32(), r.u32(), r.u32(), r.u32() != 0);
        let (damage_count, is_cut_short, text_addr, text_size) = (r.u32(), r.u32() != 0, r.u64(), r.u64());
        let uuid = r.uuid(has_uuid);
        Info {
            map_lines: if is_map { Some(Lines::of(lines)) } else { None },
            arch: r.text(),
            uuid,
            name: r.text(),
            path: r.text(),
            pair_path: r.text(),
            filetype,
            platform,
            min_os,
            sdk,
            has_dwarf,
            damage_count,
            is_cut_short,
            text_addr,
            text_size,
        }
    }

    /// The file's address that a runtime address stands for.
    pub fn addr(&self, load: u64, pc: u64) -> u64 {
        unsafe { raw::flat_addr(self.handle, load, pc) }
    }

    /// Opens a session. A map answers by its own policy, another file by `Lines::Atos`.
    pub fn session(&self) -> Result<Session<'_>, Error> {
        self.session_by(-1)
    }

    /// Opens a session that answers by a policy.
    pub fn session_with(&self, lines: Lines) -> Result<Session<'_>, Error> {
        self.session_by(lines as i32)
    }

    fn session_by(&self, lines: i32) -> Result<Session<'_>, Error> {
        let handle = Error::of(|err| {
            let handle = unsafe { raw::flat_session_open(self.handle, lines, 0, err) };
            if handle.is_null() {
                None
            } else {
                Some(handle)
            }
        })?;
        Ok(Session { handle, names: Names::Simplified, _image: self })
    }

    /// The map of the image, in memory: it is resolved once, and answers faster.
    pub fn build_map(&self, lines: Lines) -> Result<Image, Error> {
        let handle = Error::of(|err| {
            let handle = unsafe { raw::flat_map_build(self.handle, lines as i32, 0, err) };
            if handle.is_null() {
                None
            } else {
                Some(handle)
            }
        })?;
        Ok(Image { handle, _bytes: None })
    }

    /// The bytes of a map; none of another file.
    pub fn map_bytes(&self) -> Option<&[u8]> {
        let mut len = 0;
        let at = unsafe { raw::flat_map_bytes(self.handle, &mut len) };
        if at.is_null() {
            None
        } else {
            Some(unsafe { std::slice::from_raw_parts(at as *const u8, len) })
        }
    }

    /// Writes a map: whole, or not at all.
    pub fn save_map(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = c_path(path.as_ref())?;
        Error::of(|err| match unsafe { raw::flat_map_save(self.handle, path.as_ptr(), err) } {
            0 => None,
            _ => Some(()),
        })
    }
}

/// Lookups in an image or a map, with what they have decoded so far. It works for one thread at a time:
///
/// ```compile_fail
/// let app = machsym::Image::open("App.app.dSYM").unwrap();
/// let session = app.session().unwrap();
/// std::thread::scope(|scope| {
///     scope.spawn(|| session.lookup(&[1])); // it is borrowed, and lookups change it
/// });
/// ```
pub struct Session<'a> {
    handle: *mut raw::Session,
    names: Names,
    _image: &'a Image,
}

// One thread at a time: lookups take it by &mut.
unsafe impl Send for Session<'_> {}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        unsafe { raw::flat_session_close(self.handle) }
    }
}

impl Session<'_> {
    /// Which form names have from now on.
    pub fn set_names(&mut self, names: Names) {
        self.names = names;
    }

    /// The frames at each address of the file, the innermost inlined call first; none where nothing is known.
    pub fn lookup(&mut self, addresses: &[u64]) -> Result<Vec<Vec<Frame>>, Error> {
        self.answers(None, addresses)
    }

    /// The same for addresses of a process that loaded the image at `load`.
    pub fn lookup_stack(&mut self, load: u64, addresses: &[u64]) -> Result<Vec<Vec<Frame>>, Error> {
        self.answers(Some(load), addresses)
    }

    fn answers(&mut self, load: Option<u64>, addresses: &[u64]) -> Result<Vec<Vec<Frame>>, Error> {
        if addresses.is_empty() {
            return Ok(Vec::new());
        }
        let mut len = 0;
        let (at, count) = (addresses.as_ptr(), addresses.len());
        let is_runtime = load.is_some() as i32;
        let found = unsafe {
            raw::flat_lookup(self.handle, is_runtime, load.unwrap_or(0), self.names as u32, at, count, &mut len)
        };
        if found.is_null() {
            return Err(Error::no_memory());
        }
        Ok(read_answers(unsafe { std::slice::from_raw_parts(found as *const u8, len) }, count))
    }
}

/// What flat_lookup wrote; see flat.h.
fn read_answers(raw: &[u8], count: usize) -> Vec<Vec<Frame>> {
    const FRAME: usize = 48;
    let mut r = Reader::new(raw);
    let (text_count, frame_count) = (r.u32() as usize, r.u32() as usize);
    let lengths: Vec<usize> = (0..text_count).map(|_| r.u32() as usize).collect();
    let counts: Vec<usize> = (0..count).map(|_| r.u32() as usize).collect();
    let mut frames = Reader::new(r.bytes(frame_count * FRAME));
    let texts: Vec<String> = lengths.iter().map(|&len| read::text(r.bytes(len))).collect();
    let source = |number: u32| static_text(unsafe { raw::flat_source_name(number as i32) });
    counts
        .iter()
        .map(|&n| {
            (0..n)
                .map(|_| {
                    let (function_start, function_size) = (frames.u64(), frames.u64());
                    let (line, column, marks) = (frames.u32(), frames.u32(), frames.u32());
                    let (name_source, line_source) = (source(frames.u32()), source(frames.u32()));
                    let mut text = || texts[frames.u32() as usize].clone();
                    Frame {
                        name: text(),
                        linkage_name: text(),
                        file: text(),
                        line,
                        column,
                        is_inline: marks & 1 != 0,
                        function_start,
                        function_size,
                        name_source,
                        line_source,
                        lacks_callers: marks & 2 != 0,
                    }
                })
                .collect()
        })
        .collect()
}
