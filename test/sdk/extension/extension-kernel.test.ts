import { describe, expect, expectTypeOf, it } from 'vitest';
import { ToolJudge } from '../../../extensions/judge/src/index.js';
import { allow, cancel, type KernelOptions, type Outcome } from '../../../src/kernel/index.js';
import {
  defineExtension,
  type ExtensionApi,
  ExtensionSet,
  givenSource,
} from '../../../src/sdk/extension/index.js';
import { createTestKernel } from '../../../src/testing/index.js';

const granted: Pick<KernelOptions, 'grants'> = {
  grants: { door: ['dispatch:agent.tool.calling'] },
};

/** A set with an extension that hands its api out, and another one whose veto refuses `rm`. */
async function lab(options: Pick<KernelOptions, 'grants' | 'leastPrivilege' | 'audit'>) {
  let api: ExtensionApi | undefined;
  const door = defineExtension({ id: 'door', setup: (given) => void (api = given) });
  const rules = defineExtension({
    id: 'rules',
    setup: ({ veto }) =>
      veto('agent.tool.calling', 'no-rm', { failClosed: true }, ({ payload: { params } }) =>
        params['command'] === 'rm' ? cancel('policy', { text: 'No rm.' }) : allow(),
      ),
  });
  const set = new ExtensionSet(createTestKernel(options).kernel);
  for (const one of [door, rules]) await set.add(givenSource(one));
  if (api === undefined) throw new Error('setup has not run');
  return { set, api };
}

describe('the kernel of an extension (extensions-that-act §10)', () => {
  const call = { toolName: 'shell', params: { command: 'rm' } };

  it('dispatches to the handlers of all extensions (extensions-that-act §10.1)', async () => {
    const { api, set } = await lab(granted);
    await using _set = set;
    const { dispatch, has } = api.kernel;
    const outcome = await dispatch('agent.tool.calling', call);
    expectTypeOf(outcome).toEqualTypeOf<Outcome<'agent.tool.calling'>>();
    expect(outcome).toMatchObject({ status: 'cancelled', cancel: { extensionId: 'rules' } });
    expect([has('agent.tool.calling'), has('egress.sent')]).toEqual([true, false]);
  });

  it('is one that a ToolJudge judges with (extensions-that-act §10.1)', async () => {
    const { api, set } = await lab(granted);
    await using _set = set;
    const judge = new ToolJudge(api.kernel, { given: () => ({}) });
    const verdict = await judge.calling({ ...call, context: undefined });
    expect(verdict).toEqual({ allowed: false, reason: 'No rm.' });
  });

  it.each([{}, { grants: { door: ['*:*'] } }, { leastPrivilege: true }])(
    'needs the grant of the family with %j (extensions-that-act §10.2)',
    async (options) => {
      const { api, set } = await lab({ ...options, grants: { rules: ['*:*'], ...options.grants } });
      await using _set = set;
      await expect(api.kernel.dispatch('agent.tool.calling', call)).rejects.toMatchObject({
        code: 'not-granted',
        hint: expect.stringContaining('"grants": { "door": ["dispatch:agent.tool.calling"] }'),
      });
    },
  );

  it('dispatches no more when the extension is gone (extensions-that-act §10.2)', async () => {
    const { api, set } = await lab(granted);
    await set[Symbol.asyncDispose]();
    await expect(api.kernel.dispatch('agent.tool.calling', call)).rejects.toMatchObject({
      code: 'extension-gone',
    });
  });

  it('dispatches as ever if the extension is audited (extensions-that-act §10.3)', async () => {
    const { api, set } = await lab({ ...granted, audit: ['door'] });
    await using _set = set;
    const { status } = await api.kernel.dispatch('agent.tool.calling', call);
    expect(status).toBe('cancelled');
  });
});
