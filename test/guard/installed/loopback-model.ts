import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A call of a tool that the model makes, in the words of the agent. */
export interface ModelCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };

/**
 * A model on loopback that speaks as OpenAI's (responses and completions) and Google's do: it makes one call of a tool, and says "done"
 * once it has read the result.
 */
export class LoopbackModel implements AsyncDisposable {
  /** The bodies of all requests. */
  readonly asked: string[] = [];
  readonly #server: Server;

  private constructor(call: ModelCall) {
    this.#server = createServer(async (request, response) => {
      let body = '';
      for await (const piece of request) body += piece;
      const { url = '' } = request;
      const events = answerOf(url, body, call);
      if (events === undefined) {
        response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
        return;
      }
      this.asked.push(body);
      const [only] = events;
      if (url.endsWith(':generateContent')) {
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(only));
        return;
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of events) {
        if ('type' in event) response.write(`event: ${event.type}\n`);
        response.write(`data: ${JSON.stringify(event)}\n\n`);
      }
      response.end(url.includes('completions') ? 'data: [DONE]\n\n' : '');
    });
  }

  static async start(call: ModelCall): Promise<LoopbackModel> {
    const model = new LoopbackModel(call);
    await new Promise<void>((resolve) => model.#server.listen(0, '127.0.0.1', resolve));
    return model;
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo; // it listens on a port
    return `http://127.0.0.1:${port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function answerOf(url: string, body: string, call: ModelCall): readonly object[] | undefined {
  const args = JSON.stringify(call.args);
  if (url.endsWith('/responses')) {
    const item = /_call_output"/.test(body)
      ? {
          type: 'message',
          id: 'm',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'done' }],
        }
      : { type: 'function_call', id: 'f', call_id: 'call-1', name: call.name, arguments: args };
    const [input_tokens, output_tokens, total_tokens] = [1, 1, 2];
    const counted = { usage: { input_tokens, output_tokens, total_tokens } };
    const response = { id: 'r', object: 'response', output: [item] };
    return [
      { type: 'response.created', response: { ...response, output: [] } },
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { ...response, status: 'completed', ...counted } },
    ];
  }
  if (url.endsWith('/completions')) {
    const isDone = body.includes('"role":"tool"') || !body.includes('"tools"');
    const made = {
      index: 0,
      id: 'call-1',
      type: 'function',
      function: { name: call.name, arguments: args },
    };
    const delta = isDone
      ? { role: 'assistant', content: 'done' }
      : { role: 'assistant', content: null, tool_calls: [made] };
    const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'mock' };
    const end = { index: 0, delta: {}, finish_reason: isDone ? 'stop' : 'tool_calls' };
    return [
      { ...chunk, choices: [{ index: 0, delta, finish_reason: null }] },
      { ...chunk, choices: [end], usage },
    ];
  }
  const route = { model_choice: 'flash', complexity_score: 1, complexity_reasoning: 'short' };
  const choice = JSON.stringify({ ...route, reasoning: 'short' });
  const google = (part: object) => [
    { candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }] },
  ];
  if (url.includes(':generateContent')) return google({ text: choice });
  if (!url.includes(':streamGenerateContent')) return undefined;
  const isDone = JSON.stringify(JSON.parse(body).contents).includes('functionResponse');
  return google(isDone ? { text: 'done' } : { functionCall: call });
}
