import { expect, it } from 'vitest';
import { canonicalStages } from '../../src/kernel/internal.js';
import { readProjectFile } from '../support/source-tree.js';

/** The file that dispatches each family. */
const dispatchedIn: Readonly<Record<string, readonly string[]>> = {
  'src/host/life/lifecycle.ts': [
    'runtime.started',
    'runtime.stopping',
    'gateway.starting',
    'gateway.started',
    'gateway.stopping',
  ],
  'src/host/provided/commands.ts': ['command.received', 'command.completed'],
  'src/openclaw/plugin/runtime/channel-runtime.ts': ['account.pairing.requested'],
  'src/host/receive/due-schedules.ts': ['schedule.reconciled'],
  'src/host/jobs/report-schedule.ts': ['schedule.changed'],
  'src/host/receive/account.ts': ['account.started', 'account.stopped'],
  'src/host/ingress/ingress-stages.ts': ['ingress.received', 'ingress.normalized'],
  'src/host/session/routing.ts': ['routing.resolving', 'routing.resolved'],
  'src/host/session/sessions.ts': [
    'session.starting',
    'session.started',
    'session.resetting',
    'session.ended',
  ],
  'src/agent/run/run-dispatcher.ts': ['agent.starting', 'agent.llm.input'],
  'src/agent/run/run-bounds.ts': ['agent.completed', 'agent.llm.output'],
  'src/agent/run/model-answers.ts': ['agent.llm.returning'],
  'src/agent/run/output-deltas.ts': ['agent.output.delta'],
  'src/agent/turn/model.ts': ['agent.model.resolving'],
  'src/agent/turn/prompt.ts': ['agent.prompt.building'],
  'src/agent/turn/answer.ts': ['agent.answer.resolving', 'agent.llm.calling'],
  'src/agent/run/tool-calls.ts': ['agent.tool.calling', 'agent.tool.called'],
  'src/agent/run/tool-results.ts': ['agent.tool.returning'],
  'src/agent/run/transcript-writer.ts': [
    'transcript.tool-result.persisting',
    'transcript.message.writing',
  ],
  'src/agent/run/compactions.ts': ['compaction.before', 'compaction.after'],
  'src/host/egress/prepare-send.ts': ['egress.preparing'],
  'src/host/egress/send-attempt.ts': ['egress.sending'],
  'src/host/egress/end-send.ts': ['egress.sent', 'egress.cancelled', 'egress.failed'],
  'src/host/ingress/interactions.ts': [
    'interaction.received',
    'interaction.resolved',
    'interaction.completed',
  ],
  'src/agent/run/child-runs.ts': ['subagent.spawning', 'subagent.spawned', 'subagent.completed'],
  'src/host/turn/reply-sink.ts': ['subagent.delivery.resolving', 'subagent.delivery.resolved'],
};

it('knows the file that dispatches each family that has a source (§2.5)', () => {
  const emitted = canonicalStages.filter(({ emittedBy }) => emittedBy !== 'nothing');
  const listed = Object.values(dispatchedIn).flat();
  expect(listed.toSorted()).toEqual(emitted.map(({ family }) => family).toSorted());
});

it.each(
  Object.entries(dispatchedIn).flatMap(([file, families]) =>
    families.map((family) => [family, file] as const),
  ),
)('%s is dispatched in %s (§2.5)', (family, file) => {
  expect(readProjectFile(file)).toContain(`'${family}'`);
});

it.each(canonicalStages.map((stage) => [stage.family, stage.emittedBy] as const))(
  '%s has the source that the folder of its file says: %s (§2.5)',
  (family, source) => {
    const file = Object.keys(dispatchedIn).find((one) => dispatchedIn[one]?.includes(family));
    const [, layer = ''] = file?.split('/') ?? [];
    const byHost = ['host', 'interactive-channel', 'subagent'];
    const sources = { host: byHost, openclaw: byHost }[layer] ?? ['turn', 'subagent'];
    expect(sources).toContain(source);
  },
);
