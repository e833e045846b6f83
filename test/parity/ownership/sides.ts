import { vi } from 'vitest';
import threadOwnership from '../../../extensions/thread-ownership/src/index.js';
import type { Kernel, Outcome } from '../../../src/kernel/internal.js';
import { loadForTest, samplePayload } from '../../../src/testing/index.js';
import { bridgedSide } from '../plugins/plugin-lab.js';
import type { Asked, Network } from './network.js';
import { type OwnershipSequence, type OwnershipStep, type Place, timeoutMs } from './sequence.js';

/** What one send came to. */
export interface SendFacts {
  readonly isSent: boolean;
  readonly asked: readonly Asked[];
  /** The code of the cancel, and the owner that it names. */
  readonly cancel?: { readonly code: string; readonly owner: unknown };
  /** The kinds of the failures in the outcome. */
  readonly marks: readonly string[];
}

/** What each step that sends came to; nothing for the others. */
export type SideFacts = readonly (SendFacts | undefined)[];

const forwarderUrl = 'http://forwarder';

/** Plays a sequence to the unmodified plugin, on the bridge, in a kernel of its own. */
export async function playLegacy(
  plugin: unknown,
  { agents, abTestChannels, steps }: OwnershipSequence,
  network: Network,
): Promise<SideFacts> {
  const { kernel, plugin: loaded } = bridgedSide(plugin, {
    pluginId: 'thread-ownership',
    config: { agents: { list: agents } },
    pluginConfig: { forwarderUrl, ...(abTestChannels !== undefined && { abTestChannels }) },
  });
  const pass = async (ms: number): Promise<void> => {
    vi.setSystemTime(Date.now() + ms);
    if (ms === timeoutMs) await network.expire();
  };
  try {
    return await play(kernel, steps, network, pass);
  } finally {
    await loaded.dispose();
  }
}

/** Plays it to the native extension, in a kernel of its own. */
export async function playNative(
  { agents, abTestChannels, steps }: OwnershipSequence,
  network: Network,
): Promise<SideFacts> {
  await using test = await loadForTest(threadOwnership, {
    config: { forwarderUrl, agents, ...(abTestChannels !== undefined && { abTestChannels }) },
  });
  return await play(test.kernel, steps, network, (ms) => test.clock.advance(ms));
}

async function play(
  kernel: Kernel,
  steps: readonly OwnershipStep[],
  network: Network,
  pass: (ms: number) => Promise<void>,
): Promise<SideFacts> {
  const facts: (SendFacts | undefined)[] = [];
  for (const step of steps) {
    if ('passMs' in step) await pass(step.passMs);
    else if ('hears' in step) await hear(kernel, step);
    facts.push('sends' in step ? await send(kernel, step, network, pass) : undefined);
  }
  return facts;
}

async function hear(
  kernel: Kernel,
  { hears, at, wasMentioned }: Extract<OwnershipStep, { hears: unknown }>,
): Promise<void> {
  const said = { content: hears.content, ...(wasMentioned && { wasMentioned }) };
  const payload = { ...samplePayload('ingress.normalized'), ...at, ...said, metadata: {} };
  await kernel.dispatch('ingress.normalized', payload, refsOf(at));
}

async function send(
  kernel: Kernel,
  { sends, at, agentId, kind }: Extract<OwnershipStep, { sends: unknown }>,
  network: Network,
  pass: (ms: number) => Promise<void>,
): Promise<SendFacts> {
  network.reply = sends;
  const streaming = kind === 'stream-opening';
  const place = { ...at, to: at.conversationId, explicit: true, metadata: {} };
  const payload = { ...samplePayload('egress.preparing'), ...place, kind, streaming };
  const pending = kernel.dispatch('egress.preparing', payload, { ...refsOf(at), agentId });
  if (sends.hangs !== undefined) await pass(timeoutMs); // whoever has asked or not: one time for both
  const outcome = await pending;
  return {
    isSent: outcome.status === 'passed',
    asked: network.takeAsked(),
    ...cancelOf(outcome),
    marks: outcome.failures.map((failure) => failure.kind),
  };
}

/** As the host fills them in. */
function refsOf({ channel, conversationId, threadId }: Place) {
  return {
    conversationRef: { channel, id: conversationId },
    ...(threadId !== undefined && { threadRef: { channel, id: String(threadId) } }),
  };
}

function cancelOf(outcome: Outcome<'egress.preparing'>): Pick<SendFacts, 'cancel'> {
  if (outcome.status !== 'cancelled') return {};
  const { code, details } = outcome.cancel;
  return { cancel: { code, owner: details?.['owner'] } };
}
