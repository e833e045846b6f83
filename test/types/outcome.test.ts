import { describe, expectTypeOf, it } from 'vitest';
import type { EgressPreparing } from '../../src/kernel/catalog/index.js';
import {
  type AsyncFamily,
  createKernel,
  type Envelope,
  type FamilyName,
  type Given,
  type Outcome,
  openKernel,
} from '../../src/kernel/internal.js';

type Preparing = Outcome<'egress.preparing'>;
type Received = Outcome<'ingress.received'>;

/** Each body compiles, and is never run: the compiler is the test. */
const compiles = (_body: () => unknown): void => undefined;

describe('an outcome of one family', () => {
  it('is an outcome of any, by each member of the union (§5)', () => {
    expectTypeOf<Preparing>().toExtend<Outcome>();
    expectTypeOf<Received | Preparing>().toExtend<Outcome>();
    expectTypeOf<{ [F in FamilyName]: Outcome<F> }[FamilyName]>().toExtend<Outcome>();
    expectTypeOf<Envelope<'egress.preparing'>>().toExtend<Envelope>();
    expectTypeOf<Promise<Preparing>>().toExtend<Promise<Outcome>>();
  });

  it('is one also where the family is a parameter of a function', () => {
    compiles(
      () =>
        <F extends AsyncFamily>(one: Outcome<F>): Outcome =>
          one,
    );
    compiles(
      () =>
        <F extends AsyncFamily>(one: Promise<Outcome<F>>): Promise<Outcome> =>
          one,
    );
    compiles(
      () =>
        <F extends FamilyName>(all: readonly Outcome[], family: F) =>
          all.filter((one): one is Outcome<F> => one.event.family === family),
    );
  });

  it('goes on to the next dispatch as it is (§7)', () => {
    compiles(
      () =>
        (after: Received): Given<'egress.preparing'> => ({ after }),
    );
  });

  it('is none of another family', () => {
    expectTypeOf<Received>().not.toExtend<Preparing>();
    expectTypeOf<Outcome>().not.toExtend<Preparing>();
  });

  it('keeps its own types', () => {
    compiles(() => (one: Preparing) => {
      expectTypeOf(one.payload).toEqualTypeOf<Readonly<EgressPreparing>>();
      expectTypeOf(one.event.family).toEqualTypeOf<'egress.preparing'>();
      // @ts-expect-error the stage has no such code
      return one.status === 'cancelled' && one.cancel.code === 'no-such-code';
    });
  });
});

describe('an open kernel', () => {
  it('takes families as data, and payloads that are objects', () => {
    const kernel = openKernel(createKernel());
    compiles(() => [
      (family: string) => kernel.dispatch(family, kernel.parsePayload(family, {})),
      // @ts-expect-error a payload is an object
      kernel.dispatch('egress.preparing', 'text'),
      // @ts-expect-error there is no such class
      kernel.contribute({ family: 'x', class: 'vet', extensionId: 'x', id: 'x', handler: () => 1 }),
    ]);
  });
});
