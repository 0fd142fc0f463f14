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

/** What a report is written in: as `machsym crash` writes it. "same" is the whole input with names put in. */
export type Form = 'same' | 'text' | 'apple' | 'json' | 'brief' | 'summary' | 'signature';

/** A program or library that was loaded. */
export interface ReportImage {
  name: string;
  path: string;
  arch: string;
  version: string;
  uuid?: string;
  isSystem: boolean;
  base: bigint;
  /** 0: not known. */
  end: bigint;
  frames: number;
  /** Frames in it without a name. */
  missing: number;
}

/** One call. Of each frame the innermost inlined call comes first. */
export interface ReportFrame {
  address: bigint;
  thread: bigint;
  /** Whether its thread crashed. */
  isCrashed: boolean;
  isInline: boolean;
  image: string;
  /** Empty: not known. */
  name: string;
  path: string;
  /** 0: not known. */
  line: number;
  offset: bigint;
  /** With checkStack: the report lacks this caller. */
  isInferred: boolean;
  /** With checkStack: why the frame before it cannot have been called from it; empty: nothing speaks against it. */
  doubt: string;
}

/** One report that was answered. */
export class Report {
  protected constructor();
  /** In its input, from 1 on; 0: it is the only one. */
  readonly number: number;
  readonly kind: string;
  readonly frameCount: number;
  /** Frames with a name. */
  readonly named: number;
  readonly missing: number;
  /** Where the input ends inside the report; 0: the report is whole. */
  readonly cutAt: number;
  readonly images: ReportImage[];
  readonly frames: ReportFrame[];
  /** By the forms that were asked for, but for "same". */
  readonly written: { [form in Exclude<Form, 'same'>]?: Uint8Array };
  /** The form "text"; undefined if it was not asked for. */
  readonly text?: string;
  /** The form "summary". */
  readonly summary?: string;
  /** The form "json", read: crash/1 of docs/json.md. */
  readonly json?: { schema: string; [member: string]: unknown };
}

/** A report that cannot be answered. */
export interface Failure {
  number: number;
  why: string;
  /** Its place in the input. */
  at: number;
}

/** Files that answer reports, for many calls of symbolicate: what they need is opened once. */
export class Symbols {
  protected constructor();
  close(): Promise<void>;
}

export interface SymbolicateOptions {
  /** Default: "same" and "json". */
  forms?: Form | Form[];
  /** Of the input, in briefs. */
  name?: string;
  /** Words of a key, by which personal data and identifiers are replaced. */
  redact?: string;
  /** Frames that have a name are looked up, too. */
  namedToo?: boolean;
  fullPaths?: boolean;
  fullNames?: boolean;
  /** Default: true. */
  inline?: boolean;
  /** Reports have images and frames. Default: true. */
  walk?: boolean;
  /** Which frames cannot have called each other, by the code of the programs among the symbols, and callers that the report
   *  lacks. "apple" has nothing of it. */
  checkStack?: boolean;
  onMessage?: (text: string) => void;
}

/** What the tool makes of an input. */
export interface SymbolicatedByTool {
  /** The input with names, or what args ask for; empty when it is no report. */
  text: string;
  /** An object as `machsym crash --to=json` prints it (docs/json.md, crash/1). */
  json?: { schema: string; [member: string]: unknown };
  /** The same of each report, when there are several in one file: json is undefined then. */
  documents: { schema: string; [member: string]: unknown }[];
  /** What the tool said. Without the tool: why reports failed, and files of symbols that cannot be opened. */
  messages: string;
  /** Whether no report failed or is cut short. */
  isComplete: boolean;
}

/** What an input holds. text is of the form "same"; json and documents are of the form "json". */
export interface Symbolicated extends SymbolicatedByTool {
  reports: Report[];
  failures: Failure[];
  /** The input with names put in; empty unless "same" was asked for, or when nothing was answered. */
  same: Uint8Array;
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
  /** Opens files and images for many calls of symbolicate; under node also folders. Images must stay open. */
  symbols(files: Image | (FileLike | NamedFile | Image)[]): Promise<Symbols>;
  /** report: its text, bytes or a Blob; under node also {path} or an URL, of a folder too. symbols: files and images, under node also
   *  folders. Both may be archives: zip, tar, gzip. */
  symbolicate(report: string | FileLike | { path: string }, symbols?: Symbols | Image | (FileLike | NamedFile | Image)[],
    options?: SymbolicateOptions): Promise<Symbolicated>;
  /** args: options of `machsym crash`. The tool does it. */
  symbolicate(report: string | FileLike | { path: string }, files: (FileLike | NamedFile)[],
    options: { args: string[]; onMessage?: (text: string) => void }): Promise<SymbolicatedByTool>;
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
  /** For symbolicate() and symbols(), which load it when they are first called. */
  reports?: Program;
  /** For run() and args of symbolicate(), which load it when they are first called. */
  tool?: Program;
  /** In a page: makes a Worker of worker.js, named "machsym". */
  makeWorker?: () => { postMessage(message: unknown): void; terminate(): void };
}

export function load(options?: LoadOptions): Promise<Machsym>;
export const open: Machsym['open'];
export const slices: Machsym['slices'];
export const demangle: Machsym['demangle'];
export const symbols: Machsym['symbols'];
export const symbolicate: Machsym['symbolicate'];
export const run: Machsym['run'];
