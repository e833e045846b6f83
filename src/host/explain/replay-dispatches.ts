import type { DispatchRecord } from '@sluice/journal';
import { Recent } from '@sluice/sdk/stream/internal';
import {
  type Author,
  definedFields,
  isSluiceError,
  type Kernel,
  type OpenKernel,
  type Outcome,
  openKernel,
  type Stage,
} from 'sluice-kernel/internal';
import { type RecordedOutcome, recordedOutcome } from '../timeline/recorded-outcome.js';
import { type OutcomeDifference, outcomeDifferences } from './outcome-differences.js';

/** The reason why a recorded dispatch was not dispatched again. */
type NotReplayed =
  /** The journal has no payload of it. */
  | 'no-payload'
  /** A handler made it: it is made again by that handler. */
  | 'nested'
  /** Its payload does not fit today's schema, or there is no such family. */
  | 'does-not-fit';

/** A recorded dispatch, with its outcome of today. */
export interface ReplayedDispatch {
  readonly recorded: RecordedOutcome;
  /** The outcome of today; absent if it was not replayed. */
  readonly today?: Outcome;
  readonly notReplayed?: NotReplayed;
  readonly differences: readonly OutcomeDifference[];
}

/** The number of messages whose last outcome is persisted, for the annotations that go downstream. */
const keptMessages = 1_000;

/**
 * Dispatches the records of a journal again, through a kernel of today, and compares (spec §20.7). Nothing is sent and no agent is
 * asked: a dispatch alone does neither. Handlers may have effects of their own: the caller decides which handlers are there.
 *
 * @param isOff names handlers that the kernel does not call, and that are not compared.
 * @example
 * for await (const { recorded, differences } of replayDispatches(kernel, await reader.dispatches()))
 *   for (const { what } of differences) console.log(recorded.event.eventId, what);
 */
export async function* replayDispatches(
  kernel: Kernel,
  records: AsyncIterable<DispatchRecord> | Iterable<DispatchRecord>,
  isOff: (author: Author) => boolean = () => false,
): AsyncGenerator<ReplayedDispatch> {
  const open = openKernel(kernel);
  const stages = new Map(kernel.stages().map(({ stage }) => [stage.family as string, stage]));
  const before = new Recent<string, Outcome>(keptMessages); // the last outcome of each message, for what goes downstream
  for await (const record of records) {
    const recorded = recordedOutcome(record);
    const stage = stages.get(record.family);
    const notReplayed = (why: NotReplayed): ReplayedDispatch => ({
      recorded,
      notReplayed: why,
      differences: [],
    });
    if (stage === undefined) yield notReplayed('does-not-fit');
    else if (recorded.omitted !== undefined) yield notReplayed('no-payload');
    else if (recorded.event.sourceContributionId !== null) yield notReplayed('nested');
    else {
      const today = await dispatchAgain(open, recorded, stage, before.get(record.correlationId));
      if (today === undefined) {
        yield notReplayed('does-not-fit');
        continue;
      }
      before.set(record.correlationId, today);
      yield { recorded, today, differences: outcomeDifferences(recorded, today, stage, isOff) };
    }
  }
}

async function dispatchAgain(
  kernel: OpenKernel,
  { event, failures, candidates, answered, principal }: RecordedOutcome,
  stage: Stage,
  after: Outcome | undefined,
): Promise<Outcome | undefined> {
  const { payload: recorded, family: _, hotPath: __, ...refs } = event;
  const { config: _config, ...kept } = recorded as Readonly<Record<string, unknown>>;
  let payload: object;
  try {
    payload = kernel.parsePayload(stage.family, structuredClone(kept));
  } catch (thrown) {
    if (isSluiceError(thrown)) return undefined;
    throw thrown;
  }
  // an envelope does not hold the options of its dispatch; its outcome shows them
  const isObserveOnly = failures.some(({ kind }) => kind === 'observe-only');
  const refused = candidates.filter(({ invalid }) => invalid !== undefined);
  const same = (one: unknown, other: unknown): boolean =>
    JSON.stringify(one) === JSON.stringify(other);
  const given = {
    ...(isObserveOnly && { gate: 'observe-only' as const }),
    ...(candidates.length > 0 && {
      valid: (target: unknown) => refused.find((one) => same(one.target, target))?.invalid ?? true,
    }),
    ...definedFields({ after, answered }),
    ...(stage.principal && { principal: principal ?? null }), // the chain of today may have lost it, or have another
    ...structuredClone(refs),
  };
  return stage.mode === 'sync-sequential'
    ? kernel.dispatchSync(stage.family, payload, given)
    : kernel.dispatch(stage.family, payload, given);
}
