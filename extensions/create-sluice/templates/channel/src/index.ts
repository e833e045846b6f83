import { type ChannelPlugin, defineExtension } from 'sluice';
import { type ChannelInbox, checkPermit } from 'sluice/channel';
import { type Exchange, isSameSecret, jsonOf, type Receiver, startReceiver } from 'sluice/chat';
import { z } from 'zod';

const settings = z.strictObject({
  /** Messages come in here, on 127.0.0.1: POST { "id": "1", "from": "ada", "text": "hello" }. */
  port: z.number().int().min(0).default(8787),
  /** Replies go out to this address: POST { "to": "ada", "text": "..." }. */
  replyUrl: z.url().default('http://127.0.0.1:8788/'),
  /** If it is set, each message has to bring it: authorization: Bearer ... */
  token: z.string().min(1).optional(),
});

const update = z.object({ id: z.string(), from: z.string(), text: z.string() });

/** Makes the channel. `port()` is the one that it listens at, since port 0 means any. */
export function channel(config: z.output<typeof settings>): ChannelPlugin & { port(): number } {
  let inbox: ChannelInbox | undefined;
  let isTaking = false;
  let receiver: Receiver | undefined;
  const take = async (exchange: Exchange): Promise<void> => {
    if (!isTaking || inbox === undefined) return exchange.refuse(503, 'the channel stops');
    const { authorization } = exchange.request.headers;
    if (config.token !== undefined && !isSameSecret(authorization, `Bearer ${config.token}`))
      return exchange.refuse(401, 'the token is missing or wrong');
    exchange.known(); // the bounds for strangers end here
    const body = await exchange.body(100_000);
    if (body === undefined) return; // too large, which is answered, or cut off
    const raw = jsonOf(body.toString('utf8'));
    const { data } = update.safeParse(raw);
    if (data === undefined) return exchange.refuse(400, 'the message cannot be read');
    const taken = await inbox.receive({ raw, updateId: data.id });
    exchange.answer(taken === 'refused' ? 503 : 202);
  };
  const at = { host: '127.0.0.1', path: '/', name: 'my-name' };
  return {
    id: 'my-name',
    accounts: ['default'],
    capabilities: {},
    // Nobody knows if an ambiguous send has arrived: it is not repeated.
    resendPolicy: { ambiguous: 'fail', maxAttempts: 3, maxWaitMs: 60_000 },
    async startAccount(_accountId, given) {
      inbox = given;
      isTaking = true;
      receiver = await startReceiver({ ...at, port: config.port, take }); // rejects if the port is taken
    },
    async stopIntake() {
      isTaking = false;
    },
    async stopAccount() {
      await receiver?.close();
    },
    decodeIngress(raw, accountId) {
      const { data, error } = update.safeParse(raw);
      if (data === undefined) return { kind: 'undecodable', problem: z.prettifyError(error) };
      const { id, from, text } = data;
      return {
        kind: 'message',
        message: {
          channel: 'my-name',
          accountId,
          from: `my-name:${from}`,
          sender: { id: from },
          conversationId: from, // the address of the reply
          messageId: id,
          content: text,
          attachments: [],
          metadata: {},
        },
      };
    },
    async send(permit) {
      checkPermit(permit, inbox);
      const { to, content } = permit.take();
      const { status, ok, headers } = await fetch(config.replyUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': permit.idempotencyKey },
        body: JSON.stringify({ to, text: content }),
        signal: AbortSignal.timeout(30_000),
      }); // one that throws counts as ambiguous
      const reason = `the address answered ${status}`;
      if (ok) return { status: 'sent', receipt: {} };
      if (status === 429) {
        const seconds = Number(headers.get('retry-after') ?? 1);
        return { status: 'retry-after', retryAfterMs: seconds * 1000 || 1000, reason };
      }
      return { status: status < 500 ? 'rejected' : 'ambiguous', reason };
    },
    port: () => receiver?.port ?? 0,
  };
}

/** Provides the channel. `sluice run --channel my-name` starts it. */
export default defineExtension({
  id: 'my-name',
  declares: { channel: { id: 'my-name' } },
  config: settings,
  setup: (api, config) => api.provide('channel', channel(config)),
});
