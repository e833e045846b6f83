import { createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isSameSecret, jsonOf, startReceiver } from 'sluice/chat';
import type { Intake, IntakeParts } from './intake.js';

/** How old a request may be, in milliseconds: an older one may be somebody's copy. */
const windowMs = 300_000;

/** The options of `startEvents`. */
interface EventsOptions extends Omit<IntakeParts, 'ended'> {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly signingSecret: string;
}

/** Takes events, presses and commands that Slack brings over HTTP, each signed with a secret. */
export async function startEvents(options: EventsOptions): Promise<Intake> {
  const { host, port, path, signingSecret, clock, log, take } = options;
  return startReceiver({
    ...{ host, port, path, name: 'slack', log, clock },
    take: async (exchange) => {
      const { request } = exchange;
      const sentAtMs = Number(timestampOf(request)) * 1_000;
      if (!(Math.abs(clock.now() - sentAtMs) <= windowMs))
        return exchange.refuse(401, 'its time is missing, or more than five minutes away');
      const given = request.headers['x-slack-signature'];
      if (typeof given !== 'string') return exchange.refuse(401, 'its signature is missing');
      const body = (await exchange.body())?.toString('utf8');
      if (body === undefined) return undefined;
      const signed = `v0:${timestampOf(request)}:${body}`;
      const expected = `v0=${createHmac('sha256', signingSecret).update(signed).digest('hex')}`;
      if (!isSameSecret(given, expected)) return exchange.refuse(401, 'its signature is wrong');
      exchange.known();
      const update = readBody(body, request.headers['content-type'] ?? '');
      if (update.body === undefined) return exchange.answer(400);
      const { type, challenge } = Object(update.body) as Readonly<Record<string, unknown>>; // not checked
      if (type === 'url_verification') return exchange.answer(200, String(challenge));
      return take(update.type, update.body, {
        done: () => exchange.answer(200),
        refuse: () => exchange.answer(503),
      });
    },
  });
}

function timestampOf({ headers }: IncomingMessage): string {
  return String(headers['x-slack-request-timestamp'] ?? '');
}

/** Reads a body: events are JSON, commands are a form, presses are JSON in a form. */
function readBody(body: string, contentType: string) {
  if (!contentType.startsWith('application/x-www-form-urlencoded'))
    return { type: 'events_api', body: jsonOf(body) };
  const form = new URLSearchParams(body);
  const payload = form.get('payload');
  return payload === null
    ? { type: 'slash_commands', body: Object.fromEntries(form) }
    : { type: 'interactive', body: jsonOf(payload) };
}
