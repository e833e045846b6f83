import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { getOrMake } from '../../../kernel/index.js';

/** Bytes of a page of each journal. */
const pageBytes = 4096;

/** Pages behind each map of pages: an entry has five bytes. */
const pagesOfMap = Math.floor(pageBytes / 5);

/** The first byte of a page of a table: one that leads to others, and one that holds rows. */
const [inner, leaf] = [0x05, 0x0d];

/** The pages of the file of a journal. */
class Pages implements Disposable {
  readonly #file: number;

  constructor(path: string, flags: 'r' | 'r+') {
    this.#file = openSync(path, flags);
  }

  get count(): number {
    return Math.floor(fstatSync(this.#file).size / pageBytes);
  }

  /** @returns zeros for a page that is not there. */
  read(page: number): Buffer {
    const bytes = Buffer.alloc(pageBytes);
    if (page > 0) readSync(this.#file, bytes, 0, pageBytes, (page - 1) * pageBytes);
    return bytes;
  }

  write(page: number, bytes: Buffer): void {
    writeSync(this.#file, bytes, 0, pageBytes, (page - 1) * pageBytes);
    fsyncSync(this.#file);
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }
}

/**
 * Writes the first page of a file anew: the head and the schema. Every journal is made in the same way, so its tables begin
 * where those of a new one do; if they do not, no row's sums fit.
 *
 * @param fresh the path of a journal that was just made.
 */
export function mendHead(path: string, fresh: string): void {
  using from = new Pages(fresh, 'r');
  using to = new Pages(path, 'r+');
  const head = from.read(1);
  head.writeUInt32BE(to.count, 28);
  to.write(1, head);
}

/**
 * Writes the pages anew that lead to the rows of a table and hold none: the map of the file tells which pages they led to.
 * Pages of indexes are left as they are. A file of older times has no such map, and is left as it is.
 */
export function mendInnerPages(path: string): void {
  using pages = new Pages(path, 'r+');
  if (pages.read(1).readUInt32BE(52) === 0) return; // no map
  const childrenOf = new Map<number, number[]>();
  let map: Buffer = Buffer.alloc(0);
  for (let page = 3; page <= pages.count; page++) {
    const place = (page - 2) % (pagesOfMap + 1);
    if (place === 0 || map.length === 0) map = pages.read(page - place);
    if (place === 0 || map[(place - 1) * 5] !== 5) continue; // a map, or no page below another one
    if (isOfTable(pages.read(page)))
      getOrMake(childrenOf, map.readUInt32BE((place - 1) * 5 + 1), () => []).push(page);
  }
  for (const [page, children] of childrenOf) {
    const led = ledTo(pages.read(page)).map((child) => isOfTable(pages.read(child)));
    if (led.filter((isRight) => isRight).length * 2 > led.length) continue; // one of those below may be damaged instead
    const ends = children.map((child) => ({ child, row: lastRow(pages, child) }));
    ends.sort((one, other) => (one.row < other.row ? -1 : 1));
    pages.write(page, innerPage(ends));
  }
}

function isOfTable([kind]: Buffer): boolean {
  return kind === inner || kind === leaf;
}

/** Returns the pages that a page leads to; none if it does not look like one. */
function ledTo(bytes: Buffer): number[] {
  if (bytes[0] !== inner) return [];
  const count = Math.min(bytes.readUInt16BE(3), pageBytes / 6);
  const cells = Array.from({ length: count }, (_, at) => bytes.readUInt16BE(12 + at * 2));
  return [...cells, 8].map((at) => (at <= pageBytes - 4 ? bytes.readUInt32BE(at) : 0));
}

/** Makes a page that leads to others, in the order of their last rows. */
function innerPage(ends: readonly { readonly child: number; readonly row: bigint }[]): Buffer {
  const bytes = Buffer.alloc(pageBytes);
  let end = pageBytes;
  for (const [at, { child, row }] of ends.slice(0, -1).entries()) {
    const cell = Buffer.from([0, 0, 0, 0, ...varint(row)]);
    cell.writeUInt32BE(child);
    end -= cell.copy(bytes, end - cell.length);
    bytes.writeUInt16BE(end, 12 + at * 2);
  }
  bytes[0] = inner;
  bytes.writeUInt16BE(ends.length - 1, 3);
  bytes.writeUInt16BE(end, 5);
  bytes.writeUInt32BE(ends.at(-1)?.child ?? 0, 8);
  return bytes;
}

/** Returns the number of the last row that a page leads to; 0 if it cannot be read. */
function lastRow(pages: Pages, page: number, depth = 0): bigint {
  const bytes = pages.read(page);
  if (bytes[0] === inner && depth < 20) return lastRow(pages, bytes.readUInt32BE(8), depth + 1);
  const count = bytes.readUInt16BE(3);
  if (bytes[0] !== leaf || count === 0 || count > pageBytes / 4) return 0n;
  const cell = bytes.subarray(bytes.readUInt16BE(8 + (count - 1) * 2));
  const start = cell.findIndex((byte) => byte < 0x80) + 1; // behind the size of the row
  return readVarint(cell.subarray(start));
}

/** Reads a number as SQLite writes it: seven bits a byte, and another byte follows one above 0x7f. */
function readVarint(bytes: Buffer): bigint {
  const end = bytes.findIndex((byte) => byte < 0x80);
  return bytes.subarray(0, end + 1).reduce((sum, byte) => (sum << 7n) | BigInt(byte & 0x7f), 0n);
}

function varint(value: bigint): number[] {
  const bytes = [Number(value & 0x7fn)];
  for (let rest = value >> 7n; rest > 0n; rest >>= 7n) bytes.unshift(Number(rest & 0x7fn) | 0x80);
  return bytes;
}
