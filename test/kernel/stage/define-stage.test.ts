import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import {
  defaultStageTimeoutMs,
  defaultTimeoutMs,
  defineStage,
  type Stage,
} from '../../../src/kernel/internal.js';

const payload = Type.Object({ text: Type.String(), n: Type.Optional(Type.Number()) });
const patch = Type.Object({ text: Type.Optional(Type.String()) });
const notes = Type.Object({ notes: Type.Optional(Type.Array(Type.String())) });

/** A row as JavaScript can write it, without the compiler. */
type Row = Readonly<Record<string, unknown>>;

const define = (row: Row): Stage =>
  defineStage(row as unknown as Parameters<typeof defineStage>[0]) as unknown as Stage;

const good: Row = {
  family: 'acme.checking',
  classes: ['observer', 'mutator', 'augmenter', 'resolver', 'veto'],
  mode: 'sequential',
  payload,
  patch,
  annotations: notes,
  selection: Type.String(),
};

describe('a row', () => {
  it('is filled in and frozen (§2.1, §10.1)', () => {
    const stage = define(good);
    expect(stage).toMatchObject({
      family: 'acme.checking',
      laws: { text: { law: 'replace' } },
      cancelCodes: ['other'],
      onError: {
        observer: 'open',
        augmenter: 'open',
        mutator: 'open',
        veto: 'open',
        resolver: 'open',
      },
      timeoutMs: defaultTimeoutMs,
      stageTimeoutMs: defaultStageTimeoutMs,
      hotPath: false,
      version: 1,
      emitter: 'anyone',
      emittedBy: 'extension',
    });
    expect([defaultTimeoutMs, defaultStageTimeoutMs]).toEqual([15_000, 30_000]);
    for (const part of [stage, stage.classes, stage.laws, stage.cancelCodes, stage.onError])
      expect(Object.isFrozen(part)).toBe(true);
  });

  it.each<[string, Row]>([
    ['a name that is no dotted lower-case word', { family: 'Checking' }],
    ['a name of one word', { family: 'checking' }],
    ['no class', { classes: [] }],
    ['a class that is none', { classes: ['spectator'] }],
    ['a class twice', { classes: ['observer', 'observer'] }],
    ['a mode that is none', { mode: 'random' }],
    ['a parallel stage with more than observers', { mode: 'parallel' }],
    ['mutators and no patch', { patch: undefined }],
    ['a patch and no mutators', { classes: ['observer', 'augmenter', 'resolver'] }],
    ['augmenters and no annotations', { annotations: undefined }],
    ['annotations and no augmenters', { classes: ['mutator', 'resolver'] }],
    ['resolvers and no selection', { selection: undefined }],
    ['a selection and no resolvers', { classes: ['mutator', 'augmenter'] }],
    ['a patch field that the payload lacks', { patch: Type.Object({ other: Type.String() }) }],
    ['a law for no field', { laws: { other: 'replace' } }],
    ['a law that is none', { laws: { text: 'shuffle' } }],
    ['a law without a name', { laws: { text: { separator: '|' } } }],
    ['a trusted field that is none', { trusted: ['n'] }],
    ['a shared field that is none', { shared: ['other'] }],
    ['a replaceable annotation that is none', { replaceable: ['text'] }],
    ['no time for a handler', { timeoutMs: 0 }],
    ['an emitter that is none', { emitter: 'nobody' }],
    ['a source of its events that is none', { emittedBy: 'src/acme/bill.ts: before a bill' }],
    ['infinite time for a dispatch', { stageTimeoutMs: Number.POSITIVE_INFINITY }],
  ])('with %s is refused when it is defined, naming its family (§2.2)', (_, over) => {
    expect(() => define({ ...good, ...over })).toThrow(
      expect.objectContaining({
        code: 'bad-stage',
        details: expect.objectContaining({ family: over['family'] ?? 'acme.checking' }) as object,
      }),
    );
  });

  it.each(['constructor', 'toString', 'valueOf', '__proto__'])(
    'with a field called %s, which every object has, is refused (§2.2, §6.3)',
    (field) => {
      const fields = Object.fromEntries([[field, Type.Optional(Type.String())]]);
      const row = { ...good, payload: Type.Object(fields), patch: Type.Object(fields) };
      expect(() => define(row)).toThrow(expect.objectContaining({ code: 'bad-stage' }));
    },
  );
});
