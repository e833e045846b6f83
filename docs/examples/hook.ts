import { createHmac, timingSafeEqual } from 'node:crypto';
import { defineExtension } from 'sluice';
import { type ChannelInbox, type ChannelPlugin, checkPermit } from 'sluice/channel';
import type { HttpRoute } from 'sluice/host';
import { z } from 'zod';

const config = z.strictObject({ secret: z.string().min(16), replyTo: z.url() });
const update = z.object({ id: z.string(), room: z.string(), user: z.string(), text: z.string() });

export function hook({ secret, replyTo }: z.infer<typeof config>): [ChannelPlugin, HttpRoute] {
  let inbox: ChannelInbox | undefined; // `send` needs it to the end
  let isOpen = false;
  const isSigned = (body: string, signature: string | null): boolean => {
    const right = Buffer.from(createHmac('sha256', secret).update(body).digest('hex'));
    const given = Buffer.from(signature ?? '');
    return given.length === right.length && timingSafeEqual(given, right);
  };
  const channel: ChannelPlugin = {
    id: 'hook',
    accounts: ['default'],
    capabilities: { deduplicatesSends: true }, // the receiver knows the Idempotency-Key
    resendPolicy: { ambiguous: 'resend', maxAttempts: 3, maxWaitMs: 30_000 },
    startAccount: async (_accountId, given) => {
      inbox = given;
      isOpen = true;
    },
    stopIntake: async () => {
      isOpen = false;
    },
    stopAccount: async () => undefined,
    decodeIngress: (raw, accountId) => {
      const { data, error } = update.safeParse(raw);
      if (data === undefined) return { kind: 'undecodable', problem: z.prettifyError(error) };
      const { room: conversationId, user: from, text: content } = data;
      const message = { channel: 'hook', accountId, from, conversationId, content };
      const rest = { sender: { id: from }, attachments: [], metadata: {} };
      // the signature proves the provider, and the provider knows who has the account `user`
      return { kind: 'message', message: { ...message, ...rest }, senderProof: 'account' };
    },
    send: async (permit, { signal }) => {
      checkPermit(permit, inbox);
      const { to, content } = permit.take();
      const { ok, status } = await fetch(replyTo, {
        method: 'POST',
        headers: { 'idempotency-key': permit.idempotencyKey },
        body: JSON.stringify({ room: to, text: content }),
        signal, // aborts when the host waits no longer
      }); // an error counts as ambiguous: the message may be there
      if (ok) return { status: 'sent', receipt: {} };
      const reason = `the receiver said ${status}`;
      if (status === 429) return { status: 'retry-after', retryAfterMs: 1_000, reason };
      return { status: status < 500 ? 'rejected' : 'ambiguous', reason };
    },
  };
  const handler = async (request: Request): Promise<Response> => {
    const body = await request.text();
    const answer = (status: number): Response => new Response(null, { status });
    if (!isSigned(body, request.headers.get('x-signature'))) return answer(401);
    let raw: unknown;
    try {
      raw = JSON.parse(body);
    } catch {
      return answer(400);
    }
    const { data } = update.safeParse(raw);
    if (data === undefined) return answer(400);
    if (!isOpen || inbox === undefined) return answer(503);
    const end = await inbox.receive({ raw, updateId: data.id });
    return answer(end === 'refused' ? 503 : 202); // 503: bring it again
  };
  return [channel, { method: 'POST', path: '/hooks/hook', handler }];
}

export default defineExtension({
  id: 'hooks',
  manifest: { grants: ['provide:channel', 'provide:route'] },
  config,
  setup(api, settings) {
    const [channel, route] = hook(settings);
    api.provide('channel', channel);
    api.provide('route', route);
  },
});
