import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { oneLine } from 'sluice-kernel/internal';
import type { SqliteValue } from '../database/sqlite-values.js';
import { journalError } from '../errors.js';
import type { DispatchRecord, NewDispatch } from '../journal.js';
import { dispatchesTable } from './journal-rows.js';

/** The mark of a row that holds several dispatches, in the column that says of one why its payloads are left out. */
export const packedMark = 'packed';

/**
 * A text that most dispatches repeat: the compressor refers to it. It belongs to the format of the file: a file that was
 * written with another text could not be read.
 */
const dictionary = Buffer.from(
  '"code":"text":"line":"reason":"cancelled","failed","conversationId":"threadId":"agentId":"main","sessionKey":"agent:main:' +
    '"startedAtMs":"model":"provider":"messages":[],"historyLeftOut":"usage":{"inputTokens":"outputTokens":"toolCallId":"toolName":' +
    '"args":"result":"isError":false,"egress.preparing","egress.sending","egress.sent","receipt":{"messageId":"attempt":1,"durationMs":' +
    '"kind":"reply","streaming":false,"explicit":false,"replyToId":"isGroup":false,"groupId":"to":"from":"provider":"surface":' +
    '{"extensionId":"contributionId":"class":"observer","mutator","durationMs":0.' +
    '[{"eventId":"0m","family":"agent.output.delta","correlationId":"u-","sessionId":"session-","status":"passed","occurredAtMs":1' +
    ',"omitted":"hot-path","length":}]\n{"status":"passed","event":{"eventId":"0m","family":"ingress.normalized","occurredAt":17' +
    ',"workspaceId":null,"agentId":null,"sessionId":null,"accountRef":{"channel":"","id":"default"},"conversationRef":{"channel":"' +
    ',"id":"},"threadRef":null,"messageRef":null,"sourceContributionId":null,"correlationId":"u-","payload":{"channel":"' +
    '","accountId":"default","content":"","attachments":[],"metadata":{},"raw":"[left out]"},"metadata":{"runId":"run-' +
    '","session":{"context":{},"memoryKeys":[],"metadata":{}}},"providerMetadata":{},"hotPath":false},"annotations":{},' +
    '"candidates":[],"changes":[],"staleApprovals":[],"skipped":[],"failures":[],"steps":[]}',
);

/** A dispatch without its body, and the length of its body in the text behind. */
type Head = Omit<NewDispatch, 'body'> & { readonly length: number };

/** The columns of a row that holds several dispatches: those of the last one, and the lowest of their ids. */
export function packedRow(dispatches: readonly NewDispatch[], last: NewDispatch): NewDispatch {
  const heads = dispatches.map(({ body, ...head }): Head => ({ ...head, length: body.length }));
  const text = `${JSON.stringify(heads)}\n${dispatches.map(({ body }) => body).join('')}`;
  const body = deflateRawSync(text, { dictionary, level: 3 }).toString('base64');
  return { ...last, ...columnsOf(dispatches, last), body };
}

function columnsOf(dispatches: readonly NewDispatch[], last: NewDispatch) {
  const eventId = dispatches.reduce(
    (least, one) => (one.eventId < least ? one.eventId : least),
    last.eventId,
  );
  const occurredAtMs = Math.max(...dispatches.map((one) => one.occurredAtMs));
  const { family, correlationId, sessionId, status } = last;
  return { eventId, occurredAtMs, family, correlationId, sessionId, status };
}

/**
 * Reads the dispatches of a row that holds several. They have the numbers up to that of the row.
 *
 * @throws SluiceError `database-damaged` if the row is none of `packedRow`; its sums say so before, unless somebody has made them fit.
 */
export function unpacked(row: DispatchRecord): DispatchRecord[] {
  try {
    const each = unpackedBody(row);
    const last = each.at(-1);
    const columns = Object.entries(last === undefined ? { seq: 0 } : columnsOf(each, last));
    const other = columns.find(([name, value]) => Reflect.get(row, name) !== value);
    if (other !== undefined) throw new Error(`its ${other[0]} is not that of what it holds`);
    return each;
  } catch (error) {
    const about = { table: 'dispatches', seq: row.seq };
    const problem = `row ${row.seq} of dispatches, ${oneLine(error)}`;
    throw journalError('database-damaged', { path: 'of the journal', problem, ...about });
  }
}

function unpackedBody({ seq, body }: DispatchRecord): DispatchRecord[] {
  const text = inflateRawSync(Buffer.from(body, 'base64'), { dictionary }).toString();
  const end = text.indexOf('\n');
  const heads: readonly Readonly<Record<string, SqliteValue>>[] = JSON.parse(text.slice(0, end));
  let from = end + 1;
  const each = heads.map(({ length, proof, ...head }, at) => {
    const to = from + Number(length);
    const own = { seq: seq - heads.length + 1 + at, body: text.slice(from, to) };
    from = to;
    const record = dispatchesTable.record(dispatchesTable.row({ ...head, ...own }));
    return typeof proof === 'string' ? { ...record, proof } : record;
  });
  if (from !== text.length) throw new Error('its body is too long or too short');
  return each;
}
