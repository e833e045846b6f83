import { Type } from 'typebox';
import { defineStage, type Stage } from '../../src/kernel/internal.js';

const maybe = <T extends Parameters<typeof Type.Optional>[0]>(schema: T) => Type.Optional(schema);
const words = Type.Array(Type.String());
const headers = Type.Unsafe<Record<string, string | null>>({
  type: 'object',
  additionalProperties: Type.Union([Type.String(), Type.Null()]),
});

/** A payload with a field for every law, for what a schema can refuse, and for what passes by reference. */
export const labPayload = Type.Object(
  {
    title: Type.String(),
    count: maybe(Type.Integer({ minimum: 0 })),
    tags: maybe(Type.Union([words, Type.Null()])),
    capped: maybe(Type.Array(Type.String(), { maxItems: 2 })),
    model: maybe(Type.Union([Type.String(), Type.Null()])),
    headers: maybe(Type.Union([headers, Type.Null()])),
    intro: maybe(Type.Union([Type.String(), Type.Null()])),
    outro: maybe(Type.String()),
    secret: maybe(Type.String()),
    body: maybe(Type.Object({ lines: words, part: maybe(Type.Object({ n: Type.Number() })) })),
    target: maybe(Type.String()),
    kind: maybe(Type.Union([Type.String(), Type.Null()])),
    urgent: maybe(Type.Boolean()),
    place: maybe(Type.Object({ city: Type.String(), floor: maybe(Type.Integer()) })),
    raw: maybe(Type.Unknown()),
  },
  { additionalProperties: false },
);

const {
  title,
  count,
  tags,
  model,
  headers: headersField,
  intro,
  outro,
  secret,
  body,
} = labPayload.properties;

/** The patch: every payload field that handlers may write. */
export const labPatch = Type.Object(
  {
    title: maybe(title),
    count,
    tags,
    capped: maybe(words),
    model,
    headers: headersField,
    intro,
    outro,
    secret,
    body,
  },
  { additionalProperties: false },
);

export const labAnnotations = Type.Object({
  notes: maybe(words),
  mood: maybe(Type.String()),
  language: maybe(Type.String()),
  span: maybe(Type.Object({ from: Type.Number() })),
});

const labSelection = Type.Object({
  to: Type.String({ pattern: '^[a-z]+$' }),
  via: maybe(Type.Object({ hops: Type.Array(Type.String()) })),
});

const columns = {
  payload: labPayload,
  patch: labPatch,
  laws: {
    tags: 'append',
    capped: 'append',
    model: 'first-defined',
    headers: 'merge-keys',
    intro: { law: 'prepend-text', separator: '|' },
    outro: 'append-text',
  },
  trusted: ['secret'],
  shared: ['raw'],
  annotations: labAnnotations,
  replaceable: ['mood'],
  selection: labSelection,
  settled: (payload: { target?: string }) => payload.target !== undefined,
  cancelCodes: ['policy', 'quiet'],
  cancelReplies: true,
  stageTimeoutMs: 1_000,
  timeoutMs: 400,
} as const;

const classes = ['observer', 'augmenter', 'mutator', 'veto', 'resolver'] as const;

const closed = {
  onError: {
    observer: 'closed',
    augmenter: 'closed',
    mutator: 'closed',
    veto: 'closed',
    resolver: 'closed',
  },
} as const;

const observing = {
  classes: ['observer'],
  mode: 'parallel',
  payload: labPayload,
  shared: ['raw'],
  stageTimeoutMs: 1_000,
  timeoutMs: 400,
} as const;

/** One stage per mode and policy; all of one payload. `sibling` is for what happens elsewhere. */
export const labStages: readonly Stage[] = [
  defineStage({ family: 'lab.parallel', ...observing }),
  defineStage({ family: 'lab.parallel-closed', ...observing, onError: { observer: 'closed' } }),
  defineStage({ family: 'lab.sequential', classes, mode: 'sequential', ...columns }),
  defineStage({
    family: 'lab.sequential-closed',
    classes,
    mode: 'sequential',
    ...columns,
    ...closed,
  }),
  defineStage({ family: 'lab.sync', classes, mode: 'sync-sequential', ...columns }),
  defineStage({
    family: 'lab.sync-closed',
    classes,
    mode: 'sync-sequential',
    ...columns,
    ...closed,
  }),
  defineStage({ family: 'lab.sibling', classes, mode: 'sequential', ...columns, hotPath: true }),
] as readonly unknown[] as readonly Stage[]; // the rows' own types do not matter to a lab

const asking = {
  classes,
  mode: 'sequential',
  ...columns,
  asks: true,
  isQuestion: (payload: { readonly title: string }) => payload.title === 'a question',
} as const;

/** The stages of the lab, and two more whose vetoes may ask a human. */
export const askingStages: readonly Stage[] = [
  ...labStages,
  defineStage({ family: 'lab.asking', ...asking }),
  defineStage({ family: 'lab.asking-closed', ...asking, ...closed }),
] as readonly unknown[] as readonly Stage[]; // as above

/** A payload of the lab, anew each time: dispatch freezes it. */
export function labSample(over: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return { title: 'hello', ...over };
}
