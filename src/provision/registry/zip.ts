/**
 * Unpacks an untrusted zip archive. Supports files and folders, stored or deflated. Refuses everything else:
 * links, paths out of the folder, duplicate names, wrong sizes and archives above the limits.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { inflateRaw } from "node:zlib";
import { MetaMcpError } from "../../kernel/errors.ts";

export interface ZipBounds {
  readonly files: number;
  /** The total unpacked size. */
  readonly bytes: number;
}

interface Item {
  /** Separated by `/`; checked not to leave the folder. */
  readonly name: string;
  readonly folder: boolean;
  readonly executable: boolean;
  readonly deflated: boolean;
  readonly packed: number;
  readonly size: number;
  readonly offset: number;
}

const inflate = promisify(inflateRaw);

const END = 0x06_05_4b_50;
const CENTRAL = 0x02_01_4b_50;
const LOCAL = 0x04_03_4b_50;
const END_SIZE = 22;
const CENTRAL_SIZE = 46;
const LOCAL_SIZE = 30;
const MAX_COMMENT_LENGTH = 0xff_ff;
const UNIX = 3;
const KIND = 0o170_000;
const REGULAR = 0o100_000;
const DIRECTORY = 0o040_000;
const MAX_NAME_LENGTH = 512;
const MAX_DEPTH = 32;

/**
 * Writes all files, readable by all users, into `folder`, which must exist and be empty. Throws MetaMcpError
 * before the first write if the list of files is invalid.
 */
export async function unzip(archive: Buffer, folder: string, bounds: ZipBounds): Promise<void> {
  const items = [...listOf(archive, bounds)];
  checkNames(items);
  const total = items.reduce((sum, { size }) => sum + size, 0);
  if (total > bounds.bytes) throw invalid(`it unpacks to more than ${bounds.bytes} bytes`);
  for (const item of items) {
    const path = join(folder, ...item.name.split("/"));
    await mkdir(item.folder ? path : dirname(path), { recursive: true, mode: 0o755 });
    if (!item.folder) {
      await writeFile(path, await contentOf(archive, item), {
        flag: "wx",
        mode: item.executable ? 0o755 : 0o644,
      });
    }
  }
}

function* listOf(archive: Buffer, { files }: ZipBounds): Iterable<Item> {
  const end = endOf(archive);
  const count = archive.readUInt16LE(end + 10);
  if (archive.readUInt16LE(end + 4) !== 0 || archive.readUInt16LE(end + 8) !== count)
    throw invalid("it is one of several parts");
  if (count > files) throw invalid(`it contains more than ${files} files`);
  let at = archive.readUInt32LE(end + 16);
  for (let index = 0; index < count; index++) {
    if (at + CENTRAL_SIZE > end || archive.readUInt32LE(at) !== CENTRAL)
      throw invalid("its list of files is broken");
    const nameLength = archive.readUInt16LE(at + 28);
    const next =
      at + CENTRAL_SIZE + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
    if (next > end) throw invalid("its list of files is broken");
    yield itemAt(archive, at, archive.subarray(at + CENTRAL_SIZE, at + CENTRAL_SIZE + nameLength));
    at = next;
  }
}

/** Finds the end record by searching backwards, because a comment may follow it. */
function endOf(archive: Buffer): number {
  const first = Math.max(0, archive.length - END_SIZE - MAX_COMMENT_LENGTH);
  for (let at = archive.length - END_SIZE; at >= first; at--) {
    if (archive.readUInt32LE(at) === END && at + END_SIZE + archive.readUInt16LE(at + 20) === archive.length)
      return at;
  }
  throw invalid("it is not a zip archive");
}

function itemAt(archive: Buffer, at: number, rawName: Buffer): Item {
  const method = archive.readUInt16LE(at + 10);
  const packed = archive.readUInt32LE(at + 20);
  const size = archive.readUInt32LE(at + 24);
  const mode = archive[at + 5] === UNIX ? archive.readUInt16LE(at + 40) : 0;
  const offset = archive.readUInt32LE(at + 42);
  if (archive.readUInt16LE(at + 8) & 1) throw invalid("it is encrypted");
  if (method !== 0 && method !== 8) throw invalid("it uses an unknown compression method");
  if ([packed, size, offset].includes(0xff_ff_ff_ff)) throw invalid("it is too large");
  const written = new TextDecoder("utf-8", { fatal: false }).decode(rawName);
  const folder = written.endsWith("/");
  const kind = mode & KIND;
  if (kind !== 0 && kind !== (folder ? DIRECTORY : REGULAR)) throw invalid("it contains a link or a device");
  if (folder && size > 0) throw invalid("it contains a folder with content");
  const name = folder ? written.slice(0, -1) : written;
  return { name, folder, executable: (mode & 0o111) !== 0, deflated: method === 8, packed, size, offset };
}

/**
 * Throws on unsafe and duplicate names. Names that differ only in case are not checked: on a case-insensitive
 * file system writing the second file fails.
 */
function checkNames(items: readonly Item[]): void {
  const seen = new Map<string, "file" | "folder">();
  const claim = (key: string, kind: "file" | "folder", again: boolean): void => {
    const known = seen.get(key);
    if (known && !(again && known === kind)) throw invalid("it contains two files with the same name");
    seen.set(key, kind);
  };
  for (const { name, folder } of items) {
    const parts = name.split("/");
    const wrong = parts.some((part) => part === "" || part === "." || part === ".." || /[. ]$/.test(part));
    if (wrong || /[\\:\p{C}\uFFFD]/u.test(name) || name.length > MAX_NAME_LENGTH || parts.length > MAX_DEPTH)
      throw invalid("it contains a file with an unsafe or invalid name");
    const keys = name.normalize("NFC").split("/");
    for (let depth = 1; depth < keys.length; depth++) claim(keys.slice(0, depth).join("/"), "folder", true);
    claim(keys.join("/"), folder ? "folder" : "file", folder);
  }
}

async function contentOf(archive: Buffer, { offset, packed, size, deflated }: Item): Promise<Buffer> {
  if (offset + LOCAL_SIZE > archive.length || archive.readUInt32LE(offset) !== LOCAL)
    throw invalid("a file in it is broken");
  const start = offset + LOCAL_SIZE + archive.readUInt16LE(offset + 26) + archive.readUInt16LE(offset + 28);
  if (start + packed > archive.length) throw invalid("a file in it is broken");
  const data = archive.subarray(start, start + packed);
  let content: Buffer = data;
  if (deflated) {
    try {
      content = await inflate(data, { maxOutputLength: Math.max(1, size) });
    } catch {
      throw invalid("a file in it is broken, or larger than it says");
    }
  }
  if (content.length !== size) throw invalid("a file in it has another size than it says");
  return content;
}

function invalid(why: string): MetaMcpError {
  return new MetaMcpError("server_unavailable", `The bundle cannot be unpacked: ${why}.`);
}
