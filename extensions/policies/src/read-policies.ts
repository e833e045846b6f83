import { readFile } from 'node:fs/promises';
import type { Given } from 'sluice';
import { isMap, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { didYouMean, PolicyError, type Problem } from './problem.js';
import { type Rule, ruleOf } from './rule.js';
import { type Example, type RawRule, ruleKeys, ruleSchema } from './rule-schema.js';

/** A text of a policy file. */
export interface PolicyText {
  readonly file: string;
  readonly text: string;
}

/** Rules of files, checked, each with its examples met. */
export interface Policies {
  readonly rules: readonly Rule[];
  readonly texts: readonly PolicyText[];
  /** The examples that were tried. */
  readonly exampleCount: number;
  /** The ids of rules that deny, ask or fail in none of their examples. */
  readonly unmet: readonly string[];
}

/**
 * Reads policy files, checks each rule, and tries its examples.
 *
 * @throws PolicyError with each problem, its file and its line.
 * @example
 * const { rules } = await readPolicies(['./policies.yaml']);
 */
export async function readPolicies(files: readonly string[]): Promise<Policies> {
  const problems: Problem[] = [];
  const texts: PolicyText[] = [];
  for (const file of files)
    try {
      texts.push({ file, text: await readFile(file, 'utf8') });
    } catch (thrown) {
      problems.push({ file, line: 1, text: `cannot be read: ${(thrown as Error).message}` });
    }
  if (problems.length > 0) throw new PolicyError(problems);
  return policiesOf(texts);
}

/** Checks policies whose texts are read. @throws PolicyError as `readPolicies` does. */
export async function policiesOf(texts: readonly PolicyText[]): Promise<Policies> {
  const problems: Problem[] = [];
  const rules: Rule[] = [];
  const places = new Map<string, string>();
  const unmetRules: string[] = [];
  let exampleCount = 0;
  for (const { file, text } of texts)
    for (const { raw, at, lineOf } of rawRules(file, text, problems)) {
      const problem = (said: string, path: readonly (string | number)[] = []): void => {
        problems.push({ file, line: lineOf(path), rule: raw.id, text: said });
      };
      const first = places.get(raw.id);
      if (first !== undefined) {
        problem(`the id stands at ${first} already`, ['id']);
        continue;
      }
      places.set(raw.id, `${file}:${at}`);
      try {
        const rule = ruleOf(raw);
        rules.push(rule);
        if (raw.expect.every(({ is }) => is === 'allowed')) unmetRules.push(raw.id);
        for (const [index, example] of raw.expect.entries()) {
          exampleCount++;
          const failed = await unmet(rule, example);
          if (failed !== undefined) problem(failed, ['expect', index]);
        }
      } catch (thrown) {
        problem((thrown as Error).message);
      }
    }
  if (problems.length > 0) throw new PolicyError(problems);
  return { rules, texts, exampleCount, unmet: unmetRules };
}

interface Found {
  readonly raw: RawRule;
  readonly at: number;
  readonly lineOf: (path: readonly (string | number)[]) => number;
}

/** Characters of one file: the parser takes seconds for a longer one. */
const longestFile = 100_000;

/** Reads the rules of one file. Those that have a wrong shape are problems. */
function rawRules(file: string, text: string, problems: Problem[]): readonly Found[] {
  if (text.length > longestFile) {
    const problem = `it has ${text.length} characters, of at most ${longestFile}: split it`;
    problems.push({ file, line: 1, text: problem });
    return [];
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, maxAliasCount: 100 } as object);
  const lineAt = (offset: number | undefined): number =>
    offset === undefined ? 1 : lines.linePos(offset).line;
  for (const { pos, message } of document.errors)
    problems.push({ file, line: lineAt(pos[0]), text: firstLine(message) });
  if (document.errors.length > 0) return [];
  const { contents } = document;
  if (!isSeq(contents)) {
    problems.push({ file, line: 1, text: 'it must be a list of rules, each with an id' });
    return [];
  }
  return contents.items.flatMap((item, index): Found[] => {
    const lineOf = (path: readonly (string | number)[]): number => {
      for (let length = path.length; length >= 0; length--) {
        const node = document.getIn([index, ...path.slice(0, length)], true) as Node | undefined;
        if (node?.range) return lineAt(node.range[0]);
      }
      return 1;
    };
    const line = lineOf([]);
    if (!isMap(item)) {
      problems.push({ file, line, text: 'a rule must have fields, such as id and family' });
      return [];
    }
    let value: unknown;
    try {
      value = item.toJS(document);
    } catch (thrown) {
      problems.push({ file, line, text: (thrown as Error).message });
      return [];
    }
    const read = ruleSchema.safeParse(value);
    if (read.success) return [{ raw: read.data, at: line, lineOf }];
    const { id } = value as { readonly id?: unknown };
    for (const issue of read.error.issues) {
      const path = issue.path as (string | number)[]; // a file has no symbols
      const unknown = issue.code === 'unrecognized_keys' ? issue.keys : [];
      const said =
        unknown.length === 0
          ? `${path.length === 0 ? 'it' : path.join('.')} ${issue.message}`
          : unknown.map((key) => `there is no "${key}"${didYouMean(key, ruleKeys)}`).join('; ');
      problems.push({
        file,
        line: lineOf([...path, ...unknown.slice(0, 1)]),
        ...(typeof id === 'string' && { rule: id }),
        text: said,
      });
    }
    return [];
  });
}

/** Tries an example. Returns how it was not met; nothing if it was. */
async function unmet(rule: Rule, example: Example): Promise<string | undefined> {
  const { payload, principal, event = {}, is } = example;
  const { occurredAt, ...refs } = event;
  const given = {
    ...refs,
    ...(occurredAt !== undefined && { occurredAt: new Date(occurredAt).getTime() }),
    ...(principal !== undefined && { principal: defined(principal) }),
  } as Given; // the schema of examples has no other field
  const { verdict, why = '' } = await rule.tryOn(payload, given);
  if (verdict === is) return undefined;
  return `an example is ${verdict}${why === '' ? '' : ` (${why})`}, and ${is} was expected`;
}

function defined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as T; // without its undefined fields
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
