import fc from 'fast-check';
import type { JudgeOptions } from 'sluice-judge';
import {
  allow,
  ask,
  type Clock,
  cancel,
  createKernel,
  type HandlerClass,
  type Kernel,
  type Principal,
  systemClock,
} from 'sluice-kernel';
import type { LabCall } from './lab.js';

/** Words that a generated command has: the policies below heed them. */
const words = [
  ...['rm -rf /', 'ls', 'THROW', 'HANG', 'NOTHING', 'OPEN', 'PATCH', 'LABEL'],
  ...['ASK-yes', 'ASK-no', 'ASK-reason', 'ASK-expire', 'ASK-offline', 'ASK-nonsense', 'ASK-twice'],
  ...['POISON', 'EXPLODE', 'WOBBLE', 'sk-SECRET', 'FAIL', 'ESCALATE'],
];

const callOf: fc.Arbitrary<Omit<LabCall, 'id'>> = fc.oneof(
  fc.record({
    name: fc.constant('shell'),
    args: fc.record({
      command: fc
        .array(fc.constantFrom(...words), { minLength: 1, maxLength: 3 })
        .map((all) => all.join(' ')),
    }),
  }),
  fc.record({
    name: fc.constant('list'),
    args: fc.record({
      limit: fc.integer({ min: -5, max: 9_999 }),
      path: fc.constantFrom('.', 'sk-SECRET', 'WRONG'),
    }),
  }),
  fc.record({
    name: fc.constantFrom('read', 'broken'),
    args: fc.record({ path: fc.constantFrom(...words) }),
  }),
  fc.record({ name: fc.constant('env'), args: fc.record({ name: fc.constantFrom(...words) }) }),
);

/** Calls in answers of ten that run beside each other; the same with each run. */
export function generatedAnswers(calls: number): readonly (readonly LabCall[])[] {
  const all = fc.sample(callOf, calls).map((call, at): LabCall => ({ id: `c${at}`, ...call }));
  return Array.from({ length: calls / 10 }, (_, at) => all.slice(at * 10, at * 10 + 10));
}

/** A clock on which a second and less is soon over, and more never is. */
export const hastyClock: Clock = {
  ...systemClock,
  setTimeout: (callback, delayMs) =>
    delayMs <= 1_000 ? systemClock.setTimeout(callback, Math.min(delayMs, 5)) : {},
};

type Rule = readonly [
  id: string,
  class_: HandlerClass,
  handler: (
    text: string,
    params: Readonly<Record<string, unknown>>,
    by: Principal | undefined,
  ) => unknown,
  how?: { readonly failClosed?: boolean; readonly timeoutMs?: number },
];

const open = { failClosed: false };
const failing = (): never => {
  throw new Error('out of order');
};

const callRules: readonly Rule[] = [
  [
    'clamp',
    'mutator',
    (_, { limit }) => (Number(limit) > 10 ? { params: { limit: 10 } } : undefined),
  ],
  [
    'patch',
    'mutator',
    (text) => (text.includes('PATCH') ? { params: { command: 'patched' } } : undefined),
  ],
  [
    'wrong',
    'mutator',
    (text, { limit }) =>
      limit !== undefined && text.includes('WRONG') ? { params: { limit: 'many' } } : undefined,
  ],
  ['wobbly', 'mutator', (text) => (text.includes('OPEN') ? failing() : undefined), open],
  [
    'owner',
    'veto',
    (_, __, by) => (by?.isOwner ? allow() : cancel('blocked', { text: 'Nobody is proven.' })),
  ],
  [
    'rm',
    'veto',
    (text) => (text.includes('rm ') ? cancel('policy', { text: 'No removals.' }) : allow()),
  ],
  ['code', 'veto', (text) => (text.includes('ESCALATE') ? cancel('blocked') : allow())],
  ['throws', 'veto', (text) => (text.includes('THROW') ? failing() : allow())],
  [
    'hangs',
    'veto',
    (text) => (text.includes('HANG') ? new Promise(() => undefined) : allow()),
    { timeoutMs: 5 },
  ],
  ['nothing', 'veto', (text) => (text.includes('NOTHING') ? undefined : allow())],
  ['open', 'veto', (text) => (text.includes('OPEN') ? failing() : undefined), open],
  [
    'asks',
    'veto',
    (text) => {
      const [, how] = /ASK-(\w+)/.exec(text) ?? [];
      if (how === undefined) return allow();
      return ask({ title: how, ...(how === 'expire' && { timeoutMs: 1_000 }) });
    },
  ],
  ['asks-again', 'veto', (text) => (text.includes('ASK-twice') ? ask({ title: 'yes' }) : allow())],
];

const resultRules: readonly Rule[] = [
  ['hide', 'mutator', (text) => ({ text: text.replaceAll('sk-SECRET', '[hidden]') })],
  ['explode', 'mutator', (text) => (text.includes('EXPLODE') ? failing() : undefined)],
  ['wobble', 'mutator', (text) => (text.includes('WOBBLE') ? failing() : undefined), open],
  [
    'poison',
    'veto',
    (text) => (text.includes('POISON') ? cancel('unsafe', { text: 'It was unsafe.' }) : allow()),
  ],
];

/** A kernel with one set of policies, for every agent. */
export function policies(): Kernel {
  const kernel = createKernel({ clock: hastyClock });
  const contribute = (family: string, [id, class_, , how]: Rule, run: (call: Call) => unknown) =>
    kernel.contribute({
      ...{
        family,
        class: class_,
        extensionId: 'acme',
        id: `${family}.${id}`,
        failClosed: true,
        ...how,
      },
      handler: run,
    } as never); // rules are rows
  for (const rule of callRules)
    contribute('agent.tool.calling', rule, ({ payload: { params }, principal }) =>
      rule[2](JSON.stringify(params), params, principal),
    );
  for (const rule of resultRules)
    contribute('agent.tool.returning', rule, ({ payload: { params, result }, principal }) => {
      const given = rule[2](
        result.content.map(({ text = '' }) => text).join('\n'),
        params,
        principal,
      );
      const { text }: { readonly text?: unknown } = Object(given);
      if (rule[1] !== 'mutator' || typeof text !== 'string') return given;
      return { result: { ...result, content: [{ type: 'text', text }] } };
    });
  return kernel;
}

interface Call {
  readonly payload: {
    readonly params: Readonly<Record<string, unknown>>;
    readonly result: { readonly content: readonly { readonly text?: string }[] };
  };
  readonly principal?: Principal;
}

const principal: Principal = {
  ...{ channel: 'web', accountId: 'a', senderId: 'ada', isOwner: true, roles: [] },
};

/** The options of every judge: who asks, and how a human answers. */
export const judgeOptions: JudgeOptions = {
  given: () => ({ principal, sessionId: 's', sessionKey: 'k' }),
  clock: hastyClock,
  onAsk: ({ title }) => {
    if (title === 'offline') throw new Error('offline');
    if (title === 'expire') return new Promise(() => undefined);
    if (title === 'reason') return { allowed: false, reason: 'not now' };
    return title === 'yes' || title === 'twice'
      ? true
      : title === 'no'
        ? false
        : ('maybe' as never);
  },
};
