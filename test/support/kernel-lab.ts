import {
  createKernel,
  type Given,
  type HandlerClass,
  type Kernel,
  type KernelOptions,
  type Logger,
  type Outcome,
  openKernel,
} from '../../src/kernel/index.js';
import { type VirtualClock, virtualClock } from '../../src/testing/virtual-clock.js';
import { labStages } from './kernel-stages.js';

/** A call as lab handlers see it: fields by name, since the lab has one payload for all its stages. */
export interface LabCall {
  readonly event: Readonly<Record<string, unknown>> & { readonly eventId: string };
  readonly payload: Readonly<Record<string, unknown>>;
  readonly annotations: Readonly<Record<string, unknown>>;
  readonly selection: { readonly target: unknown; readonly extensionId: string } | undefined;
  readonly signal: AbortSignal;
}

/** What belongs to a lab handler. */
export interface LabOwn {
  readonly extensionId: string;
  readonly contributionId: string;
  readonly log: Logger;
  dispatch(call: LabCall, family: string, payload: object): Outcome | Promise<Outcome>;
}

export type LabHandler = (call: LabCall, own: LabOwn) => unknown;

/** A contribution whose family, class and result the compiler does not hold against it. */
export interface LabContribution {
  readonly family: string;
  readonly class: HandlerClass;
  readonly extensionId: string;
  readonly id: string;
  readonly handler: LabHandler;
  readonly priority?: number;
  readonly timeoutMs?: number;
  readonly failClosed?: boolean;
  readonly recheck?: boolean;
  readonly preview?: 'ok';
  readonly detached?: boolean;
}

/** What may be given to a lab dispatch; `valid` judges any target. */
export type LabGiven = Omit<Given, 'valid'> & {
  readonly valid?: (target: unknown) => true | string;
};

/** The kernel without its compile-time gates: what it refuses at run time is what a lab is for. */
export interface LabKernel
  extends Omit<
    Kernel,
    'contribute' | 'dispatch' | 'dispatchSync' | 'has' | 'plan' | 'parsePayload'
  > {
  contribute(contribution: LabContribution): Disposable;
  dispatch(family: string, payload: object, given?: LabGiven): Promise<Outcome>;
  dispatchSync(family: string, payload: object, given?: LabGiven): Outcome;
  has(family: string): boolean;
  plan(family: string): ReturnType<Kernel['plan']>;
  parsePayload(family: string, payload: unknown): object;
}

export interface Lab {
  readonly kernel: LabKernel;
  readonly clock: VirtualClock;
}

/** A kernel of the lab's stages, under virtual time. */
export function createLab(options: Omit<KernelOptions, 'clock'> = {}): Lab {
  const clock = virtualClock();
  const kernel = createKernel({ stages: labStages, clock, ...options });
  return { kernel: openKernel(kernel), clock };
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
    kernel.contribute({ family, class: name, extensionId: 'x', id, handler, ...options });
}

/** Dispatches by the family's mode. */
export async function dispatchAny(
  kernel: LabKernel,
  family: string,
  payload: object,
  given?: LabGiven,
): Promise<Outcome> {
  return family.startsWith('lab.sync')
    ? kernel.dispatchSync(family, payload, given)
    : kernel.dispatch(family, payload, given);
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
