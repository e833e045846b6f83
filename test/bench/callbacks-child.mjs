// One reply through the callbacks of one contender; prints what a piece of it cost.
import { pathToFileURL } from 'node:url';

const { contender, chars } = JSON.parse(process.argv[2] ?? '{}');
const paragraph =
  'Lima is the capital of Peru, and some ten million people live there. It was founded in 1535.\n' +
  'Some of its `streets` are *older* than that.\n\n```ts\nconst a = 1;\nif (a < 2) return;\n```\n\n';
const message = (content) => ({ role: 'assistant', content });
const partial = message([{ type: 'text', text: '' }]);
const update = (assistantMessageEvent) => ({
  type: 'message_update',
  message: partial,
  assistantMessageEvent: { contentIndex: 0, partial, ...assistantMessageEvent },
});

const told = { partials: 0, last: '' };
const host = {
  runId: 'bench',
  onPartialReply: (reply) => {
    told.partials++;
    told.last = reply.text; // kept, not read: what a host does with it is its own cost
  },
  onBlockReply: () => undefined,
  onAgentEvent: () => undefined,
  blockReplyChunking: { minChars: 800, maxChars: 1200 },
};

const contenders = {
  async sluice() {
    const { createReplyCallbacks } = await import('../../dist/agent.js');
    const replies = createReplyCallbacks(host);
    return (event) => void replies.handle(event);
  },
  async openclaw() {
    const { parityParts } = await import(pathToFileURL(process.env.OPENCLAW_CHUNK).href);
    let listener;
    const session = {
      id: 'session',
      messages: [],
      sessionFile: '/nowhere',
      isCompacting: false,
      abortCompaction: () => undefined,
      subscribe: (listen) => {
        listener = listen;
        return () => undefined;
      },
    };
    parityParts.subscribeEmbeddedPiSession({ ...host, session });
    return listener;
  },
};

/** Nanoseconds of CPU for each piece of a reply: time would be that of other work on the machine, too. */
function measure(handle, length) {
  const text = paragraph.repeat(Math.ceil(length / paragraph.length)).slice(0, length);
  const deltas = [];
  for (let at = 0; at < length; at += 4)
    deltas.push(update({ type: 'text_delta', delta: text.slice(at, at + 4) }));
  told.partials = 0;
  handle({ type: 'message_start', message: partial });
  const before = process.cpuUsage();
  for (const delta of deltas) handle(delta);
  const { user, system } = process.cpuUsage(before);
  const ns = ((user + system) * 1_000) / deltas.length;
  if (told.last.length < length - 8 || told.partials < deltas.length / 2)
    throw new Error(`${contender} told ${told.partials} partial replies of ${deltas.length}`);
  return ns;
}

const handle = await contenders[contender]();
handle({ type: 'agent_start' });
for (let round = 0; round < 4; round++) measure(handle, 4096);
const until = performance.now() + 3_000;
let ns = Number.POSITIVE_INFINITY;
do ns = Math.min(ns, measure(handle, chars));
while (performance.now() < until);
process.stdout.write(`\n@@${JSON.stringify({ ns })}`);
process.exit(0); // the real one leaves handles open
