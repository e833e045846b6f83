import { configDefaults, defineConfig, mergeConfig } from 'vitest/config';
import shared from './vitest.shared.js';

/**
 * Test files that `npm test` leaves to `npm run test:all`: they start many processes, count the calls of a program, or try
 * many random programs. Each area keeps some tests in both lanes.
 */
const wholeLane = [
  'extensions/budget/test/killed-host.test.ts',
  'extensions/http/test/killed-host.test.ts',
  'extensions/thread-ownership/test/server-process.test.ts',
  'test/bench/bench.test.ts',
  'test/openclaw/commands/check-plugin/check-plugin.test.ts',
  'test/claude/agent/claude-agent.test.ts',
  'test/cli/init/init.test.ts',
  'test/cli/journal/journal-commands.test.ts',
  'test/openclaw/commands/migrate/migrate.test.ts',
  'test/claude/commands/normalize/normalize-large.test.ts',
  'test/claude/commands/normalize/normalize.test.ts',
  'test/cli/run/children.test.ts',
  'test/cli/run/reload.test.ts',
  'test/cli/replay/replay.test.ts',
  'test/cli/run/run.test.ts',
  'test/cli/run/signals.test.ts',
  'test/cli/stages/stages.test.ts',
  'test/cli/slack.test.ts',
  'test/cli/telegram.test.ts',
  'test/faults/host-disk.test.ts',
  'test/faults/host-locks.test.ts',
  'test/faults/journal-damage.test.ts',
  'test/faults/lifecycle.reloads.test.ts',
  'test/guard/asking/killed-guard.test.ts',
  'test/host/inquiries/killed-approvals.process.test.ts',
  'test/journal/damage/damaged-pages.test.ts',
  'test/host/egress/egress-once.streams.test.ts',
  'test/host/egress/egress-once.test.ts',
  'test/host/jobs/killed-at-writes.test.ts',
  'test/host/lanes/lane-bounds.test.ts',
  'test/host/lanes/max-running.test.ts',
  'test/host/transcript/history-cost.test.ts',
  'test/host/recovery/journal-faults.test.ts',
  'test/host/recovery/persisted-batches.test.ts',
  'test/host/recovery/killed-joins.process.test.ts',
  'test/host/recovery/suspects.process.test.ts',
  'test/kernel/match/match-cost.test.ts',
  'test/parity/hooks/hooks.test.ts',
  'test/pilots/answers/killed.test.ts',
  'test/pilots/answers/stopped.test.ts',
  'test/pilots/slack/slack-stream.test.ts',
  'test/pilots/telegram-egress.test.ts',
  'test/pilots/telegram-previews.test.ts',
  'test/support/package-cache.test.ts',
  'test/types/package.test.ts',
];

export default defineConfig(({ mode }) =>
  mergeConfig(
    shared,
    defineConfig({
      test: {
        include: ['test/**/*.test.ts', 'extensions/**/test/*.test.ts'],
        exclude: [...configDefaults.exclude, ...(mode === 'fast' ? wholeLane : [])],
        // Test files share what they import, since no module of the source has state: four times as fast.
        isolate: false,
      },
    }),
  ),
);
