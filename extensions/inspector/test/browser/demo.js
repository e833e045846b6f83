import { allow, ask, cancel, defineExtension } from 'sluice';

/** The host of the tests: each of its handlers does one of the things that the page shows. */
export default defineExtension({
  id: 'demo',
  manifest: { version: '1.2.3', grants: ['send:pigeon'] },
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
      payload.content.includes('DEPLOY')
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
    api.provide('agent', {
      id: 'parrot',
      provider: {
        ...{ id: 'parrot', models: ['parrot'], toolGate: 'enforce' },
        async *run({ prompt }) {
          if (prompt.includes('die')) throw new Error('the parrot is <b>dead</b>');
          const message = {
            ...{ role: 'assistant', provider: 'parrot', model: 'parrot', stopReason: 'stop' },
            ...{ content: [{ type: 'text', text: prompt }], timestamp: Date.now() },
          };
          yield { type: 'agent_start' };
          yield { type: 'message_start', message };
          yield { type: 'message_end', message };
          yield { type: 'agent_end', messages: [message] };
        },
      },
    });
  },
});
