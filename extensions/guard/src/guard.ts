import { createHash } from 'node:crypto';
import { defineExtension } from 'sluice';
import { contributePolicies, type Policies } from 'sluice-policies';
import { Asking } from './asking/asking.js';
import { watchSettings } from './commands/watch-settings.js';
import { guardConfig } from './config.js';
import { type Door, openDoor } from './door/door.js';
import { answering, refusalsWhenAway } from './door/hooks.js';
import { Judge } from './judging/judge.js';

/** Judges the calls of coding agents by policies, as the channel `guard`. The README has the settings. */
export default defineExtension({
  id: 'guard',
  manifest: { version: '0.2.0', sluice: '~0.2.0', grants: ['dispatch:*', 'send:*'] },
  config: guardConfig,
  async setup(api, config) {
    const { log, clock, kernel } = api;
    const { port, roles, ask: place } = config;
    const policies = await contributePolicies(api, config.policies);
    const asking = place && new Asking(api, place);
    const judge = new Judge({
      ...{ kernel, clock, roles, policies: digestOf(policies) },
      onAsk: asking && ((question, about) => asking.ask(question, about)),
    });
    const answer = answering(judge, () => clock.now());
    const folder = api.resolvePath('guard');
    let door: Door | undefined;
    let watched: Disposable | undefined;
    const tell = (problem: string): void => {
      log.warn('the settings of an agent or of the guard were changed', { problem });
      if (place === undefined) return;
      const { channel, to } = place;
      api
        .send({ channel, to, content: problem })
        .catch((error) => log.error('nobody was told in the chat', { error }));
    };
    api.provide('channel', {
      id: 'guard',
      capabilities: {},
      accounts: ['local'],
      resendPolicy: { ambiguous: 'fail', maxAttempts: 1, maxWaitMs: 0 },
      startAccount: async () => {
        door = await openDoor({ folder, port, log, answer, whenAway: refusalsWhenAway() });
        watched = watchSettings({ folder, clock, tell });
        const { url, socketPath: socket } = door;
        const rules = policies.rules.length;
        log.info('the guard listens', { url, socket, policies: config.policies.join(', '), rules });
      },
      stopIntake: async () => asking?.stop(),
      stopAccount: async () => {
        watched?.[Symbol.dispose]();
        await door?.close();
      },
      decodeIngress: () => ({ kind: 'ignored', reason: 'agents come by the door' }),
      send: async () => ({ status: 'rejected', reason: 'a coding agent takes no messages' }),
    });
  },
});

/** The digest of the policies that judge: of their texts, in order. */
function digestOf({ texts }: Policies): string {
  const digest = createHash('sha256').update(JSON.stringify(texts.map(({ text }) => text)));
  return `sha256:${digest.digest('hex')}`;
}
