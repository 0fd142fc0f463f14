/// Function, file, line and inline chain for addresses of iPhone and Mac programs, on any machine.
///
///     let app = try Image(path: "App.app.dSYM") // or a binary, or a .symmap
///     let session = try app.session()
///     for frames in try session.lookup([0x102a309b6, 0x102a30aef], load: 0x102a30000) {
///         for f in frames { // the innermost inlined call first
///             print(f.name, f.file, f.line)
///         }
///     }
///
/// Threads may share an `Image`. Each of them opens a `Session`, which keeps what its lookups have decoded. Subtract 1 from
/// return addresses before they are looked up.
import CMachsym

/// What cannot be opened, built or written, as a sentence.
public struct MachsymError: Error, CustomStringConvertible {
    /// The name of the machsym_result, such as `ERR_ARCH`.
    public let code: String
    /// Where in the file.
    public let offset: UInt64
    /// errno, where the system failed; or 0.
    public let osErrno: Int32
    public let description: String

    init(code: String, description: String) {
        self.code = code
        self.offset = 0
        self.osErrno = 0
        self.description = description
    }

    init(_ err: inout flat_error) {
        code = String(cString: flat_result_name(err.code))
        offset = err.offset
        osErrno = err.os_errno
        description = withUnsafeBytes(of: &err.text) { text(UnsafeRawBufferPointer(rebasing: $0.prefix { $0 != 0 })) }
    }
}

/// Which row of the line table answers.
public enum Lines: Int32 {
    /// As Apple's atos: the row as it is, the first of equals.
    case atos = 0
    /// As llvm-symbolizer: the last of equals.
    case dwarf = 1
    /// Rows that begin a statement only.
    case stmt = 2
    /// As `dwarf`, but line 0 in a function that somebody wrote takes a line near by.
    case people = 3
}

/// Which form names have.
public enum Names: UInt32 {
    /// Swift names with modules and types.
    case full = 0
    /// Swift names as crash reports print them.
    case simplified = 1
}

/// One function at an address, concrete or inlined.
public struct Frame: Equatable {
    /// In source form.
    public var name: String
    public var linkageName: String
    public var file: String
    /// 0: not known.
    public var line: UInt32
    public var column: UInt32
    public var isInline: Bool
    public var functionStart: UInt64
    public var functionSize: UInt64
    /// `dwarf`, `symtab` and so on; `none`.
    public var nameSource: String
    public var lineSource: String
    /// Calls are left out between this frame and the next: more are inlined into each other than an answer has.
    public var lacksCallers: Bool
}

/// What is known of an open file. Numbers are those of `<mach-o/loader.h>`.
public struct Info: Equatable {
    /// Of a map: the policy that it was built for.
    public var mapLines: Lines?
    public var arch: String
    public var uuid: [UInt8]?
    public var name: String
    public var path: String
    public var pairPath: String
    public var filetype: UInt32
    public var platform: UInt32
    /// Major version, 16 bits; minor and patch, 8 bits each.
    public var minOS: UInt32
    public var sdk: UInt32
    public var hasDebugInfo: Bool
    public var damageCount: UInt32
    public var isCutShort: Bool
    public var textAddress: UInt64
    public var textSize: UInt64
}

/// Which part of a file. The default opens a file that has one architecture.
public struct Options {
    /// The slice of a fat file.
    public var arch: String?
    /// The same, by its UUID: 16 bytes.
    public var uuid: [UInt8]?
    /// The image of a kernel collection.
    public var entry: String?
    /// The other half: the binary to a dSYM, or the dSYM to a binary.
    public var pair: String?
    /// Object files of a program without a dSYM: paths that begin with the first have the second in its place.
    public var objectPrefixes: [(from: String, to: String)] = []
    /// More folders to look for them.
    public var objectFolders: [String] = []
    /// Reads files into memory first: safe when other processes may truncate them.
    public var copy = false

    public init() {}
}

/// The version of machsym.h.
public var version: String {
    return String(cString: flat_version())
}

/// The source form of a mangled C++, Swift, Rust or D name; any other name as it is.
public func demangle(_ name: String, names: Names = .simplified) -> String {
    let bytes = Array(name.utf8CString)
    return bytes.withUnsafeBufferPointer { from in
        let found = filled { flat_demangle(from.baseAddress, bytes.count - 1, names.rawValue, $0, $1) }
        return found.withUnsafeBytes { text($0) }
    }
}

/// Names and paths are bytes of files; what is no UTF-8 in them is U+FFFD.
private func text(_ bytes: UnsafeRawBufferPointer) -> String {
    return String(decoding: bytes, as: UTF8.self)
}

/// What a function writes that tells how much room it needs.
private func filled(_ call: (UnsafeMutablePointer<CChar>?, Int) -> Int) -> [CChar] {
    var out = [CChar](repeating: 0, count: 1024)
    while true {
        let need = out.withUnsafeMutableBufferPointer { call($0.baseAddress, $0.count) }
        if need < out.count {
            out.removeLast(out.count - need)
            return out
        }
        out = [CChar](repeating: 0, count: need + 1)
    }
}

/// Reads what flat.c wrote: numbers in the host's byte order, and texts.
private struct Reader {
    var rest: UnsafeRawBufferPointer

    mutating func bytes(_ count: Int) -> UnsafeRawBufferPointer {
        let taken = UnsafeRawBufferPointer(rebasing: rest[rest.startIndex..<rest.startIndex + count])
        rest = UnsafeRawBufferPointer(rebasing: rest[(rest.startIndex + count)...])
        return taken
    }

    mutating func number<T: FixedWidthInteger>(_ type: T.Type) -> T {
        var value: T = 0
        withUnsafeMutableBytes(of: &value) { $0.copyMemory(from: bytes(MemoryLayout<T>.size)) }
        return value
    }

    mutating func u32() -> UInt32 {
        return number(UInt32.self)
    }

    mutating func u64() -> UInt64 {
        return number(UInt64.self)
    }

    mutating func counted() -> UnsafeRawBufferPointer {
        let count = Int(u32())
        return bytes(count)
    }

    mutating func string() -> String {
        return text(counted())
    }
}

/// Texts for C, which live as long as this.
private final class Texts {
    private var all: [UnsafeMutablePointer<CChar>] = []

    func add(_ string: String?) -> UnsafePointer<CChar>? {
        guard let string = string else { return nil }
        let bytes = Array(string.utf8CString)
        let place = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
        place.initialize(from: bytes, count: bytes.count)
        all.append(place)
        return UnsafePointer(place)
    }

    deinit {
        for place in all {
            place.deallocate()
        }
    }
}

/// A Mach-O file, a .dSYM bundle or a .symmap. Threads may share it.
public final class Image: @unchecked Sendable {
    fileprivate let handle: OpaquePointer
    private let bytes: UnsafeMutableRawBufferPointer? // must outlive it

    private init(handle: OpaquePointer, bytes: UnsafeMutableRawBufferPointer?) {
        self.handle = handle
        self.bytes = bytes
    }

    /// Opens a file.
    public convenience init(path: String, options: Options = Options()) throws {
        self.init(handle: try Image.open(path: path, bytes: nil, options: options), bytes: nil)
    }

    /// Opens a file that is in memory.
    public convenience init(bytes: [UInt8], options: Options = Options()) throws {
        let kept = UnsafeMutableRawBufferPointer.allocate(byteCount: max(bytes.count, 1), alignment: 16)
        kept.copyBytes(from: bytes)
        let file = UnsafeRawBufferPointer(rebasing: kept[0..<bytes.count])
        do {
            self.init(handle: try Image.open(path: nil, bytes: file, options: options), bytes: kept)
        } catch {
            kept.deallocate()
            throw error
        }
    }

    deinit {
        flat_close(handle)
        bytes?.deallocate()
    }

    private static func open(path: String?, bytes: UnsafeRawBufferPointer?, options: Options) throws -> OpaquePointer {
        let texts = Texts()
        let prefixes = options.objectPrefixes.flatMap { [texts.add($0.from), texts.add($0.to)] }
        let folders = options.objectFolders.map { texts.add($0) }
        let uuid = options.uuid ?? []
        if let given = options.uuid, given.count != 16 {
            throw MachsymError(code: "ERR_ARGUMENT", description: "a UUID has 16 bytes, not \(given.count)")
        }
        var err = flat_error()
        let handle: OpaquePointer? = prefixes.withUnsafeBufferPointer { prefixes in
            folders.withUnsafeBufferPointer { folders in
                uuid.withUnsafeBufferPointer { uuid in
                    var desc = flat_desc()
                    desc.path = texts.add(path)
                    desc.bytes = bytes?.baseAddress
                    desc.len = bytes?.count ?? 0
                    desc.pair_path = texts.add(options.pair)
                    desc.arch = texts.add(options.arch)
                    desc.uuid = options.uuid == nil ? nil : uuid.baseAddress
                    desc.entry = texts.add(options.entry)
                    desc.prefixes = prefixes.baseAddress
                    desc.prefix_count = options.objectPrefixes.count
                    desc.dirs = folders.baseAddress
                    desc.dir_count = folders.count
                    desc.flags = options.copy ? 1 : 0
                    return withExtendedLifetime(texts) { flat_open(&desc, &err) }
                }
            }
        }
        guard let opened = handle else { throw MachsymError(&err) }
        return opened
    }

    /// What is known of the file.
    public var info: Info {
        let raw = filled { flat_info(handle, $0, $1) }
        return raw.withUnsafeBytes { bytes in
            var r = Reader(rest: bytes)
            let isMap = r.u32() != 0
            let lines = Lines(rawValue: Int32(r.u32()))
            let filetype = r.u32()
            let hasUUID = r.u32() != 0
            let platform = r.u32()
            let minOS = r.u32()
            let sdk = r.u32()
            let hasDebugInfo = r.u32() != 0
            let damageCount = r.u32()
            let isCutShort = r.u32() != 0
            let textAddress = r.u64()
            let textSize = r.u64()
            let uuid = Array(r.counted())
            let arch = r.string()
            let name = r.string()
            let path = r.string()
            let pairPath = r.string()
            return Info(
                mapLines: isMap ? lines : nil, arch: arch, uuid: hasUUID ? uuid : nil, name: name, path: path,
                pairPath: pairPath, filetype: filetype, platform: platform, minOS: minOS, sdk: sdk,
                hasDebugInfo: hasDebugInfo, damageCount: damageCount, isCutShort: isCutShort,
                textAddress: textAddress, textSize: textSize)
        }
    }

    /// The file's address that a runtime address stands for.
    public func address(load: UInt64, pc: UInt64) -> UInt64 {
        return flat_addr(handle, load, pc)
    }

    /// Opens a session. Without `lines` a map answers by its own policy, another file by `Lines.atos`.
    public func session(lines: Lines? = nil, names: Names = .simplified) throws -> Session {
        return try Session(image: self, lines: lines, names: names)
    }

    /// The map of the image, in memory: it is resolved once, and answers faster.
    public func buildMap(lines: Lines = .atos) throws -> Image {
        var err = flat_error()
        guard let map = flat_map_build(handle, lines.rawValue, 0, &err) else { throw MachsymError(&err) }
        return Image(handle: map, bytes: nil)
    }

    /// The bytes of a map; none of another file.
    public var mapBytes: [UInt8]? {
        var count = 0
        guard let at = flat_map_bytes(handle, &count) else { return nil }
        return Array(UnsafeRawBufferPointer(start: at, count: count))
    }

    /// Writes a map: whole, or not at all.
    public func saveMap(path: String) throws {
        var err = flat_error()
        if flat_map_save(handle, path, &err) == 0 {
            throw MachsymError(&err)
        }
    }
}

/// Lookups in an image or a map, with what they have decoded so far. It works for one thread at a time.
public final class Session {
    private let image: Image // must outlive it
    private let handle: OpaquePointer
    private let names: Names

    fileprivate init(image: Image, lines: Lines?, names: Names) throws {
        var err = flat_error()
        guard let handle = flat_session_open(image.handle, lines?.rawValue ?? -1, 0, &err) else {
            throw MachsymError(&err)
        }
        self.image = image
        self.handle = handle
        self.names = names
    }

    deinit {
        flat_session_close(handle)
    }

    /// The frames at each address, the innermost inlined call first; none where nothing is known. Addresses are those of the
    /// file, or, with `load`, those of a process that loaded the image there.
    public func lookup(_ addresses: [UInt64], load: UInt64? = nil) throws -> [[Frame]] {
        if addresses.isEmpty {
            return []
        }
        var count = 0
        let found = flat_lookup(handle, load == nil ? 0 : 1, load ?? 0, names.rawValue, addresses, addresses.count, &count)
        guard let at = found else { throw MachsymError(code: "ERR_MEMORY", description: "a lookup had no memory") }
        return answers(UnsafeRawBufferPointer(start: at, count: count), addresses.count)
    }
}

/// What flat_lookup wrote; see flat.h.
private func answers(_ raw: UnsafeRawBufferPointer, _ count: Int) -> [[Frame]] {
    let frameSize = 48
    var r = Reader(rest: raw)
    let textCount = Int(r.u32())
    let frameCount = Int(r.u32())
    let lengths = (0..<textCount).map { _ in Int(r.u32()) }
    let counts = (0..<count).map { _ in Int(r.u32()) }
    var frames = Reader(rest: r.bytes(frameCount * frameSize))
    let texts = lengths.map { text(r.bytes($0)) }
    return counts.map { number in (0..<number).map { _ in frame(&frames, texts) } }
}

private func frame(_ r: inout Reader, _ texts: [String]) -> Frame {
    let start = r.u64()
    let size = r.u64()
    let line = r.u32()
    let column = r.u32()
    let marks = r.u32()
    let nameSource = String(cString: flat_source_name(Int32(r.u32())))
    let lineSource = String(cString: flat_source_name(Int32(r.u32())))
    let name = texts[Int(r.u32())]
    let linkageName = texts[Int(r.u32())]
    let file = texts[Int(r.u32())]
    return Frame(
        name: name, linkageName: linkageName, file: file, line: line, column: column, isInline: marks & 1 != 0,
        functionStart: start, functionSize: size, nameSource: nameSource, lineSource: lineSource,
        lacksCallers: marks & 2 != 0)
}
