import { type Flags, longFlag } from './programs.js';
import { known, openWord, type ShellWord } from './words.js';

/** The words after the flags of a program, and the values of the flags by their letters. */
interface AfterFlags {
  readonly rest: readonly ShellWord[];
  readonly given: readonly (readonly [letter: string, value: string | undefined])[];
}

/** Reads the flags before the words of a program. Nothing if one of them is not known: it might take the next word. */
export function afterFlags(
  words: readonly ShellWord[],
  { taking, alone }: Flags,
): AfterFlags | undefined {
  const given: [string, string | undefined][] = [];
  let at = 0;
  for (; at < words.length; at++) {
    const { value, isOpen } = words[at] ?? openWord;
    if (value === undefined && isOpen) return undefined;
    if (value === '--') return { rest: words.slice(at + 1), given };
    if (value === undefined || value === '-' || !value.startsWith('-')) break;
    if (longFlag.test(value)) continue;
    const letters = value.slice(1);
    const end = [...letters].findIndex((letter) => !alone.includes(letter));
    if (end < 0) continue;
    const letter = letters.charAt(end);
    if (!taking.includes(letter)) return undefined;
    const attached = letters.slice(end + 1);
    if (attached === '') at++;
    const { value: taken, isMany } = attached === '' ? (words[at] ?? openWord) : known(attached);
    if (isMany) return undefined;
    given.push([letter, taken]);
  }
  return { rest: words.slice(at), given };
}
