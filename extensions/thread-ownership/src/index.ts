import process from 'node:process';
import { allow, cancel, defineExtension } from 'sluice';
import { agentsOf } from './agents.js';
import { askOwner } from './ask-owner.js';
import { config } from './config.js';
import { namesAgent } from './names-agent.js';
import { recentMentions } from './recent-mentions.js';
import { serviceOf } from './service.js';
import { keyOf, threadAddressed, threadHeard } from './thread.js';

/** Milliseconds that the veto may take beyond what the service may: its own timer is to be the first. */
const graceMs = 500;

/** Keeps two agents from answering in one thread. The README has the settings. */
export default defineExtension({
  id: 'thread-ownership',
  manifest: { version: '0.2.0', sluice: '~0.2.0', grants: ['veto:egress.preparing'] },
  config,
  setup(api, settings) {
    const { channels, failClosed, mentionTtlMs } = settings;
    const service = serviceOf(settings, process.env);
    const agents = agentsOf(settings.agents, process.env['SLACK_BOT_USER_ID']);
    const enforced = new Set(
      settings.abTestChannels ?? listOf(process.env['THREAD_OWNERSHIP_CHANNELS']),
    );
    const mentions = recentMentions(api.clock, mentionTtlMs);
    const granted = new WeakMap<object, string>(); // by event: the veto may be asked about one twice

    if (agents.main.id === undefined)
      api.log.warn(
        'config.agents is empty: two hosts that name their agents alike share their threads',
      );

    api.observe('ingress.normalized', 'mentions', (call) => {
      const thread = threadHeard(call);
      if (thread === undefined || !channels.includes(thread.channel)) return;
      const { content, wasMentioned } = call.event.payload; // as it was written, whatever others made of it
      for (const agent of agents.all)
        if (namesAgent(content, agent) || (wasMentioned === true && agent === agents.main))
          mentions.add(`${agent.id} ${keyOf(thread)}`);
    });

    const options = { failClosed, preview: 'ok', timeoutMs: settings.timeoutMs + graceMs } as const;
    api.veto('egress.preparing', 'owner', options, async (call, own) => {
      const thread = threadAddressed(call);
      if (thread === undefined || !channels.includes(thread.channel)) return allow();
      const { conversationId, threadId } = thread;
      if (enforced.size > 0 && !enforced.has(conversationId)) return allow();
      const agent = agents.speaking(call.event.agentId);
      const key = `${agent.id} ${keyOf(thread)}`;
      if (mentions.has(key) || granted.get(call.event) === key) return allow();

      const agentId = agent.id ?? call.event.agentId ?? 'unknown';
      const verdict = await askOwner(service, thread, agentId, {
        clock: api.clock,
        signal: call.signal,
      });
      switch (verdict.kind) {
        case 'ours':
          granted.set(call.event, key);
          return allow();
        case 'others': {
          const { owner } = verdict;
          const who = owner ?? 'another agent';
          own.log.info(`cancelled send to ${conversationId}:${threadId} - owned by ${who}`);
          return cancel('owned-elsewhere', {
            text: `${who} owns the thread ${threadId} of ${conversationId}`,
            details: { ...thread, owner: owner ?? null },
          });
        }
        case 'unknown': {
          const { problem } = verdict;
          own.log.warn('ownership check failed', { ...thread, detail: problem });
          // thrown, so that it is in the outcome and the counters as well; the policy decides
          throw new Error(`the ownership service was of no help: ${problem}`);
        }
      }
    });
  },
});

function listOf(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .filter((one) => one.trim() !== '')
    .map((one) => one.trim());
}
