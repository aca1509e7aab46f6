#!/usr/bin/env node
/**
 * The file that people start. Loads the program with the code that V8 compiled for it in an earlier run,
 * which takes half the time of compiling it again. That code lies beside the program, where only those can
 * write who could also change the program, so it needs no trust of its own. V8 refuses code of another
 * version, processor or set of flags; the program is then compiled as usual.
 */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { cachedDataVersionTag, setFlagsFromString } from "node:v8";
import { constants, Script } from "node:vm";

/**
 * Paths of the program and of what only `metamcp serve` loads, relative to this file; their names change with
 * their content. The build sets them.
 */
declare const __PROGRAM__: string;
declare const __GATEWAY__: string;

/** By then a client has had its first answers, and V8 still has the code that it needed for them. */
const STORE_AFTER_MS = 5_000;

/** The arguments by which Node gives a CommonJS module its surroundings. */
type Given = [exports: object, require: NodeJS.Require, module: Module, file: string, folder: string];

// V8 counts payload buffers as heap growth. With its default limit every 20 MB of results would start a full
// garbage collection, which costs more than forwarding them. Compiled code is bound to the flags, so this is
// first.
setFlagsFromString("--heap-growing-percent=400");
const gatewayFile = join(__dirname, __GATEWAY__);
// Only `run.ts` and `serve.ts` send these: other commands use a small part of the code and must not decide
// what is stored.
run(join(__dirname, __PROGRAM__), "metamcp:serving");

/** Runs a file of ours with its stored code. Without, its code is stored some time after the event. */
function run(file: string, served: string): void {
  const compiledFile = `${file.slice(0, -".js".length)}-${cachedDataVersionTag()}.compiled`;
  const compiled = readCompiled(compiledFile);
  // The build escapes everything that is not ASCII, so a character is a byte.
  const script = new Script(Module.wrap(readFileSync(file, "latin1")), {
    filename: file,
    ...(compiled && { cachedData: compiled }),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  if (!compiled || script.cachedDataRejected) {
    const storeOnce = (): void => {
      process.removeListener("exit", storeOnce);
      store(script, compiledFile);
    };
    process.once(served, () => {
      setTimeout(storeOnce, STORE_AFTER_MS).unref();
      process.once("exit", storeOnce);
    });
  }
  const module = new Module(file);
  module.filename = file;
  const require = createRequire(file);
  // Other chunks `require` these files too, so they must be in the table of loaded modules.
  require.cache[file] = module as NodeJS.Module;
  (script.runInThisContext() as (...given: Given) => void)(
    module.exports as object,
    Object.assign((id: string) => load(require, id), require),
    module,
    file,
    dirname(file),
  );
  module.loaded = true;
}

function load(require: NodeJS.Require, id: string): unknown {
  if (basename(id) === basename(gatewayFile) && !require.cache[gatewayFile])
    run(gatewayFile, "metamcp:gateway");
  return require(id);
}

function readCompiled(compiledFile: string): Buffer | undefined {
  try {
    return readFileSync(compiledFile);
  } catch {
    return undefined;
  }
}

/** V8 does not notice every damaged file, so a whole one takes the place of the old one. */
function store(script: Script, compiledFile: string): void {
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
