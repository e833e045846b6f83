// An agent that speaks the protocol, made with the SDK that the package itself uses. The last line of a prompt says what it does.
// Its sessions are in the file SESSIONS, so that the next process finds them; each run of its tool adds a line to the file RUNS.
import {
  appendFileSync,
  closeSync,
  existsSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { Readable, Writable } from 'node:stream';
import * as acp from '@agentclientprotocol/sdk';

const { SESSIONS = '', RUNS = '', OFFERS = 'load', START = '' } = process.env;
const known = existsSync(SESSIONS) ? JSON.parse(readFileSync(SESSIONS, 'utf8')) : {};
/** The turns that can be stopped, by session. */
const stops = new Map();
let deafTo = '';

const allow = { optionId: 'yes', name: 'Allow', kind: 'allow_once' };
const always = { optionId: 'ever', name: 'Always', kind: 'allow_always' };
const reject = { optionId: 'no', name: 'Reject', kind: 'reject_once' };

function keep() {
  if (SESSIONS !== '') writeFileSync(SESSIONS, JSON.stringify(known));
}

async function turn({ params, client }) {
  const { sessionId, prompt } = params;
  const whole = prompt.map(({ text }) => text).join('');
  const order = whole.split('\n').at(-1);
  const [verb, ...rest] = order.split(' ');
  known[sessionId].push(order);
  keep();
  const update = (one) => client.notify('session/update', { sessionId, update: one });
  const say = (text, more = {}) =>
    update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text }, ...more });
  const runs = (toolCallId, status, more = {}) =>
    update({ sessionUpdate: 'tool_call_update', toolCallId, status, ...more });
  const shown = (text) => ({ content: [{ type: 'content', content: { type: 'text', text } }] });

  const use = async (toolCallId, rawInput, options, name = 'work') => {
    const toolCall = {
      toolCallId,
      name,
      title: `Work on ${rawInput.path}`,
      kind: 'edit',
      rawInput,
    };
    await update({ sessionUpdate: 'tool_call', status: 'pending', ...toolCall });
    const { outcome } = await client.request('session/request_permission', {
      sessionId,
      toolCall: { toolCallId },
      options,
    });
    const option = options.find(({ optionId }) => optionId === outcome.optionId);
    if (RUNS !== '') appendFileSync(RUNS, `answer ${option?.kind ?? outcome.outcome}\n`);
    if (option?.kind.startsWith('allow') !== true && verb !== 'defy') {
      await runs(toolCallId, 'failed');
      return;
    }
    if (RUNS !== '') appendFileSync(RUNS, `run ${toolCallId}\n`);
    await runs(toolCallId, 'in_progress', shown('half'));
    await runs(toolCallId, 'completed', shown('done'));
  };

  switch (verb) {
    case 'tool':
      await say('Let me see.');
      await use(`${sessionId}-a`, { path: '/a' }, [always, allow, reject]);
      await use(`${sessionId}-b`, { path: '/b' }, [allow, reject]);
      await say('Done.');
      break;
    case 'defy':
      await use(`${sessionId}-d`, { path: '/d' }, [allow, reject]);
      break;
    case 'only-always':
      await use(`${sessionId}-c`, { path: '/c' }, [always]);
      break;
    case 'sneak':
      await update({
        ...{ sessionUpdate: 'tool_call', toolCallId: 'sneak', title: 'Delete it', kind: 'delete' },
        ...{ status: 'in_progress', locations: [{ path: '/x' }] },
      });
      await new Promise((resolve) => setTimeout(resolve, 50));
      if (stops.get(sessionId)?.isStopped === true) return { stopReason: 'cancelled' };
      await runs('sneak', 'completed', { rawOutput: { deleted: 1 } });
      await say('Deleted.');
      break;
    case 'late': // says the rest of it after the end, when it is let
    case 'all-late': {
      const part = { content: { type: 'text', text: 'the end.' } };
      if (verb === 'late') await say('This is ');
      if (rest[0] === 'tool') await use(`${sessionId}-l`, { path: '/l' }, [allow]);
      setInterval(() => {
        if (!existsSync(`${RUNS}.go`)) return;
        rmSync(`${RUNS}.go`);
        if (rest[0] === 'tool') void runs(`${sessionId}-m`, 'completed', shown('late'));
        else void update({ sessionUpdate: `agent_${rest[0]}_chunk`, ...part });
      }, 5);
      break;
    }
    case 'endless':
    case 'deaf':
      deafTo = verb === 'deaf' ? sessionId : deafTo;
      await say('So it begins.');
      await new Promise((resolve) => stops.set(sessionId, { resolve }));
      return { stopReason: 'cancelled' };
    case 'crash':
      await say('So it beg');
      process.stderr.write('debug: one\nfatal: the engine is gone\n');
      process.exitCode = 3;
      setTimeout(() => process.exit(), 20);
      return new Promise(() => undefined);
    case 'fail':
      throw acp.RequestError.internalError({ details: 'overloaded' });
    case 'refuse':
      return { stopReason: 'refusal' };
    case 'cut':
      await say('So long');
      return { stopReason: 'max_tokens' };
    case 'think':
      await update({
        ...{ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'Hm.' } },
      });
      await update({
        sessionUpdate: 'plan',
        entries: [
          { content: 'look', priority: 'high', status: 'completed' },
          { content: 'leap', priority: 'low', status: 'pending' },
        ],
      });
      await say('One.', { messageId: 'm-1' });
      await say('Two.', { messageId: 'm-2' });
      await update({ sessionUpdate: 'available_commands_update', availableCommands: [] });
      await update({ sessionUpdate: 'something_new', content: 1 });
      await update({
        ...{ sessionUpdate: 'usage_update', used: 700, size: 1_000 },
        cost: { amount: known[sessionId].length / 4, currency: 'USD' },
      });
      break;
    case 'huge':
      await say('x'.repeat(Number(rest[0])));
      break;
    case 'read': {
      const asked = { sessionId, path: '/etc/passwd' };
      const error = await client.request('fs/read_text_file', asked).catch((thrown) => thrown);
      await say(`error ${error.code}: ${error.message}`);
      break;
    }
    case 'flood':
      stops.set(sessionId, {});
      while (stops.get(sessionId).isStopped !== true)
        await Promise.all(Array.from({ length: 500 }, () => say('word ')));
      appendFileSync(RUNS, 'stopped\n');
      return { stopReason: 'cancelled' };
    case 'close':
      setTimeout(() => closeSync(1), 20);
      setInterval(() => undefined, 60_000);
      break;
    case 'pid':
      await say(String(process.pid));
      break;
    case 'env':
      await say(Object.keys(process.env).sort().join(' '));
      break;
    case 'whole':
      await say(JSON.stringify(whole));
      break;
    case 'heard':
      await say(known[sessionId].join(', '));
      break;
    default:
      await say(`You said: ${order}`);
  }
  return { stopReason: 'end_turn' };
}

const app = acp
  .agent({ name: 'scripted' })
  .onRequest('initialize', () => {
    if (START === 'never') {
      appendFileSync(RUNS, 'begun\n');
      return new Promise(() => undefined);
    }
    return {
      protocolVersion: START === 'newer' ? 99 : acp.PROTOCOL_VERSION,
      agentCapabilities: {
        loadSession: OFFERS === 'load',
        sessionCapabilities: OFFERS === 'resume' ? { resume: {} } : {},
      },
    };
  })
  .onRequest('session/new', () => {
    if (START === 'login') throw acp.RequestError.authRequired();
    const sessionId = `s-${Object.keys(known).length + 1}-${process.pid}`;
    known[sessionId] = [];
    keep();
    return { sessionId };
  })
  .onRequest('session/load', async ({ params: { sessionId }, client }) => {
    if (known[sessionId] === undefined) throw acp.RequestError.resourceNotFound(sessionId);
    for (const text of known[sessionId])
      await client.notify('session/update', {
        sessionId,
        update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } },
      });
    return {};
  })
  .onRequest('session/resume', ({ params: { sessionId } }) => {
    if (known[sessionId] === undefined) throw acp.RequestError.resourceNotFound(sessionId);
    return {};
  })
  .onRequest('session/set_mode', ({ params: { sessionId, modeId } }) => {
    known[sessionId].push(`mode ${modeId}`);
    return {};
  })
  .onRequest('session/prompt', turn)
  .onNotification('session/cancel', ({ params: { sessionId } }) => {
    if (sessionId === deafTo) return;
    const stop = stops.get(sessionId);
    stops.set(sessionId, { isStopped: true });
    stop?.resolve?.();
  });

if (START === 'deaf') process.on('SIGTERM', () => undefined);
app.connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
