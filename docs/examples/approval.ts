import { createHash } from 'node:crypto';
import { allow, cancel, defineExtension, isSluiceError } from 'sluice';
import { z } from 'zod';

type Asked = { key: string; sessionKey: string; tool: string };

export default defineExtension({
  id: 'approval',
  manifest: { grants: ['veto:agent.tool.calling', 'send:*', 'inject'] },
  config: z.strictObject({
    tools: z.array(z.string()),
    owner: z.object({ channel: z.string(), to: z.string() }),
  }),
  setup(api, { tools, owner }) {
    const question = api.question<Asked>('run', async ({ id, data, ...end }) => {
      const isAllowed = end.status === 'answered' && end.answer === 'Allow';
      if (isAllowed) await api.store.set(data.key, true, { ttlMs: 600_000 });
      const verdict = isAllowed ? 'is allowed once: call it again' : 'is not allowed';
      await api.inject(data.sessionKey, `The call of ${data.tool} ${verdict}.`, { key: id });
    });

    const last = { priority: -100, failClosed: true }; // it judges the parameters as they will be
    api.veto('agent.tool.calling', 'owner', last, async ({ payload }) => {
      const { toolName: tool, params, sessionKey = '' } = payload;
      if (!tools.includes(tool)) return allow();
      const call = JSON.stringify([sessionKey, tool, params]);
      const key = `allowed/${createHash('sha256').update(call).digest('hex')}`;
      if (await api.store.delete(key)) return allow(); // an answer is good for one call
      const text = `May the agent run ${tool}?\n${JSON.stringify(params)}`;
      const message = { content: text, options: ['Allow', 'Deny'] };
      try {
        await question.ask(owner, message, { data: { key, sessionKey, tool } });
      } catch (error) {
        if (!isSluiceError(error) || error.code !== 'question-open') throw error;
        return cancel('approval-denied', { text: 'The owner has an open question. Try it later.' });
      }
      return cancel('approval-denied', { text: 'The owner is asked. Stop here, and wait.' });
    });
  },
});
