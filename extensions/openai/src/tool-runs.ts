import type {
  AgentRequest,
  AgentTool,
  AgentToolResult,
  SessionEvent,
  ToolCall,
  ToolImage,
} from 'sluice/stream';
import type { WishedCall } from './answer/chat-calls.js';

/** Calls of one answer that run; more are refused. */
const maxCalls = 64;
/** Steps of tools that wait for the handlers of the host; more are not shown. */
const maxWaiting = 1_000;

/** The parts that the calls of a turn share. */
export interface ToolRuns {
  readonly request: Pick<AgentRequest, 'written' | 'signal' | 'gate'>;
  readonly tools: ReadonlyMap<string, AgentTool>;
  /** The pictures that the model may see, by the id of their call: they are added here. */
  readonly pictures: Map<string, readonly ToolImage[]>;
}

/** Runs the calls of one answer beside each other, and tells of them. Each passes the gate by itself, and has one start and one end. */
export async function* runCalls(
  calls: readonly WishedCall[],
  { request, tools, pictures }: ToolRuns,
): AsyncGenerator<SessionEvent, void> {
  const told: SessionEvent[] = [];
  let wake = (): void => undefined;
  let open = calls.length;
  const report = (event: SessionEvent): void => {
    told.push(event);
    wake();
  };
  const answers = new Map<string, AgentToolResult>();
  for (const { toolCallId, toolName, args } of calls)
    yield { type: 'tool_execution_start', toolCallId, toolName, args };
  const run = async (call: WishedCall, at: number): Promise<void> => {
    const { toolCallId, toolName, args, problem = problemOf(toolName, at) } = call;
    const name = { toolCallId, toolName };
    const tool = problem === undefined ? tools.get(toolName) : undefined;
    const { signal } = request;
    const result = await (tool === undefined
      ? refused({ ...name, args }, problem ?? `there is no tool "${toolName}"`)
      : tool.call({
          ...{ toolCallId, args, signal },
          onUpdate: (partialResult) => {
            if (told.length < maxWaiting)
              report({ type: 'tool_execution_update', ...name, args, partialResult });
          },
        })
    ).catch((thrown: unknown) => said(String(thrown))); // it never rejects
    answers.set(toolCallId, result);
    open--;
    const { isError } = result;
    report({ type: 'tool_execution_end', ...name, result: shownText(result), isError });
  };
  /** A call that cannot run is judged all the same: handlers would think of one that nobody has judged that it has run. */
  const refused = async (call: ToolCall, problem: string): Promise<AgentToolResult> => {
    const decision = await request.gate(call, request.signal);
    return said(decision.allowed ? problem : decision.reason);
  };
  for (const [at, call] of calls.entries()) void run(call, at);
  while (open > 0 || told.length > 0) {
    const event = told.shift();
    if (event !== undefined) yield event;
    else
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  }
  for (const message of request.written()) {
    const answer = message.role === 'toolResult' ? answers.get(message.toolCallId) : undefined;
    if (answer === undefined || message.role !== 'toolResult') continue;
    const images = answer.content.flatMap((block) => (block.type === 'image' ? [block] : []));
    // the stages have seen the name of a picture alone: one that they changed the text of is not shown
    const isAsItWas = message.content.map(({ text }) => text).join('') === shownText(answer);
    if (images.length > 0 && isAsItWas) pictures.set(message.toolCallId, images);
  }
}

function problemOf(toolName: string, at: number): string | undefined {
  if (toolName === '') return 'the call names no tool';
  return at < maxCalls ? undefined : `the tool did not run: ${maxCalls} calls at once are the most`;
}

function said(text: string): AgentToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}

/** The text of an answer as the transcript has it: a picture is named. */
function shownText({ content }: AgentToolResult): string {
  return content
    .map((block) => (block.type === 'text' ? block.text : `[a picture: ${block.mimeType}]`))
    .join('\n');
}
