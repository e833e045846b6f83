import { createHook } from 'node:async_hooks';

/**
 * A channel of a process: it gives a line to the host, and takes each reply.
 *
 * @param streamed if given, a reply is shown while it grows, and this is called for each piece.
 */
function lineChannel(streamed) {
  const channel = {
    id: 'lines',
    accounts: ['one'],
    capabilities: streamed === undefined ? {} : { canStreamResponse: true },
    ...(streamed && { createStreamSender: (permits) => growingLine(permits, streamed) }),
    resendPolicy: { ambiguous: 'fail', maxAttempts: 1, maxWaitMs: 0 },
    startAccount: async (_account, inbox) => {
      channel.inbox = inbox;
    },
    stopAccount: async () => undefined,
    decodeIngress: ({ from, content }, accountId) => ({
      kind: 'message',
      message: {
        channel: 'lines',
        accountId,
        from,
        conversationId: from,
        content,
        attachments: [],
        metadata: {},
      },
    }),
    send: async (permit) => {
      permit.take();
      return { status: 'sent', receipt: {} };
    },
  };
  return channel;
}

/** Shows a reply while it grows: of a line, the newest text is there. */
function growingLine(permits, streamed) {
  let shown = '';
  const show = async (text) => {
    shown = text;
    streamed(shown);
    if (permits.opening.used) return;
    permits.opening.take();
    await permits.noteShown({});
  };
  return {
    onThinkingDelta: ({ thinking }) => show(thinking),
    onContentDelta: ({ content }) => show(content),
    onFinal: async () => {
      permits.final()?.take();
      permits.report({ status: 'sent', receipt: {} });
    },
    onError: async () => void (await permits.mayTakeBack()),
    abort: async () => void (await permits.mayTakeBack()),
  };
}

/** An agent that says one whole message. */
export const plainProvider = {
  id: 'plain',
  models: ['plain'],
  toolGate: 'enforce',
  async *run({ prompt }) {
    const content = [{ type: 'text', text: `You said: ${prompt}` }];
    const about = { provider: 'plain', model: 'plain', stopReason: 'stop', timestamp: 0 };
    const message = { role: 'assistant', content, ...about };
    yield { type: 'agent_start' };
    yield { type: 'message_start', message };
    yield { type: 'message_end', message };
    yield { type: 'agent_end', messages: [message] };
  },
};

/** The agent that says one whole message, or the one that streams and calls a tool. */
export const agentNamed = (name, { echoProvider }) =>
  name === 'plain' ? plainProvider : echoProvider();

/**
 * Makes a host with one agent, and a function that has it answer a line.
 *
 * @param modules `createHost`, `echoProvider` and `silentLogger`, of the sources or of a build.
 */
export async function lineHost(
  { createHost, echoProvider, silentLogger },
  { streamed, ...options } = {},
) {
  const channel = lineChannel(streamed);
  let wake = () => undefined;
  let said = 0;
  let ended = 0;
  const host = createHost({
    channels: [channel],
    agents: [{ id: 'main', provider: echoProvider() }],
    logger: silentLogger,
    ...options,
    onMessageEnd: ({ status }) => {
      if (status !== 'answered') throw new Error(`a message ended as ${status}`);
      if (++ended === said) wake();
    },
  });
  await host.start();
  return {
    host,
    /** Resolves when each line is answered that was said so far. */
    say: (from) => {
      const answered = new Promise((resolve) => (wake = resolve));
      const raw = { from, content: `line ${said} of ${from}` };
      void channel.inbox.receive({ raw, updateId: String(said++) });
      return answered;
    },
  };
}

/** Counts what one message makes: the same on each machine. Its conversation is known, and the code has run before. */
export async function stepsOfMessage({ host, say }) {
  for (let i = 0; i < 3; i++) await say('ada');
  await new Promise(setImmediate);
  const before = host.kernel.stats().dispatches;
  let promises = 0;
  const hook = createHook({
    init: (_, type) => {
      if (type === 'PROMISE') promises++;
    },
  }).enable();
  await say('ada');
  hook.disable();
  return { promises, dispatches: host.kernel.stats().dispatches - before };
}
