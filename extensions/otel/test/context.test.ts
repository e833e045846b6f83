import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { trace } from '@opentelemetry/api';
import { createKernel, defineExtension } from 'sluice';
import { echoProvider } from 'sluice/agent';
import { ExtensionSet, givenSource, HandlerWatch } from 'sluice/extension';
import { createHost } from 'sluice/host';
import { collectingLogger, fakeChannel, scriptedAgent } from 'sluice/testing';
import { expect, it } from 'vitest';
import { otel } from '../src/index.js';
import { grants, otelLab, providers } from './otel-lab.js';

/** A server that tells the `traceparent` of each request. */
async function remoteServer() {
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(String(request.headers['traceparent']));
    response.end('ok');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo; // it listens at a port
  return {
    ...{ seen, url: `http://127.0.0.1:${port}/` },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

it('a handler runs in the context of its span, which goes out with its requests; that of a webhook comes in (sight §5.8)', async () => {
  await using sdk = await providers();
  await using remote = await remoteServer();
  const channel = fakeChannel();
  const active: (string | undefined)[] = [];
  const web = defineExtension({
    id: 'web',
    setup(api) {
      api.mutate('egress.preparing', 'ask', async ({ payload }) => {
        active.push(trace.getActiveSpan()?.spanContext().spanId);
        await (await fetch(remote.url)).text();
        return { content: `${payload.content}!` };
      });
      const handler = async () => {
        await channel.receive({ text: 'hello' }, 'update-1');
        return new Response('taken');
      };
      api.provide('route', { method: 'POST', path: '/hook', handler });
    },
  });
  using watch = new HandlerWatch({ logger: collectingLogger(), attributeRejections: false });
  const kernel = createKernel({ grants, instrument: watch.instrument });
  watch.watch(kernel);
  await using extensions = new ExtensionSet(kernel);
  await extensions.add(givenSource(otel(sdk), { context: true }));
  await extensions.add(givenSource(web));
  const agents = [{ id: 'main', provider: echoProvider() }];
  let done = (): void => undefined;
  const end = new Promise<void>((resolve) => {
    done = resolve;
  });
  const host = createHost({
    kernel,
    extensions,
    agents,
    channels: [channel],
    onMessageEnd: () => done(),
  });
  await host.start();
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
  await host.routes.answer(new Request('http://localhost/hook', { method: 'POST', headers }));
  await end;
  await host.stop();
  await sdk.tracerProvider.forceFlush();
  const { spans } = sdk.received;
  const handler = spans.find(({ name }) => name === 'sluice.handler web/ask');
  const root = spans.find(({ name }) => name === 'process fake');
  expect(active).toEqual([handler?.spanId]);
  expect(handler?.traceId).toBe(root?.traceId);
  expect(remote.seen).toEqual([`00-${root?.traceId}-${handler?.spanId}-01`]);
  expect(root?.links).toEqual([expect.objectContaining({ traceId })]);
});

it('a tool runs in the context of its span, which goes out with its requests (sight §5.8)', async () => {
  await using remote = await remoteServer();
  const asks = defineExtension({
    id: 'asks',
    setup: (api) =>
      api.provide('tool', {
        name: 'ask',
        description: 'Asks a server.',
        inputSchema: { type: 'object', properties: {} },
        execute: async () => (await fetch(remote.url)).text(),
      }),
  });
  const agent = scriptedAgent([[{ tool: 'ask', args: {} }, 'Done.']]);
  await using lab = await otelLab(
    { context: true },
    {
      extensions: [{ extension: asks }],
      agents: [{ id: 'main', provider: agent }],
    },
  );
  await lab.test.say('go');
  const spans = await lab.spans();
  const tool = spans.find(({ name }) => name === 'execute_tool ask');
  const run = spans.find(({ name }) => name === 'invoke_agent main');
  expect(tool?.parentSpanId).toBe(run?.spanId);
  expect(remote.seen).toEqual([`00-${tool?.traceId}-${tool?.spanId}-01`]);
  expect(spans.filter(({ name }) => name.startsWith('execute_tool'))).toHaveLength(1);
});
