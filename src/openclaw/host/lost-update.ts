import { createHash } from 'node:crypto';
import type { DecodedIngress, InboundUpdate } from '@sluice/sdk/channel';
import { isFields, oneLine } from 'sluice-kernel/internal';
import type { LostBecause } from '../plugin/way/carried.js';

/** Characters of a lost text that are kept. */
const mostKept = 100_000;
/** A secret after its name, in quotes of JSON, also within a text of JSON, or without. It begins with a name: a long word costs no time. */
const secret =
  /((?:token|secret|password|passphrase|authorization|api[_-]?key|cookie|credentials?|private[_-]?key|signature)\\*["']?\s*[=:]\s*)(?:(\\*["'])(?:(?!\2)[\s\S])*|(?:(?:bearer|basic)\s+)?[^"'&,;{}[\]\s\\]+)/gi;

const withoutSecrets = (text: string): string => text.replaceAll(secret, '$1$2…');

/** Makes an update of a text that a plugin has lost: it ends as a dead letter. One that comes again is the same. */
export function lostUpdate(raw: unknown, { member, error }: LostBecause): InboundUpdate {
  let cameAs: string;
  try {
    cameAs = typeof raw === 'string' ? raw : (JSON.stringify(raw) ?? '');
  } catch {
    cameAs = String(raw); // it holds itself, or a number that JSON has not
  }
  cameAs = withoutSecrets(cameAs.slice(0, mostKept));
  const updateId = `lost:${createHash('sha256').update(cameAs).digest('base64url')}`;
  return { raw: { lostBecause: `${member}: ${withoutSecrets(oneLine(error))}`, cameAs }, updateId };
}

/** Reads such an update; nothing if it is another one. */
export function decodeLost(raw: unknown): DecodedIngress | undefined {
  if (!isFields(raw) || typeof raw['lostBecause'] !== 'string') return undefined;
  return { kind: 'undecodable', problem: `its plugin has lost it: ${raw['lostBecause']}` };
}
