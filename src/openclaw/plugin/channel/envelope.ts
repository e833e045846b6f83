import { definedFields, fieldsOf } from 'sluice-kernel/internal';
import { agentSettings, textOf } from './settings.js';

interface EnvelopeOptions {
  readonly timezone?: string;
  readonly includeTimestamp?: boolean;
  readonly includeElapsed?: boolean;
  readonly userTimezone?: string;
}

interface Envelope {
  readonly channel?: unknown;
  readonly from?: unknown;
  readonly host?: unknown;
  readonly ip?: unknown;
  readonly timestamp?: number | Date;
  readonly previousTimestamp?: number | Date;
  readonly envelope?: EnvelopeOptions;
  readonly body: string;
}

/** `resolveEnvelopeFormatOptions`: how the head of a message is written, as the configuration says. */
export function resolveEnvelopeFormatOptions(cfg: unknown): EnvelopeOptions {
  const { defaults } = agentSettings(cfg, undefined);
  const timezone = textOf(defaults['envelopeTimezone']);
  const userTimezone = textOf(defaults['userTimezone']);
  return {
    ...definedFields({ timezone, userTimezone }),
    includeTimestamp: defaults['envelopeTimestamp'] !== 'off',
    includeElapsed: defaults['envelopeElapsed'] !== 'off',
  };
}

/** `formatAgentEnvelope`: a message with its channel, its sender and its time in front. */
export function formatAgentEnvelope(params: Envelope): string {
  const { timestamp, previousTimestamp, envelope = {}, body } = params;
  const [channel, from, host, ip] = [params.channel, params.from, params.host, params.ip].map(
    headPart,
  );
  const elapsed =
    envelope.includeElapsed !== false && timestamp && previousTimestamp
      ? spanOf(Number(timestamp) - Number(previousTimestamp))
      : undefined;
  const since = elapsed === undefined ? undefined : `+${elapsed}`;
  const time = envelope.includeTimestamp === false ? undefined : timeOf(timestamp, envelope);
  const head = [channel ?? 'Channel', from, since, host, ip, time];
  return `[${head.filter((part) => part !== undefined).join(' ')}] ${body}`;
}

/** `formatInboundEnvelope`: the same, with the sender in front of the words in a group. */
export function formatInboundEnvelope(
  params: Envelope & {
    readonly chatType?: unknown;
    readonly senderLabel?: unknown;
    readonly sender?: unknown;
    readonly fromMe?: boolean;
  },
): string {
  const { chatType, senderLabel, sender, fromMe, body } = params;
  const isDirect = ['direct', 'dm', undefined].includes(textOf(chatType)?.toLowerCase());
  const name = headPart(senderLabel) ?? headPart(labelOf(sender));
  const self = isDirect && fromMe === true ? '(self)' : undefined;
  const speaker = isDirect ? self : name;
  return formatAgentEnvelope({
    ...params,
    body: speaker === undefined ? body : `${speaker}: ${body}`,
  });
}

function labelOf(sender: unknown): string | undefined {
  const { name, username, tag, e164, id } = fieldsOf(sender);
  const shown = textOf(name) ?? textOf(username) ?? textOf(tag);
  const known = textOf(e164) ?? textOf(id);
  return shown !== undefined && known !== undefined && shown !== known
    ? `${shown} (${known})`
    : (shown ?? known);
}

/** A part of the head: brackets in it would end the head. */
function headPart(value: unknown): string | undefined {
  const text = textOf(value);
  return text && textOf(text.replaceAll('[', '(').replaceAll(']', ')').replaceAll(/\s+/g, ' '));
}

function spanOf(durationMs: number): string | undefined {
  if (!Number.isFinite(durationMs) || durationMs < 0) return undefined;
  const seconds = Math.round(durationMs / 1_000);
  const minutes = Math.round(seconds / 60);
  const hours = Math.round(minutes / 60);
  if (minutes < 1) return `${seconds}s`;
  if (minutes < 60) return `${minutes}m`;
  return hours < 48 ? `${hours}h` : `${Math.round(hours / 24)}d`;
}

function timeOf(time: number | Date | undefined, options: EnvelopeOptions): string | undefined {
  const date = new Date(time || Number.NaN);
  if (Number.isNaN(date.getTime())) return undefined;
  const timeZone = zoneOf(options);
  const parts = new Intl.DateTimeFormat('en-US', {
    ...definedFields({ timeZone }),
    ...({ weekday: 'short', year: 'numeric', month: '2-digit', day: '2-digit' } as const),
    ...({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZoneName: 'short' } as const),
  }).formatToParts(date);
  const part = (type: string): string => parts.find((one) => one.type === type)?.value ?? '';
  const day = `${part('weekday')} ${part('year')}-${part('month')}-${part('day')}`;
  const clock = `${part('hour')}:${part('minute')}`;
  return timeZone === 'UTC' ? `${day}T${clock}Z` : `${day} ${clock} ${part('timeZoneName')}`;
}

/** The zone that times are written in: `undefined` for that of this machine. */
function zoneOf({ timezone = 'local', userTimezone }: EnvelopeOptions): string | undefined {
  const name = timezone.trim().toLowerCase();
  if (name === 'local' || name === 'host' || name === '') return undefined;
  if (name === 'user') return isZone(userTimezone) ? userTimezone : undefined;
  return name !== 'gmt' && isZone(timezone) && name !== 'utc' ? timezone : 'UTC';
}

function isZone(name: string | undefined): boolean {
  try {
    return name !== undefined && new Intl.DateTimeFormat('en-US', { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}
