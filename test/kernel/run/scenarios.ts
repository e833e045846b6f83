import type { HandlerClass, KernelOptions } from '../../../src/kernel/internal.js';
import type { LabCall, LabContribution, LabGiven } from '../../support/kernel-lab.js';

/** A handler of a scenario. Handlers stand in run order, unless one says its own priority. */
export interface ScenarioHandler
  extends Partial<Omit<LabContribution, 'family' | 'class' | 'id' | 'handler'>> {
  readonly class: HandlerClass;
  readonly id: string;
  readonly returns: (call: LabCall) => unknown;
}

/** What comes out. What is not said must be empty; a payload is said by its difference from the emitted one. */
export interface Expected {
  readonly status?: 'passed' | 'cancelled' | 'failed';
  readonly payload?: Readonly<Record<string, unknown>>;
  readonly annotations?: Readonly<Record<string, unknown>>;
  /** `x/a title`, or `x/a model overruled`. */
  readonly changes?: readonly string[];
  /** `x/a bad-output open`; without a handler's name where the stage itself failed. */
  readonly failures?: readonly string[];
  /** `x/a after-cancel`. */
  readonly skipped?: readonly string[];
  readonly cancel?: Readonly<Record<string, unknown>>;
  /** Whose candidate won. */
  readonly selected?: string;
  /** `x/a`, or `x/a invalid`. */
  readonly candidates?: readonly string[];
  /** `x/a: x/b x/c`: who allowed, and who changed it afterwards. */
  readonly stale?: readonly string[];
  /** The ids of the handlers as they were called. */
  readonly order: string;
}

export interface Scenario {
  /** A sentence, with the clause it shows. */
  readonly name: string;
  readonly handlers: readonly ScenarioHandler[];
  /** Which row: its classes fail open, or all of them closed. */
  readonly policy?: 'open' | 'closed';
  readonly payload?: Readonly<Record<string, unknown>>;
  readonly given?: () => LabGiven;
  readonly options?: Pick<KernelOptions, 'grants' | 'overrides'>;
  readonly expected: Expected;
}

type Returns = ScenarioHandler['returns'];
type Options = Omit<ScenarioHandler, 'class' | 'id' | 'returns'>;

const maker =
  (name: HandlerClass) =>
  (id: string, returns: Returns = () => undefined, options: Options = {}): ScenarioHandler => ({
    class: name,
    id,
    returns,
    ...options,
  });

export const observer = maker('observer');
export const augmenter = maker('augmenter');
export const mutator = maker('mutator');
export const veto = maker('veto');
export const resolver = maker('resolver');

/** A handler body that throws. */
export const boom = (): never => {
  throw new Error('boom');
};
