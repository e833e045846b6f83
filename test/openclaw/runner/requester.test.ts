import { describe, expect, it } from 'vitest';
import { createKernel, type Principal } from '../../../src/kernel/internal.js';
import {
  createLegacyHookRunner,
  type LegacyHookName,
  registerLegacyHook,
} from '../../../src/openclaw/index.js';
import { samplePayload } from '../../../src/testing/index.js';

const ada: Principal = {
  ...{ channel: 'slack', accountId: 'work', conversationId: 'c', senderId: 'U1' },
  ...{ senderName: 'Ada', isOwner: true, roles: ['admin'] },
};
const requester = {
  ...{ channel: 'slack', accountId: 'work', senderId: 'U1' },
  ...{ senderIsOwner: true, roleIds: ['admin'] },
};
const hooks = {
  before_tool_call: 'agent.tool.calling',
  after_tool_call: 'agent.tool.called',
} as const satisfies Partial<Record<LegacyHookName, string>>;
const event = { toolName: 'Bash', params: {} };

/** The contexts that a handler of each tool hook gets, and the principals that a canonical handler gets. */
function lab() {
  const kernel = createKernel();
  const contexts: Record<string, unknown>[] = [];
  const principals: (Principal | undefined)[] = [];
  for (const [hookName, family] of Object.entries(hooks)) {
    const handler = (_: unknown, ctx: object) => void contexts.push({ ...ctx });
    registerLegacyHook(kernel, {
      pluginId: 'p',
      hookName: hookName as keyof typeof hooks,
      handler,
    });
    kernel.contribute({
      ...{ family, class: 'observer', extensionId: 'x', id: hookName },
      handler: ({ principal }: { readonly principal: Principal | undefined }) =>
        void principals.push(principal),
    } as never); // the family is one of two
  }
  return { kernel, contexts, principals, runner: createLegacyHookRunner(kernel) };
}

describe('the requester of a tool hook', () => {
  it.each(Object.values(hooks))(
    '%s: is the principal, and absent if nothing is proven (judgement §1.11)',
    async (family) => {
      const { kernel, contexts } = lab();
      await kernel.dispatch(family, samplePayload(family), { principal: ada });
      await kernel.dispatch(family, samplePayload(family));
      expect(contexts[0]?.['requester']).toEqual(requester);
      expect('requester' in (contexts[1] ?? {})).toBe(false);
    },
  );

  it('of a host that calls the legacy runner is the principal of its dispatch (judgement §1.11)', async () => {
    const { runner, contexts, principals } = lab();
    await runner.runBeforeToolCall(event, { toolName: 'Bash', requester });
    const { conversationId: _, senderName: __, ...told } = ada;
    expect([principals, contexts[0]?.['requester']]).toEqual([[told], requester]);
  });

  it.each([
    ['no sender', { channel: 'slack', senderIsOwner: true }],
    ['no channel', { senderId: 'U1', senderIsOwner: true }],
    ['an empty sender', { channel: 'slack', senderId: '' }],
    ['no object', 'U1'],
    ['nothing', null],
  ])('proves nobody if it has %s (judgement §1.11)', async (_, wrong) => {
    const { runner, principals } = lab();
    await runner.runBeforeToolCall(event, { toolName: 'Bash', requester: wrong as never }); // from JavaScript
    expect(principals).toEqual([undefined]);
  });

  it('in an event or in parameters says nothing (judgement §1.4)', async () => {
    const { runner, principals } = lab();
    const forged = { ...event, params: { requester }, requester };
    await runner.runBeforeToolCall(forged, { toolName: 'Bash' });
    expect(principals).toEqual([undefined]);
  });
});
