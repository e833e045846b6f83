import { createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { answer, isSameSecret, startReceiver } from 'sluice/chat';
import type { Intake, IntakeParts } from './intake.js';

/** How old a request may be, in milliseconds: an older one may be somebody's copy. */
const windowMs = 300_000;

/** The options of `startEvents`. */
export interface EventsOptions extends Omit<IntakeParts, 'ended'> {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly signingSecret: string;
}

/** Takes events, presses and commands that Slack brings over HTTP, each signed with a secret. */
export async function startEvents(options: EventsOptions): Promise<Intake> {
  const { host, port, path, signingSecret, clock, log, take } = options;
  const refuse = (why: string): 401 => {
    log.warn('a request that Slack did not sign was refused', { why });
    return 401;
  };
  const receiver = await startReceiver({
    ...{ host, port, path },
    refuse: (request) => {
      const sentAtMs = Number(timestampOf(request)) * 1_000;
      const isNear = Math.abs(clock.now() - sentAtMs) <= windowMs;
      return isNear ? undefined : refuse('its time is missing, or more than five minutes away');
    },
    take: (body, request, response) => {
      const signed = `v0:${timestampOf(request)}:${body}`;
      const expected = `v0=${createHmac('sha256', signingSecret).update(signed).digest('hex')}`;
      if (!isSameSecret(request.headers['x-slack-signature'], expected))
        return answer(response, refuse('its signature is missing or wrong'));
      const update = readBody(body, request.headers['content-type'] ?? '');
      if (update === undefined) return answer(response, 400);
      const { type, challenge } = Object(update.body) as Readonly<Record<string, unknown>>; // not checked
      if (type === 'url_verification') return answer(response, 200, String(challenge));
      return take(update.type, update.body, {
        done: () => answer(response, 200),
        refuse: () => answer(response, 503),
      });
    },
  });
  return receiver;
}

function timestampOf({ headers }: IncomingMessage): string {
  return String(headers['x-slack-request-timestamp'] ?? '');
}

/** Reads a body: events are JSON, commands are a form, presses are JSON in a form. */
function readBody(
  body: string,
  contentType: string,
): { readonly type: string; readonly body: unknown } | undefined {
  try {
    if (!contentType.startsWith('application/x-www-form-urlencoded'))
      return { type: 'events_api', body: JSON.parse(body) };
    const form = new URLSearchParams(body);
    const payload = form.get('payload');
    return payload === null
      ? { type: 'slash_commands', body: Object.fromEntries(form) }
      : { type: 'interactive', body: JSON.parse(payload) };
  } catch {
    return undefined;
  }
}
