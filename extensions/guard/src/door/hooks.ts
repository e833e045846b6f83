import { z } from 'zod';
import {
  type AgentCodec,
  type Heard,
  type HookAnswer,
  type Point,
  type PointCodec,
  points,
  type Verdict,
} from '../agents/codec.js';
import { agents, codecOf } from '../agents/index.js';
import type { Judge } from '../judging/judge.js';
import type { Answering, Asked } from './door.js';

/** The part of the time of an agent that the way back may take, in milliseconds. */
const marginMs = 5_000;

/** Milliseconds that the proxy of MCP waits for an answer: its client gives up after a minute. */
const proxyWaitMs = 50_000;

/** An agent that has no codec of its own: its words are the ones that rules read. */
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
    const { input, problem } = objectIn(asked);
    const verdict = async (): Promise<Verdict> => {
      if (input === undefined) return unreadable(problem);
      let heard: Heard;
      try {
        heard = read(input);
      } catch (thrown) {
        return unreadable((thrown as Error).message);
      }
      return judge.verdict({ codec, point, takesChanges, heard, untilMs, signal: asked.signal });
    };
    const said: HookAnswer = write(await verdict(), input ?? {});
    return asked.isCommand ? said : (said.body ?? {});
  };

  async function judged(name: string, asked: Asked): Promise<Verdict | undefined> {
    const point = points.find((one) => one === name);
    if (point === undefined) return undefined;
    const { input, problem } = objectIn(asked);
    const read = heardSchema.safeParse(input);
    if (!read.success) return unreadable(problem ?? z.prettifyError(read.error));
    const { agent, ...heard } = read.data;
    const codec = codecOf(agent) ?? { ...plain, agent, title: agent, release: agent };
    const untilMs = now() + proxyWaitMs;
    return judge.verdict({
      codec,
      point,
      takesChanges: true,
      heard,
      untilMs,
      signal: asked.signal,
    });
  }
}

/** The refusal of each hook while no guard is there to judge, by `AGENT/HOOK`: clients read it from a file. */
export function refusalsWhenAway(): Readonly<Record<string, HookAnswer>> {
  const reason = 'the guard is away, and nothing is allowed without it: run `sluice guard run`';
  const hooks = agents.flatMap(({ agent, points: own }) =>
    Object.values(own).map(({ hook, write }) => [
      `${agent}/${hook}`,
      write({ status: 'refused', reason }, {}),
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

function objectIn({ body }: Asked): { input?: Record<string, unknown>; problem?: string } {
  if (body === undefined) return { problem: 'its input is larger than 10 MB' };
  try {
    const input: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    if (typeof input === 'object' && input !== null && !Array.isArray(input))
      return { input: { ...input } };
  } catch {
    // said below
  }
  return { problem: 'its input is no JSON object' };
}

function unreadable(problem = 'it cannot be read'): Verdict {
  return { status: 'refused', reason: `the guard cannot judge this: ${problem}` };
}
