import {
  createKernel,
  type Failure,
  type IdSource,
  type Kernel,
  type KernelOptions,
  type Late,
  type Outcome,
} from 'sluice-kernel';
import { type CollectingLogger, collectingLogger, printError } from './collecting-logger.js';
import { type VirtualClock, virtualClock } from './virtual-clock.js';

/** The options of a test kernel: those of a kernel, but for its clock, which is virtual, and its tap, which is taken. */
export interface TestKernelOptions extends Omit<KernelOptions, 'clock' | 'logger' | 'tap'> {
  /** To share one with something else. */
  readonly clock?: VirtualClock;
}

/** A kernel in a test's hands, with its log and its outcomes so far, in order. */
export interface TestKernel {
  readonly kernel: Kernel;
  readonly clock: VirtualClock;
  readonly log: CollectingLogger;
  readonly outcomes: readonly Outcome[];
  readonly failures: readonly Failure[];
  readonly late: readonly Late[];
}

/**
 * Makes a kernel for tests: virtual time, the same ids in every run, every payload checked and every step traced,
 * unless the options say otherwise.
 *
 * @example
 * const { kernel, clock, outcomes } = createTestKernel();
 */
export function createTestKernel(options: TestKernelOptions = {}): TestKernel {
  const { clock = virtualClock(), ...rest } = options;
  const log = collectingLogger(printError);
  const outcomes: Outcome[] = [];
  const failures: Failure[] = [];
  const late: Late[] = [];
  const kernel = createKernel({
    validate: 'always',
    trace: true,
    ids: sequentialIds(),
    ...rest,
    clock,
    logger: log,
    tap: {
      outcome: (outcome) => outcomes.push(outcome),
      failure: (failure) => failures.push(failure),
      late: (result) => late.push(result),
    },
  });
  return { kernel, clock, log, outcomes, failures, late };
}

/**
 * Ids that are the same in every run of a test: a prefix and the number of the dispatch.
 *
 * @example
 * createKernel({ ids: sequentialIds() }); // e-000001, e-000002, ...
 */
export function sequentialIds(prefix = 'e'): IdSource {
  return (_stampMs, sequence) => `${prefix}-${String(sequence).padStart(6, '0')}`;
}
