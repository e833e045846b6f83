import { expectTypeOf, it } from 'vitest';
import { createKernel, type Handler, type Principal } from '../../src/kernel/internal.js';

const kernel = createKernel();

it('a handler has the principal where the row says so, and nowhere else (judgement §1.3)', () => {
  const veto: Handler<'agent.tool.calling', 'veto'> = ({ principal }) => {
    expectTypeOf(principal).toEqualTypeOf<Principal | undefined>();
    // @ts-expect-error it may be absent: nothing may be proven
    void principal.senderId;
    // @ts-expect-error nobody changes it
    if (principal !== undefined) principal.isOwner = true;
  };
  const observer: Handler<'ingress.received', 'observer'> = ({ principal }) => {
    expectTypeOf(principal).toEqualTypeOf<undefined>();
  };
  void [veto, observer];
});

it('a host gives a principal, and a nested dispatch gives none (judgement §1.2)', () => {
  type Given = Parameters<typeof kernel.dispatch>[2];
  expectTypeOf<NonNullable<Given>['principal']>().toEqualTypeOf<Principal | null | undefined>();
  const nested: Handler<'agent.starting', 'observer'> = (call, own) => {
    const { payload } = call;
    // @ts-expect-error own.dispatch takes a call, a family and a payload
    void own.dispatch(call, 'agent.starting', payload, { principal: null });
  };
  void nested;
});
