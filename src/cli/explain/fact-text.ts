import type { WayFact } from '../../host/index.js';
import { printable, span } from '../shell/text.js';

/** Says a fact that is no dispatch in one line. */
export function factText(fact: Exclude<WayFact, { kind: 'dispatch' | 'audit' }>): string {
  return printable(textOf(fact));
}

function textOf(fact: Parameters<typeof factText>[0]): string {
  switch (fact.kind) {
    case 'update': {
      const { state, outcome, reason } = fact;
      const how = outcome === undefined ? '' : `: ${outcome}${because(reason)}`;
      return `message ${state}${at(fact)}${how}`;
    }
    case 'lane':
      return `waited ${span(fact.waitedMs)} for its ${fact.of}`;
    case 'question':
      return `question ${fact.state}: ${fact.title}`;
    case 'send': {
      const { state, sendKind, cause, reason } = fact;
      const why = cause === undefined ? '' : ` (${cause})`;
      return `${sendKind} ${state}${at(fact)}${why}${because(reason)}`;
    }
    case 'attempt':
      return `attempt ${fact.attempt}${at(fact)}: ${fact.status}${because(fact.reason)}, ${span(fact.durationMs)}`;
    case 'gap':
      return `${fact.count} records are missing here`;
  }
}

function at({ channel, accountId }: { readonly channel?: string; readonly accountId?: string }) {
  return channel === undefined ? '' : ` at ${channel}/${accountId ?? ''}`;
}

function because(reason: string | undefined): string {
  return reason === undefined ? '' : `, ${reason}`;
}
