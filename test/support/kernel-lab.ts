import {
  type ApprovalQuestion,
  createKernel,
  type Given,
  type HandlerClass,
  type Kernel,
  type KernelOptions,
  type Outcome,
  type Own,
  type Stage,
} from '../../src/kernel/internal.js';
import { type VirtualClock, virtualClock } from '../../src/testing/virtual-clock.js';
import { labStages } from './kernel-stages.js';

/** A record whose fields are read by name. A hostile handler may write to it. */
export type Bag = Record<string, unknown>;

/** A call without the types of its family. */
export interface LabCall {
  readonly event: Bag & { readonly eventId: string; readonly correlationId: string };
  readonly payload: Bag;
  readonly annotations: Bag;
  readonly selection: { readonly target: unknown; readonly extensionId: string } | undefined;
  readonly pass: string;
  readonly signal: AbortSignal;
}

/** The `own` of a handler. Its dispatch takes any family. */
export interface LabOwn extends Omit<Own, 'dispatch'> {
  dispatch(call: LabCall, family: string, payload: object): LabOutcome | Promise<LabOutcome>;
}

export type LabHandler = (call: LabCall, own: LabOwn) => unknown;

/** An outcome whose payload, annotations and event can be read by name. */
export type LabOutcome = Outcome & {
  readonly payload: Bag;
  readonly annotations: Bag;
  readonly event: LabCall['event'];
  readonly selection?: { readonly target: unknown; readonly contributionId: string };
  readonly cancel?: {
    readonly code: string;
    readonly extensionId: string;
    readonly contributionId: string;
    readonly text?: string;
    readonly details?: Bag;
    readonly question?: ApprovalQuestion;
  };
};

/** A contribution whose family, class and result the compiler does not check. */
export interface LabContribution {
  readonly family: string;
  readonly class: HandlerClass;
  /** `x` by default. */
  readonly extensionId?: string;
  readonly id: string;
  readonly handler: LabHandler;
  readonly priority?: number;
  readonly timeoutMs?: number;
  readonly failClosed?: boolean;
  readonly recheck?: boolean;
  readonly preview?: 'ok';
  readonly detached?: boolean;
  readonly match?: unknown;
}

/** The options of a lab dispatch; `valid` judges any target. */
export type LabGiven = Omit<Given, 'valid'> & {
  readonly valid?: (target: unknown) => true | string;
};

/** The kernel without its compile-time gates, so that tests can do what does not compile. */
export interface LabKernel
  extends Omit<
    Kernel,
    'contribute' | 'dispatch' | 'dispatchSync' | 'has' | 'plan' | 'parsePayload'
  > {
  contribute(contribution: LabContribution): Disposable;
  dispatch(family: string, payload: unknown, given?: LabGiven): Promise<LabOutcome>;
  dispatchSync(family: string, payload: unknown, given?: LabGiven): LabOutcome;
  has(family: string): boolean;
  plan(family: string): ReturnType<Kernel['plan']>;
  parsePayload(family: string, payload: unknown): Bag;
  /** Dispatches in the mode of the family. */
  run(family: string, payload: unknown, given?: LabGiven): Promise<LabOutcome>;
}

/** Makes a kernel of some stages, without the compile-time gates. */
export function labKernel(stages: readonly Stage[], options: KernelOptions = {}): LabKernel {
  // the gates are tested in test/types; handlers of a lab break the contract on purpose
  const kernel = createKernel({ stages, ...options }) as unknown as LabKernel;
  const isSync = (family: string) =>
    stages.find((stage) => stage.family === family)?.mode === 'sync-sequential';
  return {
    ...kernel,
    contribute: (given) => kernel.contribute({ extensionId: 'x', ...given }),
    run: async (family, payload, given) =>
      isSync(family)
        ? kernel.dispatchSync(family, payload, given)
        : kernel.dispatch(family, payload, given),
  };
}

export interface Lab {
  readonly kernel: LabKernel;
  readonly clock: VirtualClock;
}

/** A kernel of the lab's stages, under virtual time. */
export function createLab({
  stages = labStages,
  ...options
}: Omit<KernelOptions, 'clock'> = {}): Lab {
  const clock = virtualClock();
  return { kernel: labKernel(stages, { clock, ...options }), clock };
}

/** Registers handlers of one extension, `x`, on one family: the shortest way to a stage. */
export function contributor(
  kernel: LabKernel,
  family: string,
): (
  name: HandlerClass,
  id: string,
  handler: LabHandler,
  options?: Partial<Omit<LabContribution, 'class' | 'id' | 'handler' | 'family'>>,
) => Disposable {
  return (name, id, handler, options = {}) =>
    kernel.contribute({ family, class: name, id, handler, ...options });
}

/** A promise, and what settles it. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(reason: unknown): void;
}

export function deferred<T = void>(): Deferred<T> {
  let resolve: (value: T) => void = () => undefined;
  let reject: (reason: unknown) => void = () => undefined;
  const promise = new Promise<T>((fulfil, refuse) => {
    resolve = fulfil;
    reject = refuse;
  });
  return { promise, resolve: (value) => resolve(value), reject: (reason) => reject(reason) };
}

/** Handler ids in the short form that expectations are written in: `x/shout`. */
export function byName(author: {
  readonly extensionId?: string;
  readonly contributionId?: string;
}): string {
  return `${author.extensionId ?? ''}/${author.contributionId ?? ''}`;
}

/** What an outcome says, without what differs from run to run: event, errors' texts, durations. */
export function gist(outcome: Outcome): object {
  return {
    status: outcome.status,
    payload: outcome.payload,
    annotations: outcome.annotations,
    cancel: outcome.status === 'cancelled' ? outcome.cancel : undefined,
    selection: outcome.selection,
    candidates: outcome.candidates,
    changes: outcome.changes,
    staleApprovals: outcome.staleApprovals,
    skipped: outcome.skipped,
    failures: outcome.failures.map(({ error: _, ...rest }) => rest),
    steps: outcome.steps.map(({ durationMs: _, ...rest }) => rest),
  };
}
