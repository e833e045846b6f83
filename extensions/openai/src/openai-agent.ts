import { open } from 'node:fs/promises';
import { type Clock, type Logger, silentLogger, systemClock } from 'sluice';
import { isLoopback } from 'sluice/host';
import {
  type AgentProvider,
  type AgentRequest,
  type AgentTool,
  type AssistantMessage,
  leavable,
  MessageWriter,
  type PromptAttachment,
  promptText,
  type SessionEvent,
  type SessionUsage,
  type ToolCall,
  type ToolCallContent,
  type ToolDefinition,
} from 'sluice/stream';
import { type ModelHabits, readAnswer } from './answer/chat-answer.js';
import type { WishedCall } from './answer/chat-calls.js';
import { ChatError } from './answer/chat-error.js';
import { chatParts } from './answer/chat-stream.js';
import {
  type ChatContent,
  type ChatMessage,
  chatMessages,
  imageOf,
  tokensOf,
} from './chat-messages.js';
import { type Compacting, compact } from './compact.js';
import type { AgentSettings } from './config.js';
import { KeptHistory } from './kept-history.js';
import { runCalls, type ToolRuns } from './tool-runs.js';

/** Follows the words of a turn that was cut off: many servers take no question that ends with an answer. */
const goOn: ChatMessage = { role: 'user', content: '(You were cut off here. Go on.)' };
/** Characters that the result of a tool keeps, however little room there is. */
const leastResultChars = 500;

/** The parts that an agent works with, beside its settings. */
export interface OpenAiParts {
  /** The tools of its MCP servers, as they are when a turn begins; none by default. */
  readonly tools?: () => Promise<readonly ToolDefinition[]>;
  readonly troubles?: AgentProvider['troubles'];
  readonly clock?: Clock;
  readonly logger?: Logger;
}

/**
 * An agent whose model is behind chat completions: any server that speaks the protocol. It runs the loop of tools itself: each call
 * passes the gate, the model sees a result as the transcript has it, and each answer of the model is judged before it is used.
 */
export function openAiProvider(settings: AgentSettings, parts: OpenAiParts = {}): AgentProvider {
  const { id, model } = settings;
  const habits: ModelHabits = { beginsInThought: false };
  return {
    id,
    models: [model],
    toolGate: 'enforce',
    modelGate: 'enforce',
    ownTools: [],
    troubles: () => parts.troubles?.() ?? [],
    tried: async () => void (await parts.tools?.()),
    run(request) {
      const stop = new AbortController();
      const signal = AbortSignal.any([request.signal, stop.signal]);
      return leavable(turn({ ...request, signal }, settings, habits, parts), {
        close: () => stop.abort(),
      });
    },
  };
}

async function* turn(
  request: AgentRequest,
  settings: AgentSettings,
  habits: ModelHabits,
  { tools: ownTools, clock = systemClock, logger = silentLogger }: OpenAiParts,
): AsyncGenerator<SessionEvent, void> {
  const { signal, callsAgain = [] } = request;
  const { id: provider, contextTokens, maxRounds } = settings;
  const writer = new MessageWriter({ provider, model: request.model }, () => clock.now());
  yield { type: 'agent_start' };
  const stopped = new Promise<readonly []>((resolve) => {
    if (signal.aborted) resolve([]);
    signal.addEventListener('abort', () => resolve([]), { once: true });
  });
  const definitions = (await Promise.race([ownTools?.(), stopped])) ?? [];
  const all = [...(request.tools ?? []), ...request.offer(definitions)];
  const tools = new Map(all.map((tool) => [tool.name, tool]));
  const pictures: ToolRuns['pictures'] = new Map();
  const rules = { maxResultChars: settings.maxResultChars };
  const history = new KeptHistory(request, rules); // without pictures: a server may give ids of earlier calls again
  const asked = await promptOf(request, settings.images);
  const offered = [...tools.values()].map(offer);
  const ask = (messages: readonly ChatMessage[], some: readonly object[]) =>
    chatParts(
      bodyOf(request.model, messages, some, settings),
      { ...settings, headers: headersOf(settings), clock },
      signal,
    );
  const idOf = idsOf(request);
  const rest = contextTokens - tokensOf(offered);
  const compacting: Compacting = {
    request,
    settings,
    history,
    logger,
    ask: (messages) => ask(messages, []),
  };

  const madeAgain: readonly AssistantMessage[] =
    callsAgain.length === 0 ? [] : [{ role: 'assistant', content: callsAgain.map(blockOf) }];

  /** The messages of the next question to the model. */
  const messages = (): ChatMessage[] => {
    const before = [...systemOf(request, history.leftOut.summary), ...history.messages(), asked];
    const since = [...(request.begun ?? []), ...madeAgain, ...request.written()];
    const { returnReasoning } = settings;
    for (let { maxResultChars } = settings; ; maxResultChars = Math.ceil(maxResultChars / 2)) {
      const done = chatMessages(since, { maxResultChars, returnReasoning, pictures });
      const all = [...before, ...done, ...(done.at(-1)?.role === 'assistant' ? [goOn] : [])];
      if (history.turns > 0 || maxResultChars < leastResultChars || tokensOf(all) <= rest)
        return all;
    }
  };

  /** Asks the model once. If its context is too small, older turns go, and it is asked again. */
  async function* answer(): AsyncGenerator<SessionEvent, readonly WishedCall[]> {
    let used: SessionUsage | undefined;
    if (history.turns > 0 && tokensOf(messages()) > rest) {
      const fixed = tokensOf(messages()) - tokensOf(history.messages());
      used = yield* compact(compacting, 'threshold', Math.floor((rest - fixed) / 2));
    }
    for (;;) {
      await request.llmCalling();
      const parts = ask(messages(), offered);
      try {
        const { length: before } = writer.messages;
        const wished = yield* readAnswer(parts, writer, idOf, used, habits);
        const said = writer.messages.slice(before).at(-1);
        return said === undefined ? [] : callsIn(await request.llmReturning(said), wished);
      } catch (thrown) {
        const isTooLong = thrown instanceof ChatError && thrown.failure === 'context-length';
        if (!isTooLong || history.turns === 0) throw thrown;
        used = yield* compact(compacting, 'overflow', Math.floor(tokensOf(history.messages()) / 2));
      }
    }
  }

  try {
    if (callsAgain.length > 0) yield* runCalls(callsAgain, { request, tools, pictures });
    for (let round = 1; !signal.aborted; round++) {
      if (round > maxRounds) {
        const problem = `${maxRounds} answers have called tools (maxRounds)`;
        throw new ChatError('too-many-rounds', problem);
      }
      const calls = yield* answer();
      if (calls.length === 0) break;
      yield* runCalls(calls, { request, tools, pictures });
    }
    const { messages } = writer;
    yield { type: 'agent_end', messages, ...(signal.aborted && { aborted: true }) };
  } catch (thrown) {
    const errorMessage = String(Object(thrown).message ?? thrown);
    const stopReason = signal.aborted ? 'aborted' : 'error';
    yield* writer.end(signal.aborted ? { stopReason } : { stopReason, errorMessage });
    if (!signal.aborted) throw thrown;
    yield { type: 'agent_end', messages: writer.messages, aborted: true };
  }
}

function systemOf({ systemPrompt = '' }: AgentRequest, summary: string | undefined): ChatMessage[] {
  const before =
    summary === undefined ? [] : [`Of the conversation before, this is known:\n${summary}`];
  const content = [systemPrompt, ...before].filter((text) => text !== '').join('\n\n');
  return content === '' ? [] : [{ role: 'system', content }];
}

async function promptOf(request: AgentRequest, takesImages: boolean): Promise<ChatMessage> {
  const { prompt } = request;
  const { pictures, files } = takesImages
    ? await seen(request.attachments)
    : { pictures: [], files: request.attachments };
  const content = promptText({ prompt, attachments: files }, []);
  const [text] = chatMessages([{ role: 'user', content }], { maxResultChars: 0 });
  if (text !== undefined && pictures.length === 0) return text;
  const words: ChatContent[] = content.trim() === '' ? [] : [{ type: 'text', text: content }];
  return { role: 'user', content: [...words, ...pictures] };
}

function offer({ name, description, inputSchema: parameters }: AgentTool): object {
  return { type: 'function', function: { name, description, parameters } };
}

function bodyOf(
  model: string,
  messages: readonly ChatMessage[],
  tools: readonly object[],
  { body }: AgentSettings,
): object {
  const whole = {
    ...{ model, messages, stream: true, stream_options: { include_usage: true } },
    ...(tools.length > 0 && { tools }),
    ...body,
  };
  return Object.fromEntries(Object.entries(whole).filter(([, value]) => value !== null));
}

/**
 * The headers of a request. The key is that of the settings, or that of the environment, which goes to https addresses and to this
 * machine alone.
 */
export function headersOf({ url, headers, apiKey }: AgentSettings): Headers {
  const { protocol, hostname } = new URL(url);
  const isSafe = protocol === 'https:' || isLoopback(hostname);
  const key = apiKey ?? (isSafe ? process.env['OPENAI_API_KEY'] : undefined);
  try {
    const all = new Headers({ accept: 'text/event-stream' });
    if (key !== undefined && key !== '') all.set('authorization', `Bearer ${key}`);
    for (const [name, value] of Object.entries(headers)) all.set(name, value);
    all.set('content-type', 'application/json');
    return all;
  } catch {
    // the error of the platform would show the key
    throw new ChatError('refused', '"apiKey" or a header has a letter that HTTP does not allow');
  }
}

/** The calls that are left of an answer. One whose arguments cannot be read stays so, unless a handler has given it others. */
function callsIn(
  { content }: AssistantMessage,
  wished: readonly WishedCall[],
): readonly WishedCall[] {
  return content.flatMap((block) => {
    if (block.type !== 'toolCall') return [];
    const { id: toolCallId, name: toolName, arguments: args } = block;
    const { problem } = wished.find((one) => one.toolCallId === toolCallId) ?? {};
    const isProblem = problem !== undefined && Object.keys(args).length === 0;
    return [{ ...{ toolCallId, toolName, args }, ...(isProblem && { problem }) }];
  });
}

function blockOf({ toolCallId: id, toolName: name, args }: ToolCall): ToolCallContent {
  return { type: 'toolCall', id, name, arguments: args };
}

/** Gives each call of a run an id of its own: servers leave ids out, or begin anew with each answer. */
function idsOf({ runId, begun = [], callsAgain = [] }: AgentRequest): (given: string) => string {
  const results = begun.flatMap((one) => (one.role === 'toolResult' ? [one] : []));
  const used = new Set([...results, ...callsAgain].map(({ toolCallId }) => toolCallId));
  let made = 0;
  return (given) => {
    let id = given;
    while (id === '' || used.has(id)) id = `${runId}-${++made}`;
    used.add(id);
    return id;
  };
}

/** Bytes of a picture that a prompt may bring. */
const maxBytes = 20_971_520;

/**
 * Splits what came with a prompt in pictures that the model can see and other files. A picture on disk goes along as its bytes; one
 * that is too large or cannot be read is a file as any other.
 */
async function seen(attachments: readonly PromptAttachment[]) {
  const pictures: ChatContent[] = [];
  const files: PromptAttachment[] = [];
  for (const one of attachments) {
    const url = /^image\/(png|jpeg|gif|webp)$/.test(typeOf(one)) ? await addressOf(one) : undefined;
    if (url === undefined) files.push(one);
    else pictures.push(imageOf(url));
  }
  return { pictures, files };
}

function typeOf({ kind, mimeType, path, url, name }: PromptAttachment): string {
  if (mimeType !== undefined) return mimeType.toLowerCase();
  const [, ending = ''] = /\.(png|jpe?g|gif|webp)$/i.exec(path ?? name ?? url ?? '') ?? [];
  if (ending !== '') return `image/${ending.toLowerCase().replace('jpg', 'jpeg')}`;
  return kind === 'image' ? 'image/jpeg' : '';
}

async function addressOf(one: PromptAttachment): Promise<string | undefined> {
  const { path, url } = one;
  if (path === undefined) return url !== undefined && /^(https?|data):/.test(url) ? url : undefined;
  try {
    await using file = await open(path);
    const { size } = await file.stat();
    if (size > maxBytes) return undefined;
    return `data:${typeOf(one)};base64,${(await file.readFile()).toString('base64')}`;
  } catch {
    return undefined;
  }
}
