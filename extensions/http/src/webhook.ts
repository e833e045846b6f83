import { createHmac, randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { jsonOf } from './chat.js';
import type { WebhookConfig } from './config.js';
import { isSame, nameOf } from './keys.js';
import { RequestProblem } from './problem.js';
import { fill } from './template.js';
import type { HttpUpdate } from './update.js';

/** Milliseconds that the time of a signature may be away from now. */
const windowMs = 300_000;

/** How the conversation of a webhook begins. */
export const hookPrefix = 'http:hook:';

/** The bytes of a secret, also of one as Standard Webhooks writes it. */
export function secretOf(secret: string): Buffer {
  return secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret);
}

/** Refuses a request that is not signed by the secret. @throws RequestProblem. */
export function checkSignature(
  { secret, signature }: WebhookConfig,
  headers: IncomingHttpHeaders,
  body: string,
  nowMs: number,
): void {
  const refuse = (why: string) => new RequestProblem(401, 'bad-signature', why);
  const { header, format, over, timestamp } = signature;
  const signed = fill(over, { headers, named: { body } });
  if ('missing' in signed) throw refuse(`"${signed.missing}" is signed, and is not there`);
  const hmac = createHmac('sha256', secretOf(secret)).update(signed.text);
  const digest = hmac.digest();
  const named = { hex: digest.toString('hex'), base64: digest.toString('base64') };
  const wanted = fill(format, { headers, named });
  const given = headers[header.toLowerCase()];
  const isRight =
    'text' in wanted &&
    typeof given === 'string' &&
    given.split(' ').filter((one) => isSame(one, wanted.text)).length > 0;
  if (!isRight) throw refuse(`"${header}" has not the signature of this body`);
  if (timestamp === undefined) return;
  const atMs = Number(headers[timestamp.toLowerCase()]) * 1_000;
  if (!(Math.abs(nowMs - atMs) <= windowMs)) throw refuse('it was signed at another time');
}

/** Makes an update of a delivery. One that lacks a field is unreadable. */
export function readWebhook(
  hook: string,
  settings: WebhookConfig,
  headers: IncomingHttpHeaders,
  body: string,
): { readonly update: HttpUpdate; readonly updateId: string } {
  const json = jsonOf(body);
  let missing = json === undefined ? '' : undefined;
  const filled = (template: string | undefined, otherwise: string): string => {
    if (template === undefined) return otherwise;
    const result = fill(template, { headers, json, named: { body } });
    if ('text' in result) return result.text;
    missing ??= result.missing;
    return '';
  };
  const { idempotencyKey, text, sender, conversation, agent } = settings;
  const key = filled(idempotencyKey, '');
  const updateId = key === '' ? `req-${randomUUID()}` : `hook-${nameOf(hook, key)}`;
  const conversationId = `${hookPrefix}${hook}/${filled(conversation, 'all')}`;
  const update: HttpUpdate = {
    ...{ kind: 'message', conversationId, answerTo: conversationId, messageId: updateId },
    senderId: sender === undefined ? `hook:${hook}` : `hook:${hook}/${filled(sender, '')}`,
    ...{ isProven: true, mayCommand: false, text: filled(text, '') },
    ...(agent !== undefined && { agent }),
  };
  if (missing === undefined) return { update, updateId };
  // under an id of its own: it is read again if it comes again
  const begins = body.slice(0, 1_000);
  const problem =
    missing === '' ? 'the body is no JSON' : 'the mapping names a field that the delivery lacks';
  const path = missing === '' ? {} : { path: missing };
  return { update: { kind: 'unreadable', problem, begins, ...path }, updateId: '' };
}
