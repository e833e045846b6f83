import type { EntryContent, TimelineEntry } from 'sluice/host';

/** An entry in one line of the page. Texts are cut: the whole of it is in the view of its message. */
export interface Row {
  readonly seq: number;
  readonly atMs: number;
  readonly kind: TimelineEntry['kind'];
  readonly id: string;
  readonly correlationId: string;
  /** The family of a dispatch; else the step. */
  readonly name: string;
  /** How it ended, if it did. */
  readonly status?: string;
  /** The author of a cancel or a failure, or the audited handler: `extension/contribution`. */
  readonly who?: string;
  readonly code?: string;
  readonly sessionId?: string;
}

const longest = 200;
/** Of an id that can be asked for: a link to a part of one leads nowhere. */
const longestId = 1_000;

/** Makes the line of an entry. */
export function rowOf(record: TimelineEntry): Row {
  const { seq, atMs, kind, id, correlationId } = record;
  const about = Object.entries(detailsOf(record)).filter(([, value]) => value != null);
  const cut = about.map(([key, value]) => [key, String(value).slice(0, longest)]);
  const ids = { id: id.slice(0, longestId), correlationId: correlationId.slice(0, longestId) };
  return { seq, atMs, kind, ...ids, name: '', ...Object.fromEntries(cut) }; // `about` has the name
}

type Details = {
  readonly [K in 'name' | 'status' | 'who' | 'code' | 'sessionId']?: string | null | undefined;
};

/** Says an entry in a few words. */
export function detailsOf(record: EntryContent): Details {
  switch (record.kind) {
    case 'dispatch': {
      const { event, status, cancel, failures } = record.outcome;
      const failure = failures.find(({ policy }) => policy === 'closed') ?? failures[0];
      return {
        ...{ name: event.family, status, sessionId: event.sessionId },
        who: nameOf(cancel ?? failure),
        code: cancel?.code ?? failure?.kind,
      };
    }
    case 'audit': {
      const { family, verdict, code } = record.record;
      return { name: family, status: `would ${verdict}`, who: nameOf(record.record), code };
    }
    case 'update': {
      const { state, outcome, sessionKey } = record;
      return { name: `message ${state}`, status: outcome, sessionId: sessionKey };
    }
    case 'lane':
      return { name: `waited for its ${record.of}`, sessionId: record.lane };
    case 'question':
      return { name: `question ${record.state}`, status: record.state };
    case 'send':
      return {
        name: `${record.sendKind} ${record.state}`,
        status: record.state,
        code: record.cause,
      };
    case 'attempt':
      return { name: `attempt ${record.attempt}`, status: record.status };
    case 'gap':
      return { name: `${record.count} records are missing`, status: record.why };
  }
}

function nameOf(
  author: { readonly extensionId?: string; readonly contributionId?: string } | undefined,
): string | undefined {
  if (author?.extensionId === undefined) return undefined;
  return `${author.extensionId}/${author.contributionId ?? ''}`;
}
