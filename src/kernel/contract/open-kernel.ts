import type {
  ContributionOptions,
  ObserverOptions,
  PreviewOptions,
  VetoOptions,
} from '../handler/handler.js';
import type { Given } from '../outcome/given.js';
import type { MatchScalar } from '../outcome/matching.js';
import type { Outcome } from '../outcome/outcome.js';
import type { Band, HandlerClass } from '../stage/vocabulary.js';
import type { Kernel, PlannedHandler } from './contract.js';

/** A contribution whose family and class are data. */
export interface OpenContribution
  extends ContributionOptions,
    ObserverOptions,
    VetoOptions,
    PreviewOptions {
  readonly family: string;
  readonly class: HandlerClass;
  readonly extensionId: string;
  readonly id: string;
  readonly band?: Band;
  readonly match?: Readonly<Record<string, MatchScalar | readonly MatchScalar[]>>;
  readonly handler: (call: never, own: never) => unknown;
}

/**
 * A kernel for callers whose families are data, such as tables of rows and records of a journal. The checks of the kernel
 * take the place of the types; a payload goes through `parsePayload` first.
 */
export interface OpenKernel
  extends Omit<
    Kernel,
    'contribute' | 'dispatch' | 'dispatchSync' | 'has' | 'plan' | 'parsePayload'
  > {
  contribute(contribution: OpenContribution): Disposable;
  dispatch(family: string, payload: object, given?: Given): Promise<Outcome>;
  dispatchSync(family: string, payload: object, given?: Given): Outcome;
  has(family: string): boolean;
  plan(family: string): readonly PlannedHandler[];
  parsePayload(family: string, payload: unknown): object;
}

/** Returns the same kernel without the types of its families. */
export function openKernel(kernel: Kernel): OpenKernel {
  return kernel as unknown as OpenKernel; // the kernel checks each family, class and payload itself
}
