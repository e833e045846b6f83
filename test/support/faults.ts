import { type Static, type TObject, Type } from 'typebox';
import {
  type Clock,
  defineStage,
  type ExecutionMode,
  type FailPolicy,
  type Failure,
  type HandlerClass,
  handlerClasses,
  type KernelOptions,
  type Stage,
} from '../../src/kernel/internal.js';
import {
  type Bag,
  type LabCall,
  type LabGiven,
  type LabHandler,
  type LabKernel,
  type LabOutcome,
  labKernel,
} from './kernel-lab.js';

const open = { additionalProperties: true } as const;
const closed = { additionalProperties: false } as const;

export const faultPayload = Type.Object(
  {
    content: Type.String(),
    flag: Type.Boolean(),
    list: Type.Array(Type.String(), { maxItems: 8 }),
    tail: Type.String({ maxLength: 40 }),
    head: Type.String(),
    first: Type.String(),
    tags: Type.Union([Type.Object({}, open), Type.Null()]),
    secret: Type.String(),
    opaque: Type.Optional(Type.Unknown()),
    count: Type.Optional(Type.Number()),
  },
  closed,
);

const patch = Type.Partial(faultPayload, closed);

/** A fresh payload of the fault stages. */
export function faultSample(over: Partial<Static<typeof faultPayload>> = {}): Bag {
  return {
    content: 'emitted',
    flag: false,
    list: ['one'],
    tail: 'tail',
    head: 'head',
    first: 'emitted first',
    tags: { color: 'red' },
    secret: 'kept',
    ...over,
  };
}

/** How a fault stage differs from the plain one. */
export interface FaultStage {
  readonly family?: string;
  readonly mode?: ExecutionMode;
  readonly onError?: Partial<Record<HandlerClass, FailPolicy>>;
  readonly payload?: TObject;
  readonly stageTimeoutMs?: number;
}

/** The budget of one handler on a fault stage, in milliseconds. */
export const budgetMs = 1_000;

/** A stage with every class that its mode allows, every law, a trusted field, annotations and a selection. */
export function faultStage(given: FaultStage = {}): Stage {
  const mode = given.mode ?? 'sequential';
  const shared = {
    family: given.family ?? 'fault.stage',
    mode,
    payload: given.payload ?? faultPayload,
    timeoutMs: budgetMs,
    ...(given.stageTimeoutMs !== undefined && { stageTimeoutMs: given.stageTimeoutMs }),
    ...(given.onError !== undefined && { onError: given.onError }),
    cancelCodes: ['policy'],
  };
  if (mode === 'parallel') return defineStage({ ...shared, classes: ['observer'] }) as Stage;
  return defineStage({
    ...shared,
    classes: handlerClasses,
    patch,
    laws: {
      list: 'append',
      tail: { law: 'append-text', separator: ' ' },
      head: { law: 'prepend-text', separator: ' ' },
      first: 'first-defined',
      tags: 'merge-keys',
    },
    trusted: ['secret'],
    annotations: Type.Object(
      {
        notes: Type.Optional(Type.Array(Type.String())),
        language: Type.Optional(Type.String()),
        topic: Type.Optional(Type.String()),
      },
      closed,
    ),
    replaceable: ['language'],
    selection: Type.Object(
      { to: Type.String(), via: Type.Optional(Type.Object({ name: Type.String() }, open)) },
      closed,
    ),
  });
}

/** One combination that a stage can have. */
export interface Combination {
  readonly mode: ExecutionMode;
  readonly class: HandlerClass;
  /** What the stage declares for the class, or `failClosed` on the contribution itself. */
  readonly policy: FailPolicy | 'failClosed';
  /** What a failure of such a handler does: a resolver's never ends the stage (§9.5). */
  readonly effect: FailPolicy;
  readonly name: string;
}

/** Every class × mode × policy that a stage can have (§2.2: a parallel stage allows observers only). */
export const combinations: readonly Combination[] = (
  ['parallel', 'sequential', 'sync-sequential'] as const
).flatMap((mode) =>
  handlerClasses
    .filter((name) => mode !== 'parallel' || name === 'observer')
    .flatMap((name) =>
      (name === 'veto'
        ? (['open', 'closed', 'failClosed'] as const)
        : (['open', 'closed'] as const)
      ).map(
        (policy): Combination => ({
          mode,
          class: name,
          policy,
          effect: policy === 'open' || name === 'resolver' ? 'open' : 'closed',
          name: `${name} on ${mode}, ${policy}`,
        }),
      ),
    ),
);

/** A kernel with the stage of a combination, the faulty handler first and a bystander after it. */
export interface FaultBench {
  readonly kernel: LabKernel;
  readonly family: string;
  /** What the bystander saw, once it ran. */
  readonly next: LabCall[];
  dispatch(given?: LabGiven): Promise<LabOutcome>;
}

/** Sets a faulty handler up in one combination, with an observer that runs after it. */
export function bench(
  row: Combination,
  handler: LabHandler,
  options: KernelOptions & { readonly clock?: Clock } = {},
): FaultBench {
  const policy = row.policy === 'closed' ? 'closed' : 'open';
  const stage = faultStage({ mode: row.mode, onError: { [row.class]: policy } });
  const kernel = labKernel([stage], options);
  const next: LabCall[] = [];
  kernel.contribute({
    family: stage.family,
    class: row.class,
    extensionId: 'faulty',
    id: 'one',
    handler,
    priority: 10,
    ...(row.policy === 'failClosed' && { failClosed: true }),
  });
  kernel.contribute({
    family: stage.family,
    class: 'observer',
    extensionId: 'next',
    id: 'one',
    handler: (call) => {
      next.push(call);
    },
  });
  return {
    kernel,
    family: stage.family,
    next,
    dispatch: (given) => kernel.run(stage.family, faultSample(), given),
  };
}

/** The failures of one extension. */
export function failuresOf(outcome: LabOutcome, extensionId = 'faulty'): readonly Failure[] {
  return outcome.failures.filter((failure) => failure.extensionId === extensionId);
}

/** Whether the bystander runs, and how the stage ends, after a failure with this effect. */
export function afterFailure(row: Combination): { readonly next: number; readonly status: string } {
  if (row.effect === 'closed') return { next: row.mode === 'parallel' ? 1 : 0, status: 'failed' };
  // §9.4: where the resolver's policy is closed, nobody having proposed is what fails the stage, at its end
  return {
    next: 1,
    status: row.class === 'resolver' && row.policy === 'closed' ? 'failed' : 'passed',
  };
}
