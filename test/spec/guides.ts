/** A text that shows or tells a clause: a file, and words that stand in it. */
export type Guide = readonly [file: string, words: string];

const cases = 'test/claude/session/cases.ts';
const messages = 'test/claude/session/messages.test.ts';
const gateway = 'test/openclaw/gateway';

/**
 * The guides of the clauses that no title of a test cites: a test that shows the clause under another name, or a page that tells
 * its reader. A clause of `event-pipeline` has its number alone, as where it is cited.
 */
export const guides: Readonly<Record<string, Guide>> = {
  '4.6': ['test/architecture/vocabulary.test.ts', 'the search for handler calls'],
  '4.8': [
    'docs/limits.md',
    "Handlers run in the host's thread. A handler that blocks, blocks the host.",
  ],
  '14.2': [
    'test/host/egress/egress-once.test.ts',
    'every prepared send has exactly one terminal event',
  ],
  '14.5': ['test/agent/turn-order.test.ts', 'before the tool runs'],
  '14.13': [
    'test/host/streaming/stale-previews.test.ts',
    'the next one takes it back, and answers',
  ],
  '15.1': ['test/host/lanes/lanes.test.ts', 'answered in order, those of others side by side'],
  '15.2': ['test/host/receive-update.test.ts', 'handled once, and acknowledged at its end'],
  '15.6': [
    'test/host/transcript/history.test.ts',
    'counts what is neither of a person nor of a model',
  ],
  '15.12': [
    'test/host/transcript/histories.test.ts',
    'reads the messages that came since the last one',
  ],
  '16.2': ['test/agent/turn.test.ts', "code: 'no-model'"],
  '16.8': [
    'test/agent/retry.test.ts',
    'resolves its model once, and repeats all else for each attempt',
  ],
  '16.10': ['test/agent/turn-cleanup.test.ts', 'a turn leaves nothing behind'],
  '16.13': [
    'test/pilots/telegram-faults.test.ts',
    'ends after ten minutes where nobody says otherwise',
  ],
  '17.4': ['test/openclaw/runner/hook-runner.test.ts', 'an event that handlers write to'],
  '17.6': [
    'test/openclaw/runner/hook-runner.test.ts',
    'delays nobody, while the promise of the runner',
  ],
  '17.22': [
    'test/openclaw/plugin/channel-intake.test.ts',
    'the address that outbound.resolveTarget gives',
  ],
  '17.24': ['test/parity/hooks/compare.ts', 'the order of its keys'],
  'durability 1.5': ['test/journal/sqlite/sqlite-journal.test.ts', 'never gives a number again'],
  'durability 1.14': ['test/journal/integrity.test.ts', 'is found while a host runs'],
  'durability 1.15': [
    'test/journal/large-journal.test.ts',
    'steps.map(({ rows }) => rows))).toBe(64)',
  ],
  'durability 2.1': [
    'test/journal/journal-contract.ts',
    'have exactly one terminal state whatever is done',
  ],
  'durability 6.11': [
    'test/journal/database/open-sqlite.test.ts',
    'keeps all of a transaction or nothing',
  ],
  'durability 9.2': [
    'test/host/egress/egress-once.test.ts',
    'every prepared send has exactly one terminal event',
  ],
  'durability 9.3': ['docs/decisions.md', 'at least once, never exactly once'],
  'durability 9.4': ['docs/limits.md', 'The crash tests kill processes, not machines'],
  'durability 11.12': ['test/postgres/hints.postgres.ts', 'advance(500); // its own look'],
  'durability 12.2': ['test/journal/lost-journal.test.ts', 'so that another process takes it over'],
  'csdk 1.2': [cases, '35 a subagent within the main stream'],
  'csdk 2.1': [cases, '1 streamed text, real order'],
  'csdk 2.2': [cases, '45 a retry before there is content'],
  'csdk 2.3': [cases, '3 a frame after its message’s stop'],
  'csdk 2.4': [cases, '61 too many tokens'],
  'csdk 2.5': [cases, '9 a late delta'],
  'csdk 3.1': [cases, '5 a complete frame has a missing suffix'],
  'csdk 3.2': [cases, '15 thinking that is a signature only'],
  'csdk 3.3': [cases, '19 identical texts of two turns'],
  'csdk 3.5': [cases, '11 a delta without its block’s start'],
  'csdk 3.7': [cases, '23 a tool’s result before its complete frame'],
  'csdk 5.1': [cases, '39 a PreCompact hook, and no status'],
  'csdk 5.2': [cases, '37 a compaction’s status, then its boundary'],
  'csdk 5.4': [messages, 'says why it began, and what came of it'],
  'csdk 5.6': [cases, 'CE(retry=false)'],
  'csdk 6.1': [cases, '31 a tool that never answers'],
  'csdk 8.1': [cases, '57 replayed and unknown frames'],
  'csdk 9.1': ['test/sdk/stream/ordering.test.ts', "describe('assertOrdering'"],
  'csdk 9.3': [messages, 'count each kind by itself'],
  'csdk 12.4': ['test/claude/live-runs.test.ts', 'between two, the reader of the runs'],
  'http 1.6': ['extensions/http/README.md', 'A host that stops refuses new requests with 503'],
  'http 2.4': ['extensions/http/README.md', 'names its person in `user`'],
  'judgement 1.1': ['docs/judgement.md', 'principal'],
  'judgement 4.17': ['docs/judgement.md', 'its end is asked about as a whole'],
  'judgement 4.29': [
    'docs/migrating-from-openclaw.md',
    '`severity`, `scope` and `timeoutReason` of `requireApproval`',
  ],
  'judgement 4.30': ['test/agent/approvals.test.ts', 'asks about the subagent that it starts, too'],
  'sight 1.1': [
    'test/host/timeline/timeline-entries.test.ts',
    'tell of its receipt, its turns, its send',
  ],
  'sight 1.7': [
    'test/host/timeline/timeline-entries.test.ts',
    'tell of its receipt, its turns, its send',
  ],
  'stream 1.1': ['test/types/stream.test.ts', 'has one of four phases, each with its own fields'],
  'stream 1.3': [`${gateway}/trigger-stream.test.ts`, 'hasReachedAgent(delta)).toBe(false)'],
  'stream 3.5': [
    `${gateway}/routing.test.ts`,
    'own note of a gap, which has no number, ends nothing',
  ],
  'stream 10.1': [`${gateway}/trigger-stream.test.ts`, 'does not have the gateway deliver it'],
  'stream 10.2': [`${gateway}/handshake.test.ts`, "scopes: ['operator.read', 'operator.write']"],
  'stream 10.3': [`${gateway}/trigger-stream.test.ts`, "error: 'the run was stopped'"],
  'stream 10.4': [`${gateway}/trigger-stream.test.ts`, 'the run is let go and the agent stopped'],
  'stream 10.5': [`${gateway}/trigger.test.ts`, 'the circuit (stream §5)'],
  'stream 10.6': ['test/host/streaming/deliver-stream.test.ts', 'asks again after an error'],
  'stream 10.7': [`${gateway}/routing.test.ts`, "'thinking', { text: 'hm'"],
};
