import { isRecord, type Path, pathText } from '../source/node.js';
import { type Row, rowOf, type Verdict } from './rows.js';

/** The verdict on one path. */
export interface Finding {
  readonly path: string;
  readonly verdict: Verdict;
  readonly text: string;
  /** It restricts something that is not kept, and nobody has accepted that. */
  readonly isRefused: boolean;
}

/** The word of a conversion on a path, and on all that is below it. It wins over the row. */
type Note = Pick<Row, 'is' | 'text' | 'restricts'>;

/** Keys that restrict something by their name, for paths without a row. */
const restricting =
  /allow|deny|block|polic|owner|pair|sandbox|elevat|restrict|approv|permission|only|secur|auth|trust|require|mention|ban|limit|access|forbid|exclu|reject|refus|filter|guard|strict|safe|whitelist|private|visib|scope|confirm|^ask|disable|quota|role|admin|users|members|mute/i;
const unknown: Note = {
  is: 'not supported',
  text: 'The path is not known.',
  restricts: 'by its name',
};

/** The leaves of a config: texts, numbers, flags, and what is empty. */
export function leavesOf(value: unknown, path: Path = []): readonly (readonly [Path, unknown])[] {
  if (Array.isArray(value) && value.length > 0)
    return value.flatMap((one, at) => leavesOf(one, [...path, at]));
  const keys = isRecord(value) ? Object.entries(value) : [];
  if (keys.length > 0) return keys.flatMap(([key, one]) => leavesOf(one, [...path, key]));
  return path.length === 0 ? [] : [[path, value]];
}

/**
 * Collects what becomes of each path.
 *
 * @example
 * const report = new Report(['tools.exec.security']);
 * report.refuse(node.path, 'it cannot be kept');
 * report.findings(config); // one for each leaf
 */
export class Report {
  readonly #notes = new Map<string, Note>();
  readonly #secrets = new Map<string, string>();
  readonly #accepted: ReadonlySet<string>;
  readonly #used = new Set<string>();

  constructor(accepted: readonly string[] = []) {
    this.#accepted = new Set(accepted);
  }

  /** Says what becomes of a path. It takes no refusal back. */
  note(path: Path, is: Verdict, text?: string): void {
    if (this.#notes.get(pathText(path))?.restricts === true) return;
    this.#notes.set(pathText(path), { is, ...(text !== undefined && { text }) });
  }

  /** Says that a restriction cannot be kept. */
  refuse(path: Path, text: string): void {
    this.#notes.set(pathText(path), { is: 'not supported', text, restricts: true });
  }

  secret(path: Path, variable: string): void {
    this.#secrets.set(pathText(path), variable);
  }

  /** One finding for each leaf of a config, in its order. */
  findings(config: unknown): readonly Finding[] {
    return leavesOf(config).map(([path, value]) => {
      const place = pathText(path);
      const own = this.#noteOn(path);
      const { is, text = '', restricts } = own ?? rowOf(path, value) ?? unknown;
      const variable = this.#secrets.get(place);
      const isOpen = is === 'not supported' && doesRestrict(restricts, path, value);
      const isAccepted = isOpen && this.#isAccepted(path);
      const told = [
        variable !== undefined && `Set the variable ${variable} to it.`,
        text,
        isAccepted && 'Accepted: it is not kept.',
      ];
      return {
        path: place,
        verdict: variable !== undefined && is === 'converted' ? 'converted with a difference' : is,
        text: told.filter((one) => one !== false && one !== '').join(' '),
        isRefused: isOpen && !isAccepted,
      };
    });
  }

  /** The paths that were accepted although they restrict nothing that is lost. */
  unusedAccepts(): readonly string[] {
    return [...this.#accepted].filter((path) => !this.#used.has(path));
  }

  #noteOn(path: Path): Note | undefined {
    for (let length = path.length; length > 0; length--) {
      const note = this.#notes.get(pathText(path.slice(0, length)));
      if (note !== undefined) return note;
    }
    return undefined;
  }

  #isAccepted(path: Path): boolean {
    const named = path
      .map((_, at) => pathText(path.slice(0, at + 1)))
      .find((one) => this.#accepted.has(one));
    if (named !== undefined) this.#used.add(named);
    return named !== undefined;
  }
}

function doesRestrict(restricts: Row['restricts'], path: Path, value: unknown): boolean {
  if (value === null || isRecord(value)) return false; // a leaf: an object without a key
  if (restricts === 'by its name') return path.some((key) => restricting.test(String(key)));
  return restricts === true || (restricts !== undefined && !restricts.includes(value));
}
