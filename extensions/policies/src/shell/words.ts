import type { Assignment, Redirection, Word, WordPart } from 'unbash';

/** A word as the shell hands it to a program. */
export interface ShellWord {
  /** Absent if only the run of the text can tell. */
  readonly value?: string;
  /** The text that it surely begins with; it may be less than all. */
  readonly start: string;
  /** It has a slash, whatever the rest is. */
  readonly isPath?: boolean;
  /** It may turn out to be a flag. */
  readonly isOpen: boolean;
  /** It may turn out to be any words, or none. */
  readonly isMany: boolean;
}

/** A word that nothing is known of. */
export const openWord: ShellWord = { start: '', isOpen: true, isMany: true };

/** A word that is no flag, such as a path that a program finds. */
export const somePath: ShellWord = { start: '', isOpen: false, isMany: false };

/** A word that is known as it is. */
export function known(value: string): ShellWord {
  return { value, start: value, isOpen: false, isMany: false };
}

/** Reads a word or an assignment among the words of a command. */
export function shellWordOf(word: Word | Assignment): ShellWord {
  if (word.type === 'Assignment') {
    const value = word.value.type === 'Word' ? shellWordOf(word.value).value : undefined;
    return value === undefined
      ? { ...somePath, start: `${word.name}=` }
      : known(`${word.name}=${value}`);
  }
  const { parts, text, value } = word;
  if (parts === undefined) {
    const bare = text.replaceAll(/\\[\s\S]/g, '');
    const hasBraces = bare.includes('{') && bare.includes('}') && /,|\.\./.test(bare);
    const isKnownText = !hasBraces && !/^~[^/]*$|[*?$`]/.test(bare);
    if (isKnownText) return known(value);
    const [start = ''] = /^[\w./@%:+,=-]*/.exec(text) ?? [];
    return start === '' || start.startsWith('-')
      ? { ...openWord, start }
      : { start, isOpen: false, isMany: true };
  }
  if (parts.every(isKnown)) return known(value);
  const start = knownText(parts[0]);
  const isMany = parts.some(splits);
  const isPath = parts.some(hasSlash);
  return { start, isPath, isOpen: isMany || start === '' || start.startsWith('-'), isMany };
}

function isKnown(part: WordPart): boolean {
  if (part.type === 'DoubleQuoted') return part.parts.every((one) => one.type === 'Literal');
  return part.type === 'Literal' || part.type === 'SingleQuoted' || part.type === 'AnsiCQuoted';
}

/** The text that a part surely begins with; it may be less than all. */
function knownText(part: WordPart | undefined): string {
  if (part?.type === 'DoubleQuoted') return knownText(part.parts[0]);
  return part !== undefined && isKnown(part) && 'value' in part ? part.value : '';
}

function hasSlash(part: WordPart): boolean {
  if (part.type === 'DoubleQuoted') return part.parts.some(hasSlash);
  return part.type === 'Literal' && part.value.includes('/');
}

/** An expansion may become any words, unless quotes hold it together. The words of a pattern all begin as the pattern does. */
function splits(part: WordPart): boolean {
  if (part.type === 'DoubleQuoted') return part.parts.some(({ text }) => /^\$.*@/s.test(text));
  return part.type.endsWith('Expansion') && part.type !== 'BraceExpansion';
}

/** The last name of a path, in small letters, as a file system may take it. */
export function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).toLowerCase();
}

/** Puts another word for one that begins with a mark, and an unknown one for one that has it elsewhere. */
export function replaced(word: ShellWord, mark: string, by: ShellWord): ShellWord {
  if (word.value?.includes(mark) !== true) return word;
  return word.value.startsWith(mark) ? by : somePath;
}

/** The text that redirections give to a command, if it is known. */
export function inputOf(redirects: readonly Redirection[]): string | undefined {
  const one = redirects.findLast(({ operator, descriptor }) =>
    descriptor?.type === 'FileDescriptor' ? descriptor.value === 0 : operator.startsWith('<'),
  );
  if (one?.type === 'HereString') return one.target && shellWordOf(one.target).value;
  if (one?.type !== 'HereDoc') return undefined;
  const { text, parts } = one.body;
  const isPlain = one.delimiter?.quoted === true || (parts === undefined && !text.includes('\\'));
  return isPlain ? text : undefined;
}
