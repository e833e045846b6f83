import type { Contribution } from '../handler/handler.js';
import type { ClassOf, FamilyName } from '../outcome/families.js';
import type { Stage } from '../stage/stage.js';
import type { HandlerClass } from '../stage/vocabulary.js';
import type { Kernel, KernelOptions } from './contract.js';

/** The options that only `sluice-kernel` has. */
export const operatorOptions = [
  'grants',
  'leastPrivilege',
  'quarantine',
  'overrides',
  'audit',
  'generateCode',
] as const satisfies (keyof KernelOptions)[];

/** The options of `sluice-kernel/core`: those of `sluice-kernel` without the operator's. */
export interface CoreOptions extends Omit<KernelOptions, (typeof operatorOptions)[number]> {
  readonly stages: readonly Stage[];
}

/** The functions of a kernel that serve its operator. */
export type OperatorFunction = 'running' | 'quiet' | 'grant' | 'may' | 'isAudited' | 'blame';

/** A kernel of `sluice-kernel/core`: without grants, quarantine, audit mode, overrides, matches and generated code. */
export interface CoreKernel extends Omit<Kernel, OperatorFunction | 'contribute'> {
  /** Registers a handler, as `contribute` of a `Kernel` does. */
  contribute<F extends FamilyName, C extends ClassOf<F> & HandlerClass, X extends boolean = false>(
    contribution: Contribution<F, C, X> & { readonly match?: never; readonly mode?: never },
  ): Disposable;
}
