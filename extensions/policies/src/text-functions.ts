import { RE2JS } from 're2js';

/** A pattern that takes time in proportion to the text alone. */
export interface LinearPattern {
  readonly isFoundIn: (text: string) => boolean;
}

/** Steps that one search may take: the size of the pattern times the length of the text. */
const stepsAtMost = 200_000;
/** Instructions that a pattern may have once it is compiled. */
const sizeAtMost = 200;

/** Compiles a pattern of `re()`. @throws Error that says what is wrong with it. */
export function regularExpression(source: string): LinearPattern {
  const compiled = RE2JS.compile(source);
  const size = compiled.programSize();
  if (size > sizeAtMost)
    throw new Error(`it has ${size} instructions, of at most ${sizeAtMost}: make it shorter`);
  const longest = Math.floor(stepsAtMost / size);
  return {
    isFoundIn: (text) => {
      if (text.length > longest)
        throw new Error(
          `re() reads at most ${longest} characters with this pattern, and the text has ${text.length}`,
        );
      return compiled.test(text);
    },
  };
}

/** Compiles a pattern of `glob()`: `*` stands for any text, and the whole text must fit. */
export function glob(source: string): LinearPattern {
  const [first = '', ...pieces] = source.split('*');
  const last = pieces.pop();
  return {
    isFoundIn: (text) => {
      if (last === undefined) return text === first;
      if (text.length < first.length + last.length) return false;
      if (!text.startsWith(first) || !text.endsWith(last)) return false;
      const end = text.length - last.length;
      let from = first.length;
      for (const piece of pieces) {
        const at = text.indexOf(piece, from);
        if (at < 0 || at + piece.length > end) return false;
        from = at + piece.length;
      }
      return true;
    },
  };
}
