import { timelineRecorder } from '@sluice/host';
import { extensionData, newCounts } from '@sluice/host/internal';
import { memoryJournal } from '@sluice/journal';
import {
  type AddedRun,
  type Extension,
  type ExtensionStore,
  type Figures,
  type LoadedExtension,
  type LoadOptions,
  loadExtension,
  type ProvisionKind,
  type Provisions,
  type Registration,
  type UnloadReport,
} from '@sluice/sdk/extension';
import {
  type AsyncFamily,
  definedFields,
  type FamilyName,
  type Given,
  type Kernel,
  type Outcome,
  type PayloadOf,
  type SyncFamily,
} from 'sluice-kernel/internal';
import { samplePayloads } from './samples.js';
import { createTestKernel, type TestKernel, type TestKernelOptions } from './test-kernel.js';

/** The options of an extension under test: the kernel's, and its own. */
export interface LoadForTestOptions
  extends TestKernelOptions,
    Pick<LoadOptions, 'config' | 'setupTimeoutMs'> {}

/** One extension, loaded into a kernel of its own. */
export interface LoadedForTest extends TestKernel, AsyncDisposable {
  /** The store of the extension, in memory: to read what it keeps, and to write what it shall find. */
  readonly store: ExtensionStore;
  /** The labels of the extension's resources and contributions. */
  labels(): readonly string[];
  /** The things of one kind that it gave with `api.provide`. */
  provided<K extends ProvisionKind>(kind: K): readonly Provisions[K][];
  /** The names of its schedules. `startTestHost` runs them by its clock. */
  schedules(): readonly string[];
  /**
   * Runs the handler of a schedule, as if it were due now.
   *
   * @throws the error of the handler, or an error if there is no schedule of that name.
   */
  runSchedule(name: string, run?: Partial<AddedRun<unknown>>): Promise<void>;
  /**
   * Dispatches the sample payload of a family, with some fields of your own. A custom family has no sample: its
   * payload is what you give.
   */
  dispatch<F extends AsyncFamily>(
    family: F,
    payload?: Partial<PayloadOf<F>>,
    given?: Given<F>,
  ): Promise<Outcome<F>>;
  /** The same for a sync-sequential family. */
  dispatchSync<F extends SyncFamily>(
    family: F,
    payload?: Partial<PayloadOf<F>>,
    given?: Given<F>,
  ): Outcome<F>;
  /** Unloads the extension. */
  dispose(): Promise<UnloadReport>;
}

/**
 * Loads one extension for a test.
 *
 * @throws SluiceError (as a rejection) of the extension, if it is disabled.
 * @example
 * await using test = await loadForTest(quietHours, { config: { from: '22:00', to: '07:00' } });
 * const outcome = await test.dispatch('egress.preparing', { content: 'Good night.' });
 * expectCancelled(outcome, { code: 'quiet-hours' });
 */
export async function loadForTest(
  extension: Extension,
  options: LoadForTestOptions = {},
): Promise<LoadedForTest> {
  const { config, setupTimeoutMs, ...kernelOptions } = options;
  const test = createTestKernel(kernelOptions);
  const { kernel, clock, log } = test;
  const journal = memoryJournal({ clock, acknowledge: 'ended' });
  const data = extensionData(journal, { clock });
  timelineRecorder({ clock, logger: log }).attach(kernel);
  const loaded = await loadExtension(kernel, extension, {
    config,
    host: {
      storeOf: data.storeOf,
      stateDirOf: data.stateDirOf,
      figures: async () => idleFigures(kernel, await journal.counts()),
    },
    clock,
    logger: log,
    ...definedFields({ setupTimeoutMs }),
  });
  if (loaded.status === 'disabled') {
    data[Symbol.dispose]();
    throw loaded.error;
  }
  const dispose = async (): Promise<UnloadReport> => {
    const report = await loaded.dispose();
    data[Symbol.dispose]();
    return report;
  };
  return {
    ...test,
    store: data.storeOf(extension.id),
    labels: () => loaded.labels(),
    provided: (kind) => loaded.provided(kind),
    schedules: () => schedulesOf(loaded).map(({ name }) => name),
    runSchedule: async (name, run) => {
      const schedule = schedulesOf(loaded).find((one) => one.name === name);
      if (schedule === undefined) throw new Error(`there is no schedule "${name}"`);
      const { signal } = new AbortController();
      const due = { id: `run-${name}`, dueAt: clock.now(), attempt: 1, signal };
      const { handler: work } = schedule.value;
      await work({ ...due, ...run });
    },
    dispatch: async (family, payload, given) =>
      kernel.dispatch(family, sampleWith(family, payload), given),
    dispatchSync: (family, payload, given) =>
      kernel.dispatchSync(family, sampleWith(family, payload), given),
    dispose,
    [Symbol.asyncDispose]: async () => void (await dispose()),
  };
}

/** The figures of a host that has done nothing, with the counts of the kernel. */
function idleFigures(kernel: Kernel, journal: Figures['journal']): Figures {
  const nothing = { messages: 0, turns: 0, accounts: [], extensions: [], degraded: [] };
  const idle = { conversations: 0, waiting: 0, running: 0 };
  return {
    stats: { ...newCounts(), ...idle, sends: { sent: 0, cancelled: 0, failed: 0 } },
    health: { state: 'running', uptimeMs: 0, ...nothing, kernel: kernel.stats() },
    journal,
  };
}

function schedulesOf(loaded: LoadedExtension): readonly Registration<'schedule'>[] {
  const isSchedule = (one: Registration): one is Registration<'schedule'> =>
    one.kind === 'schedule';
  return loaded.registered().filter(isSchedule);
}

const samples: Readonly<Record<string, (() => object) | undefined>> = samplePayloads;

/** Fills a sample with fields. The kernel checks every payload of a test, so that it finds a field that is missing here. */
function sampleWith<F extends FamilyName>(
  family: F,
  fields: Partial<PayloadOf<F>> | undefined,
): PayloadOf<F> {
  return { ...samples[family]?.(), ...fields } as PayloadOf<F>;
}
