import { closeSync, fstatSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { getOrMake } from 'sluice-kernel/internal';

/** Bytes of a page of each journal. */
const pageBytes = 4096;

/** Pages behind each map of pages: an entry has five bytes. */
const pagesOfMap = Math.floor(pageBytes / 5);

/** The first byte of a page of a table: one that leads to others, and one that holds rows. */
const [inner, leaf] = [0x05, 0x0d];

/** The pages of the file of a journal. */
class Pages implements Disposable {
  readonly #file: number;

  constructor(path: string) {
    this.#file = openSync(path, 'r+');
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
export function fixHead(path: string, fresh: string): void {
  using pages = new Pages(path);
  const head = readFileSync(fresh).subarray(0, pageBytes);
  head.writeUInt32BE(pages.count, 28);
  pages.write(1, head);
}

/**
 * Writes the pages anew that lead to the rows of a table and hold none: the map of the file tells which pages they led to.
 * Pages of indexes are left as they are. A file without such a map is left as it is.
 */
export function fixInnerPages(path: string): void {
  using pages = new Pages(path);
  if (pages.read(1).readUInt32BE(52) === 0) return; // no map
  const { count } = pages;
  const childrenOf = new Map<number, number[]>();
  for (let map = 2; map < count; map += pagesOfMap + 1) {
    const entries = pages.read(map);
    for (let at = 0; at < pagesOfMap; at++) {
      if (entries[at * 5] !== 5 || !isOfTable(pages.read(map + 1 + at))) continue; // no page below another one
      const parent = entries.readUInt32BE(at * 5 + 1);
      if (parent > 2 && parent <= count) getOrMake(childrenOf, parent, () => []).push(map + 1 + at); // the map may be damaged, too
    }
  }
  for (const [page, children] of childrenOf) {
    const bytes = pages.read(page);
    const led = ledTo(bytes);
    const isWhole =
      led.length > 0 && // else one of those below is damaged instead, or the map
      (led.every((child) => isOfTable(pages.read(child))) ||
        children.every((child) => led.includes(child)));
    if (isWhole || bytes[0] === leaf) continue;
    const ends = children.map((child) => ({ child, row: lastRow(pages, child) }));
    ends.sort(({ row: a }, { row: b }) => a.length - b.length || Buffer.compare(a, b));
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
function innerPage(ends: readonly { readonly child: number; readonly row: Buffer }[]): Buffer {
  const bytes = Buffer.alloc(pageBytes);
  let end = pageBytes;
  for (const [at, { child, row }] of ends.slice(0, -1).entries()) {
    end -= 4 + row.length;
    bytes.writeUInt32BE(child, end);
    row.copy(bytes, end + 4);
    bytes.writeUInt16BE(end, 12 + at * 2);
  }
  bytes[0] = inner;
  bytes.writeUInt16BE(ends.length - 1, 3);
  bytes.writeUInt16BE(end, 5);
  bytes.writeUInt32BE(ends.at(-1)?.child ?? 0, 8);
  return bytes;
}

/** Returns the number of the last row that a page leads to, as SQLite writes it; 0 if it cannot be read. */
function lastRow(pages: Pages, page: number): Buffer {
  let bytes = pages.read(page);
  for (let depth = 0; bytes[0] === inner && depth < 20; depth++)
    bytes = pages.read(bytes.readUInt32BE(8));
  const count = bytes.readUInt16BE(3);
  if (bytes[0] !== leaf || count === 0 || count > pageBytes / 4) return Buffer.of(0);
  const cell = bytes.subarray(bytes.readUInt16BE(8 + (count - 1) * 2));
  const row = cell.subarray(endOfNumber(cell)); // behind the size of the row
  return row.subarray(0, endOfNumber(row));
}

/** The bytes of a number: seven bits each, and another byte follows one above 0x7f. */
function endOfNumber(bytes: Buffer): number {
  return bytes.subarray(0, 8).findIndex((byte) => byte < 0x80) + 1;
}
