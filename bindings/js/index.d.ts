/** Function, file and line for addresses of iPhone and Mac programs. */

/** Where bytes come from. In a browser a File or Blob, or bytes; under node also a path, which is a text or an URL. */
export type FileLike = Blob | ArrayBuffer | ArrayBufferView | string | URL | Source;

/** A file of your own, under node and in a worker. read copies bytes that begin at an offset, and returns how many. */
export interface Source {
  size: number;
  read(into: Uint8Array, at: number): number;
}

/** A file with a path of its own: what the symbols of a report are looked for in. */
export interface NamedFile {
  path: string;
  data: FileLike;
}

export type Address = number | bigint;
export type Lines = 'atos' | 'dwarf' | 'stmt' | 'people';

export interface OpenOptions {
  /** "arm64" and so on, where a file has several. */
  arch?: string;
  uuid?: string;
  /** An image in a kernel collection. */
  entry?: string;
}

export interface Info {
  isMap: boolean;
  /** The line policy of a map. */
  lines?: Lines;
  filetype: number;
  uuid?: string;
  arch: string;
  name: string;
  platform: number;
  minOs: number;
  sdk: number;
  hasDebugInfo: boolean;
  damagedParts: number;
  isCutShort: boolean;
  textAddress: bigint;
  textSize: bigint;
  /** How often the file was read to open it, and how much of it. */
  reads: number;
  bytesRead: number;
}

export interface Frame {
  name: string;
  linkageName?: string;
  file?: string;
  line?: number;
  column?: number;
  isInline: boolean;
  /** Calls are left out between this frame and the next: more are inlined into each other than an answer has. */
  lacksCallers: boolean;
  functionStart: bigint;
  functionSize: bigint;
  nameSource: string;
  lineSource: string;
}

export interface LookupOptions {
  /** Where the image was loaded, when the addresses are those of a process; else they are the file's. */
  load?: Address;
  lines?: Lines;
  names?: 'simplified' | 'full';
}

export interface Slice {
  arch: string;
  uuid?: string;
  filetype: number;
  offset: number;
  size: number;
}

export class MachsymError extends Error {
  /** As machsym_result_name gives it. */
  readonly code: string;
  readonly offset: number;
}

/** A Mach-O file, or a map of one. */
export class Image {
  protected constructor();
  readonly info: Info;
  /** The bytes of a map that buildMap made. */
  readonly bytes?: Uint8Array;
  /** The innermost inlined call first. Subtract 1 from return addresses before. */
  frames(address: Address, options?: LookupOptions): Promise<Frame[]>;
  lookup(addresses: Iterable<Address>, options?: LookupOptions): Promise<Frame[][]>;
  /** How often its file was read until now, lookups too, and how many bytes. */
  reads(): Promise<{ count: number; bytes: number }>;
  buildMap(lines?: Lines): Promise<Map>;
  close(): Promise<void>;
}

export class Map extends Image {}

export interface Symbolicated {
  /** The report with names; empty when it is no report. */
  text: string;
  /** An object as `machsym crash --to=json` prints it (docs/json.md, crash/1). */
  json?: { schema: string; [member: string]: unknown };
  /** The same of each report, when there are several in one file: json is undefined then. */
  documents: { schema: string; [member: string]: unknown }[];
  /** What the tool said. */
  messages: string;
  isComplete: boolean;
}

export interface Ran {
  status: number;
  stdout: Uint8Array;
  stderr: string;
  outputs: Record<string, Uint8Array | undefined>;
}

export class Machsym {
  private constructor();
  open(file: FileLike, options?: OpenOptions): Promise<Image>;
  slices(file: FileLike): Promise<Slice[]>;
  demangle(name: string, style?: 'simplified' | 'full'): Promise<string>;
  demangle(names: string[], style?: 'simplified' | 'full'): Promise<string[]>;
  /** report: its text, bytes or a Blob; under node also {path} or an URL. files: symbols, under node also folders. */
  symbolicate(report: string | FileLike | { path: string }, files?: (FileLike | NamedFile)[],
    options?: { args?: string[]; onMessage?: (text: string) => void }): Promise<Symbolicated>;
  /** Runs the tool. Its files are those given, at "/" and their paths; outputs are paths that it writes. */
  run(args: string[], options?: { files?: (FileLike | NamedFile)[]; stdin?: FileLike; outputs?: string[];
    onMessage?: (text: string) => void }): Promise<Ran>;
  /** Ends a worker, with all that it does. */
  terminate(): void;
}

/** Its URL or, under node, path; its bytes; or, as an object, a WebAssembly.Module. */
export type Program = string | URL | ArrayBuffer | ArrayBufferView | object;

export interface LoadOptions {
  library?: Program;
  tool?: Program;
  /** In a page: makes a Worker of worker.js, named "machsym". */
  makeWorker?: () => { postMessage(message: unknown): void; terminate(): void };
}

export function load(options?: LoadOptions): Promise<Machsym>;
export const open: Machsym['open'];
export const slices: Machsym['slices'];
export const demangle: Machsym['demangle'];
export const symbolicate: Machsym['symbolicate'];
export const run: Machsym['run'];
