import { randomUUID } from 'node:crypto';
import type {
  JSONRPCErrorResponse,
  JSONRPCRequest,
  JSONRPCResultResponse,
  RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import type { Heard, JsonObject, Verdict } from '../agents/codec.js';
import { GuardAway, type JudgedPoint } from './judge.js';
import type { McpOptions } from './options.js';
import { readResult } from './results.js';

/** An answer to a request. */
export type Response = JSONRPCResultResponse | JSONRPCErrorResponse;

/** Tasks whose call is remembered, so that its result is judged under the name of its tool. */
const maxTasks = 1_000;

/** The call that a result is of. */
interface Call {
  readonly toolName: string;
  readonly params: JsonObject;
}

/** Judges the calls and results of one session, and hides tools. Everything else of MCP is not its business. */
export class Gate {
  readonly #options: McpOptions;
  readonly #sessionId = randomUUID();
  readonly #hidden: RegExp;
  readonly #tasks = new Map<unknown, Call>();
  #name: string;

  constructor(options: McpOptions) {
    this.#options = options;
    this.#name = nameOf(options.name ?? 'unknown');
    const patterns = (options.hide ?? []).map((one) =>
      one.replace(/[^\w*]/gu, '\\$&').replaceAll('*', '.*'),
    );
    this.#hidden = new RegExp(`^(?:${patterns.join('|') || '(?!)'})$`, 's');
  }

  /** Judges a call. Gives the request to pass on, or the answer in its place. Never rejects. */
  async calling(request: JSONRPCRequest, signal: AbortSignal): Promise<Passed> {
    const { id, params = {} } = request;
    const { name, task } = params;
    const args = params['arguments'] ?? {};
    if (typeof name !== 'string' || !isObject(args)) {
      const words = 'a call has the name of a tool, and its arguments are an object';
      return { request, answer: fault(id, words, -32602) };
    }
    const refuse = (reason: string) => ({
      request,
      answer: task === undefined ? said(id, reason) : fault(id, reason), // no task is made
    });
    const hidden = this.#hidden.test(name)
      ? { reason: `the tool "${name}" is not available` }
      : undefined;
    const heard = { ...this.#call(name, args), toolCallId: String(id), ...hidden };
    const verdict = await this.#judge('agent.tool.calling', heard, signal);
    if (hidden !== undefined) return refuse(hidden.reason);
    if (verdict.status === 'refused') return refuse(verdict.reason);
    const { params: changed, context } = verdict;
    const passed =
      changed === undefined ? request : { ...request, params: { ...params, arguments: changed } };
    return { request: passed, context };
  }

  /** Gives the answer to send back: at once, or when it is judged. Never rejects. */
  answered(
    { request, context }: Passed,
    response: Response,
    signal: AbortSignal,
  ): Response | Promise<Response> {
    const { method, params = {} } = request;
    const judged = () => this.#returning({ request, context }, response, signal);
    const result = 'result' in response ? response.result : {};
    const { serverInfo, tools } = result;
    if (method === 'initialize' && isObject(serverInfo))
      this.#name = nameOf(this.#options.name ?? String(serverInfo['name']));
    if (method === 'tools/call') return this.#isTask(params, result) ? response : judged();
    if (method === 'tasks/result') return judged();
    if (method !== 'tools/list' || !Array.isArray(tools)) return response;
    const shown = tools.filter((tool: unknown) => !this.#hidden.test(String(Object(tool).name)));
    if (shown.length === tools.length) return response;
    return { ...response, result: { ...result, tools: shown } } as Response; // an error has no tools
  }

  async #returning({ request, context }: Passed, response: Response, signal: AbortSignal) {
    const { method, params = {} } = request;
    const { text, isError, remade } = readResult(response);
    const heard = { toolCallId: String(response.id), result: { text, isError } };
    const task = method === 'tools/call' ? undefined : this.#tasks.get(params['taskId']);
    const call = task ?? this.#call(String(params['name'] ?? method), params['arguments']);
    const verdict = await this.#judge('agent.tool.returning', { ...call, ...heard }, signal);
    if (verdict.status === 'refused') return remade(verdict.reason, true);
    const added = [context, verdict.context].filter((one) => one !== undefined).join('\n');
    return remade(verdict.result ?? text, false, added);
  }

  /** Returns whether a call has become a task, whose result is asked for later. */
  #isTask(params: JsonObject, { task, _meta, ...rest }: JsonObject): boolean {
    if (params['task'] === undefined || !isObject(task) || Object.keys(rest).length > 0)
      return false;
    this.#tasks.set(task['taskId'], this.#call(String(params['name']), params['arguments']));
    for (const oldest of this.#tasks.keys())
      if (this.#tasks.size > maxTasks) this.#tasks.delete(oldest);
    return true;
  }

  #call(tool: string, args: unknown): Call {
    return { toolName: `mcp__${this.#name}__${tool}`, params: isObject(args) ? args : {} };
  }

  async #judge(
    point: JudgedPoint,
    heard: Omit<Heard, 'sessionId' | 'workspaceDir'>,
    signal: AbortSignal,
  ): Promise<Verdict> {
    const { judge, isOpen = false, warn, cwd } = this.#options;
    const session = { sessionId: this.#sessionId, workspaceDir: cwd };
    try {
      return await judge(point, { ...session, ...heard }, signal);
    } catch (thrown) {
      const { message } = Object(thrown);
      if (!isOpen || heard.reason !== undefined || !(thrown instanceof GuardAway))
        return { status: 'refused', reason: String(message) };
      warn(`${heard.toolName} passes unjudged: ${message}`);
      return { status: 'allowed' };
    }
  }
}

/** A request that goes on, or its answer. */
interface Passed {
  readonly request: JSONRPCRequest;
  readonly answer?: Response;
  /** Words for the model, which its result is given with. */
  readonly context?: string | undefined;
}

/** The name of a server as it stands in the names of tools. */
function nameOf(given: string): string {
  return given.replace(/[^\w-]/g, '_');
}

/** An answer that says what went wrong with a request; -32000 is the number for any fault. */
export function fault(id: RequestId, message: string, code = -32000): JSONRPCErrorResponse {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

function said(id: RequestId, text: string): JSONRPCResultResponse {
  return { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }], isError: true } };
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
