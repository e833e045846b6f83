import type { ASTNode } from '@marcbachmann/cel-js';
import { didYouMean } from './problem.js';
import { commandPattern } from './shell/runs.js';
import { glob, type LinearPattern, regularExpression } from './text-functions.js';

/** Functions and macros that a condition may call. The time of each is bounded by the size of what is read (judgement §5.5). */
const allowedCalls: readonly string[] = [
  ...['has', 'size', 'contains', 'startsWith', 'endsWith', 'indexOf', 'lastIndexOf', 'substring'],
  ...['lowerAscii', 'upperAscii', 'trim', 'int', 'double', 'string', 'bool', 'dyn', 'type'],
  ...['timestamp', 'duration', 'getFullYear', 'getMonth', 'getDate', 'getDayOfMonth'],
  ...['getDayOfWeek', 'getDayOfYear', 'getHours', 'getMinutes', 'getSeconds', 'getMilliseconds'],
  ...['all', 'exists', 'exists_one', 're', 'glob', 'runs'],
];

/** Macros that go over a list. */
const macros: readonly string[] = ['all', 'exists', 'exists_one'];
/** Functions that read a text letter by letter. */
const readers: readonly string[] = ['size', 'lowerAscii', 'upperAscii', 'trim'];
/** Functions that look for a text in another: with both from outside they take up to the product of the lengths. */
const searches: readonly string[] = ['contains', 'indexOf', 'lastIndexOf'];

/** Calls of `runs()` in one condition, each of which may take a tenth of a second. */
const runsAtMost = 20;
/** Letters that a text may have that a condition looks for. */
const soughtAtMost = 200;
/** Values of the payload that a condition reads at most; fewer with a macro. */
const valuesAtMost = 5_000;
const valuesOfMacroAtMost = 2_500;
/** Letters of the payload that a condition reads at most, by the costliest thing that it does with them. */
const lettersAtMost = { plain: 4_000_000, read: 500_000, sought: 10_000 } as const;
/** Letters times values that a condition with a macro reads at most. */
const productAtMost = 5_000_000;

/** The bounds of a condition. */
interface Cost {
  readonly letters: number;
  readonly hasMacro: boolean;
  /** Elements of lists that are written out. */
  readonly literals: number;
}

/** The names that a condition reads, and its bounds. */
interface Reading {
  readonly names: ReadonlySet<string>;
  readonly cost: Cost;
}

/** Compiles the pattern of a function, by its name. @throws Error that says what is wrong with it. */
const compilers = { re: regularExpression, glob, runs: commandPattern } as const;

/** A function whose pattern is written out. */
type PatternCall = keyof typeof compilers;

/** The names of the functions whose pattern is written out. */
export const patternCalls = Object.keys(compilers) as readonly PatternCall[]; // its own keys

/** The patterns of a condition, which are known when it is compiled. */
export class Patterns {
  readonly #compiled = new Map<string, LinearPattern>();

  add(kind: PatternCall, source: string): void {
    this.#compiled.set(`${kind} ${source}`, compilers[kind](source));
  }

  /** @throws Error if the pattern was not written out. */
  of(kind: PatternCall, source: string): LinearPattern {
    const found = this.#compiled.get(`${kind} ${source}`);
    if (found === undefined) throw new Error(`the pattern of ${kind}() must be written out`);
    return found;
  }
}

/** Finds what a condition reads and what that may cost, and compiles its patterns. @throws Error for a call that is not allowed. */
export function readingOf(ast: ASTNode, patterns: Patterns): Reading {
  const names = new Set<string>();
  let letters: keyof typeof lettersAtMost = 'plain';
  let hasMacro = false;
  let literals = 0;
  let runs = 0;

  const within = (one: unknown, known: ReadonlySet<string>, depth: number): void => {
    if (Array.isArray(one)) for (const part of one) within(part, known, depth);
    else if (typeof one === 'object' && one !== null && 'op' in one)
      visit(one as ASTNode, known, depth); // the parser makes no other object with an `op`
  };

  /** `known` are the names that a macro binds to texts which are written out. */
  const visit = (node: ASTNode, known: ReadonlySet<string>, depth: number): void => {
    if (node.op === 'id') names.add(node.args);
    if (node.op === 'list') literals += node.args.length;
    if (node.op === 'value' || node.op === 'id') return;
    if (node.op !== 'call' && node.op !== 'rcall') {
      within(node.args, known, depth);
      return;
    }
    const [called] = node.args;
    const receiver = node.op === 'rcall' ? node.args[1] : undefined;
    const args = node.op === 'call' ? node.args[1] : node.args[2];
    checkCall(called, depth);
    if (readers.includes(called) && letters === 'plain') letters = 'read';
    if (searches.includes(called) && !isKnown(args[0], known)) letters = 'sought';
    const pattern = patternCalls.find((one) => one === called);
    if (pattern !== undefined) addPattern(pattern, args[1], patterns);
    if (called === 'runs' && ++runs > runsAtMost)
      throw new Error(`it has more than ${runsAtMost} runs()`);
    within(receiver, known, depth);
    if (!macros.includes(called)) {
      within(args, known, depth);
      return;
    }
    hasMacro = true;
    const [variable] = args;
    const bound = variable?.op === 'id' && isWrittenOut(receiver) ? [variable.args] : [];
    within(args, new Set([...known, ...bound]), depth + 1);
  };
  visit(ast, new Set(), 0);
  return { names, cost: { letters: lettersAtMost[letters], hasMacro, literals } };
}

function checkCall(called: string, depth: number): void {
  if (!allowedCalls.includes(called))
    throw new Error(
      called === 'matches'
        ? 'matches() can take for ever: use re(text, pattern), glob(text, pattern) or contains()'
        : `${called}() is not for policies${didYouMean(called, allowedCalls)}`,
    );
  if ((macros.includes(called) || called === 'runs') && depth > 0)
    throw new Error(
      `${called}() stands within ${called === 'runs' ? 'a macro' : 'another'}: it would take long`,
    );
}

function addPattern(called: PatternCall, pattern: ASTNode | undefined, patterns: Patterns): void {
  if (pattern?.op !== 'value' || typeof pattern.args !== 'string')
    throw new Error(`the pattern of ${called}() must be written out as a text`);
  try {
    patterns.add(called, pattern.args);
  } catch (thrown) {
    throw new Error(`${called}(): ${(thrown as Error).message}`, { cause: thrown });
  }
}

/** Returns whether a text that is sought is short, and not from outside. */
function isKnown(sought: ASTNode | undefined, known: ReadonlySet<string>): boolean {
  if (sought?.op === 'id') return known.has(sought.args);
  return sought?.op === 'value' && isShort(sought);
}

function isShort({ args }: ASTNode): boolean {
  return typeof args !== 'string' || args.length <= soughtAtMost;
}

function isWrittenOut(list: ASTNode | undefined): boolean {
  return list?.op === 'list' && list.args.every((one) => one.op === 'value' && isShort(one));
}

/** Counts what a condition is to read. @throws Error if it is more than the condition may take. */
export function checkSize(variables: object, { letters, hasMacro, literals }: Cost): void {
  const values = hasMacro ? valuesOfMacroAtMost : valuesAtMost;
  let valueCount = hasMacro ? literals : 0;
  let letterCount = 0;
  const waiting: unknown[] = [variables];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value === 'string') letterCount += value.length;
    if (typeof value !== 'object' || value === null) continue;
    const parts = Array.isArray(value) ? value : Object.values(value);
    valueCount += parts.length;
    if (valueCount > values) throw tooMuch(`${values} values`);
    for (const part of parts) waiting.push(part);
  }
  if (letterCount > letters) throw tooMuch(`${letters} letters`);
  if (hasMacro && letterCount * valueCount > productAtMost)
    throw tooMuch(`${productAtMost} letters times values`);
}

function tooMuch(bound: string): Error {
  return new Error(`the condition reads at most ${bound}, and the payload has more`);
}
