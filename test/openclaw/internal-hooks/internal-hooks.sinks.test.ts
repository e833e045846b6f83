import { describe, expect, it } from 'vitest';
import type { Kernel } from '../../../src/kernel/internal.js';
import { bridgeInternalHooks } from '../../../src/openclaw/internal-hooks/bridge-internal-hooks.js';
import {
  createInternalHookEvent,
  type InternalHookEvent,
} from '../../../src/openclaw/internal-hooks/event.js';
import { createTestKernel, samplePayload } from '../../../src/testing/index.js';

function lab() {
  const test = createTestKernel();
  const hooks = bridgeInternalHooks(test.kernel, { clock: test.clock });
  const heard: Record<string, InternalHookEvent> = {};
  for (const type of ['command', 'session', 'agent', 'gateway', 'message'])
    hooks.registerInternalHook(type, (event) => {
      heard[`${event.type}:${event.action}`] = event;
    });
  return { ...test, hooks, heard };
}

/** Dispatches that a host of this project makes, and what they are on the internal hook bus. */
const dispatches: readonly {
  readonly family: string;
  readonly dispatch: (kernel: Kernel) => Promise<unknown>;
  readonly becomes: Readonly<Record<string, { sessionKey: string; context: object }>>;
}[] = [
  {
    family: 'command.received',
    dispatch: (kernel) =>
      kernel.dispatch('command.received', { ...samplePayload('command.received'), name: 'stop' }),
    becomes: {
      'command:stop': {
        sessionKey: 'agent:main:console:ada',
        context: { commandSource: 'console', source: 'chat', senderId: 'ada', sessionId: 's-1' },
      },
    },
  },
  {
    family: 'compaction.before',
    dispatch: (kernel) => kernel.dispatch('compaction.before', samplePayload('compaction.before')),
    becomes: {
      'session:compact:before': {
        sessionKey: 'agent:main:console:ada',
        context: {
          sessionId: 's-1',
          missingSessionKey: false,
          messageCount: 120,
          tokenCount: 96_000,
        },
      },
    },
  },
  {
    family: 'compaction.after',
    dispatch: (kernel) =>
      kernel.dispatch('compaction.after', { sessionId: 's-1', compactedCount: 7 }),
    becomes: {
      'session:compact:after': {
        sessionKey: 's-1',
        context: { sessionId: 's-1', missingSessionKey: true, compactedCount: 7 },
      },
    },
  },
  {
    family: 'agent.prompt.building',
    dispatch: (kernel) =>
      kernel.dispatch('agent.prompt.building', {
        ...samplePayload('agent.prompt.building'),
        bootstrapFiles: [{ name: 'AGENTS.md' }],
      }),
    becomes: {
      'agent:bootstrap': {
        sessionKey: 'agent:main:console:ada',
        context: {
          workspaceDir: '/home/ada/work',
          sessionKey: 'agent:main:console:ada',
          sessionId: 's-1',
          agentId: 'main',
          bootstrapFiles: [{ name: 'AGENTS.md' }],
        },
      },
    },
  },
  {
    family: 'gateway.started',
    dispatch: (kernel) => kernel.dispatch('gateway.started', samplePayload('gateway.started')),
    becomes: { 'gateway:startup': { sessionKey: 'gateway:startup', context: { cfg: {} } } },
  },
  {
    family: 'ingress.normalized',
    dispatch: (kernel) =>
      kernel.dispatch('ingress.normalized', samplePayload('ingress.normalized')),
    becomes: {
      'message:received': {
        sessionKey: '',
        context: {
          from: 'console:ada',
          content: 'What is the capital of Peru?',
          timestamp: 1_773_532_800_000,
          channelId: 'console',
          accountId: 'default',
          conversationId: 'console:ada',
          messageId: 'm-1',
          metadata: {
            to: 'console:main',
            provider: 'console',
            surface: 'console',
            senderId: 'ada',
            senderName: 'Ada',
            senderUsername: 'ada',
          },
        },
      },
    },
  },
  {
    family: 'routing.resolved',
    dispatch: (kernel) => {
      const routed = samplePayload('routing.resolved');
      return kernel.dispatch('routing.resolved', {
        ...routed,
        message: {
          ...routed.message,
          transcript: 'spoken',
          promptText: 'for the model',
          attachments: [{ kind: 'audio', path: '/a.ogg', mimeType: 'audio/ogg' }],
        },
      });
    },
    becomes: {
      'message:transcribed': {
        sessionKey: 'agent:main:console:ada',
        context: {
          from: 'console:ada',
          to: 'console:main',
          bodyForAgent: 'for the model',
          timestamp: 1_773_532_800_000,
          channelId: 'console',
          conversationId: 'console:ada',
          messageId: 'm-1',
          senderId: 'ada',
          senderName: 'Ada',
          senderUsername: 'ada',
          provider: 'console',
          surface: 'console',
          mediaPath: '/a.ogg',
          mediaType: 'audio/ogg',
          transcript: 'spoken',
        },
      },
      'message:preprocessed': {
        sessionKey: 'agent:main:console:ada',
        context: expect.objectContaining({ transcript: 'spoken', isGroup: false }),
      },
    },
  },
  {
    family: 'egress.sent',
    dispatch: (kernel) => kernel.dispatch('egress.sent', samplePayload('egress.sent')),
    becomes: {
      'message:sent': {
        sessionKey: 'agent:main:console:ada',
        context: {
          to: 'console:ada',
          content: 'Lima.',
          success: true,
          channelId: 'console',
          accountId: 'default',
          conversationId: 'console:ada',
          messageId: 'm-2',
        },
      },
    },
  },
  {
    family: 'egress.failed',
    dispatch: (kernel) => kernel.dispatch('egress.failed', samplePayload('egress.failed')),
    becomes: {
      'message:sent': {
        sessionKey: 'agent:main:console:ada',
        context: expect.objectContaining({
          success: false,
          error: 'The connection was closed.',
          conversationId: 'console:ada',
        }),
      },
    },
  },
];

describe('a canonical dispatch', () => {
  it.each(dispatches)(
    'of $family reaches the handlers of its keys, as the legacy system tells it',
    async ({ dispatch, becomes }) => {
      const { kernel, heard } = lab();
      await dispatch(kernel);
      expect(Object.keys(heard)).toEqual(Object.keys(becomes));
      for (const [key, { sessionKey, context }] of Object.entries(becomes)) {
        expect(heard[key]?.sessionKey).toBe(sessionKey);
        expect(heard[key]?.context).toEqual(context);
        expect(heard[key]?.messages).toEqual([]);
      }
    },
  );

  it('of a message without sound tells of no transcript', async () => {
    const { kernel, heard } = lab();
    await kernel.dispatch('routing.resolved', samplePayload('routing.resolved'));
    expect(Object.keys(heard)).toEqual(['message:preprocessed']);
  });

  it('makes one event for all handlers of a dispatch, and another for the next', async () => {
    const { kernel, hooks } = lab();
    const events = new Set<InternalHookEvent>();
    hooks.registerInternalHook('message', (event) => void events.add(event));
    hooks.registerInternalHook('message:received', (event) => void events.add(event));
    await kernel.dispatch('ingress.normalized', samplePayload('ingress.normalized'));
    expect(events.size).toBe(1);
    await kernel.dispatch('ingress.normalized', samplePayload('ingress.normalized'));
    expect(events.size).toBe(2);
  });

  it('gives handlers a context that they may write to, all the way down', async () => {
    const { kernel, hooks } = lab();
    hooks.registerInternalHook('message:received', ({ context }) => {
      context.content = 'anew';
      (context.metadata as Record<string, unknown>).mark = 1;
    });
    const outcome = await kernel.dispatch(
      'ingress.normalized',
      samplePayload('ingress.normalized'),
    );
    expect(outcome.failures).toEqual([]);
    expect(outcome.payload).toMatchObject({
      content: 'What is the capital of Peru?',
      metadata: {},
    });
  });
});

describe('a trigger', () => {
  it('names its places in the envelope', async () => {
    const { hooks, outcomes } = lab();
    await hooks.triggerInternalHook(
      createInternalHookEvent('message', 'sent', 'k', {
        to: '1',
        content: 'hi',
        success: true,
        channelId: 'telegram',
        accountId: 'default',
        conversationId: 'telegram:1',
        messageId: '9',
      }),
    );
    expect(outcomes[0]?.event).toMatchObject({
      family: 'egress.sent',
      accountRef: { channel: 'telegram', id: 'default' },
      conversationRef: { channel: 'telegram', id: 'telegram:1' },
      messageRef: { channel: 'telegram', id: '9' },
      metadata: { legacyBus: 'internal-hooks', key: 'message:sent' },
    });
  });

  it('of a compaction leaves out the counts that its source does not know', async () => {
    const { hooks, outcomes } = lab();
    await hooks.triggerInternalHook(
      createInternalHookEvent('session', 'compact:after', 's-1', {
        sessionId: 's-1',
        missingSessionKey: true,
        messageCount: -1,
        compactedCount: -1,
        tokensBefore: 10,
        summaryLength: 5,
      }),
    );
    expect(outcomes[0]?.payload).toEqual({
      sessionId: 's-1',
      isSessionKeyMissing: true,
      tokensBefore: 10,
      summaryLengthChars: 5,
    });
  });
});
