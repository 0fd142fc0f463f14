//! flat.h, as C declares it.
use std::os::raw::{c_char, c_int, c_void};

#[repr(C)]
pub struct Desc {
    pub path: *const c_char,
    pub bytes: *const c_void,
    pub len: usize,
    pub pair_path: *const c_char,
    pub arch: *const c_char,
    pub uuid: *const u8,
    pub entry: *const c_char,
    pub prefixes: *const *const c_char,
    pub prefix_count: usize,
    pub dirs: *const *const c_char,
    pub dir_count: usize,
    pub flags: u32,
    pub read: *const c_void,
    pub read_user: *mut c_void,
    pub read_size: u64,
}

#[repr(C)]
pub struct Error {
    pub code: i32,
    pub os_errno: i32,
    pub offset: u64,
    pub text: [c_char; 2048],
}

pub enum Image {}
pub enum Session {}

extern "C" {
    pub fn flat_version() -> *const c_char;
    pub fn flat_result_name(code: i32) -> *const c_char;
    pub fn flat_source_name(source: i32) -> *const c_char;
    pub fn flat_demangle(name: *const c_char, len: usize, flags: u32, out: *mut c_char, cap: usize) -> usize;
    pub fn flat_slices(desc: *const Desc, out: *mut c_char, cap: usize, err: *mut Error) -> usize;
    pub fn flat_info(image: *const Image, out: *mut c_char, cap: usize) -> usize;
    pub fn flat_open(desc: *const Desc, err: *mut Error) -> *mut Image;
    pub fn flat_close(image: *mut Image);
    pub fn flat_addr(image: *const Image, load: u64, pc: u64) -> u64;
    pub fn flat_map_build(image: *const Image, lines: i32, flags: u32, err: *mut Error) -> *mut Image;
    pub fn flat_map_bytes(map: *const Image, len: *mut usize) -> *const c_void;
    pub fn flat_map_save(map: *const Image, path: *const c_char, err: *mut Error) -> c_int;
    pub fn flat_session_open(image: *const Image, lines: i32, flags: u32, err: *mut Error) -> *mut Session;
    pub fn flat_session_close(session: *mut Session);
    pub fn flat_lookup(
        session: *mut Session,
        is_runtime: c_int,
        load: u64,
        names: u32,
        addrs: *const u64,
        count: usize,
        len: *mut usize,
    ) -> *const c_char;
}
