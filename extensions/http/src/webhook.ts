import { createHmac } from 'node:crypto';
import { isSameSecret, jsonOf } from 'sluice/chat';
import type { WebhookConfig } from './config.js';
import { digestOf, secretOf } from './keys.js';
import { fill } from './template.js';
import { type HttpUpdate, newUpdateId, type UnreadableUpdate, unreadable } from './update.js';

/** Milliseconds that the time of a signature may be away from now. */
const windowMs = 300_000;

/** How the conversation of a webhook begins. */
export const hookPrefix = 'http:hook:';

/** Returns the text that the signature of a delivery is made of, if it is signed by the secret, now. */
export function signedText(
  { secret, signature: { header, format, over, timestamp } }: WebhookConfig,
  headers: Headers,
  bytes: Buffer,
  nowMs: number,
): string | undefined {
  // a character for each byte: headers come so, too
  const signed = fill(over, { headers, named: { body: bytes.toString('latin1') } });
  const digest = createHmac('sha256', secretOf(secret)).update(signed.text, 'latin1').digest();
  const named = { hex: digest.toString('hex'), base64: digest.toString('base64') };
  const wanted = fill(format, { headers, named });
  // all are compared: there may be one for each of several secrets
  const same = (headers.get(header) ?? '')
    .split(' ')
    .filter((one) => isSameSecret(one, wanted.text));
  if (same.length === 0 || signed.missing !== undefined) return undefined;
  if (timestamp === undefined) return signed.text;
  const sentAtMs = Number(headers.get(timestamp) ?? Number.NaN) * 1_000;
  return Math.abs(nowMs - sentAtMs) <= windowMs ? signed.text : undefined;
}

/**
 * Names the text that was signed, if the key of a delivery is of a header that was not: somebody may bring a copy under another key
 * (http §6.3).
 */
export function markOf(
  hook: string,
  { signature: { over }, idempotencyKey = '' }: WebhookConfig,
  signed: string,
): string | undefined {
  const places = idempotencyKey.toLowerCase().match(/\{header:[^}]*\}/g) ?? [];
  if (places.every((place) => over.toLowerCase().includes(place))) return undefined;
  return `signed-${digestOf(hook, signed)}`;
}

/** Makes an update of a delivery. One that lacks a field cannot be read. */
export function readWebhook(
  hook: string,
  { signature: { timestamp, over }, idempotencyKey, text, ...given }: WebhookConfig,
  headers: Headers,
  body: string,
): HttpUpdate | UnreadableUpdate {
  const { sender, conversation, agent } = given;
  const json = jsonOf(body);
  const missing = new Set<string>();
  const filled = (template = ''): string => {
    const result = fill(template, { headers, json, named: { body } });
    if (result.missing !== undefined) missing.add(result.missing);
    return result.text;
  };
  // what is signed with its time is new once, so a replay is none
  const key = filled(idempotencyKey ?? (timestamp && over));
  const conversationId = `${hookPrefix}${hook}/${filled(conversation)}`;
  const update: HttpUpdate = {
    ...{ kind: 'message', conversationId, answerTo: conversationId, text: filled(text) },
    messageId: key === '' ? newUpdateId() : `hook-${digestOf(hook, key)}`,
    senderId: `hook:${hook}${sender === undefined ? '' : `/${filled(sender)}`}`,
    ...{ isProven: true, mayCommand: false, ...(agent !== undefined && { agent }) },
  };
  const [first] = missing;
  if (first === undefined) return update;
  return unreadable(body, { message: `the delivery lacks {${first}}`, path: [] });
}
