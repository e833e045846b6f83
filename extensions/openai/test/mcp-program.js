// An MCP server, made with the SDK: on stdio, or with --http on a port of loopback, whose number it prints.
import { createServer } from 'node:http';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  EmptyResultSchema,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';

const isHttp = process.argv.includes('--http');
const text = (said) => ({ content: [{ type: 'text', text: said }] });
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
let more = 0;

/** By name: the answer of a tool. */
const tools = {
  echo: ({ text: said }) => text(`heard ${said}`),
  pid: () => text(String(process.pid)),
  env: () => text(JSON.stringify({ ours: process.env.OURS, secret: process.env.SECRET ?? null })),
  hang: () => {
    process.send?.('hangs');
    return new Promise(() => undefined);
  },
  big: () => text('x'.repeat(10_000_000)),
  long: () => text('y'.repeat(300_000)),
  crash: () => process.exit(3),
  fail: () => ({ ...text('the disk is full'), isError: true }),
  meta: (_, meta) => text(JSON.stringify(meta ?? null)),
  picture: () => ({ content: [{ type: 'image', data: pixel, mimeType: 'image/png' }] }),
  'odd.name/with spaces': () => text('odd'),
  more: async (_, __, server) => {
    more++;
    await server.sendToolListChanged();
    return text('there is one more');
  },
  steps: async (_, meta, __, { sendNotification, sendRequest }) => {
    const progress = (at) =>
      sendNotification({
        method: 'notifications/progress',
        params: {
          progressToken: meta.progressToken,
          progress: at,
          total: 2,
          message: `step ${at}`,
        },
      });
    await progress(1);
    await progress(2);
    await sendRequest({ method: 'ping' }, EmptyResultSchema); // the steps have been heard then
    return text('done');
  },
};

function made() {
  const server = new Server(
    { name: 'program', version: '1' },
    { capabilities: { tools: { listChanged: true } } },
  );
  const inputSchema = { type: 'object', properties: { text: { type: 'string' } } };
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
    const names = [
      ...Object.keys(tools),
      ...Array.from({ length: more }, (_, at) => `extra-${at}`),
    ];
    const start = Number(params?.cursor ?? 0);
    const page = names.slice(start, start + 5);
    const next = start + 5 < names.length ? { nextCursor: String(start + 5) } : {};
    return {
      tools: page.map((name) => ({ name, description: `It is ${name}.`, inputSchema })),
      ...next,
    };
  });
  server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) =>
    (tools[params.name] ?? (() => text('an extra one')))(
      ...[params.arguments, params._meta, server, extra],
    ),
  );
  return server;
}

if (isHttp) {
  const sessions = new Map();
  const http = createServer(async (request, response) => {
    if (request.headers.authorization !== 'Bearer mcp-key') {
      response.writeHead(401).end('no key');
      return;
    }
    const known = sessions.get(request.headers['mcp-session-id']);
    if (known !== undefined) {
      await known.handleRequest(request, response);
      return;
    }
    if (request.headers['mcp-session-id'] !== undefined) {
      response.writeHead(404).end('Session not found');
      return;
    }
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => `s-${sessions.size + 1}`,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await made().connect(transport);
    await transport.handleRequest(request, response);
  });
  http.listen(0, '127.0.0.1', () => console.log(http.address().port));
  process.on('message', () => sessions.clear()); // as a server that was started anew
} else {
  console.error('the program is there');
  await made().connect(new StdioServerTransport());
}
