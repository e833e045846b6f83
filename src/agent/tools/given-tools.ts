import { fromJsonSchema } from '@sluice/sdk/extension';
import type {
  AgentTool,
  AgentToolCall,
  AgentToolResult,
  ToolCall,
  ToolDefinition,
  ToolGate,
} from '@sluice/sdk/stream';
import { fixSchema, Stop } from '@sluice/sdk/stream/internal';
import {
  type Clock,
  deferred,
  definedFields,
  type Fields,
  getOrMake,
  type Logger,
  onAbort,
  oneLine,
  type StopSignal,
  Timer,
} from 'sluice-kernel/internal';
import type { RunDispatcher, RunFields } from '../run/index.js';
import { readAnswer, said, shownSchema } from './tool-answer.js';

/** Milliseconds that one call may take if its tool does not say: ten minutes. */
const usualToolMs = 600_000;

/** The parts of a turn that its tools run with. */
interface ToolsScope {
  readonly run: RunFields;
  readonly gate: ToolGate;
  /** Judges each answer of a tool that the gate has let run. If somebody does, no part of one is shown before. */
  readonly judge: Pick<RunDispatcher, 'judgesResults' | 'returning'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Aborted when the attempt is stopped or has ended. */
  readonly signal: StopSignal;
  /** Runs the code of a tool, inside of what taps have put around it. */
  readonly around: <T>(work: () => T, call: Pick<ToolCall, 'toolCallId' | 'toolName'>) => T;
}

/**
 * Makes the tools of a host the tools of one attempt (event pipeline §16.22). No tool runs unless the gate has passed its
 * call, also if the provider asks no gate.
 */
export function givenTools(
  tools: readonly ToolDefinition[],
  scope: ToolsScope,
): readonly AgentTool[] {
  const begun = new Map<string, Promise<AgentToolResult>>();
  return tools.map((tool) => ({
    name: tool.name,
    description: tool.description,
    inputSchema: shownSchema(usableSchema(tool, scope.logger)),
    call: (call) => {
      const known = begun.get(call.toolCallId);
      const running = known ?? callTool(tool, call, scope);
      if (known === undefined) begun.set(call.toolCallId, running);
      return running;
    },
  }));
}

/** By logger: the schemas whose losses it was told of. A tool is offered with each turn. */
const toldBy = new WeakMap<Logger, WeakSet<object>>();

/** The schema of a tool without the keywords that cannot be used (§16.30), which is told once. */
function usableSchema({ name, inputSchema }: ToolDefinition, logger: Logger): Fields {
  const fixed = fixSchema(inputSchema);
  const told = getOrMake(toldBy, logger, () => new WeakSet());
  if (fixed.lost.length > 0 && !told.has(fixed)) {
    told.add(fixed);
    const fields = { problem: fixed.lost.slice(0, 5).join('; '), lost: fixed.lost.length };
    logger.warn('a tool is offered with a part of its schema', { tool: name, ...fields });
  }
  return fixed.schema;
}

async function callTool(
  tool: ToolDefinition,
  { toolCallId, args, subagentId, signal, onUpdate }: AgentToolCall,
  scope: ToolsScope,
): Promise<AgentToolResult> {
  using stop = new Stop(scope.signal);
  using _call = onAbort(signal, () => stop.abort(signal?.reason));
  const call = { toolCallId, toolName: tool.name, args, ...definedFields({ subagentId }) };
  const decision = await scope.gate(call, stop.signal).catch((error: unknown) => {
    return { allowed: false, reason: `the call could not be judged: ${oneLine(error)}` } as const;
  });
  if (!decision.allowed) return said(decision.reason, true);
  const problem = argumentProblem(tool, decision.args);
  const result =
    problem === undefined
      ? await runTool(tool, toolCallId, decision.args, { ...scope, stop, onUpdate })
      : said(problem, true);
  return await scope.judge.returning({ ...call, args: decision.args }, result);
}

/** Judges the arguments that the pipeline has passed: a patch of them may fit no more. */
function argumentProblem({ inputSchema }: ToolDefinition, args: Fields): string | undefined {
  try {
    const verdict = fromJsonSchema(fixSchema(inputSchema).schema)['~standard'].validate(args);
    if (!('issues' in verdict) || verdict.issues === undefined) return undefined;
    const issues = verdict.issues
      .slice(0, 5)
      .map(({ path = [], message }) => `${['arguments', ...path.map(keyOf)].join('.')} ${message}`);
    return `the tool did not run: ${issues.join('; ')}`;
  } catch (thrown) {
    return `the arguments cannot be judged: ${oneLine(thrown)}`;
  }
}

function keyOf(segment: PropertyKey | { readonly key: PropertyKey }): string {
  return String(typeof segment === 'object' ? segment.key : segment);
}

interface RunningTool extends ToolsScope {
  readonly stop: Stop;
  readonly onUpdate: AgentToolCall['onUpdate'];
}

/** Runs a tool until it answers, its time is over, or it is stopped. Never rejects. */
async function runTool(
  tool: ToolDefinition,
  toolCallId: string,
  args: Fields,
  { run, clock, logger, stop, onUpdate, around, judge }: RunningTool,
): Promise<AgentToolResult> {
  const { name, timeoutMs = usualToolMs } = tool;
  const { agentId, sessionKey, sessionId, runId } = run;
  const { promise, resolve } = deferred<AgentToolResult>();
  let isOver = false;
  const end = (result: AgentToolResult): void => {
    isOver = true;
    resolve(result);
  };
  const failed = (problem: string, error?: unknown): void => {
    if (isOver) return;
    end(said(`the tool ${problem}`, true));
    const why = judge.judgesResults ? {} : { problem, ...definedFields({ error }) }; // nobody reads it before it is judged
    logger.warn('a tool failed', { tool: name, runId, toolCallId, ...why });
  };
  using timer = new Timer(clock);
  timer.set(timeoutMs, () => {
    failed(`did not answer within ${timeoutMs} ms`);
    stop.abort();
  });
  using _stopped = onAbort(stop, () => end(said('the call was stopped', true)));
  const use = {
    ...{ toolCallId, agentId, sessionKey, sessionId, runId, signal: stop.signal },
    onUpdate: (partial: unknown): void => {
      if (!isOver && !judge.judgesResults) onUpdate?.(readAnswer(partial));
    },
  };
  const work = async (): Promise<AgentToolResult> =>
    readAnswer(await tool.execute(structuredClone(args) as Record<string, unknown>, use)); // a copy that it may change
  if (!stop.aborted)
    around(work, { toolCallId, toolName: name }).then(end, (thrown: unknown) =>
      failed(`failed: ${oneLine(thrown)}`, thrown),
    );
  return await promise;
}
