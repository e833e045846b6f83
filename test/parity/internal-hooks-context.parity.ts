import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PayloadOf } from '../../src/kernel/internal.js';
import { bridgeInternalHooks } from '../../src/openclaw/internal-hooks/bridge-internal-hooks.js';
import type { InternalHookEvent } from '../../src/openclaw/internal-hooks/event.js';
import { createTestKernel } from '../../src/testing/index.js';
import { openClawModule } from '../support/openclaw-modules.js';
import { openClawPackage } from '../support/openclaw-package.js';

const sets = 2_000;
const seed = 20_260_317;
const { root } = await openClawPackage();

const maybe = <T>(value: T) => fc.option(fc.constant(value), { nil: undefined });

/** What a channel hands over: the legacy message context, as far as the mappers read it. */
const inbound = fc.record({
  From: fc.constantFrom('telegram:1', 'telegram:group:-5'),
  To: maybe('telegram:1'),
  Body: maybe('[Ada] hi'),
  BodyForAgent: maybe('hi'),
  BodyForCommands: fc.constantFrom('hi', '/new', ''),
  Timestamp: fc.constantFrom(undefined, 1_773_532_800_000, Number.NaN),
  Transcript: maybe('spoken'),
  OriginatingChannel: fc.constantFrom('Telegram', 'slack'),
  OriginatingTo: maybe('telegram:1'),
  AccountId: maybe('default'),
  MessageSid: maybe('77'),
  SenderId: maybe('1'),
  SenderName: maybe('Ada'),
  SenderUsername: maybe('ada'),
  SenderE164: maybe('+4912345'),
  Provider: maybe('telegram'),
  Surface: maybe('telegram'),
  MessageThreadId: fc.constantFrom(undefined, 7, 'topic'),
  GroupSpace: maybe('guild'),
  GroupChannel: maybe('general'),
});

const outbound = fc.record({
  to: fc.constantFrom('1', '-5'),
  content: fc.constantFrom('Hello', ''),
  success: fc.boolean(),
  channelId: fc.constantFrom('telegram', 'slack'),
  accountId: maybe('default'),
  conversationId: maybe('telegram:1'),
  messageId: maybe('99'),
  isGroup: fc.constantFrom(undefined, true, false),
  groupId: maybe('-5'),
});

/** Two buses: an event is fired on the one, and what it became is dispatched to the other, which gives its own event. */
function wayAround(): (event: InternalHookEvent) => Promise<InternalHookEvent | undefined> {
  const from = createTestKernel();
  const source = bridgeInternalHooks(from.kernel);
  const to = createTestKernel();
  let heard: InternalHookEvent | undefined;
  bridgeInternalHooks(to.kernel).registerInternalHook('message', (event) => {
    heard = event;
  });
  return async (event) => {
    heard = undefined;
    const before = from.outcomes.length;
    await source.triggerInternalHook(event);
    const [outcome, ...more] = from.outcomes.slice(before);
    if (outcome === undefined || more.length > 0) return undefined;
    const family = outcome.event.family as 'ingress.normalized';
    const payload = outcome.event.payload as PayloadOf<'ingress.normalized'>;
    await to.kernel.dispatch(family, payload);
    return heard;
  };
}

describe.skipIf(root === undefined)('the context of a message event', () => {
  it(`that the real mappers make is the same after its way through the pipeline, in ${sets} cases`, async () => {
    const real = await openClawModule(root as string, 'messageMappers');
    const around = wayAround();
    let compared = 0;
    const same = async (action: string, context: Record<string, unknown>) => {
      const event = { type: 'message' as const, action, sessionKey: 'agent:main:main', context };
      const heard = await around({ ...event, timestamp: new Date(0), messages: [] });
      expect(heard).toMatchObject({ type: 'message', action, sessionKey: 'agent:main:main' });
      expect(heard?.context).toEqual(context);
      compared++;
    };
    await fc.assert(
      fc.asyncProperty(inbound, outbound, async (message, sent) => {
        const canonical = real.deriveInboundMessageHookContext(message);
        await same('received', real.toInternalMessageReceivedContext(canonical));
        const error = sent.success ? undefined : 'gone';
        const params = real.buildCanonicalSentMessageHookContext({ ...sent, error });
        await same('sent', real.toInternalMessageSentContext(params));
      }),
      { seed, numRuns: sets },
    );
    console.log(`internal hook contexts: ${compared} compared, seed ${seed}`);
    expect(compared).toBeGreaterThanOrEqual(2 * sets);
  }, 300_000);
});
