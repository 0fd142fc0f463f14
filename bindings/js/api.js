// What callers see of an engine, wherever that runs.

/** The name by which messages call a file. */
export function nameOf(value) {
  if (typeof value === 'string') return value;
  return value instanceof URL ? value.pathname : value?.webkitRelativePath || value?.name || 'the file';
}

const dropped = new FinalizationRegistry(({ engine, id }) => engine.call('close', [id]).catch(() => {}));

/** A Mach-O file, or a map of one. */
export class Image {
  #engine;
  #id;

  constructor(engine, { id, info, bytes }) {
    this.#engine = engine;
    this.#id = id;
    /** What is known of it. */
    this.info = info;
    /** The bytes of a map that was built; else undefined. */
    this.bytes = bytes;
    dropped.register(this, { engine, id }, this);
  }

  /** Its number, if it belongs to an engine. */
  static idOf(image, engine) {
    if (image.#engine !== engine) throw new TypeError('the image belongs to another Machsym');
    return image.#id;
  }

  /** The frames at an address, the innermost inlined call first. */
  async frames(address, options) {
    return (await this.lookup([address], options))[0];
  }

  /** The frames of many addresses. */
  lookup(addresses, options) {
    return this.#engine.call('lookup', [this.#id, addresses, options]);
  }

  /** How often its file was read until now, and how many bytes: {count, bytes}. */
  reads() {
    return this.#engine.call('reads', [this.#id]);
  }

  /** The map of an image: small, and answers at once. */
  async buildMap(lines) {
    return new Map(this.#engine, await this.#engine.call('build', [this.#id, lines]));
  }

  /** Frees its memory. */
  async close() {
    dropped.unregister(this);
    await this.#engine.call('close', [this.#id]);
  }
}

/** A map: an Image that Image.buildMap made, or that was opened from its bytes. */
export class Map extends Image {}

const decoder = new TextDecoder();

/** Files that answer reports, for many calls of symbolicate: what they need is opened once. */
export class Symbols {
  #engine;
  #id;

  constructor(engine, { id }) {
    this.#engine = engine;
    this.#id = id;
    dropped.register(this, { engine, id }, this);
  }

  /** Their number, if they belong to an engine. */
  static idOf(symbols, engine) {
    if (symbols.#engine !== engine) throw new TypeError('the symbols belong to another Machsym');
    return symbols.#id;
  }

  /** Frees its memory. */
  async close() {
    dropped.unregister(this);
    await this.#engine.call('close', [this.#id]);
  }
}

/** One report that was answered. */
export class Report {
  constructor(members) {
    Object.assign(this, members);
  }

  #text(form) {
    return this.written[form] && decoder.decode(this.written[form]);
  }

  /** The form "text"; undefined if it was not asked for. */
  get text() {
    return this.#text('text');
  }

  /** The form "summary". */
  get summary() {
    return this.#text('summary');
  }

  /** The form "json", read: crash/1. */
  get json() {
    return this.written.json && JSON.parse(this.#text('json'));
  }
}

/** What an answer had when the tool gave it, too. */
function symbolicated({ reports, failures, same, messages }) {
  const all = reports.map((one) => new Report(one));
  const documents = all.map((one) => one.json).filter(Boolean);
  const said = [...messages, ...failures.map(({ number, why }) => (number > 0 ? `report ${number}: ${why}` : why))];
  return {
    reports: all, failures, same, text: decoder.decode(same), json: documents.length === 1 ? documents[0] : undefined, documents,
    messages: said.map((line) => `${line}\n`).join(''),
    isComplete: failures.length === 0 && reports.every(({ cutAt }) => cutAt === 0),
  };
}

export class Machsym {
  #engine;
  #platform;

  #need;

  /** platform: how values become what the engine reads: file(value), report(value), files(values); and compile(value), which
   *  makes modules of programs: {reports, tool}. Each is compiled and given to the engine when it is first needed. */
  constructor(engine, platform, programs) {
    this.#engine = engine;
    this.#platform = platform;
    const given = {};
    this.#need = (name) => (given[name] ??= platform.compile(programs[name]).then((module) => engine.call('give', [name, module]))
      .catch((error) => {
        given[name] = undefined; // the next call tries again
        throw error;
      }));
  }

  /** What the engine takes for symbols: a number, or files and images. */
  async #symbols(values) {
    if (values instanceof Symbols) return Symbols.idOf(values, this.#engine);
    if (values instanceof Image) return Image.idOf(values, this.#engine);
    const all = await Promise.all(values.map((value) =>
      (value instanceof Image ? [{ image: Image.idOf(value, this.#engine) }] : this.#platform.files([value]))));
    return all.flat();
  }

  /** Opens a File, a Blob, bytes, or under node a path. options: arch, uuid, entry. */
  async open(file, options) {
    const opened = await this.#engine.call('open', [await this.#platform.file(file), nameOf(file), options]);
    return opened.info.isMap ? new Map(this.#engine, opened) : new Image(this.#engine, opened);
  }

  /** The architectures of a file. */
  async slices(file) {
    return this.#engine.call('slices', [await this.#platform.file(file), nameOf(file)]);
  }

  /** A name, or names, as people read them. */
  async demangle(names, style = 'simplified') {
    const all = await this.#engine.call('demangle', [[names].flat(), style]);
    return Array.isArray(names) ? all : all[0];
  }

  /** Opens files and images for many calls of symbolicate. */
  async symbols(files) {
    await this.#need('reports');
    return new Symbols(this.#engine, await this.#engine.call('symbols', [await this.#symbols([files].flat())]));
  }

  /** Puts names into all reports of an input: {reports, failures, same}, and text, json and documents of the forms "same" and
   *  "json". symbols: Symbols, an Image, or files and images. With args, options of `machsym crash`, the tool does it: {text, json, documents, messages, isComplete}. */
  async symbolicate(report, symbols = [], { args, onMessage, forms = ['same', 'json'], ...options } = {}) {
    const input = await this.#platform.report(report);
    try {
      if (args === undefined) {
        await this.#need('reports');
        const files = await this.#symbols(symbols);
        const answer = symbolicated(await this.#engine.call('reports', [input, files, { ...options, forms: [forms].flat() }]));
        if (answer.messages) onMessage?.(answer.messages);
        return answer;
      }
      if ([symbols].flat().some((one) => one instanceof Symbols || one instanceof Image))
        throw new TypeError('args are for the tool, which takes files');
      await this.#need('tool');
      const files = await this.#platform.files(symbols);
      return await this.#engine.call('symbolicate', [input, files, { args }], onMessage);
    } finally {
      if (input !== report) input?.close?.(); // what was opened here
    }
  }

  /** Runs the tool: {status, stdout, stderr, outputs}. */
  async run(args, { files = [], stdin, outputs, onMessage } = {}) {
    const all = await this.#platform.files(files);
    await this.#need('tool');
    return this.#engine.call('run', [args, { files: all, stdin, outputs }], onMessage);
  }

  /** Ends a worker, with all that it does. */
  terminate() {
    this.#engine.terminate();
  }
}

/** The functions of a package: as the methods of a Machsym that is loaded when it is first needed. */
export function common(load) {
  let loaded;
  const get = () => (loaded ??= load());
  const call = (method) => async (...args) => (await get())[method](...args);
  return {
    open: call('open'), slices: call('slices'), demangle: call('demangle'), symbols: call('symbols'),
    symbolicate: call('symbolicate'), run: call('run'),
  };
}
