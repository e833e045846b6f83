import { describe, expect, it } from 'vitest';
import { canonicalStages, type FamilyName } from '../../src/kernel/internal.js';
import { expectFresh, heading, table } from '../support/generated.js';
import { stageLink, stageList, stageSection } from '../support/stage-document.js';

/** The questions with which readers come, each with the families that answer it. */
const questions: readonly (readonly [want: string, ...families: FamilyName[]])[] = [
  ['see each message that comes in', 'ingress.received', 'ingress.normalized'],
  ['change the text of a message that comes in, or add to it', 'ingress.normalized'],
  ['choose the agent or the session of a message, or refuse it', 'routing.resolving'],
  ['add something to the prompt', 'agent.prompt.building'],
  ['choose the model', 'agent.model.resolving'],
  ['see the input and the output of a model, and its cost', 'agent.llm.input', 'agent.llm.output'],
  ['refuse or change a tool call', 'agent.tool.calling'],
  ['see the result of a tool', 'agent.tool.called'],
  [
    'judge what a model or a tool has answered, before anybody reads it',
    'agent.llm.returning',
    'agent.tool.returning',
  ],
  [
    'change a tool result or a message in the transcript',
    'transcript.tool-result.persisting',
    'transcript.message.writing',
  ],
  ['change or hold back a message that goes out', 'egress.preparing'],
  ['choose the account by which a message goes out', 'egress.preparing'],
  ['know the end of a send', 'egress.sent', 'egress.cancelled', 'egress.failed'],
  ['follow a text while it grows', 'agent.output.delta'],
  [
    'refuse a subagent, or choose the place of its answer',
    'subagent.spawning',
    'subagent.delivery.resolving',
  ],
  ['save a transcript before it is cut or begun anew', 'compaction.before', 'session.resetting'],
  ['handle a button, a form or a slash command', 'interaction.received', 'command.received'],
  ['do something when the process starts or stops', 'runtime.started', 'runtime.stopping'],
  ['know if an account can send', 'account.started', 'account.stopped'],
  ['know of schedules and their runs', 'schedule.reconciled', 'schedule.changed'],
  ['know if somebody wants to be let in', 'account.pairing.requested'],
];

function stageQuestions(): string {
  return table(
    ['I want to', 'family'],
    questions.map(([want, ...families]) => [want, families.map(stageLink).join(', ')]),
  );
}

describe('spec/stages.md', () => {
  it('shows every column of every stage', () => {
    const about =
      'This page has every family of the pipeline, in the order in which a message and a process meet them. It is read from the rows\n' +
      'in `src/kernel/catalog`. The rules are in [event-pipeline.md](event-pipeline.md). If the rules leave a row open,\n' +
      '[catalog-decisions.md](catalog-decisions.md) gives the reason for it.';
    const document = [
      heading('Stages', about, 'test/spec/stages.test.ts').trimEnd(),
      stageQuestions(),
      stageList(canonicalStages),
      ...canonicalStages.map(stageSection),
    ].join('\n\n');
    expectFresh('spec/stages.md', `${document}\n`);
  });

  it('names for every stage its purpose and when it is emitted', () => {
    const mute = canonicalStages.filter(({ purpose, emittedWhen }) => !purpose || !emittedWhen);
    expect(mute.map(({ family }) => family)).toEqual([]);
  });
});
