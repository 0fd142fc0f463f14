// Where bytes of a file come from: objects with a size, and read(into, at), which copies bytes that begin at an offset and
// returns how many.

/** An error of machsym. code: a machsym_result by its name, as "ERR_FORMAT". */
export class MachsymError extends Error {
  constructor(message, code, offset) {
    super(message);
    this.name = 'MachsymError';
    this.code = code;
    this.offset = offset;
  }
}

const BLOCK = 1 << 16; // small reads of a Blob take as much at once
const KEPT_BLOCKS = 16;

/** Bytes in memory. */
export function fromBytes(bytes) {
  return {
    size: bytes.length,
    read(into, at) {
      const part = bytes.subarray(Math.min(at, bytes.length), Math.min(at + into.length, bytes.length));
      into.set(part);
      return part.length;
    },
  };
}

/** A File or Blob. Only workers can read one at once: elsewhere there is no FileReaderSync. */
export function fromBlob(blob) {
  const reader = new FileReaderSync();
  const kept = new Map(); // offset -> bytes, the latest used last
  const take = (from, to) => new Uint8Array(reader.readAsArrayBuffer(blob.slice(from, to)));
  const block = (from) => {
    const bytes = kept.get(from) ?? take(from, from + BLOCK);
    kept.delete(from);
    kept.set(from, bytes);
    if (kept.size > KEPT_BLOCKS) kept.delete(kept.keys().next().value);
    return bytes;
  };
  return {
    size: blob.size,
    time: blob.lastModified,
    read(into, at) {
      const end = Math.min(at + into.length, blob.size);
      if (at >= end) return 0;
      if (end - at >= BLOCK) {
        into.set(take(at, end));
        return end - at;
      }
      let done = 0;
      while (at + done < end) {
        const from = Math.floor((at + done) / BLOCK) * BLOCK;
        const part = block(from).subarray(at + done - from, end - from);
        if (part.length === 0) break; // the file became shorter
        into.set(part, done);
        done += part.length;
      }
      return done;
    },
  };
}

const encoder = new TextEncoder();

/** The source of a value: a text, bytes, a Blob, or a source. */
export function toSource(value) {
  if (typeof value === 'string') return fromBytes(encoder.encode(value));
  if (value instanceof ArrayBuffer) return fromBytes(new Uint8Array(value));
  if (ArrayBuffer.isView(value)) return fromBytes(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  if (typeof Blob !== 'undefined' && value instanceof Blob) return fromBlob(value);
  if (typeof value?.read === 'function') return value;
  throw new TypeError('neither bytes nor a file');
}
