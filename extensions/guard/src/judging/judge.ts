import type { Clock, ExtensionApi, Outcome, Principal } from 'sluice';
import {
  type CallFacts,
  givenText,
  type JudgedCall,
  type JudgeOptions,
  said,
  ToolJudge,
} from 'sluice-judge';
import type { AgentCodec, Heard, JsonObject, Point, PointCodec, Verdict } from '../agents/codec.js';
import { fromShared, type SharedCall, toShared } from './aliases.js';

/** A thing that an agent tells at one of its points. */
export interface Told {
  readonly codec: AgentCodec;
  readonly point: Point;
  readonly takesChanges: PointCodec['takesChanges'];
  readonly heard: Heard;
  /** The time until which the agent waits for an answer, as the clock has it. */
  readonly untilMs: number;
  readonly signal: AbortSignal;
}

/** The things that a guard knows of a call beside the call itself. */
export interface CallContext extends Pick<Told, 'heard' | 'codec' | 'untilMs'> {
  readonly facts: CallFacts;
}

/** The parts of a judge. */
export interface JudgeParts {
  readonly kernel: ExtensionApi['kernel'];
  /** The digest of the policies that judge. */
  readonly policies: string;
  /** The roles of the user of this machine. */
  readonly roles: readonly string[];
  readonly clock: Clock;
  /** Absent if nobody can be asked. */
  readonly onAsk: JudgeOptions<CallContext>['onAsk'] | undefined;
}

/** No verdict yet: the question is open, or it has ended without an answer. The agent reads why. */
export class Unanswered extends Error {
  override readonly name = 'Unanswered';
}

/** Judges what agents tell, by all handlers of the host. Never rejects: a thing that cannot be judged is refused. */
export class Judge {
  readonly #parts: JudgeParts;
  readonly #principal: Principal;
  readonly #judge: ToolJudge;

  constructor(parts: JudgeParts) {
    const { kernel, roles, clock, onAsk } = parts;
    this.#parts = parts;
    const isOwner = roles.includes('owner');
    const of = { channel: 'guard', accountId: 'local', senderId: userName() };
    this.#principal = { ...of, isOwner, roles: roles.toSorted() };
    const given = ({ context }: JudgedCall<CallContext>): CallFacts => context?.facts ?? {};
    this.#judge = new ToolJudge(
      kernel,
      { given, clock, ...(onAsk !== undefined && { onAsk }) },
      { suspends: (error) => error instanceof Unanswered },
    );
  }

  async verdict(told: Told): Promise<Verdict> {
    try {
      if (told.point === 'agent.tool.calling') return await this.#calling(told);
      if (told.point === 'agent.tool.returning') return await this.#returning(told);
      return await this.#telling(told.point, told);
    } catch (thrown) {
      return refused((thrown as Error).message);
    }
  }

  async #calling({ codec, heard, takesChanges, untilMs, signal }: Told): Promise<Verdict> {
    const shared = toShared(codec, heard);
    if (heard.reason !== undefined) {
      // refused already: the dispatches are for the record, and nobody is asked
      const { run, envelope } = this.#split(codec, heard);
      const { kernel } = this.#parts;
      for (const call of callsOf(heard, shared))
        await kernel.dispatch('agent.tool.calling', { ...run, ...call }, { ...envelope, signal });
      return refused(heard.reason);
    }
    const context: CallContext = { heard, codec, untilMs, facts: this.#facts(codec, heard) };
    let params: JsonObject | undefined;
    for (const call of callsOf(heard, shared)) {
      const verdict = await this.#judge.calling({ ...call, context, signal });
      if (!verdict.allowed) return refused(verdict.reason);
      if (verdict.isChanged) params = verdict.params;
    }
    if (params === undefined) return { status: 'allowed' };
    if (!takesChanges)
      return refused(`a rule changes the call, and ${codec.title} takes no changes`);
    if (shared.paths)
      return refused('a rule changes the call, which names its files in a text or a list');
    return { status: 'allowed', params: fromShared(codec, heard, params) };
  }

  async #returning({ codec, heard, takesChanges, signal }: Told): Promise<Verdict> {
    const { text = '', isError = false } = heard.result ?? {};
    const context = { facts: this.#facts(codec, heard) };
    let after = said(text, isError);
    for (const call of callsOf(heard, toShared(codec, heard)))
      after = await this.#judge.returning({ ...call, context, signal }, after);
    const left = givenText(after);
    if (after.isError && !isError) return refused(left);
    if (left === text) return { status: 'allowed' };
    if (takesChanges) return { status: 'allowed', result: left };
    return refused(`a rule changes the result, and ${codec.title} takes no changes`);
  }

  /** Tells of what nobody can cancel. Only a handler that fails closed refuses it. */
  async #telling(
    point: Exclude<Point, 'agent.tool.calling' | 'agent.tool.returning'>,
    { codec, heard, signal }: Told,
  ): Promise<Verdict> {
    const { run, envelope } = this.#split(codec, heard);
    const given = { ...envelope, signal };
    const { kernel } = this.#parts;
    const { prompt: content = '', reason, result } = heard;
    if (point === 'session.starting') {
      const { agentId, sessionId } = run;
      const metadata = reason === undefined ? {} : { reason };
      const rest = { isNew: reason !== 'resume', context: {}, memoryKeys: [], metadata };
      return ended(await kernel.dispatch(point, { agentId, sessionId, ...rest }, given));
    }
    if (point === 'ingress.normalized') {
      const from = `guard:${this.#principal.senderId}`;
      const message = { channel: 'guard', accountId: 'local', from, content };
      return ended(
        await kernel.dispatch(point, { ...message, attachments: [], metadata: {} }, given),
      );
    }
    const payload = {
      ...{ ...run, success: result?.isError !== true },
      ...(reason !== undefined && { stopReason: reason }),
      ...(result !== undefined && { messages: [{ role: 'assistant', content: result.text }] }),
    };
    return ended(await kernel.dispatch(point, payload, given));
  }

  #facts(codec: AgentCodec, heard: Heard): CallFacts {
    const { run, envelope } = this.#split(codec, heard);
    return { ...run, ...envelope };
  }

  #split({ agent, release }: AgentCodec, heard: Heard) {
    const { sessionId, workspaceDir, toolName, toolCallId, reason } = heard;
    const session = `${agent}:${sessionId}`;
    const { policies } = this.#parts;
    const guard = {
      ...{ agent, release, policies },
      ...(toolName !== undefined && {
        tool: toolName,
        ...(reason !== undefined && { refused: reason }),
      }),
    };
    return {
      run: { agentId: agent, sessionId: session, workspaceDir, channel: 'guard' },
      envelope: {
        ...{ principal: this.#principal, metadata: { guard } },
        ...(toolCallId !== undefined && { correlationId: `${session}:${toolCallId}` }),
      },
    };
  }
}

/** The calls that are judged: one, or one for each file. */
function callsOf({ toolCallId }: Heard, { toolName, params, paths }: SharedCall) {
  const all = paths?.map((path) => ({ ...params, path })) ?? [params];
  const id = toolCallId !== undefined && { toolCallId };
  return all.map((one) => ({ toolName, params: one, ...id }));
}

function ended(outcome: Outcome): Verdict {
  if (outcome.status === 'passed') return { status: 'allowed' };
  const { extensionId, contributionId, kind = 'failure' } = outcome.failures.at(-1) ?? {};
  return refused(`a rule failed (${kind} in ${extensionId}/${contributionId})`);
}

function refused(reason: string): Verdict {
  return { status: 'refused', reason };
}

/** The name of the user whose process this is; the number, if the environment has no name. */
function userName(): string {
  const { USER, LOGNAME, USERNAME } = process.env;
  return USER || LOGNAME || USERNAME || String(process.getuid?.() ?? 'user');
}
