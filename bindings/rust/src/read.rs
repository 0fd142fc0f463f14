//! Reads what flat.c wrote: numbers in the host's byte order, and texts.
use std::convert::TryInto;

pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { rest: bytes }
    }

    pub fn bytes(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at(len);
        self.rest = rest;
        taken
    }

    pub fn u32(&mut self) -> u32 {
        u32::from_ne_bytes(self.bytes(4).try_into().unwrap())
    }

    pub fn u64(&mut self) -> u64 {
        u64::from_ne_bytes(self.bytes(8).try_into().unwrap())
    }

    pub fn counted(&mut self) -> &'a [u8] {
        let len = self.u32() as usize;
        self.bytes(len)
    }

    pub fn text(&mut self) -> String {
        text(self.counted())
    }

    pub fn uuid(&mut self, has: bool) -> Option<[u8; 16]> {
        let raw = self.counted();
        if has {
            raw.try_into().ok()
        } else {
            None
        }
    }
}

/// Names and paths are bytes of files; what is no UTF-8 in them is U+FFFD.
pub fn text(raw: &[u8]) -> String {
    String::from_utf8_lossy(raw).into_owned()
}
