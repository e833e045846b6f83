import { describe, expect, it } from 'vitest';
import { echoProvider } from '../../src/agent/index.js';
import { hostLab } from '../support/host-lab.js';

describe('L5: many conversations at once', () => {
  it('make Node warn of no leak: whoever waits listens to the host’s signal (durability §8.1)', async () => {
    const warnings: string[] = [];
    const onWarning = ({ name, message }: Error): void => void warnings.push(`${name}: ${message}`);
    process.on('warning', onWarning);
    try {
      const echo = echoProvider();
      await using lab = await hostLab({
        contribute: (kernel) => {
          for (const family of ['ingress.normalized', 'agent.prompt.building'] as const)
            kernel.contribute({
              family,
              class: 'augmenter',
              extensionId: 'test',
              id: family,
              handler: () =>
                new Promise<void>((resolve) => lab.clock.setTimeout(() => resolve(), 1_000)),
            });
        },
        agents: [{ id: 'main', provider: echo }],
      });
      for (let at = 0; at < 40; at++)
        void lab.channel.receive({ text: 'hi', conversation: `c-${at}` }, `${at}`);
      await lab.clock.advance(30_000);
      expect(lab.texts()).toHaveLength(40);
      await new Promise((resolve) => setImmediate(resolve)); // a warning is told in a turn of its own
    } finally {
      process.off('warning', onWarning);
    }
    expect(warnings).toEqual([]);
  });
});
