import { glob, type LinearPattern } from '../text-functions.js';
import { readShell, type ShellCommand, type ShellReading } from './read-shell.js';
import type { ShellWord } from './words.js';

/** Letters of a pattern, each word of which is looked for in each command. */
const longestPattern = 200;
/** Short flags in one word that may as well stand in several. */
const mostLetters = 3;
/** The words for one flag, of any program. */
const sameFlags = [
  ['r', 'R', '--recursive'],
  ['f', '--force'],
];

/** A command that a rule looks for: a program, flags in any order and form, and operands in order. */
interface Wanted {
  readonly program: LinearPattern;
  /** Any of the forms of each flag does. */
  readonly flags: readonly (readonly string[])[];
  readonly operands: readonly LinearPattern[];
}

/**
 * Compiles a pattern of `runs()`. Its search throws an error if no command of the text fits, and one of them cannot be read.
 *
 * @throws Error that says what is wrong with it.
 */
export function commandPattern(source: string): LinearPattern {
  const [program, ...words] = source.trim().split(/\s+/);
  if (program === undefined || !/^(>|[\w.*+[-]+)$/.test(program) || source.length > longestPattern)
    throw new Error(
      `"${source.slice(0, longestPattern)}" must begin with the name of a program, without a folder`,
    );
  const wanted: Wanted = {
    program: glob(program.toLowerCase()),
    flags: words.filter((word) => /^-./.test(word)).flatMap(flagsOf),
    operands: words.filter((word) => word !== '*' && !/^-./.test(word)).map(glob),
  };
  let last: { readonly text: string; readonly reading: ShellReading } | undefined;
  return {
    isFoundIn: (text) => {
      if (last?.text !== text) last = { text, reading: readShell(text) };
      const { commands, unread } = last.reading;
      const found = commands.map((command) => judged(command, wanted));
      if (found.includes('yes')) return true;
      const why =
        unread ??
        (found.includes('perhaps')
          ? 'a word of it is known only when it runs, or may be mere data'
          : undefined);
      if (why !== undefined) throw new Error(`runs() cannot read the command for certain: ${why}`);
      return false;
    },
  };
}

/** The flags of a word, each with its forms: `-rf` is `-r` and `-f`, and `-r` is `--recursive`. */
function flagsOf(word: string): readonly (readonly string[])[] {
  const isCluster = !word.startsWith('--') && word.length <= mostLetters + 1;
  const flags = isCluster ? [...word.slice(1)] : [word];
  return flags.map((flag) => sameFlags.find((same) => same.includes(flag)) ?? [flag]);
}

function judged(
  { program, words, isCertain }: ShellCommand,
  wanted: Wanted,
): 'yes' | 'no' | 'perhaps' {
  if (!wanted.program.isFoundIn(program)) return 'no';
  const end = words.findIndex(({ value }) => value === '--');
  const before = end < 0 ? words : words.slice(0, end);
  const given = before.flatMap(({ value }) => (value?.startsWith('-') === true ? [value] : []));
  const operands = words.filter(
    (word, at) => !(at < before.length && word.value?.startsWith('-') === true),
  );
  const hasFlags = wanted.flags.every((forms) => given.some((one) => isForm(one, forms)));
  const hasOperands = isInOrder(operands, wanted.operands);
  if (hasFlags && hasOperands) return isCertain ? 'yes' : 'perhaps';
  // a flag of rm has no slash
  const mayHaveFlags =
    hasFlags || before.some(({ isOpen, isPath }) => isOpen && !(program === 'rm' && isPath));
  const mayHaveOperands = hasOperands || words.some(({ value }) => value === undefined);
  return mayHaveFlags && mayHaveOperands ? 'perhaps' : 'no';
}

/** Returns whether a flag as it stands in a command is one of some forms; a long one may be cut short. */
function isForm(given: string, forms: readonly string[]): boolean {
  const [name = ''] = given.split('=');
  return forms.some((form) => {
    if (form.length === 1) return !given.startsWith('--') && given.includes(form);
    if (form.startsWith('--') && given.startsWith('--'))
      return given === form || (name.length > 2 && !form.includes('=') && form.startsWith(name));
    return given === form;
  });
}

function isInOrder(words: readonly ShellWord[], wanted: readonly LinearPattern[]): boolean {
  let next = 0;
  for (const { value } of words)
    if (value !== undefined && wanted[next]?.isFoundIn(value) === true) next++;
  return next >= wanted.length;
}
