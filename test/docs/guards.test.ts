import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  canonicalStages,
  type Instrument,
  type Kernel,
  openKernel,
  type PlannedHandler,
  type Stage,
} from '../../src/kernel/internal.js';
import {
  loadForTest,
  samplePayload,
  type VirtualClock,
  virtualClock,
} from '../../src/testing/index.js';
import { type HeldBack, heldBack, markNames, passing } from '../support/held-back-lab.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { isExtension, type Recipe, recipes } from './recipes.js';

/** The handlers of recipes that change or choose something, and guard nothing: if one fails, the message goes on as it is. */
const decorations: Readonly<Record<string, string>> = {
  'acme/sign': 'a signature',
  'acme/tax': 'a note',
  'answers/opening-hours': 'the model answers then',
  'guard/sign': 'a signature',
  'parrots/to-parrot': 'the route of the host counts then',
  'poll/vote': 'a vote that is lost is not said to be counted',
  'rate/buttons': 'buttons',
  'rate/thanks': 'a word of thanks',
  'retrieval/notes': 'more to read',
  'router/by-words': 'the route of the host counts then',
  'router/cheap-if-short': 'the model of the agent counts then',
  'shout/upper-case': 'the looks of a text',
};

/** Each way in which a handler does not do its work. */
const faults = {
  throws: () => {
    throw new Error('broken');
  },
  hangs: () => new Promise(() => undefined),
  'returns nonsense': () => ({ nonsense: true }),
} as const;

/** The handler that is broken now, by the name of its extension and its own. */
let broken: { readonly name: string; readonly does: () => unknown } | undefined;
const instrument: Instrument =
  (handler, { extensionId, contributionId }) =>
  (call, own) =>
    broken?.name === `${extensionId}/${contributionId}` ? broken.does() : handler(call, own);

const moduleClock = virtualClock();
/** The kernels of modules, and the last payload of each family that they were given. */
const made = { kernels: [] as Kernel[], payloads: new Map<string, object>() };
const family = '../../src/kernel/surface/family-kernel.js';

/** Loads a module that makes a kernel, and gives that kernel the instrument. Other files of this process keep their modules. */
async function instrumented(recipe: Recipe): Promise<void> {
  vi.resetModules();
  vi.doMock(family, async (original) => {
    const actual = await original<typeof import('../../src/kernel/surface/family-kernel.js')>();
    const createKernel: typeof actual.createKernel = (options) => {
      const kernel = actual.createKernel({ clock: moduleClock, instrument, ...options });
      kernel.tap({ outcome: ({ event }) => made.payloads.set(event.family, event.payload) });
      made.kernels.push(kernel);
      return kernel;
    };
    return { ...actual, createKernel };
  });
  made.kernels.length = 0;
  await recipe.load();
  vi.doUnmock(family);
  vi.resetModules();
}

/** A recipe in a kernel, with each of its handlers that has an effect. */
interface Opened extends Recipe {
  readonly kernel: Kernel;
  readonly clock: VirtualClock;
  readonly close: () => Promise<unknown>;
  readonly handlers: readonly Judge[];
  readonly extension: unknown;
}

interface Judge extends PlannedHandler {
  readonly stage: Stage;
  readonly name: string;
}

async function opened(recipe: Recipe): Promise<Opened> {
  if (recipe.makesKernel) await instrumented(recipe);
  const { default: extension } = recipe.makesKernel ? {} : await recipe.load();
  if (!isExtension(extension)) {
    const [kernel] = made.kernels;
    if (kernel === undefined) throw new Error(`${recipe.name} makes no kernel and no extension`);
    return {
      ...recipe,
      extension,
      kernel,
      clock: moduleClock,
      close: async () => undefined,
      handlers: judgesOf(kernel),
    };
  }
  const asks = extension.manifest?.grants ?? [];
  const grants = asks.includes('tap') ? { [extension.id]: asks } : {}; // nobody has it unasked
  const loaded = await loadForTest(extension, { config: recipe.config, grants, instrument });
  const { kernel, clock } = loaded;
  return {
    ...recipe,
    extension,
    kernel,
    clock,
    close: loaded.dispose,
    handlers: judgesOf(kernel),
  };
}

function judgesOf(kernel: Kernel): Judge[] {
  return kernel
    .stages()
    .flatMap(({ stage, handlers }) =>
      handlers
        .filter((one) => one.class !== 'observer')
        .map((one) => ({ ...one, stage, name: `${one.extensionId}/${one.contributionId}` })),
    );
}

/** A payload that the conditions of a handler let through: fields of refs are not known. */
function payloadFor({ stage, match = {} }: Judge): object {
  const { family } = stage;
  const isCanonical = canonicalStages.some((one) => one.family === family);
  const sample = isCanonical ? samplePayload(family as never) : made.payloads.get(family);
  const fields = Object.entries(match).flatMap(([key, value]) =>
    key.includes('.') ? [] : [[key, [value].flat()[0]]],
  );
  return { ...(sample as object | undefined), ...Object.fromEntries(fields) };
}

async function outcomeOf({ kernel, clock }: Opened, judge: Judge) {
  const open = openKernel(kernel);
  const { family, mode } = judge.stage;
  const payload = payloadFor(judge);
  if (mode === 'sync-sequential') return open.dispatchSync(family, payload);
  return passing(clock, open.dispatch(family, payload));
}

describe('a recipe', () => {
  const folder = temporaryFolder();
  const found = recipes(folder);
  const all: Opened[] = [];
  const guards = () =>
    all.flatMap((recipe) =>
      recipe.handlers
        .filter(({ policy }) => policy === 'closed')
        .map((guard) => ({ recipe, guard })),
    );

  beforeAll(async () => {
    const kernelsLast = found.toSorted((a, b) => Number(a.makesKernel) - Number(b.makesKernel));
    for (const recipe of kernelsLast) all.push(await opened(recipe));
  });
  afterAll(async () => {
    for (const { close, clock } of all) {
      await passing(clock, close()); // handlers that hang are waited for
    }
    folder[Symbol.dispose]();
  });

  it('is found: each handler with an effect is one of a guard, or is named as none (§3.7)', () => {
    const open = all.flatMap(({ handlers }) =>
      handlers.filter(({ policy }) => policy !== 'closed'),
    );
    expect([...new Set(open.map(({ name }) => name))].toSorted()).toEqual(
      Object.keys(decorations).toSorted(),
    );
    expect(open.filter((one) => one.class === 'veto')).toEqual([]);
  });

  it.each(Object.entries(faults))(
    'lets nothing through if a guard of it %s (§3.7)',
    async (_, does) => {
      for (const { recipe, guard } of guards()) {
        broken = { name: guard.name, does };
        const { status, failures } = await outcomeOf(recipe, guard);
        broken = undefined;
        const by = failures
          .filter(({ policy }) => policy === 'closed')
          .map((one) => `${one.extensionId}/${one.contributionId}`);
        expect({ name: recipe.name, status, by }).toEqual({
          name: recipe.name,
          status: 'failed',
          by: [guard.name],
        });
      }
    },
  );

  it('is judged in a kernel with its handlers, unless it contributes none or takes them back', () => {
    const without = all.filter(({ handlers }) => handlers.length === 0).map(({ name }) => name);
    const channels = ['acp', 'openai', 'otel', 'slack', 'telegram'].map((name) => `sluice-${name}`);
    expect(without).toEqual([...channels, 'docs/examples/kernel-alone.ts']);
  });

  it.each(Object.entries(faults))(
    'shows nobody in a host more than a guard that fails may, if it %s (§3.7)',
    async (_, does) => {
      for (const { recipe, guard } of guards()) {
        const { extension, config } = recipe;
        if (!isExtension(extension) || guard.match !== undefined) continue;
        broken = { name: guard.name, does };
        const seen = await heldBack({ extensions: [{ extension, config }], instrument });
        broken = undefined;
        const { family } = guard.stage;
        const reached = seen.outcomes.filter(({ event }) => event.family === family);
        expect(
          reached.filter(({ status }) => status === 'passed'),
          guard.name,
        ).toEqual([]);
        const most = await mostShown(guard);
        expect(
          shown(seen).filter((one) => !most.has(one)),
          guard.name,
        ).toEqual([]);
      }
    },
  );
});

const most = new Map<string, ReadonlySet<string>>();

/** The texts that a host shows if a fail-closed handler of the same stage always fails. */
async function mostShown({ stage: { family }, class: name }: Judge): Promise<ReadonlySet<string>> {
  const known = most.get(family);
  if (known !== undefined) return known;
  const guard = { extensionId: 'x', id: 'y', family, class: name, failClosed: true };
  const contribute = (kernel: Kernel) =>
    openKernel(kernel).contribute({ ...guard, handler: faults.throws });
  const found = new Set(shown(await heldBack({ contribute })));
  most.set(family, found);
  return found;
}

/** The followed texts that somebody has seen, each with who it was. */
function shown({ sights }: HeldBack): string[] {
  return sights.flatMap((sight, at) =>
    (['person', 'model', 'transcript'] as const).flatMap((who) =>
      sight[who].filter((text) => markNames.includes(text)).map((text) => `${at} ${who} ${text}`),
    ),
  );
}
