import type { SendRecord, UpdateRecord } from '@sluice/journal';
import { printable } from '../shell/text.js';

/** Writes an update of the journal in one line: its time, its id, its channel, its state and the reason. */
export function updateLine(record: UpdateRecord): string {
  const { eventId, channel, accountId, state, outcome, attempts, acceptedAtMs, reason } = record;
  const times = attempts > 1 ? ` (begun ${attempts} times)` : '';
  const where = state === 'ended' ? (outcome ?? state) : state;
  const what = `${where}${times}${because(reason)}`;
  return columns(timeOf(acceptedAtMs), eventId, `${channel}/${accountId}`, what);
}

/** Writes a send of the journal in one line. */
export function sendLine(record: SendRecord): string {
  const { sendId, channel = '-', accountId = '-', preparedAtMs } = record;
  const { kind, state, cause, reason } = record;
  const how = cause === undefined ? state : `${state} (${cause})`;
  const what = `${kind} ${how}${because(reason)}`;
  return columns(timeOf(preparedAtMs), sendId, `${channel}/${accountId}`, what);
}

function columns(...texts: readonly string[]): string {
  return texts.map(printable).join('  ');
}

function because(reason: string | undefined): string {
  return reason === undefined ? '' : `: ${reason}`;
}

/** Writes a time. The clock may have been wrong, so a number that is no time is written as such. */
export function timeOf(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? 'no time' : date.toISOString();
}
