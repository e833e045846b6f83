import { describe, expectTypeOf, it } from 'vitest';
import type { LegacyEvent, LegacyHookRunner, LegacyResult } from '../../src/openclaw/index.js';

describe('the methods of the legacy runner (§17.9)', () => {
  it('are named after the hooks, with the event and the result of their hook', () => {
    const { runMessageSending } = {} as LegacyHookRunner;
    type Sending = Parameters<typeof runMessageSending>;
    expectTypeOf<Sending[0]>().toEqualTypeOf<LegacyEvent<'message_sending'>>();
    expectTypeOf(runMessageSending).returns.resolves.toEqualTypeOf<
      LegacyResult<'message_sending'> | undefined
    >();
    expectTypeOf<LegacyHookRunner>().not.toHaveProperty('runNothing');
  });

  it('give a result at once exactly for the two hooks that write the transcript', () => {
    type Methods = {
      [M in keyof LegacyHookRunner]: ReturnType<LegacyHookRunner[M]> extends Promise<unknown>
        ? never
        : M;
    };
    expectTypeOf<Methods[keyof Methods]>().toEqualTypeOf<
      'runToolResultPersist' | 'runBeforeMessageWrite' | 'hasHooks' | 'getHookCount'
    >();
  });
});
