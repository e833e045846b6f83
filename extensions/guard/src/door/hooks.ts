import { z } from 'zod';
import {
  type AgentCodec,
  type HookAnswer,
  type Point,
  type PointCodec,
  points,
  type Verdict,
} from '../agents/codec.js';
import { agents, codecOf } from '../agents/index.js';
import type { Judge, Told } from '../judging/judge.js';
import type { Answering, Asked } from './door.js';

/** The part of the time of an agent that the way back may take, in milliseconds. */
const marginMs = 5_000;

/** Milliseconds that the proxy of MCP waits for an answer: its client gives up after a minute. */
const proxyWaitMs = 50_000;

/** An agent without a codec: rules read its tools and parameters by its own names. */
const plain = { proof: 'run', points: {}, tools: {} } as const;

const heardSchema = z.object({
  agent: z.string().min(1),
  sessionId: z.string(),
  workspaceDir: z.string(),
  toolName: z.string().exactOptional(),
  toolCallId: z.string().exactOptional(),
  params: z.record(z.string(), z.unknown()).exactOptional(),
  result: z.object({ text: z.string(), isError: z.boolean() }).exactOptional(),
  prompt: z.string().exactOptional(),
  reason: z.string().exactOptional(),
});

/** Answers hooks in the words of their agents, and the proxy of MCP with a verdict. */
export function answering(judge: Judge, now: () => number): Answering {
  return async (asked) => {
    const [kind, name = '', hook] = asked.path;
    if (kind === 'judge' && hook === undefined) return judged(name, asked);
    const codec = kind === 'hook' ? codecOf(name) : undefined;
    const found = codec && pointOf(codec, hook);
    if (codec === undefined || found === undefined) return undefined;
    const [point, { read, write, takesChanges, timeoutMs }] = found;
    const untilMs = now() + timeoutMs - Math.min(marginMs, timeoutMs / 5);
    let input: Record<string, unknown> = {};
    const verdict = await verdictOf(() => {
      input = objectIn(asked);
      return { codec, point, takesChanges, heard: read(input), untilMs, signal: asked.signal };
    });
    const said: HookAnswer = write(verdict, input);
    return asked.isCommand ? said : (said.body ?? {});
  };

  async function judged(name: string, asked: Asked): Promise<Verdict | undefined> {
    const point = points.find((one) => one === name);
    if (point === undefined) return undefined;
    return verdictOf(() => {
      const read = heardSchema.safeParse(objectIn(asked));
      if (!read.success) throw new TypeError(z.prettifyError(read.error));
      const { agent, ...heard } = read.data;
      const codec = codecOf(agent) ?? { ...plain, agent, title: agent, release: agent };
      const untilMs = now() + proxyWaitMs;
      return { codec, point, takesChanges: true, heard, untilMs, signal: asked.signal };
    });
  }

  /** The verdict of what is read; what cannot be read is refused. */
  async function verdictOf(read: () => Told): Promise<Verdict> {
    let told: Told;
    try {
      told = read();
    } catch (thrown) {
      const { message } = thrown as Error; // the codecs and this file throw no other
      return { status: 'refused', reason: `the guard cannot judge this: ${message}` };
    }
    return judge.verdict(told);
  }
}

/**
 * The refusal of each hook while no guard is there to judge, by `AGENT/HOOK`, with the milliseconds that its client waits for a guard that
 * is late: less than its agent, since most agents let a call pass whose hook is late.
 */
export function refusalsWhenAway(): Readonly<Record<string, HookAnswer & { timeoutMs: number }>> {
  const reason = 'the guard is away, and nothing is allowed without it: run `sluice guard run`';
  const hooks = agents.flatMap(({ agent, points: own }) =>
    Object.values(own).map(({ hook, write, timeoutMs }) => [
      `${agent}/${hook}`,
      {
        ...write({ status: 'refused', reason }, {}),
        timeoutMs: timeoutMs - Math.min(marginMs, timeoutMs / 5) / 2,
      },
    ]),
  );
  return Object.fromEntries(hooks);
}

function pointOf(codec: AgentCodec, hook: string | undefined): [Point, PointCodec] | undefined {
  for (const point of points) {
    const found = codec.points[point];
    if (found?.hook === hook) return found && [point, found];
  }
  return undefined;
}

/** @throws TypeError if it is no object. */
function objectIn({ body }: Asked): Record<string, unknown> {
  if (body === undefined) throw new TypeError('its input is larger than 10 MB');
  try {
    const input: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    if (typeof input === 'object' && input !== null && !Array.isArray(input)) return { ...input };
  } catch {
    // said below
  }
  throw new TypeError('its input is no JSON object');
}
