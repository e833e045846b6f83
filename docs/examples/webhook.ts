import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { defineExtension } from 'sluice';
import { type ChannelInbox, type ChannelPlugin, checkPermit } from 'sluice/channel';
import { z } from 'zod';

const body = z.object({ id: z.string(), conversation: z.string(), text: z.string() });
const config = z.strictObject({ port: z.number(), token: z.string().min(16), replyTo: z.url() });

function webhook({ port, token, replyTo }: z.infer<typeof config>): ChannelPlugin {
  const authorization = `Bearer ${token}`;
  const callers = new Map<string, ServerResponse>(); // those who wait, by the id of their update
  const answer = (id: string, code: number): void => {
    callers.get(id)?.writeHead(code).end();
    callers.delete(id);
  };
  const server = createServer();
  let host: ChannelInbox | undefined;
  return {
    id: 'webhook',
    accounts: ['default'],
    capabilities: { deduplicatesSends: true }, // the receiver knows the Idempotency-Key
    resendPolicy: { ambiguous: 'resend', maxAttempts: 5, maxWaitMs: 60_000 },
    startAccount: async (_accountId, inbox) => {
      host = inbox;
      server.on('request', async (request, response) => {
        const end = (code: number): void => void response.writeHead(code).end();
        if (request.headers.authorization !== authorization) return end(401);
        if (Number(request.headers['content-length'] ?? Infinity) > 65_536) return end(413);
        const raw = await text(request)
          .then(JSON.parse)
          .catch(() => undefined);
        const { data: update } = body.safeParse(raw);
        if (update === undefined) return end(400);
        const { id } = update;
        if (callers.has(id)) return end(409);
        callers.set(id, response);
        response.on('close', () => callers.delete(id));
        if ((await inbox.receive({ raw, updateId: id })) === 'refused') answer(id, 503);
      });
      await once(server.listen(port, '127.0.0.1'), 'listening');
    },
    ack: async (_accountId, { updateId = '' }) => answer(updateId, 202), // it is kept
    stopIntake: async () => void server.close(),
    stopAccount: async () => server.closeAllConnections(),
    decodeIngress: (raw, accountId) => {
      const { data: update, error } = body.safeParse(raw);
      if (update === undefined) return { kind: 'undecodable', problem: z.prettifyError(error) };
      const { conversation, text: content } = update;
      const place = { channel: 'webhook', accountId, from: conversation };
      const message = { ...place, conversationId: conversation, content };
      return { kind: 'message', message: { ...message, attachments: [], metadata: {} } };
    },
    send: async (permit) => {
      checkPermit(permit, host);
      const { to, content } = permit.take();
      const response = await fetch(replyTo, {
        method: 'POST',
        headers: { authorization, 'idempotency-key': permit.idempotencyKey },
        body: JSON.stringify({ conversation: to, text: content }),
        signal: AbortSignal.timeout(10_000),
      }); // an error counts as ambiguous: the message may be there
      const reason = `the receiver said ${response.status}`;
      if (response.ok) return { status: 'sent', receipt: {} };
      if (response.status >= 500) return { status: 'ambiguous', reason };
      if (response.status !== 429) return { status: 'rejected', reason };
      const seconds = Number(response.headers.get('retry-after')) || 1; // it may be a date
      return { status: 'retry-after', retryAfterMs: seconds * 1_000, reason };
    },
  };
}

export default defineExtension({
  id: 'webhooks',
  manifest: { grants: ['provide:channel'] },
  config,
  setup: (api, settings) => api.provide('channel', webhook(settings)),
});
