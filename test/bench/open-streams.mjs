// The bytes that open streams keep, after a build: replies that grow five times a second, with a clock that is moved by hand.
//   node test/bench/open-streams.mjs [seconds=3600] [streams=1000]
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { lineHost } from './line-host.mjs';

const self = fileURLToPath(import.meta.url);
const perSecond = 5;
/** V8 optimizes nothing, whose code would count as well, and collects in this thread alone: the same on each machine. */
const alike = ['--expose-gc', '--single-threaded', '--no-opt'];
const readings = 6;
const short = { seconds: 300, streams: 30 };

/**
 * Counts the bytes of the heap for each open stream, at `readings` times of a run that have the same distance, and when all have ended.
 * `grown` is the growth from the second reading to the last one.
 *
 * @param kind what grows: a `text` or a `thinking`, by a character, or the `progress` of a tool, which replaces itself.
 * @param isLeaking has the agent keep each of its events.
 */
export function bytesOfStreams(kind, isLeaking = false, { seconds, streams } = short) {
  const task = JSON.stringify({ kind, seconds, streams, isLeaking });
  const { status, stdout, stderr } = spawnSync(process.execPath, [...alike, self, task], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  const { bytes, ...rest } = JSON.parse(stdout);
  return { bytes, grown: bytes.at(-1) - bytes[1], ...rest };
}

/** An agent whose streams go on together, when they are told. */
function steppedAgent({ kind, isLeaking }, MessageWriter) {
  const kept = [];
  const tool = { toolCallId: 'build', toolName: 'build', args: {} };
  let waiting = [];
  let isOver = false;
  const next = () => new Promise((resolve) => waiting.push(resolve));
  async function* run({ gate }) {
    const writer = new MessageWriter({ provider: 'stepped', model: 'stepped' });
    yield { type: 'agent_start' };
    if (kind === 'progress') {
      for (const event of writer.call({ id: tool.toolCallId, name: tool.toolName, arguments: {} }))
        yield event;
      for (const event of writer.end()) yield event;
      yield { type: 'tool_execution_start', ...tool };
      await gate(tool);
    }
    for (let at = 0; ; at++) {
      await next();
      if (isOver) break;
      const progress = { type: 'tool_execution_update', ...tool, partialResult: `file ${at}` };
      const events = kind === 'progress' ? [progress] : writer.grow(kind, at % 8 === 7 ? ' ' : 'a');
      for (const event of events) {
        if (isLeaking) kept.push(event);
        yield event;
      }
    }
    if (kind === 'progress')
      yield { type: 'tool_execution_end', ...tool, result: 'built', isError: false };
    for (const event of [...writer.grow('text', 'the end'), ...writer.end()]) yield event;
    yield { type: 'agent_end', messages: writer.messages };
  }
  return {
    provider: { id: 'stepped', models: ['stepped'], toolGate: 'enforce', run },
    get open() {
      return waiting.length;
    },
    /** Each open stream goes on, or ends. */
    goOn(ends = false) {
      isOver = ends;
      const told = waiting;
      waiting = [];
      for (const resolve of told) resolve();
    },
  };
}

async function measure({ kind, seconds, streams, isLeaking }) {
  const dist = (path) => import(new URL(`../../dist/${path}.js`, import.meta.url).href);
  const [{ MessageWriter }, { virtualClock }] = [await dist('stream'), await dist('testing')];
  const modules = { ...(await dist('host')), ...(await dist('agent')), ...(await dist('index')) };
  const agent = steppedAgent({ kind, isLeaking }, MessageWriter);
  const clock = virtualClock();
  let updates = 0;
  const timeoutMs = 2 * seconds * 1_000 + 60_000;
  const { say } = await lineHost(modules, {
    agents: [{ id: 'main', provider: agent.provider, timeoutMs }],
    clock,
    lanes: { maxRunning: streams, total: 2 * streams },
    replies: { reasoningMode: 'stream' },
    streamed: () => updates++,
  });
  const settle = async (open) => {
    for (let turns = 0; agent.open < open && turns < 1_000; turns++)
      await new Promise(setImmediate);
    if (agent.open < open) throw new Error(`${agent.open} of ${open} streams are open`);
  };
  const used = () => {
    globalThis.gc();
    return process.memoryUsage().heapUsed;
  };
  const steps = seconds * perSecond;
  const stream = async (open, onReading) => {
    let answered;
    for (let at = 0; at < open; at++) answered = say(`person ${at}`);
    await settle(open);
    for (let at = 1; at <= steps; at++) {
      await clock.advance(1_000 / perSecond);
      agent.goOn();
      await settle(open);
      if (at % Math.floor(steps / readings) === 0) onReading();
    }
    agent.goOn(true);
    await answered;
  };
  await stream(1, () => undefined); // the code of the host is read
  const before = used();
  const bytes = [];
  await stream(streams, () => bytes.push(Math.round((used() - before) / streams)));
  const left = Math.round((used() - before) / streams);
  process.stdout.write(JSON.stringify({ bytes, left, updates: Math.round(updates / streams) }));
  process.exit(0);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [first = '3600', streams = '1000'] = process.argv.slice(2);
  if (first.startsWith('{')) await measure(JSON.parse(first));
  else
    for (const kind of ['text', 'thinking', 'progress'])
      console.log(
        kind,
        bytesOfStreams(kind, false, { seconds: Number(first), streams: Number(streams) }),
      );
}
