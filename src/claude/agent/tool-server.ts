import type { AgentTool } from '@sluice/sdk/stream';
import { type Fields, isFields } from 'sluice-kernel/internal';

/** The connection to an MCP server in this process, as the SDK makes it. */
export interface McpTransport {
  onmessage?: (message: unknown) => void;
  start?(): Promise<void>;
  send(message: unknown): Promise<void>;
}

/** An MCP server in this process: the part that the SDK uses. */
export interface McpToolServer {
  connect(transport: McpTransport): Promise<void>;
  close(): Promise<void>;
}

const noMethod = -32601;

/**
 * Serves tools by the Model Context Protocol. It hands their JSON Schemas on as they are, which `createSdkMcpServer` of the SDK, made
 * for zod, does not.
 */
export function toolServer(name: string, tools: readonly AgentTool[]): McpToolServer {
  const running = new Map<unknown, AbortController>();

  async function answer(id: unknown, method: unknown, params: Fields): Promise<object> {
    switch (method) {
      case 'initialize': {
        const { protocolVersion } = params;
        const serverInfo = { name, version: '1' };
        return { result: { protocolVersion, serverInfo, capabilities: { tools: {} } } };
      }
      case 'ping':
        return { result: {} };
      case 'tools/list':
        return { result: { tools: tools.map(listed) } };
      case 'tools/call':
        return { result: await call(id, params) };
      default:
        return { error: { code: noMethod, message: `there is no method ${String(method)}` } };
    }
  }

  async function call(id: unknown, { name: wanted, arguments: args, _meta }: Fields) {
    const toolCallId: unknown = Object(_meta)['claudecode/toolUseId'];
    const tool = tools.find((one) => one.name === wanted);
    if (tool === undefined) return refused(`there is no tool ${String(wanted)}`);
    if (typeof toolCallId !== 'string')
      return refused('the call has no id, so nobody could judge it');
    const stop = new AbortController();
    running.set(id, stop);
    const { signal } = stop;
    const result = await tool.call({ toolCallId, args: isFields(args) ? args : {}, signal });
    running.delete(id);
    return { content: result.content, isError: result.isError };
  }

  return {
    async connect(transport) {
      transport.onmessage = (message) => {
        const { id, method, params } = Object(message) as Fields; // as the protocol has it
        const given = isFields(params) ? params : {};
        if (method === 'notifications/cancelled') running.get(given['requestId'])?.abort();
        if (id === undefined || method === undefined) return; // a notification, or an answer
        void answer(id, method, given)
          .then((said) => transport.send({ jsonrpc: '2.0', id, ...said }))
          .catch(() => undefined); // the process has ended: nobody waits for it
      };
      await transport.start?.();
    },
    async close() {
      for (const stop of running.values()) stop.abort();
    },
  };
}

/** Always there, and never searched for first. */
function listed({ name, description, inputSchema }: AgentTool): object {
  return { name, description, inputSchema, _meta: { 'anthropic/alwaysLoad': true } };
}

function refused(text: string) {
  return { content: [{ type: 'text', text }], isError: true };
}
