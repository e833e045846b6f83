type Method = (this: unknown, ...given: unknown[]) => unknown;

/** Methods that read a text from end to end at worst, and where the text is. */
const readers: readonly (readonly [
  target: object,
  names: readonly string[],
  of: 'this' | 'given',
])[] = [
  [
    String.prototype,
    [
      ...['charCodeAt', 'codePointAt', 'endsWith', 'includes', 'indexOf', 'lastIndexOf', 'match'],
      ...['matchAll', 'normalize', 'replace', 'replaceAll', 'search', 'slice', 'split'],
      ...['startsWith', 'substring', 'toLowerCase', 'toUpperCase', 'trim', 'trimEnd', 'trimStart'],
    ],
    'this',
  ],
  [RegExp.prototype, ['exec', 'test'], 'given'],
  [JSON, ['stringify'], 'given'],
];

/**
 * Counts what work does with texts, in place of the time it takes: each call of a method that reads a text counts as
 * long as the text is. That is what the call costs at most, also where the text was put together from pieces and is
 * joined to be read. The work must not wait.
 */
export function stepsOf(work: () => void): number {
  let steps = 0;
  let isCounting = true;
  const undo = readers.flatMap(([target, names, of]) =>
    names.map((name) => {
      const own = Reflect.get(target, name) as Method; // a method, by the names above
      const counted: Method = function (this: unknown, ...given) {
        if (isCounting) {
          isCounting = false; // a method may use another for the same
          const text = of === 'this' ? this : given[0];
          steps += 1 + (typeof text === 'string' ? text.length : 0);
          const result = own.apply(this, given);
          isCounting = true;
          return result;
        }
        return own.apply(this, given);
      };
      Object.defineProperty(target, name, { value: counted, writable: true, configurable: true });
      return () =>
        Object.defineProperty(target, name, { value: own, writable: true, configurable: true });
    }),
  );
  try {
    work();
  } finally {
    for (const put of undo) put();
  }
  return steps;
}
