import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
} from 'node:fs';
import { endianness } from 'node:os';

/** Bytes of the header of a write-ahead log, and of each frame in it. */
const logHeaderBytes = 32;
const frameHeaderBytes = 24;

/** Goes on from frame to frame: the sum of a frame depends on all before it. */
type Sum = readonly [number, number];

/** Bytes of the header of the log's index (the `-shm` file), which is there twice. */
const indexHeaderBytes = 48;

/**
 * Looks for damage in the write-ahead log of a database. SQLite ends a log at the first frame that is not right, and says
 * nothing: transactions that were persisted would be gone, and rows would be as they were before. A log that ends early because
 * the process or the machine ended is no damage: its last transaction was never acknowledged. The two differ in this:
 *
 * - a transaction begins after the one before it is on the disk, so a bad frame with a later transaction behind it is damage.
 *   Its sum goes on from that of the transaction before it, as it is said there or as it is computed. Transactions that the disk refused lie there, too, where shorter ones
 *   were written over longer ones: none of their sums goes on from that of another;
 * - the log's index says how many frames are on the disk, so a log that has fewer is damaged. The index is written after
 *   the log was synced, and it has a checksum of its own; one that is damaged says nothing.
 *
 * Somebody may be writing meanwhile, so it is damage only if two looks in a row see the same.
 *
 * @returns the damage in words, or `undefined`.
 */
export function logDamage(path: string): string | undefined {
  let seen: string | undefined;
  try {
    if (!existsSync(path) || isOpenHere(`${path}-shm`)) return undefined; // it was looked at when it was opened
    for (let look = 0; look < 5; look++) {
      const found = lookAtLog(path);
      if (found === undefined || found === seen) return found;
      seen = found;
    }
  } catch {
    // a database that cannot be opened tells why its files cannot be read
  }
  return undefined; // or it changes all the time: somebody has it open, and writes
}

function lookAtLog(path: string): string | undefined {
  const index = readIndex(`${path}-shm`);
  const log = readLog(`${path}-wal`);
  const unsaved = index !== undefined && index.frames > index.backfilled;
  if (typeof log !== 'string' && log.frames > 0 && statSync(path).size === 0)
    return 'the file is empty, and its write-ahead log is not'; // the driver would begin anew, and delete the log
  if (log === 'none')
    return unsaved ? `its write-ahead log is gone, which had ${index.frames} frames` : undefined;
  if (log === 'no header') return 'the head of its write-ahead log is damaged';
  if (log.gap !== undefined)
    return `frame ${log.gap} of its write-ahead log is damaged, and transactions follow it`;
  if (!unsaved || log.frames >= index.frames) return undefined;
  if (index.salt === log.salt)
    return `its write-ahead log ends after ${log.frames} frames, and ${index.frames} were persisted`;
  return log.frames === 0 ? 'its write-ahead log is not the one that was persisted' : undefined;
}

/**
 * Reads the head of the log's index, if its sum fits. It is in the byte order of the machine.
 *
 * @returns the frames, how many of them are in the database already, and the salt.
 */
function readIndex(path: string) {
  const bytes = readStart(path, indexHeaderBytes * 2 + 4);
  if (bytes === undefined || bytes.length < indexHeaderBytes * 2 + 4) return undefined;
  const header = bytes.subarray(0, indexHeaderBytes);
  if (!header.equals(bytes.subarray(indexHeaderBytes, indexHeaderBytes * 2))) return undefined;
  const sum = addToSum([0, 0], header.subarray(0, 40), true);
  if (sum[0] !== header.readUInt32LE(40) || sum[1] !== header.readUInt32LE(44)) return undefined;
  return {
    frames: header.readUInt32LE(16),
    backfilled: bytes.readUInt32LE(indexHeaderBytes * 2),
    salt: header.toString('hex', 32, 40),
  };
}

interface Log {
  /** Frames to the end of the last whole transaction. */
  readonly frames: number;
  /** The first frame that is not right, if a later transaction follows it. */
  readonly gap?: number;
  readonly salt: string;
}

function readLog(path: string): Log | 'none' | 'no header' {
  if (!existsSync(path)) return 'none';
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    if (size < logHeaderBytes) return 'none';
    const header = readAt(file, 0, logHeaderBytes);
    const magic = header.readUInt32BE(0);
    const pageBytes = header.readUInt32BE(8);
    const isLittle = magic === 0x377f0682;
    const sum = addToSum([0, 0], header.subarray(0, 24), isLittle);
    const isWhole = sum[0] === header.readUInt32BE(24) && sum[1] === header.readUInt32BE(28);
    const isOdd = pageBytes < 512 || pageBytes > 65_536;
    if ((!isLittle && magic !== 0x377f0683) || !isWhole || isOdd)
      return size === logHeaderBytes ? 'none' : 'no header';
    const salt = header.toString('hex', 16, 24);
    const frameBytes = frameHeaderBytes + pageBytes;
    const count = Math.floor((size - logHeaderBytes) / frameBytes);
    const at = (frame: number): number => logHeaderBytes + (frame - 1) * frameBytes;
    const sumOf = (before: Sum, frame: Buffer): Sum => {
      const withHead = addToSum(before, frame.subarray(0, 8), isLittle);
      return addToSum(withHead, frame.subarray(frameHeaderBytes), isLittle);
    };
    const isOfLog = (frame: Buffer): boolean => frame.toString('hex', 8, 16) === salt;
    let frames = 0;
    let running = sum;
    for (let frame = 1; frame <= count; frame++) {
      const bytes = readAt(file, at(frame), frameBytes);
      const before = running;
      running = sumOf(before, bytes);
      if (!isOfLog(bytes) || !fits(running, bytes)) {
        let ended = endsOf(bytes, (pages) => sumOf(before, withPages(bytes, pages)));
        for (let later = frame + 1; later <= count; later++) {
          const next = readAt(file, at(later), frameBytes);
          const goesOn = (end: Sum): boolean => fits(sumOf(end, next), next);
          if (isOfLog(next) && ended.some(goesOn)) return { frames, gap: frame, salt };
          ended = isOfLog(next) && pagesIn(next) !== 0 ? [sumIn(next)] : [];
        }
        break;
      }
      if (pagesIn(bytes) !== 0) frames = frame;
    }
    return { frames, salt };
  } finally {
    closeSync(file);
  }
}

/**
 * Lists the sums from which the next transaction goes on after a bad frame, if a transaction ended there: the sum in the frame,
 * or the computed one, if the salt or the sum in the frame is damaged. A frame that ends none by its head ends one if its sum
 * fits with another bit in its count of pages.
 */
function endsOf(bad: Buffer, sumWith: (pages: number) => Sum): readonly Sum[] {
  const said = sumIn(bad);
  const pages = pagesIn(bad);
  if (pages !== 0) return [said, sumWith(pages)];
  for (let bit = 0; bit < 32; bit++) if (fits(sumWith(2 ** bit), bad)) return [said];
  return [];
}

/** Reads the pages of the database after the transaction that a frame ends; 0 if it ends none. */
function pagesIn(frame: Buffer): number {
  return frame.readUInt32BE(4);
}

function withPages(frame: Buffer, pages: number): Buffer {
  const other = Buffer.from(frame);
  other.writeUInt32BE(pages, 4);
  return other;
}

/** Reads the sum in a frame. */
function sumIn(frame: Buffer): Sum {
  return [frame.readUInt32BE(16), frame.readUInt32BE(20)];
}

function fits([first, second]: Sum, frame: Buffer): boolean {
  const [one, two] = sumIn(frame);
  return first === one && second === two;
}

/** Adds to SQLite's own sum of a log, in words of 4 bytes. */
function addToSum([first, second]: Sum, bytes: Buffer, isLittle: boolean): Sum {
  let one = first;
  let two = second;
  const words = wordsOf(bytes, isLittle);
  for (let at = 0; at + 1 < words.length; at += 2) {
    one = (one + (words[at] ?? 0) + two) >>> 0;
    two = (two + (words[at + 1] ?? 0) + one) >>> 0;
  }
  return [one, two];
}

function wordsOf(bytes: Buffer, isLittle: boolean): Uint32Array {
  const copy = Uint8Array.from(bytes); // starts where words may start
  if (isLittle !== (endianness() === 'LE')) Buffer.from(copy.buffer).swap32();
  return new Uint32Array(copy.buffer, 0, Math.floor(copy.length / 4));
}

function readStart(path: string, bytes: number): Buffer | undefined {
  if (!existsSync(path)) return undefined;
  const file = openSync(path, 'r');
  try {
    return readAt(file, 0, bytes);
  } finally {
    closeSync(file);
  }
}

function readAt(file: number, position: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length);
  return buffer.subarray(0, readSync(file, buffer, 0, length, position));
}

/**
 * Returns whether this process has a file open. To close any handle of a file gives up all locks that the process has on it, also
 * those of SQLite: so a file that SQLite may have open is not opened beside it.
 */
function isOpenHere(path: string): boolean {
  const file = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (file === undefined || process.platform === 'win32') return false; // locks belong to the handle there
  return handles().some((handle) => {
    try {
      const { dev, ino } = fstatSync(handle, { bigint: true });
      return dev === file.dev && ino === file.ino;
    } catch {
      return false; // the one that the list was read with
    }
  });
}

function handles(): readonly number[] {
  try {
    return readdirSync('/dev/fd').map(Number);
  } catch {
    return Array.from({ length: 1_024 }, (_, handle) => handle);
  }
}
