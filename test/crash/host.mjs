// A host with a journal, in a process that is killed at any moment: host.mjs JOURNAL RESEND-POLICY KEEP-BYTES SLOWNESS. Its provider
// is its parent: updates and answers come as messages; sends, previews and acknowledgements go there.
import { defineExtension, ExtensionSet, givenSource } from '../../dist/extension.js';
import { createHost, dispatchTap, openJournal, openPostgresJournal } from '../../dist/host.js';
import { ask as askHuman, cancel, createKernel, systemClock } from '../../dist/index.js';

const [, , path, policy, keepBytes, slowness = '1'] = process.argv;
const answers = new Map(); // of sends that wait for the provider
const asked = new Map(); // what was asked of the provider, by its number
let asking = 0;
let inbox;

const ask = (what) =>
  new Promise((resolve) => {
    asked.set(++asking, resolve);
    process.send({ asked: { number: asking, ...what } });
  });

/** Shows one reply while it grows: the provider gives its preview an id. One call is under way at a time. */
function createStreamSender(permits) {
  let id;
  let isOver = false;
  let turn = Promise.resolve();
  const inTurn = (work) => {
    turn = turn.then(work);
    return turn;
  };
  const show = (text) =>
    inTurn(async () => {
      if (isOver) return;
      if (id !== undefined) return ask({ edit: { id, text } });
      permits.opening.take();
      id = await ask({ show: { key: permits.opening.idempotencyKey, text } });
      await permits.noteShown({ id });
    });
  const remove = () =>
    inTurn(async () => {
      if (!isOver && id !== undefined && (await permits.mayTakeBack()))
        await ask({ remove: { id } });
      isOver = true;
    });
  return {
    onThinkingDelta: ({ thinking }) => show(thinking),
    onContentDelta: ({ content }) => show(content),
    onFinal: () =>
      inTurn(async () => {
        if (isOver || id === undefined) throw new Error('nothing is shown');
        isOver = true;
        const { content: text } = permits.final().take();
        await ask({ edit: { id, text, isFinal: true } });
        permits.report({ status: 'sent', receipt: { messageId: String(id) } });
      }),
    onError: remove,
    abort: remove,
  };
}

function deliver({ content, conversationId, interactive }, key) {
  const press = interactive?.buttons?.[0]?.id;
  const answer = new Promise((resolve) => answers.set(key, resolve));
  process.send({ send: { key, content, conversation: conversationId, press } });
  return answer;
}

/** The traces of a host that was killed. */
const previews = {
  takeBack: async ({ id }) => {
    await ask({ remove: { id }, ends: 'takenBack' });
    return true;
  },
  complete: async (permit, { shown: { id } }) => {
    const message = permit.take();
    const edit = { id, text: message.content, isFinal: true };
    // a host that was stopped may have taken it back meanwhile
    if ((await ask({ edit, ends: 'completed' })) === false)
      return deliver(message, permit.idempotencyKey);
    return { status: 'sent', receipt: { messageId: String(id) } };
  },
};

const channel = {
  id: 'far',
  accounts: ['one'],
  capabilities: {
    deduplicatesSends: policy === 'resend',
    canStreamResponse: true,
    interactive: ['buttons'],
    everyHost: true,
  },
  resendPolicy: { ambiguous: policy, maxAttempts: 3, maxWaitMs: 60_000 },
  startAccount: async (_account, given) => {
    inbox = given;
  },
  stopIntake: async () => undefined,
  stopAccount: async () => undefined,
  decodeIngress: ({ text, press, conversation }, accountId) => {
    const sender = { id: 'ada' };
    const at = { channel: 'far', accountId, conversationId: conversation, sender };
    if (press !== undefined) {
      const interaction = { ...at, interactionId: press, kind: 'button', name: press, values: [] };
      return { kind: 'interaction', interaction, senderProof: 'account' };
    }
    const message = {
      ...{ ...at, provider: 'far', surface: 'far', from: conversation, messageId: text },
      ...{ content: text, attachments: [], metadata: {} },
    };
    return { kind: 'message', message, senderProof: 'account' };
  },
  ack: async (_account, { updateId }) => {
    process.send({ ack: updateId });
  },
  send: async (permit) => deliver(permit.take(), permit.idempotencyKey),
  createStreamSender,
  previews,
};

const pause = () =>
  new Promise((resolve) => setTimeout(resolve, Math.random() * 4 * Number(slowness)));

/** One message of an agent: in pieces, where its reply is to grow. */
async function* say(text, isGrowing, calls = []) {
  const content = [{ type: 'text', text: '' }, ...calls];
  const message = { role: 'assistant', content };
  yield { type: 'message_start', message };
  const at = { contentIndex: 0, partial: message };
  const update = (assistantMessageEvent) => ({
    ...{ type: 'message_update', message, assistantMessageEvent },
  });
  if (isGrowing) yield update({ type: 'text_start', ...at });
  for (let from = 0; isGrowing && from < text.length; from += 5) {
    content[0] = { type: 'text', text: text.slice(0, from + 5) };
    yield update({ type: 'text_delta', delta: text.slice(from, from + 5), ...at });
    await pause();
  }
  content[0] = { type: 'text', text };
  yield { type: 'message_end', message };
}

/** Says two things to most messages, with a tool in between; what it does with the others is in their first word. */
const agent = {
  id: 'agent',
  models: ['m'],
  toolGate: 'enforce',
  async *run({ prompt, signal, gate }) {
    const [what, id = ''] = prompt.split(' ');
    if (what === 'poison')
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    if (what === 'fail') throw new Error('no model');
    const texts = what === 'silent' ? ['NO_REPLY'] : [`first ${prompt}`, `last ${prompt}`];
    const number = Number(id.split('-')[1]);
    const isGrowing = number % 2 === 0; // every other reply is shown while it grows
    for (const [at, text] of texts.entries()) {
      await pause();
      const isAsking = what === 'asks'; // a human has to allow its tool
      if (at > 0 || texts.length === 1 || (number % 3 !== 0 && !isAsking)) {
        yield* say(text, isGrowing);
        continue;
      }
      const call = {
        type: 'toolCall',
        id: `t-${id}`,
        name: isAsking ? 'deploy' : 'look',
        arguments: { id },
      };
      yield* say(text, isGrowing, [call]);
      const tool = { toolCallId: call.id, toolName: call.name, args: call.arguments };
      yield { type: 'tool_execution_start', ...tool };
      const { allowed, reason } = await gate(tool);
      if (isAsking && signal.aborted) return;
      process.send(isAsking ? { ran: id, allowed, reason } : { tool: id });
      await pause();
      yield { type: 'tool_execution_end', ...tool, result: 'seen', isError: false };
    }
    yield { type: 'agent_end', messages: [] };
  },
};

let tap;
const kernel = createKernel({ trace: true, tap: { outcome: (one) => tap?.outcome(one) } });
kernel.contribute({
  family: 'egress.preparing',
  class: 'veto',
  extensionId: 'guard',
  id: 'no',
  preview: 'ok',
  handler: ({ payload }) => (payload.content.includes('veto') ? cancel('policy') : undefined),
});
kernel.contribute({
  family: 'agent.tool.calling',
  class: 'veto',
  extensionId: 'guard',
  id: 'deploys',
  handler: ({ payload }) =>
    payload.toolName === 'deploy' ? askHuman({ title: 'Deploy?' }) : undefined,
});
const openPostgres = async () => {
  const { connect } = await import('../../extensions/postgres/dist/index.js');
  return openPostgresJournal(connect(path), { leaseMs: 500 });
};
/** Asks one question of a message in a conversation of its own, however often the message begins. */
async function wonder(confirm, message) {
  const place = { channel: 'far', accountId: 'one', to: `w-${message}` };
  const question = { content: `Confirm ${message}?`, options: ['Yes', 'No'], takesText: true };
  const given = { key: message, data: message, timeoutMs: 3_600_000 };
  const asking = await confirm.ask(place, question, given).then(
    ({ id }) => ({ id }),
    ({ code }) => ({ code }),
  );
  process.send({ wondered: { message, ...asking } });
}

const journal = await (path.startsWith('postgres:')
  ? openPostgres()
  : openJournal(path, { keepBytes: Number(keepBytes) }));
tap = dispatchTap(journal);
const extensions = new ExtensionSet(kernel);
await extensions.add(
  givenSource(
    defineExtension({
      id: 'watcher',
      setup: (api) => {
        api.observe('egress.sent', 'seen', () => undefined);
        const confirm = api.question('confirm', ({ id, status, answer, data, attempt }) => {
          process.send({ confirmed: { id, status, answer, message: data, attempt } });
        });
        api.mutate('ingress.normalized', 'same', async ({ payload: { content } }) => {
          const [what, message] = content.split(' ');
          if (what === 'wonders') await wonder(confirm, message);
        });
      },
    }),
  ),
);
const log = (message, fields) => {
  const log = `${message} ${JSON.stringify(fields ?? {}, (_, value) => (value instanceof Error ? `${value}` : value))}`;
  if (process.connected) process.send({ log }, () => undefined); // its parent may have gone
};
const host = createHost({
  kernel,
  clock: {
    ...systemClock,
    // what dead hosts have left is looked for each 2 s in place of 30 s
    setTimeout: (callback, ms) =>
      systemClock.setTimeout(callback, path.startsWith('postgres:') && ms === 30_000 ? 2_000 : ms),
  },
  logger: { debug: () => undefined, info: () => undefined, warn: log, error: log },
  journal: { opened: journal, lastAttemptAfterMs: 300 }, // of the 1,500 ms that the last hosts of a run live
  store: journal.store,
  channels: [channel],
  extensions,
  agents: [{ id: 'main', provider: agent }],
  roles: { owner: ['far:ada'] },
  failureText: ({ code }) => `failed: ${code}`,
});
process.on('message', ({ update, answer, answered }) => {
  if (answered !== undefined) asked.get(answered.number)?.(answered.value);
  if (update !== undefined) void inbox.receive({ raw: update.raw, updateId: update.id });
  if (answer !== undefined)
    answers.get(answer)?.({ status: 'sent', receipt: { messageId: answer } });
});
process.on('disconnect', () => process.exit());
await host.start();
process.send({ ready: true });
// it is reloaded all the time, while messages are on their way
while (true) {
  await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 60));
  await host.reload();
}
