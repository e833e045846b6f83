import { say } from '../../src/agent/internal.js';
import { askPeople } from '../../src/host/egress/ask-people.js';
import { loadAll, startAll, stopAll } from '../../src/host/life/lifecycle.js';
import { givenOptions } from '../../src/host/parts/given-options.js';
import { partsOf } from '../../src/host/parts/make-parts.js';
import type { HostOptions } from '../../src/host/parts/options.js';
import type { HostParts } from '../../src/host/parts/parts.js';
import { underFence } from '../../src/host/parts/under-fence.js';
import { type Journal, type MessageEnd, memoryJournal } from '../../src/journal/index.js';
import type { ApprovalQuestion, Envelope, Principal } from '../../src/kernel/internal.js';
import { type AgentProvider, MessageWriter } from '../../src/sdk/stream/index.js';
import { fakeChannel, type VirtualClock, virtualClock } from '../../src/testing/index.js';
import { mortalJournal } from './mortal-journal.js';

export interface PortLabOptions {
  readonly journal?: Journal;
  readonly clock?: VirtualClock;
  readonly approvals?: HostOptions['approvals'];
  readonly question?: Partial<ApprovalQuestion>;
  /** On whose behalf the agent calls. */
  readonly principal?: Principal;
  /** The tool calls that were let go, over all hosts of a test. */
  readonly ran?: string[];
  /** The arguments of the calls of a prompt. */
  readonly argsOf?: (prompt: string) => string[];
  /** The channel of the person; that of the console is an owner's. */
  readonly channelId?: string;
  /** Nothing uses the answers. */
  readonly isIdle?: boolean;
  /** Milliseconds that the host must have run before its first last attempt. */
  readonly lastAttemptAfterMs?: number;
  /** The action never ends. */
  readonly hangs?: boolean;
}

/**
 * A host whose agent asks a human by the port before it deploys what its prompt says, and then uses the answer. Its gate is the
 * test's own: what the gates of a run do with the port is not looked at here.
 */
export async function portLab({
  journal = memoryJournal(),
  clock = virtualClock(),
  ran = [],
  argsOf = (prompt) => [prompt],
  channelId = 'console',
  ...options
}: PortLabOptions = {}) {
  const mortal = mortalJournal(journal);
  const channel = fakeChannel({
    ...{ id: channelId, interactive: ['buttons'], deduplicatesSends: true },
    resendPolicy: { ambiguous: 'resend' },
  });
  const hurry = new AbortController();
  const ends: MessageEnd[] = [];
  const begun: string[] = [];
  const asker = { extensionId: 'guard', contributionId: 'deploys' };
  const question = {
    asker,
    title: 'Deploy?',
    of: 'owner',
    scopes: [],
    ...options.question,
  } as const;
  let parts: HostParts | undefined;
  let runs = 0;
  const provider: AgentProvider = {
    id: 'deployer',
    models: ['deployer'],
    toolGate: 'enforce',
    async *run({ prompt, signal, runId, sessionKey }) {
      const [[correlationId, fence] = []] = parts?.backlog.begun ?? [];
      begun.push(prompt);
      const address = {
        channel: channelId,
        accountId: 'default',
        to: `${channelId}:ada`,
        explicit: false,
      };
      const port = parts && fence && askPeople(underFence(parts, fence), { address });
      yield { type: 'agent_start' };
      const results: string[] = [];
      for (const [at, what] of argsOf(prompt).entries()) {
        const payload = {
          toolName: 'deploy',
          toolCallId: `${runId}-${at}`,
          params: { what, token: 'hunter22' },
        };
        const event = { correlationId, eventId: `${correlationId}.ask` } as Envelope; // the port reads no more of it
        const family = 'agent.tool.calling';
        const answer = await port?.ask({
          ...{ question, family, payload, event, sessionKey, signal },
          ...(options.principal !== undefined && { principal: options.principal }),
        });
        if (answer?.status === 'allowed' && options.isIdle !== true && (await answer.use()))
          ran.push(what);
        if (options.hangs === true) await new Promise(() => undefined);
        results.push(
          answer?.status === 'denied' ? `denied: ${answer.reason ?? ''}` : String(answer?.status),
        );
      }
      const writer = new MessageWriter({ provider: 'deployer', model: 'deployer' });
      for (const one of say(writer, [{ type: 'text', text: results.join(', ') }])) yield one;
      yield { type: 'agent_end', messages: writer.messages };
    },
  };
  const made = partsOf(
    givenOptions(
      {
        agents: [{ id: 'main', provider }],
        channels: [channel],
        journal: {
          opened: mortal,
          maxAttempts: 3,
          lastAttemptAfterMs: options.lastAttemptAfterMs ?? 0,
        },
        clock,
        newId: (kind) => `${kind}-${++runs}`,
        roles: { owner: ['console:ada'] },
        ...(options.approvals !== undefined && { approvals: options.approvals }),
        onMessageEnd: (end) => ends.push(end),
      },
      {},
    ),
    hurry.signal,
  );
  parts = made;
  const running = await loadAll(made, () => {
    throw new Error('no figures here');
  });
  await startAll(made, running, () => undefined);
  const asked = () =>
    channel.sent.filter(
      ({ kind, interactive }) => kind === 'approval' && interactive !== undefined,
    );
  const button = (at = 0): string => asked().at(-1)?.interactive?.buttons?.[at]?.id ?? '';
  return {
    ...{ parts: made, channel, clock, ends, begun, ran, journal: mortal, asked, button },
    idOf: (): string => button().split(':')[2]?.slice(0, 8) ?? '',
    texts: () => channel.sent.map(({ content }) => content),
    say: (text: string, updateId = text, conversation = `${channelId}:ada`) =>
      void channel.receive({ text, conversation }, updateId),
    press: (name: string, updateId = name) =>
      void channel.receive({ text: '', press: name }, updateId),
    rows: async () =>
      (await journal.keyValues.list('/approvals/asked', { prefix: '', limit: 100 })).map(
        ({ body }) => JSON.parse(body) as { state: string; payload: string },
      ),
    kill: async (): Promise<void> => {
      mortal.kill();
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    },
    stop: async (): Promise<boolean> => {
      const stopping = stopAll(made, running, { reason: 'stopped', timeoutMs: 10_000, hurry });
      await clock.advance(20_000);
      return (await stopping).drained;
    },
  };
}

/** Lets the event loop turn until something is so. */
export async function until(isSo: () => boolean): Promise<void> {
  for (let turns = 0; !isSo(); turns++) {
    if (turns > 5_000) throw new Error('it never came to this');
    await new Promise(setImmediate);
  }
}
