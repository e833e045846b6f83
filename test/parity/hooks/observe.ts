import { type LegacyHookName, legacyHookNames } from '../../../src/openclaw/index.js';
import {
  type MakeLegacyRunner,
  type ParityHandler,
  type ParityRun,
  recordParityRun,
} from '../../../src/openclaw/parity/index.js';
import {
  type Fields,
  type HandlerSpec,
  type HookSet,
  readable,
  returned,
  snapshot,
  thrown,
  write,
} from './hook-set.js';

/** What could be seen of a set's run, and what was left of it that nobody handled. */
export interface Observation extends ParityRun {
  /** How many handlers each hook has that has any, as the runner counts them. */
  readonly counts: Readonly<Record<string, number>>;
  /** Promises that were rejected and that nobody observed. */
  readonly unhandled: readonly string[];
  /** The run with the words in which a stage says that it refused something. */
  readonly inItsWords?: ParityRun;
}

/** Lets go of those who wait, when a hung run has nobody else to wait for. Gives back whether that may have helped. */
export type Unhang = () => Promise<boolean>;

/** Gives the event loop one turn: everything that can go on without a gate or a timer has gone on then. */
export function turn(): Promise<void> {
  return new Promise((done) => setImmediate(done));
}

/** Rejections that nobody observes, put where the set that they came of can be told. */
export class Rejections {
  readonly #found: string[] = [];
  readonly #listener = (reason: unknown): void => void this.#found.push(readable(reason));
  readonly #others = process.listeners('unhandledRejection');

  constructor() {
    process.removeAllListeners('unhandledRejection');
    process.on('unhandledRejection', this.#listener);
  }

  take(): string[] {
    return this.#found.splice(0);
  }

  [Symbol.dispose](): void {
    process.removeAllListeners('unhandledRejection');
    for (const other of this.#others) process.on('unhandledRejection', other);
  }
}

/** Runs a set through a runner. */
export async function observe(
  set: HookSet<string>,
  makeRunner: MakeLegacyRunner,
  rejections: Rejections,
  unhang: Unhang = () => Promise.resolve(false),
): Promise<Observation> {
  const event = snapshot(set.event);
  const ctx = snapshot(set.ctx);
  const labels = new WeakMap<object, string>();
  const gates = new Gates();
  label(labels, event['message'], 'the emitted message');
  const notes: string[] = [];
  const handlers = set.handlers.map((spec, place) => {
    const { at: index = place } = spec;
    return handlerOf(
      spec,
      (given) => notes.push(`${index} got ${labels.get(given['message'] as object)}`),
      {
        gates,
        index,
        returns: (value) =>
          label(
            labels,
            (value as Fields | null | undefined)?.['message'],
            `the message of ${index}`,
          ),
      },
    );
  });
  let counts = {};
  const makeCounted: MakeLegacyRunner = (registry, options) => {
    const runner = makeRunner(registry, options);
    counts = countsOf(runner as Counts); // both runners have these two methods
    return runner;
  };
  const run = await recordParityRun(makeCounted, {
    hook: set.hook as LegacyHookName, // of the profile of the runner
    event: event as never, // well-formed by its arbitrary
    ctx: ctx as never,
    handlers,
    catchErrors: set.catchErrors,
    drive: (running, note) => drive(running, gates, note, unhang),
  });
  await turn();
  return {
    ...run,
    counts,
    order: [...run.order, ...identities(set.hook, run, notes, labels)],
    unhandled: rejections.take(),
  };
}

interface Counts {
  hasHooks(hook: string): boolean;
  getHookCount(hook: string): number;
}

function countsOf(runner: Counts): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const hook of new Set(Object.values(legacyHookNames).flat()))
    if (runner.hasHooks(hook) || runner.getHookCount(hook) !== 0)
      counts[hook] = runner.hasHooks(hook) ? runner.getHookCount(hook) : Number.NaN;
  return counts;
}

/** Who got which message, and which came out: both by identity. */
function identities(
  hook: string,
  { ending }: ParityRun,
  notes: readonly string[],
  labels: WeakMap<object, string>,
): string[] {
  if (hook !== 'tool_result_persist' && hook !== 'before_message_write') return [];
  const result = ending.kind === 'returned' ? (ending.value as Fields | undefined) : undefined;
  const message = result?.['message'];
  return [...notes, ...(isObject(message) ? [`out came ${labels.get(message)}`] : [])];
}

interface HandlerLife {
  readonly gates: Gates;
  readonly index: number;
  readonly returns: (value: unknown) => void;
}

function handlerOf(
  { pluginId, priority, timing, release, writes, ends, options }: HandlerSpec,
  called: (event: Fields) => void,
  { gates, index, returns }: HandlerLife,
): ParityHandler {
  const end = (event: Fields): unknown => {
    if ('throws' in ends) throw thrown(ends.throws);
    const value = returned(ends.returns, event);
    returns(value);
    return value;
  };
  const handler = (event: Fields, ctx: Fields): unknown => {
    called(event);
    write(writes, event, ctx);
    switch (timing) {
      case 'now':
        return end(event);
      case 'async':
        return (async () => end(event))();
      case 'thenable':
        return thenable(() => end(event));
      case 'gated':
        return gates.wait(index, release).then(() => end(event));
      case 'never':
        return new Promise(() => undefined);
    }
  };
  return {
    pluginId,
    ...(priority !== undefined && { priority }),
    ...(options !== undefined && { options }),
    handler: handler as ParityHandler['handler'], // every hook's events are records
  };
}

/** No promise, but awaited like one. */
function thenable(end: () => unknown): PromiseLike<unknown> {
  return {
    // biome-ignore lint/suspicious/noThenProperty: what a handler may return
    then: (...args) => new Promise((resolve) => resolve(end())).then(...args),
  } as PromiseLike<unknown>;
}

/** The handlers that wait to be let go. */
class Gates {
  readonly #waiting: {
    readonly index: number;
    readonly release: number;
    readonly open: () => void;
  }[] = [];

  wait(index: number, release: number): Promise<void> {
    return new Promise((open) => this.#waiting.push({ index, release, open }));
  }

  /** Lets the next one go: the lowest `release`, then the lowest index. */
  next(): number | undefined {
    this.#waiting.sort((a, b) => a.release - b.release || a.index - b.index);
    const first = this.#waiting.shift();
    first?.open();
    return first?.index;
  }
}

/** Lets handlers go one by one, a turn apart, until nothing more happens. */
async function drive(
  running: Promise<unknown>,
  gates: Gates,
  note: (text: string) => void,
  unhang: Unhang,
): Promise<void> {
  let isPending = true;
  void running.then(() => {
    isPending = false;
  });
  for (;;) {
    await turn();
    const index = gates.next();
    if (index !== undefined) note(`${index} goes on`);
    else if (!isPending || !(await unhang())) return;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function label(labels: WeakMap<object, string>, value: unknown, text: string): void {
  if (isObject(value) && !labels.has(value)) labels.set(value, text);
}
