import fc from 'fast-check';
import { bridgeInternalHooks } from '../../src/openclaw/internal-hooks/bridge-internal-hooks.js';
import type { InternalHookEvent } from '../../src/openclaw/internal-hooks/event.js';
import { internalHookRows } from '../../src/openclaw/internal-hooks/rows.js';
import { collectingLogger, createTestKernel } from '../../src/testing/index.js';

/** What every internal hook bus can do: the real one, the bridge, the model. */
export interface InternalBus {
  register(key: string, handler: (event: InternalHookEvent) => unknown): void;
  unregister(key: string, handler: (event: InternalHookEvent) => unknown): void;
  clear(): void;
  keys(): string[];
  create(type: string, action: string, key: string, context: Fields | undefined): InternalHookEvent;
  trigger(event: InternalHookEvent): Promise<unknown>;
  logged(): readonly string[];
}

type Fields = Record<string, unknown>;

/** The bus on a kernel of its own. */
export function bridgedBus(): InternalBus {
  const { kernel, clock } = createTestKernel();
  const logger = collectingLogger();
  const hooks = bridgeInternalHooks(kernel, { logger, clock });
  return {
    register: (key, handler) => hooks.registerInternalHook(key, handler as () => void),
    unregister: (key, handler) => hooks.unregisterInternalHook(key, handler as () => void),
    clear: () => hooks.clearInternalHooks(),
    keys: () => hooks.getRegisteredEventKeys(),
    create: (type, action, key, context) =>
      hooks.createInternalHookEvent(type as 'command', action, key, context),
    trigger: (event) => hooks.triggerInternalHook(event),
    // what the bridge says beyond the legacy lines (a context that fits no family) is its own
    // its text is a field of the entry (§20.3), and in the line of the legacy bus
    logged: () =>
      logger.entries
        .filter(({ level }) => level === 'error')
        .map(({ message, fields: { error } }) => {
          const text = error instanceof Error ? error.message : String(error);
          return `error ${message}: ${text}`;
        }),
  };
}

const keys = [
  ...new Set(internalHookRows.flatMap(({ type, action }) => [type, `${type}:${action}`])),
  ...['command:status', 'session:compact', 'compact:before', 'acme', 'acme:deploy:done', ''],
];

const event = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.constantFrom(
      ...internalHookRows.map(({ type, action }) => [type, action] as const),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ...([
        ['command', 'status'],
        ['session:compact', 'before'],
        ['session', 'compact'],
        ['acme', 'deploy:done'],
        ['acme:deploy', 'done'],
        ['', ''],
        ['command:new', ''],
      ] as const),
    ),
  },
);

const file = fc.record({ name: fc.constantFrom('AGENTS.md', 'SOUL.md'), path: fc.constant('/w') });

const anyContext = fc.option(
  fc.record(
    {
      commandSource: fc.constantFrom('telegram', 'gateway:sessions.reset', 'cli', 7),
      senderId: fc.constant('ada'),
      sessionId: fc.constant('s-1'),
      sessionEntry: fc.constantFrom({ sessionId: 's-1' }, null),
      cfg: fc.constant({ a: new Date(0) }),
      from: fc.constant('telegram:1'),
      to: fc.constant('1'),
      content: fc.constantFrom('hi', '', 7),
      channelId: fc.constant('telegram'),
      conversationId: fc.constant('c-1'),
      messageId: fc.constantFrom('m-1', 'm-2'),
      success: fc.boolean(),
      error: fc.constant('gone'),
      timestamp: fc.constantFrom(1_000, -1),
      metadata: fc.constantFrom({ to: 'x', odd: () => 1 }, { senderId: 'ada', extra: 1 }, 'text'),
      missingSessionKey: fc.boolean(),
      messageCount: fc.constantFrom(3, -1, 1.5),
      bootstrapFiles: fc.array(file, { maxLength: 2 }),
      workspaceDir: fc.constant('/w'),
    },
    { requiredKeys: [] },
  ),
  { nil: undefined },
);

/** What a handler does when it is called, beside writing down that it was. */
const act = fc.constantFrom(
  'nothing',
  'returns',
  'resolves',
  'resolves later',
  'throws an error',
  'throws a text',
  'rejects',
  'rejects with nothing',
  'thenable',
  'pushes a message',
  'pushes a message later',
  'empties the messages',
  'writes the context',
  'replaces the context',
  'pushes a file',
  'replaces the files',
  'registers',
  'unregisters itself',
  'clears',
  'triggers another',
);
type Act = typeof act extends fc.Arbitrary<infer One> ? One : never;

const about = fc.oneof(
  { weight: 3, arbitrary: fc.constant('type' as const) },
  { weight: 3, arbitrary: fc.constant('action' as const) },
  { weight: 1, arbitrary: fc.constantFrom(...keys).map((key) => ({ key })) },
);

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('register' as const), about, act, name: fc.nat(5) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('trigger' as const),
      event: fc.option(event, { nil: undefined, freq: 4 }),
      sessionKey: fc.constantFrom('agent:main:main', '', 's-1'),
      context: anyContext,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('unregister' as const), about, name: fc.nat(5) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('clear' as const) }) },
);

/** Sequences of registrations and triggers. Most steps are about one event, so that handlers meet. */
export const internalHookSequences = fc.record({
  focus: event,
  steps: fc.array(step, { minLength: 5, maxLength: 24, size: 'max' }),
});
type Sequence = typeof internalHookSequences extends fc.Arbitrary<infer One> ? One : never;

/** Runs a sequence, and writes down all that can be seen from outside. */
export async function internalTranscript(
  bus: InternalBus,
  { focus, steps }: Sequence,
): Promise<unknown[]> {
  const lines: unknown[] = [];
  const handlers = new Map<string, (event: InternalHookEvent) => unknown>();
  let depth = 0;
  const handlerOf = (key: string, name: number, does: Act) => {
    const id = `${key}/${name}`;
    const existing = handlers.get(id);
    if (existing !== undefined) return existing; // the same function again: a second registration of it
    const handler = (given: InternalHookEvent): unknown => {
      lines.push([id, seen(given)]);
      return perform(does, given, key, handler);
    };
    handlers.set(id, handler);
    return handler;
  };
  const perform = (
    does: Act,
    given: InternalHookEvent,
    key: string,
    handler: (event: InternalHookEvent) => unknown,
  ): unknown => {
    const files = given.context.bootstrapFiles;
    switch (does) {
      case 'nothing':
        return undefined;
      case 'returns':
        return { cancel: true };
      case 'resolves':
        return Promise.resolve('x');
      case 'resolves later':
        return later().then(() => void lines.push([key, 'resolved']));
      case 'throws an error':
        throw new Error('broken');
      case 'throws a text':
        return throwing('a text');
      case 'rejects':
        return later().then(() => Promise.reject(new TypeError('rejected')));
      case 'rejects with nothing':
        return Promise.reject(undefined);
      case 'thenable':
        return new Proxy(Promise.resolve(), {
          get: (target, name) => (name === 'then' ? target.then.bind(target) : undefined),
        });
      case 'pushes a message':
        return given.messages.push(`from ${key}`);
      case 'pushes a message later':
        return later().then(() => given.messages.push(`late from ${key}`));
      case 'empties the messages':
        given.messages = [];
        return undefined;
      case 'writes the context':
        given.context.note = `${String(given.context.note ?? '')}${key};`;
        return undefined;
      case 'replaces the context':
        given.context = { replaced: key };
        return undefined;
      case 'pushes a file':
        if (Array.isArray(files)) files.push({ name: 'TEAM.md', path: key });
        return undefined;
      case 'replaces the files':
        given.context.bootstrapFiles = [{ name: 'NEW.md', path: key }];
        return undefined;
      case 'registers':
        bus.register(key, handlerOf(key, 9, 'writes the context'));
        return undefined;
      case 'unregisters itself':
        bus.unregister(key, handler);
        return undefined;
      case 'clears':
        bus.clear();
        return undefined;
      case 'triggers another': {
        if (depth > 2) return undefined;
        depth++;
        const nested = bus.create('command', 'stop', 'nested', undefined);
        return bus.trigger(nested).then(() => {
          depth--;
          lines.push(['nested', nested.messages]);
        });
      }
    }
  };
  const keyOf = (one: 'type' | 'action' | { readonly key: string }): string => {
    if (typeof one === 'object') return one.key;
    return one === 'type' ? focus[0] : `${focus[0]}:${focus[1]}`;
  };
  for (const one of steps) {
    if (one.do === 'register')
      bus.register(keyOf(one.about), handlerOf(keyOf(one.about), one.name, one.act));
    if (one.do === 'unregister')
      bus.unregister(keyOf(one.about), handlerOf(keyOf(one.about), one.name, 'nothing'));
    if (one.do === 'clear') bus.clear();
    if (one.do === 'trigger') {
      const [type, action] = one.event ?? focus;
      const context = one.context === undefined ? undefined : copyOf(one.context);
      const fired = bus.create(type, action, one.sessionKey, context);
      lines.push(['gave', await bus.trigger(fired), seen(fired)]);
    }
    lines.push(['keys', bus.keys()]);
  }
  lines.push(['logged', ...bus.logged()]);
  return lines;
}

/** Throws what is no error: legacy handlers do. */
function throwing(value: unknown): never {
  throw value;
}

/** An event's fields as they are now; its time is the clock's. */
function seen({ timestamp, ...fields }: InternalHookEvent): unknown {
  return { ...copyOf(fields), timestamp: timestamp instanceof Date };
}

/** A copy of records and lists; the rest is passed on as it is. */
function copyOf<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copyOf) as T;
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, copyOf(one)])) as T;
}

function later(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** How many times a handler was called in a transcript. */
export function internalCalls(transcript: readonly unknown[]): number {
  return transcript.filter((line) => String((line as unknown[])[0]).includes('/')).length;
}
