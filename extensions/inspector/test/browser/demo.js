import { createInterface } from 'node:readline';
import { allow, ask, cancel, defineExtension } from 'sluice';

/** A channel of people with names: each line of stdin is a message, such as `Ada: hello` or `Grace#ops: hello`. */
const post = {
  ...{ id: 'post', capabilities: {}, accounts: ['default'] },
  resendPolicy: { ambiguous: 'fail', maxAttempts: 1, maxWaitMs: 0 },
  startAccount: async (_accountId, inbox) => {
    let count = 0;
    createInterface({ input: process.stdin }).on('line', (line) => {
      void inbox.receive({ raw: line, updateId: `${process.pid}-${++count}` });
    });
  },
  stopIntake: async () => process.stdin.pause(),
  stopAccount: async () => undefined,
  decodeIngress: (raw, accountId) => {
    const [, name = 'Ada', group, content] = /^(?:(\w+)(?:#(\w+))?: )?(.*)$/s.exec(raw);
    const id = `post:${(group ?? name).toLowerCase()}`;
    const where = { conversationId: id, ...(group && { channelName: group, isGroup: true }) };
    const sender = { id: name.toLowerCase(), name };
    const message = { channel: 'post', accountId, from: id, sender, ...where, content };
    return { kind: 'message', message: { ...message, attachments: [], metadata: {} } };
  },
  send: async (permit) => {
    process.stdout.write(`${permit.take().content}\n`);
    return { status: 'sent', receipt: {} };
  },
};

/** The host of the tests: each of its handlers does one of the things that the page shows. */
export default defineExtension({
  id: 'demo',
  manifest: { version: '1.2.3', grants: ['send:pigeon', 'provide:command'] },
  setup(api) {
    api.veto('egress.preparing', 'early', { priority: 90, recheck: false }, () => allow());
    api.mutate('egress.preparing', 'shout', { priority: 50 }, ({ payload }) => ({
      content: payload.content.toUpperCase(),
    }));
    api.mutate('egress.preparing', 'sign', ({ payload }) => ({
      content: `${payload.content} -- demo`,
    }));
    api.veto('egress.preparing', 'guard', ({ payload }) =>
      payload.content.includes('SECRET')
        ? cancel('unsafe', { text: 'it tells a secret' })
        : allow(),
    );
    api.veto('egress.preparing', 'human', ({ payload }) =>
      payload.kind !== 'approval' && payload.content.includes('DEPLOY')
        ? ask({ title: 'Send the word deploy?', of: 'owner' })
        : allow(),
    );
    api.veto('egress.preparing', 'strict', { mode: 'audit' }, () =>
      cancel('policy', { text: 'never' }),
    );
    api.observe('egress.sent', 'pigeons', { match: { channel: ['pigeon'] } }, () => undefined);
    api.mutate(
      'agent.prompt.building',
      'hold',
      { timeoutMs: 60_000 },
      async ({ payload, signal }) => {
        if (payload.prompt.includes('hold'))
          await new Promise((done) => signal.addEventListener('abort', done));
      },
    );
    api.provide('channel', post);
    api.provide('command', { name: 'coo', description: 'Says coo.', run: () => 'coo' });
    api.provide('tool', {
      name: 'almanac',
      description: 'Tells the weather of a day.',
      inputSchema: { type: 'object', properties: {} },
      execute: async () => {
        await new Promise((done) => setTimeout(done, 120));
        return 'rain';
      },
    });
    api.schedule('feed', { cron: '0 9 * * *' }, () => undefined);
    api.provide('route', {
      ...{ method: 'GET', path: '/demo/seeds' },
      handler: () => new Response('sunflower'),
    });
    api.provide('agent', {
      id: 'parrot',
      provider: {
        ...{ id: 'parrot', models: ['parrot'], toolGate: 'enforce', ownTools: [] },
        async *run({ prompt, tools }) {
          if (prompt.includes('die')) throw new Error('the parrot is <b>dead</b>');
          const message = {
            ...{ role: 'assistant', provider: 'parrot', model: 'parrot', stopReason: 'stop' },
            ...{ content: [{ type: 'text', text: prompt }], timestamp: Date.now() },
          };
          yield { type: 'agent_start' };
          const tool = prompt.includes('weather') && tools?.find(({ name }) => name === 'almanac');
          if (tool) {
            await new Promise((done) => setTimeout(done, 200));
            const call = { toolCallId: 'call-1', toolName: 'almanac', args: {} };
            yield { type: 'tool_execution_start', ...call };
            const { content: result } = await tool.call(call);
            yield { type: 'tool_execution_end', ...call, result, isError: false };
            await new Promise((done) => setTimeout(done, 90));
          }
          yield { type: 'message_start', message };
          yield { type: 'message_end', message };
          yield { type: 'agent_end', messages: [message] };
        },
      },
    });
  },
});
