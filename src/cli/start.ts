#!/usr/bin/env node
/**
 * The file that people start. Loads the program with the code that V8 compiled for it in an earlier run,
 * which takes half the time of compiling it again. That code lies beside the program, where only those can
 * write who could also change the program, so it needs no trust of its own. V8 refuses code of another
 * version, processor or set of flags; the program is then compiled as usual.
 */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { cachedDataVersionTag, setFlagsFromString } from "node:v8";
import { constants, Script } from "node:vm";

/** Path of the program, relative to this file; its name changes with its content. The build sets it. */
declare const __PROGRAM__: string;

/** By then a client has had its first answers, and V8 still has the code that it needed for them. */
const STORE_AFTER_MS = 5_000;

/** The arguments by which Node gives a CommonJS module its surroundings. */
type Given = [exports: object, require: NodeJS.Require, module: Module, file: string, folder: string];

// V8 counts payload buffers as heap growth. With its default limit every 20 MB of results would start a full
// garbage collection, which costs more than forwarding them. Compiled code is bound to the flags, so this is
// first.
setFlagsFromString("--heap-growing-percent=400");
const file = join(__dirname, __PROGRAM__);
const compiledFile = `${file.slice(0, -".js".length)}-${cachedDataVersionTag()}.compiled`;
const compiled = readCompiled();
// The build escapes everything that is not ASCII, so a character is a byte.
const script = new Script(Module.wrap(readFileSync(file, "latin1")), {
  filename: file,
  ...(compiled && { cachedData: compiled }),
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
});
// Only `run.ts` sends this: other commands use a small part of the program and must not decide what is
// stored.
if (!compiled || script.cachedDataRejected)
  process.once("metamcp:serving", () => {
    setTimeout(store, STORE_AFTER_MS).unref();
    process.once("exit", store);
  });
run();

/** Other chunks `require` the program too, so it must be in the table of loaded modules. */
function run(): void {
  const module = new Module(file);
  module.filename = file;
  const require = createRequire(file);
  require.cache[file] = module as NodeJS.Module;
  (script.runInThisContext() as (...given: Given) => void)(
    module.exports as object,
    require,
    module,
    file,
    dirname(file),
  );
  module.loaded = true;
}

function readCompiled(): Buffer | undefined {
  try {
    return readFileSync(compiledFile);
  } catch {
    return undefined;
  }
}

/** V8 does not notice every damaged file, so a whole one takes the place of the old one. */
function store(): void {
  process.removeListener("exit", store);
  const temporary = `${compiledFile}.${process.pid}`;
  try {
    const descriptor = openSync(temporary, "wx", 0o644);
    writeSync(descriptor, script.createCachedData());
    fsyncSync(descriptor);
    closeSync(descriptor);
    renameSync(temporary, compiledFile);
  } catch {
    // The folder cannot be written: the next start compiles again.
    rmSync(temporary, { force: true });
  }
}
