// A message of other systems beside that of this one: their packages lie in a folder of the bench's own, outside of the dependencies.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { agentNamed, lineHost } from './line-host.mjs';

const self = fileURLToPath(import.meta.url);
const folder = new URL('../../node_modules/.cache/bench-peers/', import.meta.url);
const pinned = { chat: '4.41.1', '@chat-adapter/state-memory': '4.41.0', grammy: '1.46.0' };
const quick = { warm: 2_500, times: 500, rounds: 10 };

/** Installs the peers from the registry, once. */
function install() {
  if (existsSync(new URL('node_modules/chat', folder))) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    new URL('package.json', folder),
    JSON.stringify({ private: true, type: 'module', dependencies: pinned }),
  );
  const how = { cwd: fileURLToPath(folder), stdio: 'inherit', shell: process.platform === 'win32' };
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], how);
}

const peer = (path) => import(new URL(`node_modules/${path}`, folder).href);

async function sluice(kind) {
  const dist = (path) => import(new URL(`../../dist/${path}.js`, import.meta.url).href);
  const modules = { ...(await dist('host')), ...(await dist('agent')), ...(await dist('index')) };
  const agents = [
    { id: 'main', provider: agentNamed(kind === 'echo' ? 'echo' : 'plain', modules) },
  ];
  const { host, say } = await lineHost(modules, { agents });
  const add = (family, extensionId) =>
    host.kernel.contribute({
      ...{ family, class: 'observer', extensionId, id: 'observer', handler: () => undefined },
    });
  const extensions = ['ingress.received', 'agent.llm.output', 'egress.sent'];
  if (kind === 'three extensions') for (const family of extensions) add(family, family);
  let at = 0;
  return () => say(`c${at++ % 10}`);
}

async function chatSdk() {
  const { Chat, Message, parseMarkdown } = await peer('chat/dist/index.js');
  const { createMemoryState } = await peer('@chat-adapter/state-memory/dist/index.js');
  const nothing = async () => undefined;
  const posted = async (threadId) => ({ id: 's', threadId, raw: {} });
  const adapter = {
    ...{ name: 'lab', userName: 'bot', initialize: nothing, startTyping: nothing },
    ...{ addReaction: nothing, removeReaction: nothing, deleteMessage: nothing },
    encodeThreadId: (id) => `lab:${id}`,
    decodeThreadId: (id) => id.slice(4),
    channelIdFromThreadId: (id) => id,
    isDM: () => true,
    postMessage: posted,
    editMessage: posted,
    fetchMessages: async () => ({ messages: [] }),
    fetchThread: async (id) => ({ id, channelId: id, metadata: {} }),
    parseMessage: (raw) => raw,
    renderFormatted: String,
    handleWebhook: async () => new Response('ok'),
  };
  const state = createMemoryState();
  const chat = new Chat({ userName: 'bot', adapters: { lab: adapter }, state, logger: 'silent' });
  await chat.initialize();
  let answers = 0;
  const answer = async (thread, message) => {
    answers++;
    await thread.post(`You said: ${message.text}`);
  };
  chat.onDirectMessage(answer);
  chat.onNewMention(answer);
  const author = { userId: 'U1', userName: 'x', fullName: 'x', isBot: false, isMe: false };
  let at = 0;
  return async () => {
    const threadId = `lab:${at % 10}`;
    const text = `hello ${at}`;
    const metadata = { dateSent: new Date(), edited: false };
    const about = { id: `m${at++}`, threadId, text, formatted: parseMarkdown(text), raw: {} };
    const whole = { ...about, author, metadata, attachments: [], isMention: true };
    await chat.handleIncomingMessage(adapter, threadId, new Message(whole));
    if (answers !== at) throw new Error('the Chat SDK has not answered a message');
  };
}

async function grammy() {
  const { Bot } = await peer('grammy/out/mod.js').then((module) => module.default ?? module);
  const can = ['can_join_groups', 'can_read_all_group_messages', 'supports_inline_queries'];
  const abilities = Object.fromEntries(can.map((name) => [name, false]));
  const botInfo = { id: 1, is_bot: true, first_name: 'b', username: 'b', ...abilities };
  const bot = new Bot('1:a', { botInfo });
  const chat = { id: 1, type: 'private', first_name: 'x' };
  bot.api.config.use(async () => ({ ok: true, result: { message_id: 1, date: 1, chat } }));
  bot.on('message:text', (context) => context.reply(`You said: ${context.message.text}`));
  const from = { id: 5, is_bot: false, first_name: 'x' };
  let at = 0;
  return () => {
    const message = { message_id: ++at, date: 1, text: `hello ${at}`, chat, from };
    return bot.handleUpdate({ update_id: at, message });
  };
}

const contenders = {
  'Chat SDK, memory state': chatSdk,
  grammY: grammy,
  'Sluice, plain agent': () => sluice('plain'),
  'Sluice, plain agent, three extensions': () => sluice('three extensions'),
  'Sluice, agent that streams and calls a tool': () => sluice('echo'),
};

/** Prints the lowest of some rounds, in microseconds of CPU for a message. */
async function measure(name) {
  const say = await contenders[name]();
  const round = async (times) => {
    const before = process.cpuUsage();
    for (let at = 0; at < times; at++) await say();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / times;
  };
  await round(quick.warm);
  let lowest = Number.POSITIVE_INFINITY;
  for (let at = 0; at < quick.rounds; at++) lowest = Math.min(lowest, await round(quick.times));
  process.stdout.write(`\n@@${lowest}\n`);
  process.exit(0);
}

/** Measures all contenders in launches that take turns, and prints each beside the first. */
export function comparePeers(launches = 3) {
  install();
  const names = Object.keys(contenders);
  const found = new Map(names.map((name) => [name, []]));
  for (let launch = 0; launch < launches; launch++)
    for (const name of names) {
      const printed = execFileSync(process.execPath, [self, name], { encoding: 'utf8' });
      found.get(name).push(Number(printed.split('@@').at(-1)));
    }
  const lowest = (name) => Math.min(...found.get(name));
  console.log(`CPU of a message, lowest of ${launches} launches in turns, and of the Chat SDK's`);
  for (const name of names) {
    const ratio = (lowest(name) / lowest(names[0])).toFixed(2);
    console.log(
      `  ${name.padEnd(46)}${lowest(name).toFixed(0).padStart(6)} µs${ratio.padStart(7)}`,
    );
  }
}

if (process.argv[1] === self) await measure(process.argv[2]);
