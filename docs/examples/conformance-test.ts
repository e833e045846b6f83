import { agentConformance, channelConformance, fakeChannel, scriptedAgent } from 'sluice/testing';

const checks = [
  ...channelConformance(() => {
    const channel = fakeChannel();
    return {
      channel,
      to: 'fake:ada',
      deliver: (text, updateId) => void channel.receive({ text }, updateId),
      shown: () => channel.sent.map(({ content }) => content),
    };
  }),
  ...agentConformance(() => ({ provider: scriptedAgent([['hello']]), text: 'say hello' })),
];
for (const { run } of checks) await run(); // with a test runner: it(name, run)
