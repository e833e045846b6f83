import type { CanonicalFamilies } from 'sluice-kernel';

const sentAtMs = 1_773_532_800_000; // 2026-03-15, midnight in UTC

const session = { agentId: 'main', sessionKey: 'agent:main:console:ada', sessionId: 's-1' };

const run = {
  ...session,
  runId: 'r-1',
  workspaceDir: '/home/ada/work',
  channel: 'console',
  trigger: 'user',
};

const account = { channel: 'console', accountId: 'default' };
const conversation = { ...account, conversationId: 'console:ada' };
const model = { provider: 'embedded', model: 'echo' };

const question = 'What is the capital of Peru?';
const answer = 'Lima.';
const asked = { ...run, prompt: question };

const history = () => [
  { role: 'user', content: 'Good morning.' },
  { role: 'assistant', content: [{ type: 'text', text: 'Good morning, Ada.' }] },
];

const usage = () => ({ inputTokens: 412, outputTokens: 3, cacheReadTokens: 256, totalTokens: 671 });

const message = () => ({
  ...conversation,
  provider: 'console',
  surface: 'console',
  from: 'console:ada',
  to: 'console:main',
  sender: { id: 'ada', name: 'Ada', username: 'ada' },
  messageId: 'm-1',
  isGroup: false,
  content: question,
  attachments: [],
  sentAtMs,
  metadata: {},
});

const command = () => ({
  ...session,
  name: 'new',
  args: [],
  text: '/new',
  source: 'chat' as const,
  surface: 'console',
  senderId: 'ada',
});

const outbound = () => ({
  ...run,
  ...conversation,
  to: 'console:ada',
  replyToId: 'm-1',
  kind: 'reply' as const,
  streaming: false,
  content: answer,
  attachments: [],
  interactive: {
    buttons: [{ id: 'yes', label: 'Yes' }],
    list: { name: 'day', label: 'Which day?', choices: [{ value: 'mon', label: 'Monday' }] },
    form: {
      name: 'trip',
      label: 'Your trip',
      fields: [{ name: 'city', label: 'City', isOptional: true }],
    },
  },
  metadata: {},
});

const preparedSession = () => ({
  ...session,
  isNew: true,
  context: { locale: 'es-PE' },
  memoryKeys: ['user:ada'],
  metadata: {},
});

const interaction = () => ({
  ...session,
  interactionId: 'i-1',
  kind: 'button' as const,
  name: 'approve',
  values: ['once'],
  ...conversation,
  messageId: 'm-2',
  sender: { id: 'ada', name: 'Ada' },
  sentAtMs,
});

const requester = () => ({ ...account, to: 'console:ada' });

const spawn = () => ({
  runId: 'r-2',
  childSessionKey: 'agent:research:child:1',
  requesterSessionKey: session.sessionKey,
  agentId: 'research',
  label: 'Read the atlas',
  spawnMode: 'run' as const,
  requester: requester(),
  threadRequested: false,
});

const childDelivery = () => ({
  childSessionKey: 'agent:research:child:1',
  requesterSessionKey: session.sessionKey,
  requesterOrigin: requester(),
  childRunId: 'r-2',
  spawnMode: 'run' as const,
  expectsCompletionMessage: true,
});

const toolCall = () => ({
  ...run,
  toolName: 'lookup',
  toolCallId: 't-1',
  params: { country: 'Peru' },
});

/** One maker per family of a valid payload as a real dispatch would carry it. Each call makes it anew. */
export const samplePayloads: {
  readonly [F in keyof CanonicalFamilies]: () => CanonicalFamilies[F]['payload'];
} = {
  'runtime.started': () => ({ version: '0.1.0', pid: 4242, startedAtMs: sentAtMs, config: {} }),
  'runtime.stopping': () => ({ reason: 'end of input', uptimeMs: 61_000 }),
  'gateway.starting': () => ({ workspaceDir: run.workspaceDir, port: 18_789 }),
  'gateway.started': () => ({ port: 18_789, startedAtMs: sentAtMs, config: {} }),
  'gateway.stopping': () => ({ port: 18_789, reason: 'SIGINT', isRestart: false }),
  'schedule.reconciled': () => ({ reason: 'startup', schedules: 1 }),
  'schedule.changed': () => ({
    ...{ action: 'finished', scheduleId: 'acme/morning', cron: '0 9 * * *', timeZone: 'UTC' },
    ...{ runId: 'job-1', attempt: 1, dueAtMs: sentAtMs, durationMs: 12, status: 'ok' },
    nextDueAtMs: sentAtMs + 86_400_000,
  }),
  'command.received': command,
  'command.completed': () => ({
    ...command(),
    success: true,
    result: { sessionId: 's-2' },
    durationMs: 4,
  }),
  'account.started': () => ({ ...account, startedAtMs: sentAtMs }),
  'account.stopped': () => ({ ...account, reason: 'end of input' }),
  'account.pairing.requested': () => ({
    ...account,
    ...{ senderId: 'grace', code: 'TEAPOT22', metadata: { name: 'Grace' } },
  }),
  'ingress.received': () => ({
    ...account,
    receivedAtMs: sentAtMs,
    raw: { line: question },
  }),
  'ingress.normalized': () => ({ ...message(), raw: { line: question } }),
  'routing.resolving': () => ({
    message: message(),
    agents: ['main', 'research'],
    defaultAgentId: 'main',
  }),
  'routing.resolved': () => ({
    message: message(),
    agentId: 'main',
    sessionKey: session.sessionKey,
    explicit: false,
    candidateCount: 1,
  }),
  'session.starting': () => ({ ...preparedSession(), message: message() }),
  'session.started': preparedSession,
  'session.resetting': () => ({
    ...session,
    reason: 'new',
    surface: 'console',
    senderId: 'ada',
    messages: history(),
  }),
  'session.ended': () => ({
    ...session,
    messageCount: 2,
    durationMs: 60_000,
    reason: 'new',
    nextSessionId: 's-2',
  }),
  'agent.starting': () => ({ ...asked, startedAtMs: sentAtMs, attempt: 1 }),
  'agent.model.resolving': () => ({
    ...asked,
    ...model,
    providers: ['embedded'],
  }),
  'agent.prompt.building': () => ({
    ...asked,
    sender: { id: 'ada', name: 'Ada' },
    messageId: 'm-1',
    replyTo: { messageId: 'm-0', content: 'Good morning, Ada.', isQuote: true },
    messages: history(),
    systemPrompt: 'You answer briefly.',
    guidance: ['Name your source.'],
    additions: [{ text: 'Ada lives in Lima.', position: 'before' }],
  }),
  'agent.answer.resolving': () => ({
    ...asked,
    attempt: 1,
    messages: history(),
  }),
  'agent.llm.calling': () => ({
    ...asked,
    attempt: 1,
    composedPrompt: `Ada lives in Lima.\n\n${question}`,
    messages: history(),
    ...model,
  }),
  'agent.llm.input': () => ({
    ...run,
    ...model,
    systemPrompt: 'You answer briefly.\n\nName your source.',
    prompt: `Ada lives in Lima.\n\n${question}`,
    historyMessages: history(),
    imagesCount: 0,
  }),
  'agent.output.delta': () => ({
    ...run,
    kind: 'text',
    text: answer,
    delta: 'ma.',
    messageIndex: 0,
  }),
  'agent.llm.returning': () => ({
    ...run,
    ...model,
    text: answer,
    calls: [{ toolCallId: 't-1', toolName: 'lookup', params: { country: 'Peru' } }],
    streaming: false,
  }),
  'agent.tool.calling': toolCall,
  'agent.tool.returning': () => ({
    ...toolCall(),
    result: {
      content: [{ type: 'text', text: 'Lima' }],
      structured: { capital: 'Lima' },
      isError: false,
    },
  }),
  'agent.tool.called': () => ({
    ...toolCall(),
    result: { capital: 'Lima' },
    isError: false,
    durationMs: 12,
  }),
  'transcript.tool-result.persisting': () => ({
    ...session,
    runId: run.runId,
    toolName: 'lookup',
    toolCallId: 't-1',
    isSynthetic: false,
    message: { role: 'toolResult', toolCallId: 't-1', content: [{ type: 'text', text: 'Lima' }] },
  }),
  'transcript.message.writing': () => ({
    ...session,
    runId: run.runId,
    message: { role: 'assistant', content: [{ type: 'text', text: answer }] },
  }),
  'compaction.before': () => ({
    ...run,
    cause: 'auto',
    messageCount: 120,
    compactingCount: 100,
    tokenCount: 96_000,
    messages: history(),
  }),
  'compaction.after': () => ({
    ...run,
    cause: 'auto',
    messageCount: 21,
    compactedCount: 100,
    tokensBefore: 96_000,
    tokensAfter: 14_000,
    willRetry: false,
  }),
  'agent.completed': () => ({
    ...run,
    success: true,
    stopReason: 'end_turn',
    messages: history(),
    startedAtMs: sentAtMs,
    endedAtMs: sentAtMs + 850,
    durationMs: 850,
    usage: usage(),
  }),
  'agent.llm.output': () => ({
    ...run,
    ...model,
    assistantTexts: [answer],
    lastAssistant: { role: 'assistant', content: answer },
    usage: usage(),
    stopReason: 'end_turn',
    durationMs: 840,
  }),
  'egress.preparing': () => ({
    ...outbound(),
    explicit: false,
    accounts: [{ ...account }],
  }),
  'egress.sending': () => ({ ...outbound(), attempt: 1 }),
  'egress.sent': () => ({
    ...outbound(),
    attempt: 1,
    receipt: { messageId: 'm-2', conversationId: 'console:ada', sentAtMs: sentAtMs + 900 },
    durationMs: 3,
  }),
  'egress.cancelled': () => ({
    ...outbound(),
    cancel: {
      extensionId: 'quiet-hours',
      contributionId: 'gate',
      code: 'quiet-hours',
      text: 'It is night in Lima.',
    },
  }),
  'egress.failed': () => ({
    ...outbound(),
    error: 'The connection was closed.',
    cause: 'ambiguous',
    attempts: 1,
    durationMs: 3_000,
  }),
  'interaction.received': () => ({ ...interaction(), raw: { button: 'approve' } }),
  'interaction.resolved': () => ({
    ...interaction(),
    resolution: 'approval',
    approvalId: 'a-1',
    explicit: true,
  }),
  'interaction.completed': () => ({ ...interaction(), success: true, durationMs: 20 }),
  'subagent.spawning': spawn,
  'subagent.spawned': spawn,
  'subagent.delivery.resolving': childDelivery,
  'subagent.delivery.resolved': () => ({
    ...childDelivery(),
    target: requester(),
    explicit: false,
  }),
  'subagent.completed': () => ({
    runId: 'r-2',
    targetSessionKey: 'agent:research:child:1',
    targetKind: 'subagent',
    requesterSessionKey: session.sessionKey,
    reason: 'completed',
    outcome: 'ok',
    endedAtMs: sentAtMs + 5_000,
  }),
};

/**
 * A valid, realistic payload of a canonical family: a fresh object each time, the caller's to change.
 *
 * @example
 * await kernel.dispatch('egress.preparing', { ...samplePayload('egress.preparing'), content: 'Hi' });
 */
export function samplePayload<F extends keyof CanonicalFamilies>(
  family: F,
): CanonicalFamilies[F]['payload'] {
  return samplePayloads[family]();
}
