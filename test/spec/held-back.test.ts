import { beforeAll, describe, expect, it } from 'vitest';
import {
  allow,
  cancel,
  canonicalStages,
  type HandlerClass,
  type Kernel,
  type OpenContribution,
  openKernel,
  type Stage,
} from '../../src/kernel/internal.js';
import { expectFresh, heading, table } from '../support/generated.js';
import { type HeldBack, heldBack, markNames, type Sight } from '../support/held-back-lab.js';

type Guard = Exclude<HandlerClass, 'observer'>;
type End = 'cancelled' | 'failed';

/** A stage whose guard ends it once, as a row of the page. */
interface Row {
  readonly stage: Stage;
  readonly end: End;
  /** The message that is held back, if it is not the first one that reaches the stage. */
  readonly of?: { readonly name: string; readonly mark: string };
}

const columns = ['person', 'model', 'transcript', 'journal'] as const;
const thrown = 'a text of the guard';
const injection = { name: 'an injection', mark: 'mark-note' };

const rows: readonly Row[] = canonicalStages.flatMap((stage) => {
  const ends: End[] = stage.classes.includes('veto') ? ['cancelled', 'failed'] : ['failed'];
  if (guardsOf(stage, 'failed').length === 0) return [];
  const all: Row[] = ends.map((end) => ({ stage, end }));
  return stage.family === 'transcript.message.writing'
    ? [...all, ...all.map((row) => ({ ...row, of: injection }))]
    : all;
});

function guardsOf({ classes }: Stage, end: End): Guard[] {
  return classes.filter((one): one is Guard =>
    end === 'cancelled' ? one === 'veto' : one !== 'observer',
  );
}

/** Runs the host with a guard that ends one stage, for one message. */
function ended({ stage, end, of }: Row, name: Guard): Promise<HeldBack> {
  let first: string | undefined;
  const handler: OpenContribution['handler'] = ({ event }: Called) => {
    const { correlationId, payload } = event;
    if (of === undefined) first ??= correlationId;
    else if (JSON.stringify(payload).includes(of.mark)) first = correlationId;
    if (correlationId !== first) return name === 'veto' ? allow() : undefined;
    if (end === 'cancelled') return cancel('policy');
    throw new Error(thrown);
  };
  const guard = { extensionId: 'guard', id: 'it', class: name, failClosed: true, handler };
  const contribute = (kernel: Kernel) =>
    openKernel(kernel).contribute({ ...guard, family: stage.family });
  return heldBack({ contribute });
}

interface Called {
  readonly event: { readonly correlationId: string; readonly payload: object };
}

/** The things that each sees of the messages that end otherwise than without a guard. */
function cellsOf(seen: HeldBack, plain: HeldBack): string[] {
  return columns.map((column) =>
    seen.sights
      .map((sight) => sight[column])
      .filter((list, at) => String(list) !== String(plain.sights[at]?.[column]))
      .map(wordsOf)
      .join('; '),
  );
}

const wordsOf = (list: Sight[keyof Sight]): string => [...new Set(list)].join(', ') || 'nothing';

/** The texts that somebody of the four has seen, each with who it was. */
function shownBy({ sights }: HeldBack): string[] {
  return sights.flatMap((sight, at) =>
    columns.flatMap((column) => sight[column].map((text) => `${at} ${column} ${text}`)),
  );
}

const isMark = (shown: string): boolean => markNames.some((name) => shown.endsWith(` ${name}`));
const nameOf = ({ stage, of }: Row): string =>
  `\`${stage.family}\`${of === undefined ? '' : ` of ${of.name}`}`;

const about = `This page says what a person, the model, the transcript and the journal see of a message if a handler ends one of its stages:
if a veto cancels it, or if a fail-closed handler fails ([event-pipeline](event-pipeline.md) 3.7). It is read from a host
that runs. In this host a person asks a question, the model calls a tool and starts a subagent, answers, and tells of the
answer of the subagent. Of a message that nobody holds back the person sees the reply and the answer of the subagent. The
model sees the question, the result and the start of the subagent. The transcript and the journal have all of it.

A dash means: the same as if no handler had ended the stage. “Nothing” means nothing of the message. The journal also has
each dispatch with its status, and the handler that ended it. The log names each handler that failed. The words of its error
are in the log and the journal alone. Of all classes of a stage, a fail-closed handler that fails has the same effect. If
it is one of \`egress.preparing\`, the host tells the person nothing: its own texts would have to pass the same handler.`;

const silent = `These stages tell of what happens anyway, and none of them has a mutator, a veto or a resolver. A fail-closed augmenter that
fails there fails its stage, as the outcome, the log and the journal say. Nothing is held back:`;

describe('spec/held-back.md', () => {
  const seen = new Map<Row, readonly HeldBack[]>();
  let plain: HeldBack;

  beforeAll(async () => {
    plain = await heldBack();
    for (const row of rows) {
      const all: HeldBack[] = [];
      for (const name of guardsOf(row.stage, row.end)) all.push(await ended(row, name));
      seen.set(row, all);
    }
  });

  const cells = (row: Row): string[][] => (seen.get(row) ?? []).map((one) => cellsOf(one, plain));
  const holdsBack = (row: Row): boolean => cells(row).flat().join('') !== '';

  it('has the sight of each stage that a host runs through', () => {
    const told = rows
      .filter(holdsBack)
      .map((row) => [nameOf(row), row.end, ...(cells(row)[0] ?? [])]);
    const others = rows.filter((row) => !holdsBack(row)).map((row) => `- ${nameOf(row)}`);
    const page = [
      heading('What is held back', about, 'test/spec/held-back.test.ts').trimEnd(),
      table(['stage', 'is', ...columns], told),
      silent,
      others.join('\n'),
    ];
    expectFresh('spec/held-back.md', `${page.join('\n\n')}\n`);
  });

  it('is read from a host that reaches every stage in which a handler may be fail-closed (§3.7)', () => {
    const reached = new Set<string>(plain.outcomes.map(({ event }) => event.family));
    expect(rows.map(({ stage }) => stage.family).filter((family) => !reached.has(family))).toEqual(
      [],
    );
    for (const [row, all] of seen)
      for (const { outcomes } of all)
        expect(
          outcomes.some(
            ({ event, status }) => event.family === row.stage.family && status === row.end,
          ),
        ).toBe(true);
  });

  it('tells of stages in which the class of the handler makes no difference (§3.7)', () => {
    for (const row of rows) expect(new Set(cells(row).map(String)).size, nameOf(row)).toBe(1);
  });

  it('tells of stages that hold something back, if a handler may change, refuse or choose (§3.7)', () => {
    const silent = rows.filter((row) => !holdsBack(row)).map(({ stage }) => stage);
    expect(
      silent.filter((stage) => stage.classes.some((one) => !/observer|augmenter/.test(one))),
    ).toEqual([]);
  });

  it('shows nobody more if a stage fails than if nothing ends it, and no more than if it is cancelled (§3.7)', () => {
    const all = new Set(shownBy(plain));
    for (const [row, ends] of seen) {
      const cancelled = rows.find(
        (one) => one.stage === row.stage && one.of === row.of && one.end === 'cancelled',
      );
      const [sight] = (cancelled && seen.get(cancelled)) ?? [];
      const most = sight === undefined ? all : new Set(shownBy(sight));
      for (const one of ends)
        expect(
          shownBy(one).filter((shown) => isMark(shown) && !most.has(shown)),
          nameOf(row),
        ).toEqual([]);
    }
  });

  it('gives the words of an error to the log and the journal alone (§16.12, §16.19)', () => {
    for (const [row, ends] of seen) {
      if (row.end === 'cancelled') continue;
      for (const one of ends) {
        expect(
          shownBy(one).filter((shown) => shown.includes(thrown)),
          nameOf(row),
        ).toEqual([]);
        expect(
          one.records.some((record) => record.includes(thrown)),
          nameOf(row),
        ).toBe(true);
        expect(
          one.log.some((entry) => entry.includes(thrown)),
          nameOf(row),
        ).toBe(true);
      }
    }
  });

  it('leaves the model in later turns nothing that the transcript does not have (§15.3, §15.14)', () => {
    for (const ends of seen.values())
      for (const { history, sights } of ends) {
        const kept = sights.flatMap(({ transcript }) => transcript);
        expect(
          history.filter((text) => !kept.includes(text) && text !== '“(No answer is known.)”'),
        ).toEqual([]);
      }
  });
});
