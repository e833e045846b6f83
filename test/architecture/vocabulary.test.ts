import { describe, expect, it } from 'vitest';
import { legacyHookNames } from '../../src/openclaw/profiles/index.js';
import { sourceFiles } from '../support/source-tree.js';
import { foreignWords, handlerCalls, uncheckedPlaces } from './vocabulary.js';

const src = sourceFiles('src');
const kernel = src.filter(({ path }) => path.startsWith('src/kernel/'));

/** Files of src that may be longer than 300 lines, and why. */
const longFiles: Readonly<Record<string, string>> = {
  'src/testing/samples.ts': 'data: a sample payload for every family, side by side',
};

function linesOf(text: string): number {
  return text.split('\n').length - 1;
}

describe('src/kernel', () => {
  it('names no channel, no vendor and no legacy hook', () => {
    expect(kernel.flatMap(foreignWords)).toEqual([]);
  });
});

describe('src and extensions', () => {
  it('never leave the type checker: no any, and no comment that silences it', () => {
    const extensions = sourceFiles('extensions').filter(({ path }) => !path.includes('/test/'));
    expect([...src, ...extensions].flatMap(uncheckedPlaces)).toEqual([]);
  });

  it('ask the system for the home of the user in one place, which knows that there may be none', () => {
    const asking = sourceFiles('src', 'extensions', 'test')
      .filter(({ path }) => path !== 'test/architecture/vocabulary.test.ts')
      .filter(({ text }) =>
        /\b(?:homedir|userInfo)\b.*from 'node:os'|\bos\.(?:homedir|userInfo)\(/.test(text),
      )
      .map(({ path }) => path);
    expect(asking).toEqual(['src/sdk/extension/load/home-folder.ts']);
  });

  it('hold no declarations that a build has left there', () => {
    const left = sourceFiles('src', 'test', 'extensions').filter(({ path }) =>
      path.endsWith('.d.ts'),
    );
    expect(left.map(({ path }) => path)).toEqual([]);
  });
});

describe('the files of src', () => {
  const long = src.filter(({ text }) => linesOf(text) > 300).map(({ path }) => path);

  it('have at most 300 lines, unless a reason is given here', () => {
    expect(long.filter((path) => !(path in longFiles))).toEqual([]);
  });

  it('have no reason here that they no longer need', () => {
    expect(Object.keys(longFiles).filter((path) => !long.includes(path))).toEqual([]);
  });
});

describe('the handlers', () => {
  it('are called in three files: one per mode', () => {
    const files = src.flatMap(handlerCalls).map((place) => place.replace(/:\d+$/, ''));
    expect(files).toEqual([
      'src/kernel/run/parallel.ts',
      'src/kernel/run/sequential.ts',
      'src/kernel/run/sync.ts',
    ]);
  });
});

describe('the search for foreign words', () => {
  it.each(legacyHookNames['2026.3'])('finds the legacy hook %s', (hook) => {
    expect(foreignWords({ path: 'a.ts', text: `// as ${hook} does` })).toEqual([`a.ts:1 ${hook}`]);
  });

  it.each([
    'export const hook = "message_sending";',
    '// as Telegram does',
    'const openClawRun = 1;',
  ])('finds one in %j', (text) => {
    expect(foreignWords({ path: 'a.ts', text })).toHaveLength(1);
  });
});

describe('the search for unchecked places', () => {
  it.each([
    'const a: any = 1;',
    'type A = Map<string, any[]>;',
    'const a = b as any;',
    '// @ts-ignore\nconst a = 1;',
    '// @ts-expect-error\nconst a = 1;',
  ])('finds one in %j', (text) => {
    expect(uncheckedPlaces({ path: 'a.ts', text })).toHaveLength(1);
  });

  it('knows the word from the type', () => {
    const text = 'const any = "any"; // any';
    expect(uncheckedPlaces({ path: 'a.ts', text })).toEqual([]);
  });
});

describe('the search for handler calls', () => {
  it.each([
    'handlers[i](call, own);',
    '(handlers[i] as AnyHandler)(call, own);',
    'plan.handlers[0]!(call, own);',
    'plan.handlers[0]?.(call, own);',
    'entry.handler(call, own);',
    'handlers[i].call(undefined, call, own);',
    'entry.handler.apply(undefined, [call, own]);',
  ])('finds one in %j', (text) => {
    expect(handlerCalls({ path: 'a.ts', text })).toHaveLength(1);
  });

  it.each([
    'const handler = handlers[i];',
    'handlers.map((one) => one);',
    'handlers.push(handler);',
  ])('finds none in %j', (text) => {
    expect(handlerCalls({ path: 'a.ts', text })).toEqual([]);
  });
});
